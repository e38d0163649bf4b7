"""Every number of a running simulation in one vector, by name: what devices send, records hold and criteria judge."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import UnknownNameError
from limberjack.engine.files.patterns import compiled
from limberjack.engine.model.catalogue.catalogue import WIRE, catalogue


class Signals:
    """The present values of a simulation.

    "time", then "q.<coordinate>", "v.<velocity>", "tau.<velocity>", "output.<output>" and "command.<command>".

    names, units : (n,) text, "" where there is no one unit
    vector : (n,) the values of the last `refresh`; the same array always
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, system = simulation, simulation.system
        listed = catalogue(system, *WIRE)
        self.names = tuple(number.id for number in listed)
        self.units = tuple(number.unit for number in listed)
        self.vector = np.zeros(len(self.names))
        self._places = {name: i for i, name in enumerate(self.names)}
        ends = np.cumsum([1, system.nq + system.nv, system.nv, len(simulation.output_names)])
        places = system.output_places.items()
        self._sensors = {f"output.{name}": (int(ends[2]) + start, size) for name, (start, size) in places}
        self._motion, self._tau, self._outputs = (self.vector[a:b] for a, b in itertools.pairwise(ends))
        self._commands = self.vector[ends[-1] :]

    def refresh(self) -> np.ndarray:
        """Read the simulation; returns `vector`."""
        self.vector[0] = self._simulation.time
        self._simulation.read(self._motion, self._tau, self._outputs)
        self._commands[:] = self._simulation.part("command")
        return self.vector

    def index(self, name: str) -> int:
        """Place of a signal. UnknownNameError with the nearest names."""
        if name in self._places:
            return self._places[name]
        alike = [f"'{known}'" for known in self.names if known.partition(".")[2] == name]
        if alike:
            raise UnknownNameError(f"no signal is called '{name}'; did you mean {' or '.join(alike)}?")
        part = [known for known in self.names if known.partition(".")[0] == name.partition(".")[0]]
        return arguments.index_of("signal", name, part or self.names)

    def select(self, patterns: Iterable[str]) -> np.ndarray:
        """Places (m,) of the signals that patterns (* and ?) match, in the order of `names`.

        UnknownNameError for a pattern that matches nothing.
        """
        chosen = np.zeros(len(self.names), dtype=bool)
        for pattern in patterns:
            match = compiled(pattern).match
            matches = np.array([match(name) is not None for name in self.names])
            start, size = self._sensors.get(pattern, (0, 0))  # a whole sensor: all its components
            matches[start : start + size] = True
            if not matches.any():
                self.index(pattern)
                raise UnknownNameError(f"no signal matches '{pattern}'.")
            chosen |= matches
        return np.flatnonzero(chosen)
