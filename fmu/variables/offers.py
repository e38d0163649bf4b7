"""Outputs, states, inputs and event indicators that a model can offer as variables; `selection.py` chooses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from limberjack.engine.model.build import new_state
from limberjack.engine.model.devices import Sensor
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.model.units import turning
from limberjack.engine.tables import plant as at
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from limberjack.fmu.variables.coordinates import (
    Command,
    Coordinate,
    Velocity,
    commands_of,
    coordinates_of,
    velocities_of,
)
from limberjack.fmu.variables.naming import derivative, element, place
from limberjack.fmu.variables.selection import Candidate
from limberjack.fmu.variables.units import TYPES
from limberjack.fmu.variables.variable import Region, Variable

#: sensor type → parts (leaf, words, components, declared type); others of one number are not listed
_SENSOR_PARTS: dict[str, tuple[tuple[str, str, int, str], ...]] = {
    "reaction": (("moment", "moment", 3, "Torque"), ("force", "force", 3, "Force")),
    "node_position": (("", "position", 3, "Distance"),),
    "node_orientation": (("", "orientation (quaternion w x y z)", 4, "QuaternionComponent"),),
    "node_angular_velocity": (("", "angular velocity", 3, "AngularVelocity"),),
    "node_linear_velocity": (("", "velocity", 3, "Velocity"),),
    "gyro": (("", "angular velocity in its own axes", 3, "AngularVelocity"),),
    "accelerometer": (("", "specific force in its own axes", 3, "Acceleration"),),
    "strain_energy": (("", "strain energy", 1, "Energy"),),
    "motor_current": (("", "current", 1, "Current"),),
    "motor_position": (("", "angle of the rotor", 1, "Angle"),),
    "motor_rate": (("", "rate of the rotor", 1, "AngularVelocity"),),
    "thrust": (("", "thrust", 1, "Force"),),
    "star_tracker": (
        ("", "attitude seen (quaternion w x y z)", 4, "QuaternionComponent"),
        ("valid", "whether it sees stars,", 1, ""),
    ),
    "sun_sensor": (
        ("", "direction to the sun in its own axes", 3, "DirectionComponent"),
        ("valid", "whether it sees the sun,", 1, ""),
    ),
    "loop_wrench": (("moment", "moment", 3, "Torque"), ("force", "force", 3, "Force")),
}
#: sensor type of a loop → words, declared types where it measures angles, distances, or either
_LOOP_SENSORS = {
    "loop_force": ("constraint force", "Torque", "Force", ""),
    "loop_residual": ("largest residual", "Angle", "Distance", ""),
    "loop_closed": ("whether it is closed,", "", "", ""),
    "loop_energy_loss": ("kinetic energy lost when it last closed,", "Energy", "Energy", "Energy"),
}
#: leaf, words, components, declared type, place in the node's row of `survey`, shown by default
_NODE_PARTS = (
    ("position", "position", 3, "Distance", 0, True),
    ("orientation", "orientation (quaternion w x y z)", 4, "QuaternionComponent", 3, False),
    ("angular_velocity", "angular velocity", 3, "AngularVelocity", 7, False),
    ("linear_velocity", "velocity", 3, "Velocity", 10, False),
)
#: of models with flexible bodies
_STRAIN = ("energy.strain", "strain energy of flexible bodies", 1, "Energy", 9, False)
_WHOLE = (
    ("energy.kinetic", "kinetic energy", 1, "Energy", 0, False),
    ("energy.potential", "potential energy", 1, "Energy", 1, False),
    ("energy.total", "kinetic, potential and strain energy", 1, "Energy", 2, True),
    ("momentum.angular", "angular momentum about the inertial origin", 3, "AngularMomentum", 3, False),
    ("momentum.linear", "linear momentum", 3, "Momentum", 6, False),
)


def typed(type_name: str) -> dict[str, Any]:
    """The fields of a Variable that its declared type gives; none for a mixed quantity."""
    if not type_name:
        return {}
    declared = TYPES[type_name]
    return {
        "type_name": type_name,
        "unit": declared.unit,
        "display_unit": declared.display_unit,
        "minimum": declared.minimum,
    }


def common_type(names: Iterable[str]) -> str:
    """The declared type that all elements of a vector share, else none."""
    found = set(names)
    return found.pop() if len(found) == 1 else ""


def spread(whole: Variable, arrays: bool, default: bool) -> list[Candidate]:
    """Candidates for a vector: one array, or a scalar for each element that also answers to the vector's name."""
    names = [element(whole.name, i) for i in range(whole.size)]
    if arrays:
        return [Candidate(replace(whole, array=True), tuple(names), default)]
    return [
        Candidate(
            replace(
                whole,
                name=name,
                description=f"{whole.description}, component {i + 1}",
                offset=whole.offset + i,
                size=1,
                start=whole.start[i : i + 1],
            ),
            (whole.name,),
            default,
        )
        for i, name in enumerate(names)
    ]


@dataclass
class Offers:
    """The candidates of one model. arrays : vectors stay whole; embedded : the engine is inside the FMU.

    Only a model without closed loops, instruments and motors can be integrated by an importer's solver, so only it has
    states and indicators.
    """

    system: System
    plant: Plant
    arrays: bool
    embedded: bool

    @property
    def exchange(self) -> bool:
        """Whether there is Model Exchange."""
        return self.embedded and not self.system.loops and not self.system.has_devices

    @cached_property
    def coordinates(self) -> list[Coordinate]:
        return coordinates_of(self.system)

    @cached_property
    def velocities(self) -> list[Velocity]:
        return velocities_of(self.system)

    @cached_property
    def commands(self) -> list[Command]:
        return commands_of(self.system)

    @cached_property
    def _start(self) -> np.ndarray:
        return new_state(self.plant, self.system)[at.S_Q :]

    def inputs(self) -> list[Candidate]:
        """The commands, each answering to "command" too; `whole_command` joins them."""
        return [
            Candidate(
                Variable(
                    command.name,
                    command.said,
                    Region.COMMAND,
                    i,
                    causality="input",
                    variability="discrete" if command.boolean else "continuous",
                    start=(command.start,),
                    boolean=command.boolean,
                    **typed(command.type_name),
                ),
                ("command",),
                True,
            )
            for i, command in enumerate(self.commands)
        ]

    @cached_property
    def drive_commands(self) -> int:
        """Number of commands of the drives, which come before those of the loops."""
        return sum(len(actuator.command_names) for actuator in self.system.actuators)

    def whole_command(self) -> Variable:
        """All commands of the drives as one array."""
        commands, names = self.commands[: self.drive_commands], self.system.command_names[: self.drive_commands]
        return Variable(
            "command",
            f"all commands: {', '.join(names)}",
            Region.COMMAND,
            0,
            size=len(commands),
            array=True,
            causality="input",
            start=tuple(command.start for command in commands),
            **typed(common_type(command.type_name for command in commands)),
        )

    def outputs(self) -> list[Candidate]:
        """States, their derivatives, forces, sensors, nodes, energy and momentum."""
        states = [*self._states(Region.Q), *self._states(Region.V)]
        if not self.embedded:
            return [*states, *self._aliases(), *self._forces(), *self._sensors()]
        rates = [*self._rates(Region.Q), *self._rates(Region.V)]
        return [
            *states,
            *rates,
            *self._aliases(),
            *self._forces(),
            *self._sensors(),
            *self._nodes(),
            *(part for row in self._whole for part in self._surveyed(row[0], row, 0)),
        ]

    def _state_rows(self, region: Region) -> list[tuple[str, str, str, str, float, str]]:
        """(name, words, type, type of the derivative, nominal, stops) of every coordinate or velocity."""
        if region is Region.Q:
            return [(c.name, c.said, c.type_name, c.rate_type, c.nominal, c.stops) for c in self.coordinates]
        return [(v.name, v.said, v.type_name, v.rate_type, 1.0, "") for v in self.velocities]

    def _states(self, region: Region) -> list[Candidate]:
        rows = self._state_rows(region)
        first = 0 if region is Region.Q else self.system.nq
        start = tuple(float(x) for x in self._start[first : first + len(rows)])
        whole = "q" if region is Region.Q else "v"
        if self.arrays:
            kind = typed(common_type(row[2] for row in rows))
            said = "all coordinates" if region is Region.Q else "all velocities"
            variable = Variable(whole, said, region, 0, len(rows), True, "output", start=start, **kind)
            elements = tuple(element(whole, i) for i in range(len(rows)))
            return [Candidate(variable, elements, True, self.exchange)] if rows else []
        return [
            Candidate(
                Variable(
                    name,
                    said + stops,
                    region,
                    i,
                    causality="output",
                    start=start[i : i + 1],
                    nominal=nominal,
                    **typed(kind),
                ),
                (whole,),
                True,
                self.exchange,
            )
            for i, (name, said, kind, _, nominal, stops) in enumerate(rows)
        ]

    def _rates(self, region: Region) -> list[Candidate]:
        """The derivatives of the states: always there with Model Exchange, outputs only if selected."""
        rows = self._state_rows(region)
        whole = "q" if region is Region.Q else "v"
        if not self.arrays:
            return [
                self._rate(region, i, name, said, typed(rate), 1, (derivative(whole),))
                for i, (name, said, _, rate, _, _) in enumerate(rows)
            ]
        kind = typed(common_type(row[3] for row in rows))
        return [self._rate(region, 0, whole, whole, kind, len(rows), ())] if rows else []

    def _rate(
        self, region: Region, i: int, name: str, said: str, kind: dict[str, Any], size: int, answers: tuple[str, ...]
    ) -> Candidate:
        """The derivative of the coordinates (dq/dt) or velocities (observed) from i on."""
        vector, first = (Region.RATE, 0) if region is Region.Q else (Region.OBSERVED, self.system.nv)
        variable = Variable(
            derivative(name),
            f"time derivative of the {said}" if answers else f"time derivative of {said}",
            vector,
            first + i,
            size,
            self.arrays,
            causality="output",
            derivative_of=name if self.exchange else "",
            **kind,
        )
        return Candidate(variable, answers, needed=self.exchange)

    def _aliases(self) -> Iterator[Candidate]:
        """With whole vectors, every coordinate and velocity under its own name as well."""
        for region in (Region.Q, Region.V) if self.arrays else ():
            for i, (name, said, kind, _, nominal, stops) in enumerate(self._state_rows(region)):
                variable = Variable(name, said + stops, region, i, causality="output", nominal=nominal, **typed(kind))
                yield Candidate(variable, default=True)

    def _forces(self) -> Iterator[Candidate]:
        if self.arrays and self.velocities:
            kind = typed(common_type(v.force_type for v in self.velocities))
            said = "all forces of hinges and drives"
            whole = Variable("tau", said, Region.OBSERVED, 0, len(self.velocities), causality="output", **kind)
            yield from spread(whole, True, True)
        for j, v in enumerate(self.velocities):
            said = f"{v.force_word} of springs, dampers, stops and drives {v.where}"
            variable = Variable(v.force, said, Region.OBSERVED, j, causality="output", **typed(v.force_type))
            yield Candidate(variable, () if self.arrays else ("tau",), True)

    def _sensors(self) -> Iterator[Candidate]:
        offset = 2 * self.system.nv
        for sensor in self.system.sensors:
            for leaf, said, size, kind in self.sensor_parts(sensor):
                sampled = sensor.errors is not None
                said = f"{'instrument' if sampled else 'sensor'} '{sensor.name}': {said} of '{sensor.target}'"
                name = place("sensor", sensor.name, leaf)
                whole = Variable(name, said, Region.OBSERVED, offset, size, causality="output", **typed(kind))
                if sampled:  # it changes with the engine's steps alone
                    whole = replace(whole, variability="discrete")
                if sensor.type == "loop_closed" or leaf == "valid":
                    whole = replace(whole, variability="discrete", boolean=True)
                yield from [Candidate(whole, default=True)] if size == 1 else spread(whole, self.arrays, True)
                offset += size

    def sensor_parts(self, sensor: Sensor) -> tuple[tuple[str, str, int, str], ...]:
        """(leaf of the name, words, numbers, declared type) of each quantity that a sensor gives."""
        target, _, _ = SENSOR_TYPES[sensor.type]
        if target == "coordinate":
            coordinate = self.coordinates[self.system.coordinate_names.index(sensor.target)]
            return (("", "position", 1, coordinate.type_name),)
        if target == "velocity":
            velocity = self.velocities[self.system.velocity_names.index(sensor.target)]
            effort = sensor.type == "effort"
            return (("", "effort" if effort else "rate", 1, velocity.force_type if effort else velocity.type_name),)
        if sensor.type in _LOOP_SENSORS:
            said, angle, distance, either = _LOOP_SENSORS[sensor.type]
            (loop,) = (loop for loop in self.system.loops if loop.name == sensor.target)
            turns = turning(loop, self.system)
            if sensor.type == "loop_force" and loop.joins:
                turns = False  # the size of the force between its bodies
            return (("", said, 1, either if turns is None else angle if turns else distance),)
        return _SENSOR_PARTS[sensor.type]

    @property
    def _whole(self) -> tuple[tuple[str, str, int, str, int, bool], ...]:
        return (*_WHOLE, _STRAIN) if self.system.flexible_names else _WHOLE

    def _nodes(self) -> Iterator[Candidate]:
        bodies = len(self.system.bodies)
        attached = {body.name for body in self.system.bodies if body.hinge.attachment is not None}
        for i, node in enumerate(self.system.node_names):
            shown = i >= bodies or node in attached
            for row in _NODE_PARTS:
                yield from self._surveyed(
                    place("node", node, row[0]),
                    (row[0], f"{row[1]} of node '{node}', inertial frame", *row[2:5], row[5] and shown),
                    at.SURVEY_HEAD + at.SURVEY_NODE * i,
                )

    def _surveyed(self, name: str, row: tuple[str, str, int, str, int, bool], first: int) -> list[Candidate]:
        _, said, size, kind, offset, default = row
        whole = Variable(name, said, Region.SURVEYED, first + offset, size, causality="output", **typed(kind))
        return [Candidate(whole, default=default)] if size == 1 else spread(whole, self.arrays, default)

    def indicators(self) -> list[Variable]:
        """Event indicators of the stops and of the drives that have a limit."""
        if not self.exchange:
            return []
        nv, drives = self.system.nv, self.system.actuators
        dof, actuator = self.plant.sections["dof"], self.plant.sections["actuator"]
        listed = [
            Variable(f"{v.stem}{side}_stop", f"positive while the {side} stop {v.where} acts", Region.SWITCH, j)
            for first, side, column in ((0, "upper", at.D_UPPER), (nv, "lower", at.D_LOWER))
            for j, v in enumerate(self.velocities, first)
            if math.isfinite(dof[j - first, column])
        ]
        for first, side in ((2 * nv, "above"), (2 * nv + len(drives), "below")):
            listed += [
                Variable(
                    place("actuator", drive.name, f"{side}_limit"),
                    f"positive while the force of drive '{drive.name}' is {side} its limit",
                    Region.SWITCH,
                    first + a,
                )
                for a, drive in enumerate(drives)
                if math.isfinite(actuator[a, at.AC_LIMIT])
            ]
        return listed
