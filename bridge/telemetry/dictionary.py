"""The telemetry dictionary: every published quantity with its identifier, unit, range, alarm limits and group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from limberjack.engine import arguments
from limberjack.engine.simulation import Simulation
from limberjack.engine.system.units import hinge_units

Limits = tuple[float, float]
NO_LIMITS: Limits = (-math.inf, math.inf)

#: groups in the order of the sample's vector, with what each holds
GROUPS = {
    "time": "simulated time",
    "q": "coordinates of the hinges",
    "v": "velocities of the hinges",
    "tau": "forces of hinges and actuators",
    "output": "sensor outputs",
    "command": "commands held",
    "energy": "energy of the whole system",
    "momentum": "momentum of the whole system about the inertial origin",
    "engine": "health of the engine",
}
_WHOLE = (
    ("energy.kinetic", "J", "kinetic energy"),
    ("energy.potential", "J", "potential energy of gravity and springs"),
    ("energy.strain", "J", "strain energy of flexible bodies"),
    ("energy.total", "J", "total energy"),
    *((f"momentum.angular.{axis}", "N·m·s", f"angular momentum, inertial {axis}") for axis in "xyz"),
    *((f"momentum.linear.{axis}", "N·s", f"linear momentum, inertial {axis}") for axis in "xyz"),
)
_HEALTH = (
    ("engine.running", "", "1 while the engine steps, 0 after a failure"),
    ("engine.step", "", "steps since the start"),
    ("engine.real_time_factor", "", "simulated over real time, free-running"),
    ("engine.overruns", "", "cycles that started after their deadline, free-running"),
    ("engine.late_max", "s", "worst delay of a cycle, free-running"),
    ("engine.lost", "s", "time given up because the engine could not keep pace, free-running"),
    ("engine.received", "", "requests received"),
    ("engine.refused", "", "requests refused"),
)


@dataclass(frozen=True)
class Quantity:
    """One number of the telemetry.

    id : stable identifier, "q.elbow": the group, then the name in the model; letters, digits and . _ -
    unit : SI symbol, "" where it has none;  description : one line for people
    low, high : what it can be by the model (stops of a hinge, limits of a drive), infinite where nothing bounds it
    warning, critical : outside these it is in alarm; infinite where there is none
    """

    id: str
    group: str
    unit: str
    description: str
    low: float = -math.inf
    high: float = math.inf
    warning: Limits = NO_LIMITS
    critical: Limits = NO_LIMITS

    def severity(self, value: float) -> int:
        """0 normal, 1 warning, 2 critical; a value that is not a number is critical."""
        if not self.critical[0] <= value <= self.critical[1]:
            return 2
        return 0 if self.warning[0] <= value <= self.warning[1] else 1


@dataclass(frozen=True)
class Dictionary:
    """All quantities of a model, in the order of the vector of a sample (`sample.py`).

    model, model_hash : which model, as the engine tells them
    """

    model: str
    model_hash: str
    quantities: tuple[Quantity, ...] = field(repr=False)

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self.quantities)

    def __len__(self) -> int:
        return len(self.quantities)

    def __getitem__(self, id: str) -> Quantity:
        return self.quantities[self.place(id)]

    @cached_property
    def places(self) -> dict[str, int]:
        """Identifier → place in the vector of a sample."""
        return {quantity.id: i for i, quantity in enumerate(self.quantities)}

    def place(self, id: str) -> int:
        """Place of a quantity. UnknownNameError with the nearest identifiers."""
        if id in self.places:
            return self.places[id]
        return arguments.index_of("quantity", id, tuple(self.places))

    @cached_property
    def groups(self) -> dict[str, slice]:
        """Group → its places."""
        found, start = {}, 0
        for group, members in itertools.groupby(self.quantities, lambda quantity: quantity.group):
            stop = start + len(list(members))
            found[group], start = slice(start, stop), stop
        return found


def dictionary_of(simulation: Simulation) -> Dictionary:
    """The dictionary of a model: the wire's q, v, tau, outputs and command, then what is computed from them."""
    return Dictionary(simulation.system.name, simulation.model_hash, tuple(_quantities(simulation)))


def _quantities(simulation: Simulation) -> Iterator[Quantity]:
    system, units = simulation.system, hinge_units(simulation.system)
    yield Quantity("time", "time", "s", GROUPS["time"])
    for name, unit in zip(system.coordinate_names, units["q"], strict=True):
        yield Quantity(f"q.{name}", "q", unit, f"coordinate {name}")
    for name, unit in zip(system.velocity_names, units["v"], strict=True):
        yield Quantity(f"v.{name}", "v", unit, f"velocity {name}")
    for name, unit in zip(system.velocity_names, units["tau"], strict=True):
        yield Quantity(f"tau.{name}", "tau", unit, f"force along {name}")
    for name, unit in zip(simulation.output_names, simulation.output_units, strict=True):
        yield Quantity(f"output.{name}", "output", unit, f"output {name}")
    for name in simulation.command_names:
        yield Quantity(f"command.{name}", "command", "", f"command {name}")
    for id, unit, description in (*_WHOLE, *_HEALTH):
        yield Quantity(id, id.split(".")[0], unit, description)
