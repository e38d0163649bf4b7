"""Mappings of names to values of a running simulation: commands, parameters, outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from functools import cached_property
from itertools import islice

import numpy as np

from limberjack.engine.api.running import Running, Steered
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.catalogue.catalogue import catalogue
from limberjack.engine.model.catalogue.number import Number
from limberjack.engine.model.catalogue.parameters import Parameter, parameters
from limberjack.engine.tables import plant as layout

#: entries that are shown of a mapping; models have thousands
_SHOWN = 20


class Commands(MutableMapping[str, float]):
    """Command name → value, in the State vector."""

    def __init__(self, simulation: Steered) -> None:
        self._simulation = simulation
        self._index = {name: i for i, name in enumerate(simulation.system.command_names)}

    def _place(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._index:
            arguments.index_of("command", name, self._index)
        return self._index[name]

    def __getitem__(self, name: str) -> float:
        return float(self._simulation.part("command")[self._place(name)])

    def __setitem__(self, name: str, value: float) -> None:
        number = arguments.vector(f"command['{name}']", value, ())
        self._simulation.part("command")[self._place(name)] = number
        self._simulation.changed()

    def __delitem__(self, name: str) -> None:
        raise ArgumentError("a command cannot be removed; set it instead.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return _shown(self)


class Parameters(MutableMapping[str, float]):
    """Parameter name → value, in the Plant; not part of a snapshot.

    Limits, saturations, voltages and currents may be infinite, lower limits -inf: there is no such bound then.
    """

    def __init__(self, simulation: Steered) -> None:
        self._simulation = simulation
        self._index = simulation.plant.parameters
        self._loaded: dict[str, float] = {}

    def _place(self, name: str) -> int:
        if not isinstance(name, str) or name not in self._index:
            arguments.index_of("parameter", name, self._index)
        return self._index[name]

    def __getitem__(self, name: str) -> float:
        return float(self._simulation.plant.floats[self._place(name)])

    def __setitem__(self, name: str, value: float) -> None:
        number = self.check(name, value)
        self._loaded.setdefault(name, self[name])
        self._write({name: number})

    def check(self, name: str, value: float) -> float:
        """The value as this parameter can have it. ArgumentError if there is none, or it cannot."""
        self._place(name)
        number, allowed = self._number(name, value), self.declared[name]
        word = name.rsplit(".", 1)[1]
        if allowed.whole and not (number == int(number) and 0.0 <= number <= (allowed.most or 0.0)):
            raise ArgumentError(f"parameter 'noise.seed' must be a whole number from 0 to 2³² - 1; got {number:g}.")
        if not allowed.positive and number < allowed.low:
            raise ArgumentError(f"parameter '{name}' must not be negative; got {number:g}.")
        if allowed.most is not None and number > allowed.most:
            raise ArgumentError(f"parameter '{name}' must be at most {allowed.most:g}; got {number:g}.")
        if word in ("lower", "upper"):
            self._check_limit(name, word, number)
        if allowed.positive and number <= 0.0:
            raise ArgumentError(f"parameter '{name}' must be positive; got {number:g}.")
        return number

    def kept(self) -> tuple[dict[str, float], np.ndarray]:
        """For `take`: the values that those set since had when loaded, and the Plant's numbers."""
        return dict(self._loaded), self._simulation.plant.floats.copy()

    def take(self, kept: tuple[dict[str, float], np.ndarray]) -> None:
        """Take what another simulation of the same model kept."""
        self._loaded, self._simulation.plant.floats[:] = dict(kept[0]), kept[1]

    def restore(self) -> dict[str, float]:
        """Give every parameter the value that it was loaded with; returns those that were set since, by name."""
        loaded, self._loaded = self._loaded, {}
        self._write(loaded)
        return loaded

    def _write(self, values: Mapping[str, float]) -> None:
        plant = self._simulation.plant
        for name, number in values.items():
            plant.floats[self._index[name]] = number
        entries().refresh(plant.ints, plant.floats)
        self._simulation.changed()

    @cached_property
    def declared(self) -> dict[str, Parameter]:
        """What is known of each: unit, range, text."""
        return {each.name: each for each in parameters(self._simulation.system)}

    def _number(self, name: str, value: float) -> float:
        """The value as a number: finite, or infinite where that means that there is no bound."""
        if isinstance(value, (float, np.floating)) and value == self.declared[name].endless:
            return float(value)
        return float(arguments.vector(f"parameters['{name}']", value, ()))

    def _check_limit(self, name: str, word: str, number: float) -> None:
        """Limits stay in order, and a hinge built without limits has no stop whose place could be set."""
        row = self._index[name] - (layout.D_LOWER if word == "lower" else layout.D_UPPER)
        dof = self._simulation.plant.floats[row : row + layout.DOF]
        if dof[layout.D_LIMIT_K] == 0.0:
            raise ArgumentError(
                f"parameter '{name}' cannot be set: the model gives no limits there, so its stop has no stiffness; "
                "give limits, or limit_stiffness, in the model."
            )
        lower, upper = (number, dof[layout.D_UPPER]) if word == "lower" else (dof[layout.D_LOWER], number)
        if not lower < upper:
            raise ArgumentError(f"parameter '{name}' = {number:g} leaves no travel between {lower:g} and {upper:g}.")

    def __delitem__(self, name: str) -> None:
        raise ArgumentError("a parameter cannot be removed; set it instead.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return _shown(self)


class Outputs(Mapping[str, "float | np.ndarray"]):
    """Output name → value at the present state: sensors ("load"), also by component ("load.nx"), nodes, energies."""

    def __init__(self, simulation: Running) -> None:
        self._simulation = simulation
        self._places = simulation.system.output_places
        self._sensors = tuple(sensor.name for sensor in simulation.system.sensors)

    @cached_property
    def _surveyed(self) -> dict[str, slice]:
        """Name → its numbers in `Simulation.survey`: what each node has, energies, momentum."""
        system = self._simulation.system
        energies = sorted(catalogue(system, "energy"), key=lambda number: number.place)
        found: dict[str, slice] = {}
        for number in (*catalogue(system, "node"), *energies, *catalogue(system, "momentum")):
            name = _surveyed_as(number)
            first = found[name].start if name in found else number.place
            found[name] = slice(first, number.place + 1)
        return found

    def place(self, name: str) -> tuple[str, slice]:
        """Where an output is: "sensor" and its part of the output vector, or "survey" and its part of that."""
        if isinstance(name, str) and name in self._places:
            start, size = self._places[name]
            return "sensor", slice(start, start + size)
        if not isinstance(name, str) or name not in self._surveyed:
            arguments.index_of("output", name, list(self))
        return "survey", self._surveyed[name]

    def __getitem__(self, name: str) -> float | np.ndarray:
        which, columns = self.place(name)
        values = (self._simulation.output_vector if which == "sensor" else self._simulation.survey())[columns]
        return values if len(values) > 1 else float(values[0])

    def __iter__(self) -> Iterator[str]:
        yield from self._sensors
        yield from self._surveyed

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return _shown(self)


def _shown(values: Mapping[str, float | np.ndarray]) -> str:
    """The first entries, as those of a dict, and how many there are."""
    some = ", ".join(f"'{name}': {_text(values[name])}" for name in islice(values, _SHOWN))
    return f"{{{some}{f', … {len(values)} in all' if len(values) > _SHOWN else ''}}}"


def _surveyed_as(number: Number) -> str:
    """The output that a number of a survey is part of: nodes' velocities, and momentum, are [angular, linear]."""
    kind, owner, leaf = number.path
    if kind == "node":
        return f"{owner}.{'velocity' if leaf.endswith('velocity') else leaf}"
    return kind if kind == "momentum" else number.id


def _text(value: float | np.ndarray) -> str:
    """A number, or an array on one line."""
    return str(value) if isinstance(value, float) else np.array2string(value, precision=6, max_line_width=1000)


def assign(parameters: MutableMapping[str, float], values: Mapping[str, float]) -> None:
    """Set those parameters that differ; limits that only fit together in the end are tried again after the others.

    Raises ArgumentError for one that is unknown, or that the model refuses in any order.
    """
    left = {name: value for name, value in values.items() if parameters[name] != value}
    while left:
        refused: dict[str, float] = {}
        for name, value in left.items():
            try:
                parameters[name] = value
            except ArgumentError:
                refused[name] = value
        if len(refused) == len(left):
            name, value = refused.popitem()
            parameters[name] = value
        left = refused
