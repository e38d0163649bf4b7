"""Texts of the documentation inside an FMU: numerics, limits, the reference result, licences, external dependencies."""

from __future__ import annotations

import importlib.metadata

from limberjack.fmu.description.content import Content, text, tool
from limberjack.fmu.description.pages import code, escape
from limberjack.fmu.description.reference import RESULT_NAME, Reference

_INTEGRATORS = {
    "rk4": "the classical Runge-Kutta method of order 4",
    "semi_implicit": "the semi-implicit (symplectic) Euler method",
    "implicit": "a linearly implicit method, stable for stiff springs and dampers of the hinges",
}


_BY_DIFFERENCES = "Directional and adjoint derivatives are central differences."


def _listed(items: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def numerics(content: Content) -> str:
    """How Co-Simulation and Model Exchange compute."""
    method = _INTEGRATORS.get(content.integrator, content.integrator)
    other = "is refused (discarded)" if content.whole_steps else "is divided into equal steps not longer than dt"
    parts = f" in {content.substeps} equal substeps" if content.substeps > 1 else ""
    items = [
        f"<b>Co-Simulation</b> steps with {escape(method)}, fixed step dt = {content.dt:g} s{parts}; orientations stay "
        "on their manifold. A communication step that is a multiple of dt takes that many steps of exactly dt; any "
        f"other {other}. Inputs are held during a communication step.",
        "Equal inputs and equal steps give equal results, to the last bit on the same kind of processor; so does a "
        "saved and restored state. Between kinds of processors the last digits differ.",
    ]
    items += _devices(content)
    if content.coupling == "process":
        asked = "Each communication step is one request to the engine process and one reply; one that takes the engine "
        return _listed([*items, asked + "longer than 0.1 s goes out in several."])
    if content.system.loops:
        return _listed([*items, *_loops(content)])
    if content.system.has_devices:
        return _listed([*items, _BY_DIFFERENCES])
    return _listed(
        [
            *items,
            "<b>Model Exchange</b>: the states are all coordinates, then all velocities. Velocities of free and "
            "spherical hinges are angular velocities and velocities in body axes, not rates of the coordinates. "
            "Quaternions (w x y z) are brought to unit length before each evaluation: a solver's drift does no harm.",
            f"Event indicators ({len(content.indicators)}) change sign where a stop begins or ceases to act, or the "
            "limit of a drive. States are never reinitialised.",
            "Directional and adjoint derivatives of accelerations, forces and sensors in states and inputs are "
            "analytic (but for coordinates of custom hinges), all others central differences. The dependencies in the "
            "model structure list every influence that is not identically zero.",
            "Outputs are computed when they are read, once for each state.",
        ]
    )


def _devices(content: Content) -> list[str]:
    """Notes on instruments, motors and valves."""
    system, items = content.system, []
    sampled = [sensor.name for sensor in system.sensors if sensor.errors is not None]
    driven = [actuator.name for actuator in system.actuators if actuator.motor is not None]
    valves = [thruster.name for thruster in system.thrusters if thruster.has_valve]
    if sampled:
        items.append(
            f"Instruments ({escape(text(', '.join(sampled)))}) sample at the end of the engine's steps, and their "
            "readings change with steps only: they depend on no input, and their derivatives are zero. Until the first "
            "step they show what is, with errors, as start values and parameters have it. Noise repeats to the last "
            f"bit with the same {code('noise.seed')}."
        )
    if driven:
        items.append(
            f"Behind the drives {escape(text(', '.join(driven)))} are motors: current and rotor are states of their "
            "own, so a command shows in the force after the next step of the engine."
        )
    if valves:
        items.append(
            f"Valves ({escape(text(', '.join(valves)))}) open and close at exact times within a step; the thrust that "
            "is shown is the mean of the last step."
        )
    if items and content.coupling == "embedded":
        items.append(
            "States of instruments, motors, valves and contacts move with steps only, so there is no Model Exchange."
        )
    return items


def _loops(content: Content) -> list[str]:
    """Notes on closed loops."""
    switched = [loop.name for loop in content.system.loops if loop.switchable]
    items = [
        "The model has closed loops, which each step closes again after its motion. An importer's own solver would let "
        "them drift apart, so there is no Model Exchange. Start values of coordinates should fit the loops.",
        _BY_DIFFERENCES,
    ]
    if switched:
        items.insert(
            1,
            "Boolean inputs close and release loops at the beginning of the next step of the engine: "
            f"{escape(text(', '.join(switched)))}. Closing keeps the momentum; the kinetic energy that the impact "
            "takes is an output where the model has a sensor for it. A loop out of reach stays open until it is within "
            "reach.",
        )
    return items


def _long_steps(content: Content) -> str:
    """How to interrupt a communication step."""
    asked = (
        "fmi2CancelStep from another thread ends it at once"
        if content.fmi == "2.0"
        else "the importer's callback for intermediate updates can ask for an early return every few hundred of them"
    )
    return (
        "A communication step of more than 10<sup>9</sup> internal steps is discarded. While a long one runs, "
        f"{asked}; so do terminate, reset and free from another thread. What was cancelled is discarded."
    )


def limits(content: Content) -> str:
    """The limits of the FMU."""
    items = [
        "Values that are not finite, or outside a variable's range, are refused with an error and a log message that "
        "says what to change.",
        "A step in which a velocity diverges or stops being finite is discarded: the FMU stays at the last good "
        "internal step, reports its time and names the body. Take a smaller dt, substeps, or the integrator 'implicit' "
        "at export.",
        _long_steps(content),
        "Start values of quaternions must have unit length to 1e-6.",
        "Only outputs, inputs, parameters, states and their derivatives, and event indicators can be read; other "
        "quantities must be chosen at export.",
        "There is no event mode in Co-Simulation: stops and limits are part of the equations of motion.",
    ]
    if content.coupling == "embedded":
        items.append(
            "The engine runs on x86-64 processors from about 2009 on (x86-64-v2) and on 64-bit ARM processors."
        )
    else:
        items.append("No Model Exchange and no derivatives: the engine runs in another process.")
    return _listed(items)


def reference_notes(content: Content, reference: Reference) -> str:
    """The text documentation/fmi-ls-ref.txt."""
    last = float(reference.values[-1, 0])
    ending = f"\nIt ends before the default experiment does. {text(reference.ending)}\n" if reference.ending else ""
    return f"""Reference result of '{text(content.system.name)}'

File: extra/org.fmi-standard.fmi-ls-ref/{RESULT_NAME} (comma-separated; the first line has the names; UTF-8)

It holds every output from time 0 to {last:g} s, every {reference.interval:g} s. Elements of vectors have an index that
starts at 1. {tool()} computed it as a Co-Simulation importer would see it:
  - start values as in modelDescription.xml, inputs held at their start values, parameters not changed
  - communication step {reference.step!r} s, internal step {content.dt!r} s, integrator {content.integrator},
    substeps {content.substeps}
{ending}
What to expect: on the kind of processor on which it was computed, Co-Simulation gives these numbers to the last bit;
on others, the last digits differ. Motions that are sensitive to small changes (chaotic ones) drift apart after a while:
compare their beginning.
"""


def licence_notes(content: Content) -> str:
    """The text documentation/licenses/license.txt."""
    carried = """
binaries/
  The Limberjack engine, compiled, and its FMI interface in C. Copyright 2026 The Limberjack authors. Apache License
  2.0 (apache-2.0.txt). Linked with start-up and arithmetic routines of LLVM compiler-rt (Apache License 2.0 with LLVM
  exceptions) and, on Windows, of mingw-w64 (public domain and Zope Public License 2.1)."""
    if content.coupling == "process":
        carried = """
binaries/
  The Limberjack FMI interface in C. Copyright 2026 The Limberjack authors. Apache License 2.0 (apache-2.0.txt).
  Linked with start-up and arithmetic routines of LLVM compiler-rt (Apache License 2.0 with LLVM exceptions) and, on
  Windows, of mingw-w64 (public domain and Zope Public License 2.1).
libzmq and libsodium
  Unchanged libraries from the Python package pyzmq. libzmq: Mozilla Public License 2.0, source code at
  https://github.com/zeromq/libzmq; libsodium: ISC License. Their texts are in this folder."""
    return f"""Rights to the contents of this FMU

modelDescription.xml, resources/, terminalsAndIcons/, documentation/, extra/
  Data and pictures of the model '{text(content.system.name)}'. Rights: the model's author.
{carried}
"""


def zeromq_licences() -> dict[str, str]:
    """Licence texts of the libraries that the process coupling carries, from the installed pyzmq: file name → text."""
    wanted = {"LICENSE.zeromq.txt": "libzmq.txt", "LICENSE.libsodium.txt": "libsodium.txt"}
    found = importlib.metadata.files("pyzmq") or []
    return {wanted[path.name]: path.read_text(encoding="utf-8") for path in found if path.name in wanted}


def external_dependencies(content: Content) -> str:
    """The text documentation/externalDependencies.txt of the process coupling."""
    settings = "\n".join(
        f"  {variable.name:<16} {variable.description} (now: {variable.start[0]!r})"
        for variable in content.variables
        if variable.name.startswith("engine.")
    )
    return f"""External dependencies of '{text(content.system.name)}'

This FMU holds no engine. It talks to a Limberjack engine process over ZeroMQ, in lockstep: one request and one reply
for each communication step, or several for a long one.

What must be there
  Limberjack on the computer that runs the engine process: pip install limberjack   (exported with {tool()})
  libzmq: carried inside the FMU, nothing to install.

Two ways to provide the engine
  1. Let the FMU start it: leave engine.endpoint empty. Each instance starts its own engine process with engine.command
     (a program on the PATH, or its path, with arguments if need be), and ends it when it is freed.
  2. Start it yourself, also on another computer, and give its address in engine.endpoint:
       limberjack run model.ljm --dt {content.dt!r} --integrator {content.integrator} --substeps {content.substeps} \\
         --endpoint tcp://127.0.0.1:5555
     model.ljm is the exported model; it is in this FMU's folder resources/. The FMU checks that the engine runs this
     model with these settings. An engine takes commands from one importer at a time.
  To encrypt the connection, make keys with 'limberjack keygen DIR', start the engine with --keys DIR and set
  engine.keys to that folder.

Settings (parameters; set them before the initialisation ends)
{settings}

Where the engine cannot be found, dies, does not answer in time or runs another version or model, the FMU returns an
error with a log message that says which. It never waits longer than engine.timeout for an answer. An engine
that it starts is waited for while it computes, because the first start on a computer compiles the engine; after five
minutes without a sign of that, or two hours, the FMU gives up.
"""


def usage_note(content: Content) -> str:
    """What must be there where the FMU runs."""
    if content.coupling == "embedded":
        return "<p>Nothing else needs to be installed where the FMU runs.</p>"
    return (
        '<p>This FMU talks to an engine process: <a href="externalDependencies.txt">external dependencies</a> says '
        f"what must be installed and how {code('engine.endpoint')} and the other settings find the engine.</p>"
    )
