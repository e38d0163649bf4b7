"""`limberjack info` and `check`: the contents of a model."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from limberjack.commands.console import open_console
from limberjack.commands.info_contacts import contact_table, doubled, overlaps
from limberjack.commands.info_loops import group_labels, plan_of, print_loops
from limberjack.commands.tables import new_table
from limberjack.engine.common.errors import ModelWarning
from limberjack.engine.model.build import build
from limberjack.engine.model.catalogue.catalogue import SIGNALS, catalogue
from limberjack.engine.model.catalogue.parameters import parameters as declared
from limberjack.engine.model.elements.alarm import Bounds
from limberjack.engine.model.elements.facts import facts_of
from limberjack.engine.model.load import load
from limberjack.engine.model.system import Body, Dof, Hinge, System
from limberjack.engine.tables.measures import MEASURES
from limberjack.engine.tables.sensor_types import SENSOR_TYPES


def info(model: Path, load_options: dict[str, Any]) -> None:
    """Print the tree of bodies, its loops and the tables of coordinates, actuators, contacts and sensors."""
    system = load(model, **load_options)
    console = open_console()
    console.print(
        f"{system.name}: {_bodies(system)}, {system.nq} coordinates, {system.nv} velocities, "
        f"mass {system.mass:g} kg, {_gravity(system)}, step {system.dt:g} s, {system.integrator}"
    )
    made = plan_of(system)
    console.print(_tree(system, group_labels(made)))
    if system.loops:
        print_loops(console, made)
    if system.nv:
        console.print(_coordinates(system))
    if system.actuators:
        console.print(_actuators(system))
    if system.thrusters:
        console.print(_thrusters(system))
    if system.rotors:
        console.print(_rotors(system))
    if system.elements:
        console.print(_elements(system))
    if system.contacts:
        console.print(contact_table(system))
    if system.sensors:
        console.print(_sensors(system))
    if system.alarms:
        console.print(_alarms(system))


def signals(model: Path, load_options: dict[str, Any]) -> None:
    """Print the name of every signal, as in alarms, scenarios and telemetry, with unit, range and meaning."""
    table = new_table("signals", "name", "unit", "range", "meaning", folding=(0, 3))
    for number in catalogue(load(model, **load_options), *SIGNALS):
        bounded = math.isfinite(number.low) or math.isfinite(number.high)
        limits = f"{number.low:g} … {number.high:g}" if bounded else "-"
        table.add_row(number.id, number.unit or "-", limits, number.text)
    open_console().print(table)


def parameters(model: Path, load_options: dict[str, Any]) -> None:
    """Print the name of every parameter that scenarios and clients may set, with unit, value and meaning."""
    system = load(model, **load_options)
    plant, known = build(system), {each.name: each for each in declared(system)}
    table = new_table("parameters", "name", "unit", "value", "meaning", folding=(0, 3))
    for name, place in plant.parameters.items():
        unit = MEASURES[known[name].measure].unit if known[name].measure else ""
        table.add_row(name, unit or "-", f"{plant.floats[place]:g}", known[name].text)
    open_console().print(table)


def check(model: Path, load_options: dict[str, Any]) -> int:
    """Read the model, list its warnings, and report that it can be simulated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        system = load(model, **load_options)
    texts = [*system.warnings, *doubled(system), *overlaps(system)]
    for text in texts:
        print(f"warning: {text}")
    count = len(texts)
    print(f"{model}: good; {_bodies(system)}, {system.nv} velocities, {count} warning{'s' * (count != 1)}")
    return 0


def _bodies(system: System) -> str:
    """The number of bodies, as text."""
    count, flexible = len(system.own_bodies), len(system.flexible_names)
    return (f"{count} bodies" if count != 1 else "1 body") + (f" ({flexible} flexible)" if flexible else "")


def _gravity(system: System) -> str:
    if system.central is None or np.any(system.gravity):
        uniform = f"gravity {_numbers(system.gravity)} m/s²"
    else:
        uniform = ""
    if system.central is None:
        return uniform
    kind = "with" if system.central.gradient else "without"
    central = (
        f"central gravity of {system.central.mu:g} m³/s² {kind} gradient, centre {_numbers(system.central.position)} m"
    )
    return f"{uniform}, {central}" if uniform else central


def _numbers(vector: np.ndarray) -> str:
    return " ".join(f"{x:g}" for x in vector)


def _tree(system: System, labels: dict[str, str]) -> Tree:
    root = Tree("inertial frame")
    places: dict[str | None, Tree] = {None: root}
    for body in system.bodies:
        places[body.name] = places[body.hinge.parent].add(_body_line(system, body, labels.get(body.name, "")))
    for node in system.nodes:
        places[node.body].add(Text(f"node {node.name}", "dim"))
    return root


def _body_line(system: System, body: Body, label: str) -> Text:
    size = "flexible" if body.name in system.flexible_names else f"{body.inertia.mass:g} kg"
    return Text.assemble(f"{body.name}  ", (_what_it_is(body, size), "dim"), f"  {label}" * bool(label))


def _what_it_is(body: Body, size: str) -> str:
    hinge = body.hinge
    if hinge.modes is not None:
        return f"{_modes(hinge)}, {size}"
    if hinge.attachment is not None:
        return "node that moves with the modes"
    kept = " (merged)" if hinge.type == "fixed" and hinge.merge else ""
    name = f" '{hinge.name}'" if hinge.name != body.name else ""
    return f"{hinge.type}{name}{kept}, {size}"


def _modes(hinge: Hinge) -> str:
    """The number of modes of a flexible body, and their frequencies, as text."""
    hertz = sorted(math.sqrt(dof.stiffness) / math.tau for dof in hinge.dofs)
    if not hertz:
        return "no modes"
    if len(hertz) == 1:
        return f"1 mode, {hertz[0]:.4g} Hz"
    return f"{len(hertz)} modes, {hertz[0]:.4g} … {hertz[-1]:.4g} Hz"


def _coordinates(system: System) -> Table:
    heads = "name", "hinge", "limits", "stiffness", "damping", "friction", "armature"
    table = new_table("velocities", *heads, folding=(0,), sparing=(2, 3, 4, 5, 6))
    for body in system.bodies:
        for i, name in enumerate(body.hinge.velocity_names):
            dof = body.hinge.dofs[i] if body.hinge.dofs else Dof()
            numbers = (f"{x:g}" for x in (dof.stiffness, dof.damping, dof.friction, dof.armature))
            limits = _limits(dof)
            if limits.endswith("*"):
                table.caption = "limits marked * have a stop whose stiffness is chosen at build"
            table.add_row(name, body.hinge.type, limits, *numbers)
    return table


def _limits(dof: Dof) -> str:
    if math.isinf(dof.lower) and math.isinf(dof.upper):
        return "-"
    return f"{dof.lower:g} … {dof.upper:g}{'*' if dof.limit_stiffness is None else ''}"


def _actuators(system: System) -> Table:
    heads = "name", "drives", "mode", "kp", "kd", "limit", "largest rate", "commands"
    table = new_table("actuators", *heads, folding=(0, 1, 2, 7), sparing=(3, 4, 5, 6))
    for a in system.actuators:
        numbers = ("-" if math.isinf(x) else f"{x:g}" for x in (a.kp, a.kd, a.limit, a.max_rate))
        mode = f"{a.mode}, motor" if a.motor is not None else a.mode
        table.add_row(a.name, a.coordinate, mode, *numbers, ", ".join(a.command_names))
    return table


def _thrusters(system: System) -> Table:
    heads = "name and command", "body", "position, m", "direction", "thrust, N", "minimum, N"
    table = new_table("thrusters", *heads, folding=(0, 1))
    for t in system.thrusters:
        numbers = _numbers(t.position), _numbers(t.direction), f"{t.thrust:g}", f"{t.minimum:g}"
        table.add_row(t.name, t.body, *numbers)
    return table


def _rotors(system: System) -> Table:
    table = new_table("rotors of constant momentum", "name", "body", "momentum, N·m·s")
    for rotor in system.rotors:
        table.add_row(rotor.name, rotor.body, _numbers(rotor.momentum))
    return table


def _elements(system: System) -> Table:
    """Elements at nodes: the numbers of each, and the commands that it takes."""
    table = new_table("elements", "name", "kind", "nodes", "numbers", "commands", folding=(0, 2, 3, 4))
    for element in system.elements:
        shown = {known.key: getattr(element, known.name) for known in facts_of(type(element)) if known.fact.column >= 0}
        numbers = (f"{key} {value:g}" for key, value in shown.items() if isinstance(value, float))
        row = ", ".join(element.nodes), ", ".join(numbers), ", ".join(element.command_names)
        table.add_row(element.name, element.TABLE.replace("_", " "), *row)
    return table


def _sensors(system: System) -> Table:
    table = new_table("sensors", "name", "type", "target", "components", folding=(0, 2, 3))
    for sensor in system.sensors:
        kind = f"{sensor.type}, instrument" if sensor.errors is not None else sensor.type
        components = (suffix for suffix in SENSOR_TYPES[sensor.type].suffixes if suffix)
        table.add_row(sensor.name, kind, sensor.target, ", ".join(components))
    return table


def _alarms(system: System) -> Table:
    table = new_table("alarms", "signal", "warning outside", "critical outside", folding=(0,))
    for alarm in system.alarms:
        table.add_row(alarm.signal, _bounds(alarm.warning), _bounds(alarm.critical))
    return table


def _bounds(bounds: Bounds) -> str:
    return "" if bounds == Bounds() else f"{bounds.lower:g} to {bounds.upper:g}"
