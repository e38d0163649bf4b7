"""Watchdogs: they detect conditions that must not last, and bring commands to a safe state.

The bench checks each one in every frame, before its steps. A finding is an event "trip" with time and cause; when the
cause has gone, and the watchdog is not latched, there is an event "recover". While tripped, it sets its commands again
in each frame, after devices and the timeline have set theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from limberjack.engine.api.rest import resting_command
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.bench_interfaces import Trip
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.events import Event
from limberjack.hil.signals import Signals

SAFE_STATES = ("hold", "zero", "brake", "stop")
#: a safe command at the present state
_Rule = Callable[[], float]


class SafeState:
    """Commands that are brought to a safe state.

    kind : "hold": as they were before the trip;  "zero";  "brake": drives stop their hinges, and thrusters are off;
        "stop": the run ends, commands are left as they are
    places : (m,) of the command vector
    brake_gain : of drives commanded in torque: command = −gain · rate
    Attributes: last : (m,) commands before the trip, for "hold"
    """

    def __init__(
        self,
        kind: str,
        simulation: BenchModel,
        places: np.ndarray,
        brake_gain: float | None = None,
    ) -> None:
        if kind not in SAFE_STATES:
            raise ArgumentError(f"no safe state is called {kind!r:.40}; choose {', '.join(SAFE_STATES)}.")
        self.kind, self._simulation, self.places = kind, simulation, places
        self._gain = brake_gain
        self.last = simulation.command_vector[places]
        self._rules: list[_Rule | None] = []
        self._takers = [taker for taker in simulation.system.command_takers for _ in taker.command_names]
        self.enter()

    def keep(self) -> None:
        """Remember the present commands; called while nothing is tripped."""
        if self.kind == "hold":
            np.take(self._simulation.part("command"), self.places, out=self.last, mode="clip")

    def enter(self) -> None:
        """Begin, at the present state."""
        if self.kind == "brake":
            self._rules = [self._rule(place) for place in self.places]

    def enforce(self) -> None:
        """Set the commands of the next step."""
        commands = self._simulation.part("command")
        if self.kind == "hold":
            commands[self.places] = self.last
        elif self.kind == "zero":
            commands[self.places] = 0.0
        elif self.kind == "brake":
            for place, rule in zip(self.places, self._rules):
                if rule is not None:
                    commands[place] = rule()

    def _rule(self, place: int) -> _Rule | None:
        """How a command brakes; None: it is left alone, as those of loops are."""
        name = self._simulation.command_names[place]
        taker = self._takers[place]
        if not isinstance(taker, Actuator) or name != taker.name or taker.mode in ("velocity", "servo"):
            rest = resting_command(self._simulation, place)
            return None if rest is None else lambda: rest
        if self._gain is None:
            raise ArgumentError(
                f"command '{name}' is a torque or force: to brake with it a gain is needed; give brake_gain."
            )
        simulation, gain = self._simulation, self._gain
        place = simulation.system.velocity_names.index(taker.coordinate)
        return lambda: -gain * float(simulation.part("v")[place])


class Watch:
    """Base of all watchdogs: trips once when a cause appears, recovers when it has gone unless latched."""

    def __init__(self, name: str, safe: SafeState, latched: bool = False) -> None:
        self.name, self.safe, self.latched = name, safe, latched
        self.tripped = False

    def check(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> Sequence[Trip]:
        """What changed in this frame; the safe state is set while tripped."""
        cause = self.cause(time, signals, devices)
        found: list[Trip] = []
        if cause and not self.tripped:
            self.tripped = True
            self.safe.enter()
            data = {"safe": self.safe.kind, "latched": self.latched}
            found.append(Trip(Event(time, "trip", self.name, cause, data), self.safe.kind == "stop"))
        elif self.tripped and not cause and not self.latched:
            self.tripped = False
            found.append(Trip(Event(time, "recover", self.name, "the cause has gone")))
        if self.tripped:
            self.safe.enforce()
        else:
            self.safe.keep()
        return found

    def arm(self) -> bool:
        """End a safe state, latched or not; a cause that is still there trips it again. Whether it was tripped."""
        tripped, self.tripped = self.tripped, False
        return tripped

    def cause(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> str:
        """Why it trips now, "" if all is well."""
        raise NotImplementedError


class CommandAge(Watch):
    """One of the commands of these devices was last set longer ago than a limit, s of simulated time.

    places : (m,) of the command vector, those that are watched; without, all of the devices
    """

    def __init__(
        self,
        name: str,
        safe: SafeState,
        devices: Sequence[str],
        limit: float,
        latched: bool = False,
        places: np.ndarray | None = None,
    ) -> None:
        super().__init__(name, safe, latched)
        self.devices, self.limit, self.places = frozenset(devices), limit, places
        self._watched: dict[str, np.ndarray] = {}
        self.start: float | None = None

    def cause(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> str:
        """Before it is first set a command has the limit from the start of the run."""
        self.start = time if self.start is None else self.start
        for mounted in devices:
            if mounted.name in self.devices:
                times = mounted.set_times[self.watched_of(mounted)]
                age = time - max(float(times.min()), self.start)
                if age > self.limit * (1.0 + 1e-9):
                    who = self._oldest(mounted, times)
                    return f"{who} {age:.6g} s old; the limit is {self.limit:g} s"
        return ""

    def watched_of(self, mounted: BenchDevice) -> np.ndarray:
        """Which of a device's commands are watched."""
        if mounted.name not in self._watched:
            chosen = mounted.commands if self.places is None else self.places
            self._watched[mounted.name] = np.flatnonzero(np.isin(mounted.commands, chosen))
        return self._watched[mounted.name]

    def _oldest(self, mounted: BenchDevice, times: np.ndarray) -> str:
        """All commands of a device, or the one that it has not set when it set others."""
        if times.min() == mounted.set_times.max():
            return f"the commands of '{mounted.name}' are"
        name = mounted.wiring.commands[self.watched_of(mounted)[int(np.argmin(times))]]
        return f"command '{name}' of '{mounted.name}' is"


class Heartbeat(Watch):
    """No message has come from a device for longer than a limit, s of simulated time."""

    def __init__(self, name: str, safe: SafeState, device: str, limit: float, latched: bool = False) -> None:
        super().__init__(name, safe, latched)
        self._device, self._limit = device, limit
        self._count, self._heard = -1, -np.inf

    def cause(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> str:
        """Any valid message counts, also one without new commands."""
        for mounted in devices:
            if mounted.name != self._device:
                continue
            if mounted.device.link.received != self._count:
                self._count, self._heard = mounted.device.link.received, time
            silence = time - self._heard
            if silence > self._limit * (1.0 + 1e-9):
                return f"nothing from '{self._device}' for {silence:.6g} s; the limit is {self._limit:g} s"
        return ""


class SignalLimit(Watch):
    """One of the signals at places (m,) is below `lower` or above `upper`."""

    def __init__(
        self,
        name: str,
        safe: SafeState,
        places: np.ndarray,
        bounds: tuple[float, float],
        latched: bool = False,
    ) -> None:
        super().__init__(name, safe, latched)
        self.places, (self.lower, self.upper) = places, bounds
        self._values = np.zeros(len(places))

    def cause(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> str:
        """The first signal that is out of its range."""
        np.take(signals.vector, self.places, out=self._values, mode="clip")
        wrong = ~((self._values >= self.lower) & (self._values <= self.upper))
        if not wrong.any():
            return ""
        i = int(np.argmax(wrong))
        value, name = self._values[i], signals.names[self.places[i]]
        if np.isnan(value):
            return f"{name} is not a number"
        if value < self.lower:
            return f"{name} is {value:.6g}, below {self.lower:g}"
        return f"{name} is {value:.6g}, above {self.upper:g}"


class EngineStatus(Watch):
    """The engine has stood still since the last frame, or a signal is not a finite number."""

    def __init__(self, name: str, safe: SafeState, latched: bool = False) -> None:
        super().__init__(name, safe, latched)
        self._last = -np.inf

    def cause(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> str:
        """Of the state before the step."""
        stands, self._last = time <= self._last, time
        if stands:
            return f"the engine has stopped at t = {time:.6g} s"
        wrong = ~np.isfinite(signals.vector)
        return f"{signals.names[int(np.argmax(wrong))]} is not a finite number" if wrong.any() else ""
