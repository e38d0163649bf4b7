"""Checks of actuators, commands and sensors against what they name, and of an FMU's patterns."""

from __future__ import annotations

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.files.patterns import PATTERN_REMEDY, pattern_fault
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Element
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.places import Locate, refuse
from limberjack.engine.model.system import Loop, System
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

_KINDS = {"joining loop": "loop that joins two frames", "motor": "drive with a motor"}


def check_actuators(system: System, locate: Locate) -> None:
    """Refuse unknown coordinates, wrong modes or gains."""
    quasi = {name for body in system.bodies if body.hinge.kind.quasi for name in body.hinge.velocity_names}
    known = set(system.velocity_names)
    for actuator in system.actuators:
        if actuator.coordinate not in known:
            what = f"actuator '{actuator.name}' drives '{actuator.coordinate}', which is not a velocity coordinate"
            refuse(actuator, "coordinate", what, _choose(system.velocity_names), locate)
        actuator.check(lambda field, what, remedy: refuse(actuator, field, what, remedy, locate))  # noqa: B023
        if actuator.mode == "servo" and actuator.coordinate in quasi:
            what = f"servo '{actuator.name}': the quasi-velocity '{actuator.coordinate}' has no position"
            refuse(actuator, "mode", what, "Use mode torque or velocity", locate)


def check_commands(system: System, locate: Locate) -> None:
    """Refuse actuators, loops and thrusters that take commands of the same name."""
    seen: dict[str, Actuator | Loop | Thruster | Element] = {}
    for taker in system.command_takers:
        for command in taker.command_names:
            if command in seen:
                first, second = (f"{type(item).__name__.lower()} '{item.name}'" for item in (seen[command], taker))
                what = f"{first} and {second} both take the command '{command}'"
                refuse(taker, "name", what, "Rename one of them", locate)
            seen[command] = taker


def check_held(system: System) -> None:
    """Refuse names of held coordinates and velocities that the model does not have."""
    where = system.source or f"system '{system.name}'"
    for field, known in (("held", system.coordinate_names), ("held_rates", system.velocity_names)):
        names = set(known)
        for name in getattr(system, field):
            if name not in names:
                what = f"'{name}' is to be held, but is not a {'coordinate' if field == 'held' else 'velocity'}"
                raise ModelError(what, where=f"{where}, {field}", remedy=_choose(known))


def check_sensors(system: System, locate: Locate) -> None:
    """Refuse unknown sensor types, targets that do not exist, and clashing output names."""
    targets = system.sensor_targets
    named = {kind: set(names) for kind, names in targets.items()}
    seen: dict[str, str] = {}
    for sensor in system.sensors:
        if sensor.type not in SENSOR_TYPES:
            what = f"sensor '{sensor.name}' has the unknown type '{sensor.type}'"
            refuse(sensor, "type", what, f"Use one of: {', '.join(SENSOR_TYPES)}", locate)
        kind = SENSOR_TYPES[sensor.type].target
        if sensor.target not in named[kind]:
            missing = _KINDS.get(kind, kind)
            what = f"sensor '{sensor.name}' of type {sensor.type} measures '{sensor.target}', which is not a {missing}"
            refuse(sensor, "target", what, _choose(targets[kind]) + _measured(sensor.target, named), locate)
        for suffix in SENSOR_TYPES[sensor.type].suffixes:
            output = sensor.name + suffix
            if output in seen:
                what = f"sensors '{seen[output]}' and '{sensor.name}' both have the output '{output}'"
                refuse(sensor, "name", what, "Rename one of the sensors", locate)
            seen[output] = sensor.name


def _measured(target: str, named: dict[str, set[str]]) -> str:
    """Which types measure what has this name, where there is something."""
    kind = next((kind for kind, names in named.items() if target in names), None)
    types = [name for name, each in SENSOR_TYPES.items() if each.target == kind]
    return f", or, for the {_KINDS.get(kind, kind)} '{target}', one of the types: {', '.join(types)}" if kind else ""


def check_interface(system: System) -> None:
    """Refuse patterns that no name can match; which names there are is known at the export."""
    where = (system.source or f"system '{system.name}'") + ", fmu"
    for group in ("inputs", "outputs", "parameters"):
        patterns = getattr(system.interface, group)
        for i, pattern in enumerate(patterns if isinstance(patterns, tuple) else ()):
            fault = pattern_fault(pattern) if isinstance(pattern, str) else f"{pattern!r:.60} is not text"
            if fault:
                raise ModelError(fault, where=f"{where}.{group}[{i}]", remedy=PATTERN_REMEDY)
        if patterns is not None and not isinstance(patterns, tuple):
            raise ModelError(
                f"{patterns!r:.60} is not a tuple of patterns", where=f"{where}.{group}", remedy="Give a tuple of texts"
            )


def _choose(names: tuple[str, ...]) -> str:
    return f"Name one of: {some_names(names)}" if names else "The model has none to name; remove it or add one"
