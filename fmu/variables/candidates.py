"""Outputs, states, inputs and event indicators that a model can offer as variables; `selection.py` chooses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any

from limberjack.engine.model.catalogue.catalogue import catalogue
from limberjack.engine.model.catalogue.motion import Freedom, freedoms
from limberjack.engine.model.catalogue.number import Number
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from limberjack.engine.tables import plant as at
from limberjack.fmu.variables.naming import derivative, element, named, place
from limberjack.fmu.variables.selection import Candidate
from limberjack.fmu.variables.units import TYPES
from limberjack.fmu.variables.variable import Variable

#: vector of the catalogue → the region that holds it; the others are observed together
_REGIONS = {"q": Region.Q, "v": Region.V, "qdot": Region.RATE, "survey": Region.SURVEYED, "command": Region.COMMAND}
#: groups that are kept whole as one array, with its description
_WHOLE = {"q": "all coordinates", "v": "all velocities", "tau": "all forces of hinges and drives"}


def typed(measure: str) -> dict[str, Any]:
    """The fields of a Variable that its declared type gives; none for a mixed quantity."""
    if not measure:
        return {}
    unit, display_unit, minimum = TYPES[measure].unit, TYPES[measure].display_unit, TYPES[measure].minimum
    return {"type_name": measure, "unit": unit, "display_unit": display_unit, "minimum": minimum}


def vectors(numbers: Iterable[Number]) -> Iterator[tuple[Number, ...]]:
    """The numbers of each vector together."""
    return (tuple(each) for _, each in groupby(numbers, key=lambda number: number.path))


def spread(whole: Variable, arrays: bool, default: bool) -> list[Candidate]:
    """Candidates for a vector: one array, or a scalar for each element that also answers to the vector's name."""
    names = tuple(element(whole.name, i) for i in range(whole.size))
    if arrays:
        return [Candidate(replace(whole, array=True), names, default)]
    found = []
    for i, name in enumerate(names):
        said, start = f"{whole.description}, component {i + 1}", whole.start[i : i + 1]
        one = replace(whole, name=name, description=said, offset=whole.offset + i, size=1, start=start)
        found.append(Candidate(one, (whole.name,), default))
    return found


@dataclass
class Candidates:
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
    def along(self) -> dict[str, Freedom]:
        """Velocity → what it moves along."""
        return {freedom.name: freedom for freedom in freedoms(self.system)}

    @cached_property
    def _groups(self) -> dict[str, tuple[Number, ...]]:
        groups = ("q", "v", "qdot", "vdot", "tau", "output", "command")
        return {group: catalogue(self.system, group) for group in groups}

    @cached_property
    def drive_commands(self) -> int:
        """Number of commands of the drives, which come before those of the loops."""
        return sum(isinstance(command.element, Actuator) for command in self._groups["command"])

    def inputs(self) -> list[Candidate]:
        """The commands, each answering to "command" too; `whole_command` joins them."""
        commands = self._groups["command"]
        return [
            Candidate(self._variable(each, causality="input", start=_start(each)), ("command",), True)
            for each in commands
        ]

    def whole_command(self) -> Variable:
        """All commands of the drives as one array."""
        commands = self._groups["command"][: self.drive_commands]
        said = f"all commands: {', '.join(command.name for command in commands)}"
        return self._array("command", said, commands, causality="input", start=_start(*commands))

    def outputs(self) -> list[Candidate]:
        """States, their derivatives, forces, sensors, nodes, energy and momentum."""
        states = [*self._states("q"), *self._states("v")]
        rates = [*self._rates("q", "qdot"), *self._rates("v", "vdot")] if self.embedded else []
        surveyed = [*self._nodes(), *self._totals()] if self.embedded else []
        return [*states, *rates, *self._aliases(), *self._forces(), *self._sensors(), *surveyed]

    def _variable(self, *numbers: Number, **more: Any) -> Variable:
        """The variable of a number, or of the numbers of one vector: an output unless `more` says otherwise."""
        first, measures = numbers[0], {number.measure for number in numbers}
        observed = {"tau": 0, "vdot": self.system.nv, "output": 2 * self.system.nv}
        fields: dict[str, Any] = {
            "name": named(first),
            "description": first.text + _stops(first),
            "region": _REGIONS.get(first.vector, Region.OBSERVED),
            "offset": observed.get(first.vector, 0) + first.place,
            "size": len(numbers),
            "causality": "output",
            "variability": "discrete" if first.truth or first.sampled else "continuous",
            "boolean": first.truth,
        }
        return Variable(**fields | typed(measures.pop() if len(measures) == 1 else "") | more)

    def _array(self, name: str, said: str, numbers: Sequence[Number], **more: Any) -> Variable:
        """Several numbers of a vector as one array, of the declared type that they share, else of none."""
        return self._variable(*numbers, name=name, description=said, array=True, **more)

    def _spread(self, numbers: Sequence[Number], default: bool) -> list[Candidate]:
        """Candidates for the numbers of one vector."""
        whole = self._variable(*numbers)
        return spread(whole, self.arrays, default) if len(numbers) > 1 else [Candidate(whole, default=default)]

    def _states(self, group: str) -> Iterator[Candidate]:
        numbers = self._groups[group]
        if self.arrays and numbers:
            elements = tuple(element(group, i) for i in range(len(numbers)))
            whole = self._array(group, _WHOLE[group], numbers, start=_start(*numbers))
            yield Candidate(whole, elements, True, self.exchange)
        for number in numbers if not self.arrays else ():
            variable = self._variable(number, start=_start(number), nominal=_nominal(number))
            yield Candidate(variable, (group,), True, self.exchange)

    def _rates(self, group: str, rates: str) -> Iterator[Candidate]:
        """The derivatives of the states: always there with Model Exchange, outputs only if selected."""
        numbers, whole = self._groups[rates], derivative(group)
        if self.arrays and numbers:
            said, of = f"time derivative of {group}", group * self.exchange
            yield Candidate(self._array(whole, said, numbers, derivative_of=of), needed=self.exchange)
        for number in numbers if not self.arrays else ():
            variable = self._variable(number, derivative_of=place(*number.path) * self.exchange)
            yield Candidate(variable, (whole,), needed=self.exchange)

    def _aliases(self) -> Iterator[Candidate]:
        """With whole vectors, every coordinate and velocity under its own name as well."""
        for number in (*self._groups["q"], *self._groups["v"]) if self.arrays else ():
            yield Candidate(self._variable(number, nominal=_nominal(number)), default=True)

    def _forces(self) -> Iterator[Candidate]:
        forces = self._groups["tau"]
        if self.arrays and forces:
            yield from spread(self._array("tau", _WHOLE["tau"], forces), True, True)
        for force in forces:
            yield Candidate(self._variable(force), () if self.arrays else ("tau",), True)

    def _sensors(self) -> Iterator[Candidate]:
        for reading in vectors(self._groups["output"]):
            yield from self._spread(reading, True)

    def _nodes(self) -> Iterator[Candidate]:
        """Positions of nodes are shown by default; of a body's own frame only where a flexible body carries it."""
        plain = {body.name for body in self.system.bodies if body.hinge.attachment is None}
        for numbers in vectors(catalogue(self.system, "node")):
            _, node, leaf = numbers[0].path
            yield from self._spread(numbers, leaf == "position" and node not in plain)

    def _totals(self) -> Iterator[Candidate]:
        """Energies and momenta in the order of a survey; strain energy where something can be strained."""
        numbers = sorted(catalogue(self.system, "energy", "momentum"), key=lambda number: number.place)
        for each in vectors(numbers):
            if each[0].id != "energy.strain" or self.system.flexible_names:
                yield from self._spread(each, each[0].id == "energy.total")

    def indicators(self) -> list[Variable]:
        """Event indicators of the stops and of the drives that have a limit."""
        if not self.exchange:
            return []
        nv, drives = self.system.nv, self.system.actuators
        dof, actuator = self.plant.sections["dof"], self.plant.sections["actuator"]
        listed = []
        for first, side, column in ((0, "upper", at.D_UPPER), (nv, "lower", at.D_LOWER)):
            for j, along in enumerate(self.along.values()):
                if math.isfinite(dof[j, column]):
                    name, said = along.tuned(f"{side}_stop"), f"positive while the {side} stop {along.where} acts"
                    listed.append(Variable(place(*name), said, Region.SWITCH, first + j))
        for first, side in ((2 * nv, "above"), (2 * nv + len(drives), "below")):
            for a, drive in enumerate(drives):
                if math.isfinite(actuator[a, at.AC_LIMIT]):
                    said = f"positive while the force of drive '{drive.name}' is {side} its limit"
                    name = ("actuator", drive.name, f"{side}_limit")
                    listed.append(Variable(place(*name), said, Region.SWITCH, first + a))
        return listed


def _start(*numbers: Number) -> tuple[float, ...]:
    return tuple(number.start for number in numbers if number.start is not None)


def _stops(number: Number) -> str:
    """A text about the stops of a coordinate."""
    low, high, unit = number.low, number.high, number.unit
    if number.group != "q" or (math.isinf(low) and math.isinf(high)):
        return ""
    if math.isinf(low):
        return f", stop above {high:g} {unit}"
    return f", stop below {low:g} {unit}" if math.isinf(high) else f", stops at {low:g} and {high:g} {unit}"


def _nominal(number: Number) -> float:
    """The expected size of a coordinate: the farther of its two stops."""
    farthest = max(abs(number.low), abs(number.high))
    return farthest if number.group == "q" and math.isfinite(farthest) and farthest > 0.0 else 1.0
