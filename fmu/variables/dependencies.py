"""Which variables of an FMU depend on which, for its model structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from limberjack.engine.model.catalogue.catalogue import catalogue
from limberjack.engine.model.catalogue.number import Number
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.flexible import modes_of
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from limberjack.fmu.variables.element_influences import NOTHING, Known, Knowns, commands_of
from limberjack.fmu.variables.influences import Influences, union
from limberjack.fmu.variables.variable import Variable

#: unknown → {known: kind}, places in the list of variables; kind "dependent" or "constant" (a constant factor)
Dependencies = dict[int, Mapping[int, str]]

#: sensor types of a velocity → what of velocity j they depend on, and whether they simply are one known
_VELOCITY_SENSORS: dict[str, Callable[[Influences, int], tuple[Knowns, bool]]] = {
    "rate": lambda _, j: (frozenset({(Region.V, j)}), True),
    "effort": lambda influences, j: (influences.applied(j), False),
}

#: sensor types of a node → what of the node they depend on
_NODE_SENSORS: dict[str, Callable[[Influences, int], Knowns]] = {
    "node_position": Influences.node_position,
    "node_orientation": Influences.node_orientation,
    "node_angular_velocity": Influences.node_angular_velocity,
    "node_linear_velocity": Influences.node_linear_velocity,
    "gyro": Influences.node_angular_velocity,
    "accelerometer": Influences.node_acceleration,
    "star_tracker": lambda influences, node: influences.node_angular_velocity(node) | influences.sun,
    "sun_sensor": lambda influences, node: influences.node_orientation(node) | influences.sun,
    "magnetometer": lambda influences, node: (
        influences.node_orientation(node)
        | union(commands_of(influences.system, each) for each in influences.system.magnetic_fields)
    ),
}


def dependencies_of(
    system: System, plant: Plant, variables: Sequence[Variable], *, initial: bool = False, parameters: bool = True
) -> Dependencies:
    """The knowns of every output, state derivative and event indicator: inputs, states and, if asked for, parameters.

    initial : during initialisation, where all that has an exact start value is known; else while the model runs, where
        coordinates and velocities are known only as states of Model Exchange
    parameters : FMI 3 counts them among the knowns while the model runs, FMI 2 does not; both do during initialisation

    Knowns that are not listed have no influence.
    """
    places = _knowns(variables, initial, parameters or initial)
    shown = frozenset(
        variable.offset + i
        for variable in variables
        if variable.region is Region.PARAMETER
        for i in range(variable.size)
    )
    numbers = _Numbers(Influences(system, plant, shown), initial)
    shared: dict[tuple[Knowns, bool], Mapping[int, str]] = {}
    found: Dependencies = {}
    for unknown, variable in enumerate(variables):
        if variable.causality == "output" or variable.derivative_of or variable.region is Region.SWITCH:
            key = numbers.of(variable)
            if key not in shared:
                kind = "constant" if key[1] else "dependent"
                listed = sorted({places[known] for known in key[0] if known in places})
                shared[key] = dict.fromkeys(listed, kind)
            found[unknown] = shared[key]
    return found


def _knowns(variables: Sequence[Variable], initial: bool, parameters: bool) -> dict[Known, int]:
    """Every number that the importer gives → the variable that holds it."""
    causes = ("input", "parameter") if parameters else ("input",)
    states = {variable.derivative_of for variable in variables}
    return {
        (variable.region, variable.offset + i): place
        for place, variable in enumerate(variables)
        if (variable.is_state and (initial or variable.name in states)) or variable.causality in causes
        for i in range(variable.size)
    }


class _Numbers:
    """Dependencies of the numbers in each region; the flag says that each is one of the knowns itself."""

    def __init__(self, influences: Influences, initial: bool) -> None:
        self._influences = influences
        self._sensors = _sensor_outputs(influences, initial)
        self._nodes: dict[tuple[int, str], Knowns] = {}

    def of(self, variable: Variable) -> tuple[Knowns, bool]:
        """Of all numbers of a variable together."""
        each = [self._one(variable.region, variable.offset + i) for i in range(variable.size)]
        return union(knowns for knowns, _ in each), all(plain for _, plain in each)

    def _one(self, region: Region, i: int) -> tuple[Knowns, bool]:
        if region in (Region.Q, Region.V):
            return frozenset({(region, i)}), True
        if region is Region.RATE:
            return self._influences.rate(i)
        if region is Region.OBSERVED:
            return self._observed(i)
        return (self._surveyed(i) if region is Region.SURVEYED else self._switch(i)), False

    def _observed(self, i: int) -> tuple[Knowns, bool]:
        nv = self._influences.system.nv
        if i < nv:
            return self._influences.applied(i), False
        return (self._influences.acceleration(i - nv), False) if i < 2 * nv else self._sensors[i - 2 * nv]

    def _surveyed(self, i: int) -> Knowns:
        known, (group, name, leaf) = self._influences, self._survey[i].path
        if group == "node":
            return self._node(self._places[name], leaf)
        if group == "momentum":
            return known.angular_momentum if name == "angular" else known.linear_momentum
        parts = {"kinetic": (known.kinetic,), "potential": (known.potential,), "strain": (known.all_strain,)}
        return union(parts.get(name, (known.kinetic, known.potential, known.all_strain)))

    @cached_property
    def _survey(self) -> dict[int, Number]:
        return {number.place: number for number in catalogue(self._influences.system, "energy", "momentum", "node")}

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._influences.system.node_names)}

    def _node(self, node: int, kind: str) -> Knowns:
        """Of one part of a node's motion; nodes on the same body share it."""
        known, row = self._influences, int(self._influences.plant.sections["node_row"][node, 0])
        if (row, kind) not in self._nodes:
            found = {
                "position": known.node_position,
                "orientation": known.node_orientation,
                "angular_velocity": known.node_angular_velocity,
                "linear_velocity": known.node_linear_velocity,
            }[kind](node)
            self._nodes[row, kind] = found
        return self._nodes[row, kind]

    def _switch(self, i: int) -> Knowns:
        nv, drives = self._influences.system.nv, len(self._influences.system.actuators)
        if i < 2 * nv:
            return self._influences.stop(i % nv, "upper" if i < nv else "lower")
        return self._influences.drive((i - 2 * nv) % drives)


def _sensor_outputs(influences: Influences, initial: bool) -> Sequence[tuple[Knowns, bool]]:
    """Every number that a sensor gives, in the order of the outputs. An instrument shows a sample, which only steps
    change; before the first step it shows the present value, with its errors."""
    listed: list[tuple[Knowns, bool]] = []
    for sensor in influences.system.sensors:
        count = len(SENSOR_TYPES[sensor.type].suffixes)
        if sensor.errors is None:
            listed += [_ideal(influences, sensor)] * count
        elif initial:
            listed += [(_ideal(influences, sensor)[0] | influences.instrument(sensor.name), False)] * count
        else:
            listed += [(NOTHING, False)] * count
    return listed


def _ideal(influences: Influences, sensor: Sensor) -> tuple[Knowns, bool]:
    """What the numbers of an ideal sensor depend on, and whether each simply is one known."""
    system, target = influences.system, SENSOR_TYPES[sensor.type].target
    if target == "coordinate":
        return influences.measured(system.coordinate_names.index(sensor.target))
    if target == "velocity":
        return _VELOCITY_SENSORS[sensor.type](influences, system.velocity_names.index(sensor.target))
    if target == "motor":
        return influences.motor_sensor([a.name for a in system.actuators].index(sensor.target), sensor.type)
    return _of_place(influences, sensor, target), False


def _of_place(influences: Influences, sensor: Sensor, target: str) -> Knowns:
    """What a sensor of a thruster, a contact, a loop, a flexible body, a hinge or a node depends on."""
    system = influences.system
    if target == "thruster":
        return influences.thrust([thruster.name for thruster in system.thrusters].index(sensor.target))
    if target == "contact" or sensor.type in ("loop_closed", "loop_energy_loss"):
        return NOTHING  # they change with the steps
    if target in ("loop", "joining loop"):
        return influences.loop([loop.name for loop in system.loops].index(sensor.target))
    if target == "flexible body":
        return influences.strain(influences.plant.hinge_rows[modes_of(sensor.target)][0] - 1)
    if target == "hinge":
        return influences.reaction(influences.plant.hinge_rows[sensor.target][0])
    return _NODE_SENSORS[sensor.type](influences, system.node_names.index(sensor.target))
