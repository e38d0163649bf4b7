"""Faults: of the model through its parameters, of commands on their way in, of signals on their way out.

A `FaultBoard` changes the commands with which the model steps, and the signals that devices receive. The original
commands are restored before the next frame, so that a fault that has ended has no further effect.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np

from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.errors import ActionError
from limberjack.hil.signals import Signals

#: longest delay of commands, frames
MOST_DELAYED = 1_000_000


class FaultBoard:
    """The faults that act now, on the commands and signals of one bench.

    period : of a frame, s;  seed : of the random numbers; each fault has a separate sequence, by its name
    applied : (nu,) commands of the last step;  sent : (n,) signals as devices were last sent them
    """

    def __init__(self, simulation: BenchModel, signals: Signals, period: float, seed: int = 0) -> None:
        self.simulation, self.signals, self.period, self.seed = simulation, signals, period, seed
        self.commands: list[CommandFault] = []
        self.measurements: list[SignalFault] = []
        self.holders: dict[str, str] = {}
        self.applied = simulation.command_vector
        self.sent = signals.refresh().copy()
        self._given = self.applied.copy()
        self._changed = False

    def restore(self, commands: np.ndarray) -> None:
        """Put back the commands (nu,) as they were given, before new ones come."""
        if self._changed:
            commands[:] = self._given
            self._changed = False

    def apply(self, time: float, commands: np.ndarray) -> None:
        """Let faults act on the commands (nu,) of the step at simulated time, s."""
        if self.commands:
            self._given[:] = commands
            self._changed = True
            for fault in self.commands:
                fault.act(time, commands)
        self.applied[:] = commands

    def measured(self, vector: np.ndarray) -> np.ndarray:
        """The signals (n,) as devices receive them; always the same array."""
        self.sent[:] = vector
        for fault in self.measurements:
            fault.act(vector[0], self.sent)
        return self.sent


class CommandFault:
    """A fault of commands at places (m,) of the command vector."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray) -> None:
        self.name, self._board, self._places = name, board, places
        self._since = 0.0
        self._first = np.zeros(len(places))

    def set(self, simulation: BenchModel, time: float) -> None:
        """Begin."""
        _refuse_twice(self.name, self in self._board.commands)
        self._since, self._first = time, self._board.applied[self._places]
        self._board.commands.append(self)

    def clear(self, simulation: BenchModel, time: float) -> None:
        """End."""
        if self in self._board.commands:
            self._board.commands.remove(self)

    def act(self, time: float, commands: np.ndarray) -> None:
        """Change the commands (nu,) in place."""
        raise NotImplementedError


class Stuck(CommandFault):
    """Commands stay at a value, or, without one, at their last applied value."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, value: float | None = None) -> None:
        super().__init__(name, board, places)
        self._value = value

    def act(self, time: float, commands: np.ndarray) -> None:
        """u = value."""
        commands[self._places] = self._first if self._value is None else self._value


class Scaled(CommandFault):
    """A factor on commands: loss of effectiveness, or −1, the other sign."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, factor: float) -> None:
        super().__init__(name, board, places)
        self._factor = factor

    def act(self, time: float, commands: np.ndarray) -> None:
        """u = factor u."""
        commands[self._places] *= self._factor


class Runaway(CommandFault):
    """Commands change from their last applied value at a constant rate; most: their largest magnitude."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, rate: float, most: float = np.inf) -> None:
        super().__init__(name, board, places)
        self._rate, self._most = rate, most

    def act(self, time: float, commands: np.ndarray) -> None:
        """u = u₀ + rate (t − t₀), within ±most."""
        commands[self._places] = np.clip(self._first + self._rate * (time - self._since), -self._most, self._most)


class Delay(CommandFault):
    """Commands arrive whole frames later; until the first one does, the last applied value remains."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, delay: float) -> None:
        super().__init__(name, board, places)
        frames = max(round(delay / board.period), 1)
        if frames > MOST_DELAYED:
            raise ArgumentError(f"a delay of {delay:g} s is {frames:g} frames; give at most {MOST_DELAYED} frames.")
        self._line = np.zeros((frames, len(places)))
        self._next = 0

    def set(self, simulation: BenchModel, time: float) -> None:
        """Begin."""
        super().set(simulation, time)
        self._line[:] = self._first
        self._next = 0

    def act(self, time: float, commands: np.ndarray) -> None:
        """u_k = u_(k − n): a ring of n frames."""
        old = self._line[self._next].copy()
        self._line[self._next] = commands[self._places]
        commands[self._places] = old
        self._next = (self._next + 1) % len(self._line)


class SignalFault:
    """A fault of signals at places (m,) of the signal vector."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray) -> None:
        self.name, self._board, self._places = name, board, places
        self._since = 0.0
        self._first = np.zeros(len(places))
        self._random = np.random.default_rng([board.seed, zlib.crc32(name.encode())])

    def set(self, simulation: BenchModel, time: float) -> None:
        """Begin."""
        _refuse_twice(self.name, self in self._board.measurements)
        self._since, self._first = time, self._board.sent[self._places]
        self._board.measurements.append(self)

    def clear(self, simulation: BenchModel, time: float) -> None:
        """End."""
        if self in self._board.measurements:
            self._board.measurements.remove(self)

    def act(self, time: float, signals: np.ndarray) -> None:
        """Change the signals (n,) in place."""
        raise NotImplementedError


class Drift(SignalFault):
    """A constant and a growing part are added: bias and drift."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, bias: float, rate: float = 0.0) -> None:
        super().__init__(name, board, places)
        self._bias, self._rate = bias, rate

    def act(self, time: float, signals: np.ndarray) -> None:
        """y = y + bias + rate (t − t₀)."""
        signals[self._places] += self._bias + self._rate * (time - self._since)


class Freeze(SignalFault):
    """Signals stay at a value, or, without one, at the last value sent: dropout and freeze."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, value: float | None = None) -> None:
        super().__init__(name, board, places)
        self._value = value

    def act(self, time: float, signals: np.ndarray) -> None:
        """y = value."""
        signals[self._places] = self._first if self._value is None else self._value


class Spikes(SignalFault):
    """A value is added in single frames, on average every so many seconds."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, value: float, every_s: float) -> None:
        super().__init__(name, board, places)
        self._value, self._chance = value, min(board.period / every_s, 1.0)

    def act(self, time: float, signals: np.ndarray) -> None:
        """y = y + value with the probability period / every_s, independently for each signal."""
        signals[self._places] += self._value * (self._random.random(len(self._places)) < self._chance)


class Noise(SignalFault):
    """White noise is added."""

    def __init__(self, name: str, board: FaultBoard, places: np.ndarray, sigma: float) -> None:
        super().__init__(name, board, places)
        self._sigma = sigma

    def act(self, time: float, signals: np.ndarray) -> None:
        """y = y + σ n, n normal."""
        signals[self._places] += self._sigma * self._random.standard_normal(len(self._places))


class ChangedParameters:
    """Parameters of the model have other values while it lasts.

    values : parameter → value;  factors : parameter → factor on the value that it has when the fault begins
    """

    def __init__(self, name: str, board: FaultBoard, values: Mapping[str, float], factors: Mapping[str, float]) -> None:
        self.name, self._board = name, board
        self._values, self._factors = dict(values), dict(factors)
        self.parameters = (*values, *factors)
        self._before: dict[str, float] = {}
        self._given: dict[str, float] = {}

    def set(self, simulation: BenchModel, time: float) -> None:
        """Begin. Raises ActionError if another fault holds one of the parameters, ArgumentError if one cannot have its
        value; nothing changes then.
        """
        _refuse_twice(self.name, bool(self._before))
        parameters, holders = simulation.parameters, self._board.holders
        for name in self.parameters:
            if name in holders:
                raise ActionError(
                    f"fault '{self.name}' changes parameter '{name}', which fault '{holders[name]}' holds; clear it "
                    "before."
                )
        self._before = {name: parameters[name] for name in self.parameters}
        holders.update(dict.fromkeys(self.parameters, self.name))
        wanted = self._values | {name: factor * self._before[name] for name, factor in self._factors.items()}
        try:
            for name, value in wanted.items():
                parameters[name] = value
        except LimberjackError:
            self._given = {name: parameters[name] for name in self.parameters}
            self.clear(simulation, time)
            raise
        self._given = {name: parameters[name] for name in self.parameters}

    def clear(self, simulation: BenchModel, time: float) -> None:
        """End: restore the earlier values, except those that something else has set since."""
        for name, value in self._before.items():
            if simulation.parameters[name] == self._given[name]:
                simulation.parameters[name] = value
            del self._board.holders[name]
        self._before = {}


class Locked:
    """A hinge stops and stays at its position, by the lock that the model has for it."""

    def __init__(self, name: str, hinge: str) -> None:
        self.name, self._hinge = name, hinge

    def set(self, simulation: BenchModel, time: float) -> None:
        """Begin: the rate drops to zero at once."""
        simulation.lock(self._hinge)

    def clear(self, simulation: BenchModel, time: float) -> None:
        """End."""
        simulation.unlock(self._hinge)


def _refuse_twice(name: str, active: bool) -> None:
    if active:
        raise ActionError(f"fault '{name}' acts already; clear it before you begin it again.")
