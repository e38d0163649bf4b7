"""The documentation inside an FMU: index.html, notes on the reference result, licences, external dependencies."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import resources

import numpy as np

from limberjack import bill_of_materials as bill
from limberjack.engine.model.system import System
from limberjack.fmu.description.content import Content, flag, text, tool
from limberjack.fmu.description.notes import (
    external_dependencies,
    licence_notes,
    limits,
    numerics,
    reference_notes,
    usage_note,
    zeromq_licences,
)
from limberjack.fmu.description.pages import chart, code, escape, folded, page, section, table
from limberjack.fmu.description.reference import Reference
from limberjack.fmu.variables.variable import Variable
from limberjack.version import __version__

FOLDER = "documentation"
BILL = "extra/org.limberjack/sbom.cdx.json"
#: groups with more variables than this are folded at first; drawings of trees stop indenting at this depth
_OPEN_ROWS, _DEEPEST = 60, 16
#: curves in the chart of the reference result
_CURVES = 6


def files(content: Content, reference: Reference, diagram: bytes) -> dict[str, bytes]:
    """All files of the folder, name inside the FMU → bytes; `diagram` is the PNG that index.html shows."""
    listed = {
        f"{FOLDER}/index.html": index(content, reference),
        f"{FOLDER}/diagram.png": diagram,
        f"{FOLDER}/fmi-ls-ref.txt": reference_notes(content, reference).encode(),
        f"{FOLDER}/licenses/license.txt": licence_notes(content).encode(),
        f"{FOLDER}/licenses/apache-2.0.txt": resources.files("limberjack").joinpath("LICENSE").read_bytes(),
        BILL: bill_of_materials(content),
    }
    if content.coupling == "process":
        listed[f"{FOLDER}/externalDependencies.txt"] = external_dependencies(content).encode()
        listed |= {f"{FOLDER}/licenses/{name}": body.encode() for name, body in zeromq_licences().items()}
    return listed


def bill_of_materials(content: Content) -> bytes:
    """The parts of Limberjack and of third parties that the FMU contains, as CycloneDX."""
    parts = [bill.limberjack(__version__), *bill.linked(content.platforms)]
    if content.coupling == "process":
        parts += [bill.LIBZMQ, bill.LIBSODIUM]
    return bill.document({"type": "application", "name": text(content.system.name)}, parts)


def index(content: Content, reference: Reference) -> bytes:
    """The page documentation/index.html."""
    body = "\n".join(
        (
            _head(content),
            '<figure><img src="diagram.png" alt="The model\'s bodies, hinges and nodes at the initial coordinates">'
            "<figcaption>The model at its initial coordinates: hinges are circles, named nodes are dots.</figcaption>"
            "</figure>",
            section("At a glance", _glance(content)),
            section("Bodies", _tree(content.system)),
            section("Variables", *_variables(content)),
            section("How to simulate", _usage(content)),
            section("Numerics", numerics(content)),
            section("Reference result", _reference(content, reference)),
            section("Limits", limits(content)),
            section("More", _links(content)),
        )
    )
    return page(f"{text(content.system.name)} (FMU)", body)


def _head(content: Content) -> str:
    kinds = ["Model Exchange"] if content.has_model_exchange else []
    coupling = "engine inside" if content.coupling == "embedded" else "needs an engine process"
    chips = [f"FMI {content.fmi}", "Co-Simulation", *kinds, coupling, f"step {content.dt:g} s", content.integrator]
    labels = "".join(f'<span class="chip">{escape(chip)}</span>' for chip in (*chips, *content.platforms))
    lead = f"Multibody model, exported by {tool()}. SI units; angles in radians."
    return (
        f'<header><h1>{escape(text(content.system.name))}</h1>\n<p class="lead">{escape(lead)}</p>\n{labels}</header>'
    )


def _gravity(system: System) -> str:
    gravity = ", ".join(f"{g:g}" for g in system.gravity)
    if system.central is None:
        return f"[{gravity}] m/s²"
    return f"central, {system.central.mu:g} m³/s², {'with' if system.central.gradient else 'without'} gradient"


def _devices(system: System) -> str:
    sampled = sum(sensor.errors is not None for sensor in system.sensors)
    driven = sum(actuator.motor is not None for actuator in system.actuators)
    return f"{sampled}, {driven}, {sum(thruster.has_valve for thruster in system.thrusters)}"


def _glance(content: Content) -> str:
    system = content.system
    by_causality = {
        kind: sum(1 for variable in content.variables if variable.causality == kind)
        for kind in ("input", "output", "parameter")
    }
    moving = sum(1 for body in system.own_bodies if body.hinge.nv)
    rows = [
        ("Bodies", f"{len(system.own_bodies)}, on {moving} moving hinges"),
        *([("Flexible bodies", str(len(system.flexible_names)))] if system.flexible_names else []),
        ("Coordinates, velocities", f"{system.nq}, {system.nv}"),
        *([("Closed loops", str(len(system.loops)))] if system.loops else []),
        *([("Instruments, motors, valves", _devices(system))] if system.has_devices else []),
        ("Mass", f"{system.mass:.6g} kg"),
        ("Gravity", _gravity(system)),
        ("Inputs, outputs, parameters", ", ".join(str(count) for count in by_causality.values())),
        ("Default experiment", f"0 to {content.experiment.stop_time:g} s, step {content.experiment.step_size:g} s"),
    ]
    if content.has_model_exchange:
        rows.append(("Event indicators", str(len(content.indicators))))
    return table(("", ""), [(escape(name), escape(value)) for name, value in rows])


def _tree(system: System) -> str:
    """One row per body, indented by its depth; not nested, so that long chains stay readable."""
    depth: dict[str | None, int] = {None: -1}
    rows = []
    for body in system.bodies:
        hinge = body.hinge
        depth[body.name] = depth[hinge.parent] + 1
        indent = 1.1 * min(depth[body.name], _DEEPEST)
        name = f'<span style="padding-left:{indent:.1f}rem">{code(text(body.name))}</span>'
        parent = "inertial frame" if hinge.parent is None else text(hinge.parent)
        dofs = f"{hinge.nv}" if hinge.nv else ""
        rows.append(
            (name, f"{body.inertia.mass:.6g}", code(text(hinge.name)), escape(hinge.type), dofs, escape(parent))
        )
    listed = table(("Body", "Mass, kg", "Hinge", "Type", "Degrees of freedom", "On"), rows, numeric=(1, 4))
    return listed if len(rows) <= _OPEN_ROWS else folded("All bodies", f"{len(rows)}", listed)


def _variables(content: Content) -> list[str]:
    """A foldable table for each kind of variable."""
    kinds: tuple[tuple[str, str, Callable[[Variable], bool]], ...] = (
        ("Inputs", "set by the importer, held between communication points", lambda v: v.causality == "input"),
        ("Outputs", "may be connected", lambda v: v.causality == "output"),
        ("Parameters", "tunable ones may change during the run", lambda v: v.causality == "parameter"),
        ("Others", "time, states, derivatives, event indicators", lambda v: v.causality in ("local", "independent")),
    )
    parts = []
    for title, remark, belongs in kinds:
        chosen = [(at, variable) for at, variable in enumerate(content.variables) if belongs(variable)]
        if chosen:
            head = ("Name", "Unit", "Start", "Range", "Value reference", "Description")
            listed = table(head, [_variable_row(at, variable) for at, variable in chosen], numeric=(2, 4))
            is_open = len(chosen) <= _OPEN_ROWS and title != "Others"
            parts.append(folded(f"{title} ({len(chosen)})", remark, listed, is_open=is_open))
    return parts


def _variable_row(at: int, variable: Variable) -> tuple[str, ...]:
    name = f"{variable.name}[{variable.size}]" if variable.array else variable.name
    unit = escape(variable.unit) + (f" ({escape(variable.display_unit)})" if variable.display_unit else "")
    if variable.boolean:
        unit = "Boolean"
    if variable.boolean:
        start = "".join(flag(bool(value)) for value in variable.start)
    else:
        start = ", ".join(f"{value:g}" if isinstance(value, float) else text(value) for value in variable.start[:4])
    if len(variable.start) > 4:
        start += ", …"
    low, high = variable.minimum, variable.maximum
    limits_text = "" if math.isinf(low) and math.isinf(high) else f"{low:g} to {high:g}".replace("inf", "∞")
    kind = " (fixed)" if variable.causality == "parameter" and variable.variability == "fixed" else ""
    return code(name), unit, escape(start), limits_text, str(at), escape(text(variable.description)) + kind


def _usage(content: Content) -> str:
    name, experiment = f"{content.identifier}.fmu", content.experiment
    other = "" if not content.has_model_exchange else "  # or fmi_type='ModelExchange'"
    scalars = [v for v in content.variables if v.causality == "input" and not (v.array or v.boolean)]
    given = f"start_values={{'{scalars[0].name}': 0.1}}, " if scalars and "'" not in scalars[0].name else ""
    lines = [
        "from fmpy import simulate_fmu",
        "",
        "result = simulate_fmu(",
        f"    '{name}', {given}stop_time={experiment.stop_time:g}, output_interval={experiment.step_size:g},",
        f"    fmi_type='CoSimulation',{other}",
        ")",
        "print(result.dtype.names)",
    ]
    shell = f"pip install fmpy\nfmpy simulate {name} --show-plot"
    words = (
        "<p>Any importer of this version of the standard will do. With FMPy, from the shell or from Python "
        "(the file name may be another):</p>"
    )
    return f"{words}\n<pre>{escape(shell)}</pre>\n<pre>{escape(chr(10).join(lines))}</pre>\n{usage_note(content)}"


def _reference(content: Content, reference: Reference) -> str:
    last = float(reference.values[-1, 0])
    words = (
        f"<p>{code('extra/org.fmi-standard.fmi-ls-ref/reference.csv')} holds the outputs from 0 to {last:g} s every "
        f"{reference.interval:g} s, computed by the engine with all start values and held inputs "
        f"(Co-Simulation, communication step {reference.step:g} s).</p>"
    )
    if reference.ending:
        words += f"<p>It ends before the default experiment does. {escape(text(reference.ending))}</p>"
    return words + _curves(content, reference)


def _curves(content: Content, reference: Reference) -> str:
    """A chart of the hinge angles, or else distances, that move most; "" if there is nothing to draw."""
    for unit in ("rad", "m"):
        curves = []
        for at in content.outputs:
            variable = content.variables[at]
            if variable.unit == unit and not variable.array and variable.name.startswith("hinge."):
                values = reference.values[:, reference.names.index(variable.name)]
                curves.append((variable.name, values))
        if curves and len(reference.values) > 1:
            curves.sort(key=lambda curve: -float(np.ptp(curve[1])))
            return f"<figure>{chart(reference.values[:, 0], curves[:_CURVES], unit)}</figure>"
    return ""


def _links(content: Content) -> str:
    links = {"fmi-ls-ref.txt": "the reference result", "licenses/license.txt": "rights and licences"}
    if content.coupling == "process":
        links["externalDependencies.txt"] = "external dependencies"
    return "<ul>" + "".join(f'<li><a href="{name}">{title}</a></li>' for name, title in links.items()) + "</ul>"
