"""The catalogue: every number of a model once. FMU, telemetry, test bench, wire and command line read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from limberjack.engine.common.arguments import index_of
from limberjack.engine.model.arguments import system_of
from limberjack.engine.model.catalogue.commands import commands
from limberjack.engine.model.catalogue.motion import (
    accelerations,
    coordinate_rates,
    coordinates,
    forces,
    freedoms,
    velocities,
)
from limberjack.engine.model.catalogue.number import NO_LIMITS, POSITIVE, TRUTH, Number
from limberjack.engine.model.catalogue.readings import outputs
from limberjack.engine.model.device_tables import drive_places
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import System
from limberjack.engine.tables import drives as dr
from limberjack.engine.tables.loops import SW_CLOSED, SW_LOSS, SWITCH
from limberjack.engine.tables.measures import POSITION, RATE, of_motion
from limberjack.engine.tables.plant import SURVEY_HEAD, SURVEY_NODE

#: energy → text, place in a survey
_ENERGIES = {
    "kinetic": ("kinetic energy", 0),
    "potential": ("potential energy", 1),
    "strain": ("strain energy of flexible bodies", 9),
    "total": ("kinetic, potential and strain energy", 2),
}
#: momentum → text, measure, place in a survey
_MOMENTA = {
    "angular": ("angular momentum about the inertial origin", "AngularMomentum", 3),
    "linear": ("linear momentum", "Momentum", 6),
}
#: what a node has → text, measure, components, place in its row of a survey
_OF_NODES = {
    "position": ("position", "Distance", "xyz", 0),
    "orientation": ("orientation (quaternion w x y z)", "QuaternionComponent", "wxyz", 3),
    "angular_velocity": ("angular velocity", "AngularVelocity", "xyz", 7),
    "linear_velocity": ("velocity", "Velocity", "xyz", 10),
}
#: states of a motor, of its rotor, of a valve: last word of the name, text, measure, place
_MOTOR_STATES: tuple[tuple[str, str, str, int], ...] = (("current", "current", "Current", dr.MX_CURRENT),)
_ROTOR_STATES = (
    ("rotor_position", "position of the rotor, seen at the joint,", POSITION, dr.MX_ANGLE),
    ("rotor_rate", "rate of the rotor, seen at the joint,", RATE, dr.MX_RATE),
)
_VALVE_STATES: tuple[tuple[str, str, str, int], ...] = (
    ("flow", "present force", "Force", dr.U_FLOW),
    ("thrust", "mean force in the last step", "Force", dr.U_THRUST),
)


def _time(system: System) -> Iterator[Number]:
    yield Number("time", "", ("time", "", ""), "simulated time", "time", 0, "Time", "", *POSITIVE, 0.0)


def _energies(system: System) -> Iterator[Number]:
    for name, (text, place) in _ENERGIES.items():
        limits = POSITIVE if name in ("kinetic", "strain") else NO_LIMITS
        yield Number("energy", name, ("energy", name, ""), text, "survey", place, "Energy", "", *limits)


def _momenta(system: System) -> Iterator[Number]:
    for name, (text, measure, first) in _MOMENTA.items():
        path = ("momentum", name, "")
        for place, axis in enumerate("xyz", first):
            yield Number("momentum", f"{name}.{axis}", path, text, "survey", place, measure, axis)


def _nodes(system: System) -> Iterator[Number]:
    for i, node in enumerate(system.node_names):
        for leaf, (text, measure, components, place) in _OF_NODES.items():
            path, said = ("node", node, leaf), f"{text} of node '{node}', inertial frame"
            for at, component in enumerate(components, SURVEY_HEAD + SURVEY_NODE * i + place):
                yield Number("node", f"{node}.{leaf}.{component}", path, said, "survey", at, measure, component)


def _loops(system: System) -> Iterator[Number]:
    """The states of loops that may be closed and released."""
    for row, loop in enumerate(loop for loop in system.loops if loop.switchable):
        name, at = loop.name, SWITCH * row
        path, text = ("loop", name, "is_closed"), f"whether loop '{name}' is closed"
        yield Number("loop", f"{name}.is_closed", path, text, "switch", at + SW_CLOSED, "", "", *TRUTH, truth=True)
        path, text = ("loop", name, "energy_loss"), f"kinetic energy lost when loop '{name}' last closed"
        yield Number("loop", f"{name}.energy_loss", path, text, "switch", at + SW_LOSS, "Energy")


def _devices(system: System) -> Iterator[Number]:
    """The states of motors and valves."""
    along = {freedom.name: freedom for freedom in freedoms(system)}
    for element, at in drive_places(system):
        kind, what, rows = "thruster", f"of the valve of thruster '{element.name}'", _VALVE_STATES
        if isinstance(element, Actuator):
            kind, what, rows = "actuator", f"of the motor of drive '{element.name}'", _MOTOR_STATES
            if element.motor is not None and element.motor.stiffness > 0.0:  # else the rotor turns with the joint
                turns = along[element.coordinate].turns
                rows += tuple((leaf, text, of_motion(pair, turns), i) for leaf, text, pair, i in _ROTOR_STATES)
        for leaf, text, measure, place in rows:
            name, path = f"{element.name}.{leaf}", (kind, element.name, leaf)
            yield Number("device", name, path, f"{text} {what}", "drives", at + place, measure, element=element)


#: groups in their order, with what each holds and what lists its numbers
GROUPS: dict[str, tuple[str, Callable[[System], Iterator[Number]]]] = {
    "time": ("simulated time", _time),
    "q": ("coordinates of the hinges", coordinates),
    "v": ("velocities of the hinges", velocities),
    "tau": ("forces of hinges and actuators", forces),
    "output": ("sensor outputs", outputs),
    "command": ("commands held", commands),
    "energy": ("energy of the whole system", _energies),
    "momentum": ("momentum of the whole system about the inertial origin", _momenta),
    "qdot": ("time derivatives of the coordinates", coordinate_rates),
    "vdot": ("accelerations", accelerations),
    "node": ("motion of the nodes in the inertial frame", _nodes),
    "loop": ("states of loops that may be closed and released", _loops),
    "device": ("states of motors and valves", _devices),
}
#: the groups that an engine sends and a test bench records, and with what follows from them those that alarms, records
#: and consoles name by `Number.id`
WIRE = ("time", "q", "v", "tau", "output", "command")
SIGNALS = (*WIRE, "energy", "momentum")


def catalogue(system: System, *groups: str) -> tuple[Number, ...]:
    """Every number of a model, in the order of `GROUPS`: name, unit, range, text, and where it is.

        for number in limberjack.catalogue(system, "q", "output"):
            print(number.id, number.unit, number.low, number.high, number.text)

    groups : only these, in this order. Places in the State of a simulation are those of `simulation.system`, as delays
    of valves count steps. Raises ArgumentError if `system` is not a System, UnknownNameError for an unknown group.
    """
    checked = system_of(system)
    for group in groups:
        index_of("group of quantities", group, GROUPS)
    return tuple(number for group in groups or GROUPS for number in GROUPS[group][1](checked))


def signal_names(system: System, *groups: str) -> tuple[str, ...]:
    """The names of signals: `Number.id` of these groups, of SIGNALS without any."""
    return tuple(number.id for number in catalogue(system, *(groups or SIGNALS)))


def units(system: System, group: str) -> tuple[str, ...]:
    """The unit of each number of a group."""
    return tuple(number.unit for number in catalogue(system, group))
