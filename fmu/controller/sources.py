"""The sources of a controller's inputs in a simulation, and the targets of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError

#: a name of the simulation, a constant, a function of the simulation, or a list with one of these for each element
Source = str | float | np.ndarray | Callable[[Simulation], ArrayLike] | Sequence[Any]
#: a command name, or a list with one for each element
Target = str | Sequence[str]

#: size of a signal that has not been read yet
UNKNOWN = -1
_Q, _V, _COMMAND, _TAU, _SENSOR = "q", "v", "command", "tau", "sensor"


@dataclass(frozen=True)
class Signal:
    """A quantity of a simulation: `size` numbers from `start` of the vector `kind`, or what `read` returns."""

    kind: str
    start: int
    size: int
    read: Callable[[Simulation], ArrayLike] | None = None


def signals_of(simulation: Simulation) -> dict[str, list[Signal]]:
    """Name → the signals of that name; more than one where a model uses a name twice.

    Names: "time"; coordinates; velocities with ".rate" behind, and alone where no coordinate is called so; "q", "v",
    "tau"; sensors and their components; "command.NAME"; nodes' ".position", ".orientation", ".velocity"; energies and
    momentum.
    """
    system = simulation.system
    found: dict[str, list[Signal]] = {}

    def add(
        name: str, kind: str, start: int, size: int = 1, read: Callable[[Simulation], ArrayLike] | None = None
    ) -> None:
        found.setdefault(name, []).append(Signal(kind, start, size, read))

    for i, name in enumerate(system.coordinate_names):
        add(name, _Q, i)
    for i, name in enumerate(system.velocity_names):
        add(f"{name}.rate", _V, i)
        if name not in system.coordinate_names:
            add(name, _V, i)
    for i, name in enumerate(system.command_names):
        add(f"command.{name}", _COMMAND, i)
    for name, kind, size in (("q", _Q, system.nq), ("v", _V, system.nv), ("tau", _TAU, system.nv)):
        add(name, kind, 0, size)
    for name, (start, size) in system.output_places.items():
        add(name, _SENSOR, start, size)
    add("time", "read", 0, 1, lambda sim: sim.time)
    _add_outputs(simulation, add)
    return found


def _add_outputs(simulation: Simulation, add: Callable[..., None]) -> None:
    """Add the outputs of `simulation.output` besides sensors."""
    for name in simulation.output:
        if name not in simulation.system.output_places:
            add(name, "read", 0, UNKNOWN, lambda sim, name=name: sim.output[name])


def find(simulation: Simulation, signals: Mapping[str, list[Signal]], name: str, label: str) -> Signal:
    """The one signal of this name."""
    if name not in signals:
        try:
            arguments.index_of("signal of the simulation", name, signals)
        except ArgumentError as error:
            raise type(error)(f"{label}: {error}") from None
    if len(signals[name]) > 1:
        raise ArgumentError(
            f"{label}: the name '{name}' means {len(signals[name])} things in this model; rename one of them, or give "
            "a callable of the simulation."
        )
    signal = signals[name][0]
    if signal.read is not None and signal.size == UNKNOWN:
        signal = replace(signal, size=int(np.size(signal.read(simulation))))
    return signal


@dataclass
class _Gather:
    """Elements that are copied from one vector of the simulation."""

    places: list[int] = field(default_factory=list)
    picks: list[int] = field(default_factory=list)


class Reader:
    """Fills one vector of numbers from a simulation: `values` (n,).

    wanted : (label, number of elements, source) each
    """

    def __init__(self, simulation: Simulation, wanted: Sequence[tuple[str, int, Source]]) -> None:
        self.values = np.zeros(sum(size for _, size, _ in wanted))
        #: elements with SI values of the simulation, in contrast to a user's constants and callables
        self.physical = np.zeros(len(self.values), dtype=bool)
        self._simulation = simulation
        self._signals = signals_of(simulation)
        self._gathers: dict[str, _Gather] = {}
        self._calls: list[tuple[str, slice, Callable[[Simulation], ArrayLike]]] = []
        start = 0
        for label, size, source in wanted:
            self._plan(label, start, size, source)
            start += size
        self._copies = self._prepare()

    def _plan(self, label: str, start: int, size: int, source: Source) -> None:
        """Plan how to read the `size` numbers from `start`."""
        span = slice(start, start + size)
        if isinstance(source, str):
            self._plan_signal(label, span, find(self._simulation, self._signals, source, label), source)
        elif callable(source):
            self._calls.append((label, span, source))
        elif isinstance(source, Sequence) and any(isinstance(part, str) or callable(part) for part in source):
            if len(source) != size:
                raise ArgumentError(f"{label}: the list has {len(source)} entries, but {size} numbers are needed.")
            for i, part in enumerate(source):
                self._plan(f"{label}[{i}]", start + i, 1, part)
        else:
            self.values[span] = numbers(label, source, size)

    def _plan_signal(self, label: str, span: slice, signal: Signal, name: str) -> None:
        size = span.stop - span.start
        if signal.size != size:
            raise ArgumentError(f"{label}: '{name}' has {signal.size} numbers, but {size} are needed.")
        self.physical[span] = True
        if signal.read is not None:
            self._calls.append((f"{label} ('{name}')", span, signal.read))
            return
        gather = self._gathers.setdefault(signal.kind, _Gather())
        gather.places += range(span.start, span.stop)
        gather.picks += range(signal.start, signal.start + size)

    def _prepare(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(vector, picks, places) of each copy; the vectors are views of the simulation's own state where there are."""
        system = self._simulation.system
        self._motion = np.zeros(system.nq + system.nv)
        self._tau, self._sensors = np.zeros(system.nv), np.zeros(len(self._simulation.output_names))
        self._observes = bool({_TAU, _SENSOR} & set(self._gathers))
        vectors = {
            _Q: self._simulation.part("q"),
            _V: self._simulation.part("v"),
            _COMMAND: self._simulation.part("command"),
            _TAU: self._tau,
            _SENSOR: self._sensors,
        }
        return [
            (vectors[kind], np.array(gather.picks), np.array(gather.places)) for kind, gather in self._gathers.items()
        ]

    def read(self) -> np.ndarray:
        """The numbers at the present state; the same array each time."""
        if self._observes:
            self._simulation.read(self._motion, self._tau, self._sensors)
        for vector, picks, places in self._copies:
            self.values[places] = vector[picks]
        for label, span, call in self._calls:
            self.values[span] = numbers(label, call(self._simulation), span.stop - span.start)
        return self.values


def numbers(label: str, value: Any, size: int) -> np.ndarray:
    """`value` as `size` finite numbers, row by row if it is an array of several dimensions."""
    given = np.asarray(value)
    if given.size != size:
        raise ArgumentError(f"{label}: {size} numbers are needed, got {given.size}.")
    return arguments.vector(label, given, given.shape).reshape(size)


class Writer:
    """Puts numbers into a simulation's commands.

    wanted : (label, number of elements, target) each; the numbers come in this order
    """

    def __init__(self, simulation: Simulation, wanted: Sequence[tuple[str, int, Target]]) -> None:
        self._simulation = simulation
        places = []
        for label, size, target in wanted:
            names = [target] if isinstance(target, str) else list(target)
            if len(names) != size:
                raise ArgumentError(f"{label}: {len(names)} command names are given, but it has {size} numbers.")
            places += [_command(simulation, label, name) for name in names]
        for place in places:
            if places.count(place) > 1:
                name = simulation.command_names[place]
                raise ArgumentError(f"command '{name}' is written by two outputs; connect it to one of them.")
        self.places = np.array(places, dtype=np.intp)
        self._commands = simulation.part("command")

    def write(self, values: np.ndarray) -> None:
        """Set the commands."""
        self._commands[self.places] = values
        self._simulation.changed()


def _command(simulation: Simulation, label: str, name: str) -> int:
    try:
        return arguments.index_of("command", name, simulation.command_names)
    except ArgumentError as error:
        raise type(error)(f"{label}: {error}") from None
