"""`cosimulate`: one simulation with several controllers, each at its own period."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.api.stepping import MOST_STEPS
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.fmu.controller.sources import Reader, Source, find, signals_of

#: names to log, or name → source, whose number of elements is found by reading it once
Log = Sequence[str] | Mapping[str, str | Callable[[Simulation], ArrayLike]]
#: most numbers in one table, 1.6 GB
MOST_NUMBERS = 200_000_000
_MULTIPLE = 1e-9


class Controller(ABC):
    """A participant of `cosimulate`, which exchanges with a simulation at its own period.

    name : for messages;  period : s
    """

    name: str
    period: float

    @property
    @abstractmethod
    def simulation(self) -> Simulation | None:
        """The simulation that it runs with; None before `start`."""

    @property
    @abstractmethod
    def due(self) -> int:
        """Step of the simulation at which it exchanges next."""

    @property
    @abstractmethod
    def command_places(self) -> Collection[int]:
        """Places of the commands that it sets."""

    @abstractmethod
    def start(self, simulation: Simulation) -> None:
        """Begin at the simulation's present time."""

    @abstractmethod
    def check_running(self, simulation: Simulation) -> None:
        """ArgumentError if it does not run with this simulation."""

    @abstractmethod
    def exchange(self, simulation: Simulation) -> None:
        """Read its inputs, compute, and set its commands."""


class Trace(Mapping[str, np.ndarray]):
    """The log: signal name → values (n,), or (n, k) for signals of k numbers; `time` (n,), s."""

    def __init__(self, time: np.ndarray, signals: Mapping[str, np.ndarray]) -> None:
        self.time = time
        self._signals = dict(signals)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._signals:
            arguments.index_of("signal of the log", name, self._signals)
        return self._signals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def __repr__(self) -> str:
        return f"Trace of {len(self.time)} rows: time, {', '.join(self._signals)}"


def cosimulate(
    simulation: Simulation,
    controllers: Sequence[Controller],
    duration: float,
    log: Log | None = None,
    log_period: float | None = None,
) -> Trace:
    """Run a simulation with controllers.

    simulation : begins at its present state; controllers : in the order in which they exchange
    duration : s, a multiple of the simulation's dt

    Controllers that do not run yet are started at the present time; others continue, so runs can follow
    one another. Controllers that meet at one time exchange in the order given, and a later one sees what an earlier
    one has just commanded: put outer loops first.

    log : names of signals (as in FmuController's inputs), or name → signal name or function of the simulation; all
        coordinates, velocities and commands if None
    log_period : s, a multiple of dt; the shortest period of a controller if None. Rows are taken after the exchange,
        the first at the start, the last at the end.

    Raises ArgumentError (two controllers on one command, duration not a multiple of dt, …), SimulationError, FmuError;
    simulation and controllers then stay where they were at the error, whose attribute ``trace`` is the log until
    then.
    """
    _check_arguments(simulation, controllers)
    steps = _steps("duration", duration, simulation, 0)
    every = _every(simulation, controllers, log_period)
    for controller in controllers:
        if controller.simulation is None:
            controller.start(simulation)
        controller.check_running(simulation)
    _check_commands(simulation, controllers)
    recorder = _Recorder(simulation, log, steps // every + 2)
    try:
        _run(simulation, controllers, steps, every, recorder)
    except Exception as error:  # also errors of a user's functions: hours of simulation must not be lost
        vars(error)["trace"] = recorder.trace()
        raise
    return recorder.trace()


def _run(
    simulation: Simulation, controllers: Sequence[Controller], steps: int, every: int, recorder: _Recorder
) -> None:
    """From event to event: exchanges of the controllers, rows of the log, the end."""
    end, next_row = simulation.step_count + steps, simulation.step_count
    while True:
        if simulation.step_count in (next_row, end):
            recorder.take()
            next_row = simulation.step_count + every
        if simulation.step_count >= end:
            return
        goal = min([end, next_row, *(controller.due for controller in controllers)])
        simulation.step(max(goal - simulation.step_count, 0))
        for controller in controllers:
            if controller.due <= goal:
                controller.exchange(simulation)


def _check_arguments(simulation: Simulation, controllers: Sequence[Controller]) -> None:
    """A simulation, and controllers that are listed once each."""
    if not isinstance(simulation, Simulation):
        raise ArgumentError(f"a Simulation is needed, got {type(simulation).__name__}.")
    if not isinstance(controllers, Sequence) or not all(isinstance(each, Controller) for each in controllers):
        raise ArgumentError("controllers must be a list of FmuController.")
    if len(set(map(id, controllers))) < len(controllers):
        raise ArgumentError("a controller is listed twice; list each one once.")


def _steps(label: str, seconds: float, simulation: Simulation, least: int) -> int:
    """`seconds` as a number of the simulation's steps."""
    try:
        ratio = float(seconds) / simulation.dt
    except (TypeError, ValueError):
        ratio = float("nan")
    if not least <= ratio <= MOST_STEPS or abs(ratio - round(ratio)) > _MULTIPLE * max(ratio, 1.0):
        raise ArgumentError(
            f"{label} is {seconds!r:.40}; give a multiple of the simulation's step, {simulation.dt:g} s."
        )
    return round(ratio)


def _every(simulation: Simulation, controllers: Sequence[Controller], wanted: float | None) -> int:
    """Steps between rows of the log; an error names what the user gave, a period of the log or of a controller."""
    if wanted is not None:
        return _steps("log_period", wanted, simulation, 1)
    if not controllers:
        return 1
    fastest = min(controllers, key=lambda controller: controller.period)
    return _steps(f"the period of '{fastest.name}'", fastest.period, simulation, 1)


def _check_commands(simulation: Simulation, controllers: Sequence[Controller]) -> None:
    """Raise ArgumentError if two controllers set one command."""
    owners: dict[int, Controller] = {}
    for controller in controllers:
        for place in controller.command_places:
            if place in owners:
                raise ArgumentError(
                    f"command '{simulation.command_names[place]}' is set by two controllers, '{owners[place].name}' "
                    f"and '{controller.name}'; connect one of them only."
                )
            owners[place] = controller


class _Recorder:
    """Rows of logged signals, allocated at once."""

    def __init__(self, simulation: Simulation, log: Log | None, rows: int) -> None:
        self._simulation = simulation
        wanted = _wanted(simulation, log)
        self._sizes = {name: size for name, size, _ in wanted}
        self._reader = Reader(simulation, wanted)
        width = len(self._reader.values) + 1
        if rows * width > MOST_NUMBERS:
            raise ArgumentError(
                f"the log would have {rows} rows of {width} numbers, more than {MOST_NUMBERS} in all; "
                "give a longer log_period, fewer signals or a shorter duration."
            )
        self._rows = np.zeros((rows, len(self._reader.values)))
        self._time = np.zeros(rows)
        self._count = 0

    def take(self) -> None:
        self._time[self._count] = self._simulation.time
        self._rows[self._count] = self._reader.read()
        self._count += 1

    def trace(self) -> Trace:
        signals, start = {}, 0
        for name, size in self._sizes.items():
            block = self._rows[: self._count, start : start + size]
            signals[name] = block[:, 0] if size == 1 else block
            start += size
        return Trace(self._time[: self._count], signals)


def _wanted(simulation: Simulation, log: Log | None) -> list[tuple[str, int, Source]]:
    """(name, number of elements, source) of each signal to log."""
    if log is None:
        system = simulation.system
        quasi = [name for name in system.velocity_names if name not in system.coordinate_names]
        rates = [f"{name}.rate" for name in system.velocity_names if name in system.coordinate_names]
        log = [*system.coordinate_names, *rates, *quasi, *(f"command.{name}" for name in system.command_names)]
    if isinstance(log, str):
        raise ArgumentError("log is a string; give a list of names.")
    entries = log if isinstance(log, Mapping) else {name: name for name in log}
    signals = signals_of(simulation)
    found: list[tuple[str, int, Source]] = []
    for name, source in entries.items():
        if callable(source):
            found.append((name, int(np.asarray(source(simulation)).size), source))
        else:
            found.append((name, find(simulation, signals, source, f"log '{name}'").size, source))
    return found
