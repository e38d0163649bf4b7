"""Timelines: commands, ramps, faults, loops and locks, and parameters, at given times or on demand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from limberjack.engine.api.impact import Impact
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.engine.tables.loops import SW_CLOSED, SWITCH
from limberjack.hil.bench_interfaces import Bench, Fault
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.errors import ActionError
from limberjack.hil.watchdogs import Watch

#: an action is due in a frame that begins this part of a frame before it, or later
DUE = 1e-6


#: does the rest of an action in each later frame; whether it goes on after that
Rest = Callable[[Bench], bool]


class Action(Protocol):
    """Something that a timeline does."""

    def check(self, simulation: BenchModel) -> None:
        """ArgumentError if it names what the model does not have, or a value that it cannot take."""

    def begin(self, bench: Bench) -> Rest | None:
        """Do it, log it; what is left for later frames."""


@dataclass(frozen=True)
class Command:
    """Set a command, held until something else sets it."""

    name: str
    value: float

    def check(self, simulation: BenchModel) -> None:
        arguments.index_of("command", self.name, simulation.command_names)
        arguments.vector(f"the value of command '{self.name}'", self.value, ())

    def begin(self, bench: Bench) -> None:
        bench.simulation.command[self.name] = self.value
        bench.say("command", self.name, f"{self.value:g}", value=self.value)


@dataclass(frozen=True)
class Ramp:
    """Move a command to a value in equal parts of a duration, s, from what it is then, or until it is set again."""

    name: str
    value: float
    duration: float

    def check(self, simulation: BenchModel) -> None:
        Command(self.name, self.value).check(simulation)
        arguments.positive(f"the duration of the ramp of '{self.name}'", self.duration)

    def begin(self, bench: Bench) -> Rest | None:
        start, first = bench.simulation.command[self.name], bench.time
        data = {"start": start, "value": self.value, "duration": self.duration}
        bench.say("command", self.name, f"{start:g} to {self.value:g} in {self.duration:g} s", **data)

        def rest(bench: Bench) -> bool:
            part = (bench.time - first) / self.duration + DUE * bench.period / self.duration
            value = self.value if part >= 1.0 else start + (self.value - start) * part
            bench.simulation.command[self.name] = value
            return part < 1.0

        return rest if rest(bench) else None


@dataclass(frozen=True)
class SetParameter:
    """Set a parameter of the model."""

    name: str
    value: float

    def check(self, simulation: BenchModel) -> None:
        arguments.index_of("parameter", self.name, list(simulation.parameters))
        arguments.vector(f"the value of parameter '{self.name}'", self.value, ())

    def begin(self, bench: Bench) -> None:
        bench.simulation.parameters[self.name] = self.value
        bench.say("parameter", self.name, f"{self.value:g}", parameters={self.name: self.value})


@dataclass(frozen=True)
class SetFault:
    """Begin a fault, or end it. One that acts already, or not any more, is left as it is."""

    fault: Fault
    active: bool = True

    def check(self, simulation: BenchModel) -> None:
        pass

    def begin(self, bench: Bench) -> None:
        name, kind = self.fault.name, "fault" if self.active else "clear"
        if bench.fault(name).active == self.active:
            bench.say(kind, name, f"changes nothing: {bench.fault(name)}")
            return
        before = _Model(bench.simulation)
        if self.active:
            self.fault.set(bench.simulation, bench.time)
        else:
            self.fault.clear(bench.simulation, bench.time)
        bench.set_fault(name, self.active)
        bench.say(kind, name, "begins" if self.active else "ends", **before.changes())


@dataclass(frozen=True)
class Arm:
    """Arm a watchdog again: its safe state ends, also a latched one; a cause that is still there trips it again."""

    watchdog: Watch

    def check(self, simulation: BenchModel) -> None:
        pass

    def begin(self, bench: Bench) -> None:
        bench.say("arm", self.watchdog.name, "armed again" if self.watchdog.arm() else "was not tripped")


@dataclass(frozen=True)
class Switch:
    """Close or open a loop that can be switched, now.

    what : "attach" or "release" of a loop by name, "lock" or "unlock" of a hinge by name
    """

    what: str
    name: str

    def check(self, simulation: BenchModel) -> None:
        if self.what not in ("attach", "release", "lock", "unlock"):
            raise ArgumentError(f"'{self.what:.40}' is not a switch; choose attach, release, lock or unlock.")
        if self.what in ("attach", "release"):
            arguments.index_of("loop", self.name, [loop.name for loop in simulation.system.loops])
        else:
            arguments.index_of("hinge", self.name, [body.hinge.name for body in simulation.system.bodies])

    def begin(self, bench: Bench) -> None:
        self.switch(bench)

    def switch(self, bench: Bench) -> Impact:
        """Do it, log it; what the impact did."""
        impact: Impact = getattr(bench.simulation, self.what)(self.name)
        text = f"{impact.energy_loss:.6g} J lost" if self.what in ("attach", "lock") else "opened"
        bench.say(self.what, self.name, text, loop=impact.loop, energy_loss=impact.energy_loss)
        return impact


@dataclass(frozen=True)
class End:
    """End the run as completed, before the step of the frame that begins then."""

    def check(self, simulation: BenchModel) -> None:
        pass

    def begin(self, bench: Bench) -> None:
        bench.end_text = "the timeline ended the run."


class _Model:
    """Parameters and loops as they are now, to find what a fault changed: what a replay must do again."""

    def __init__(self, simulation: BenchModel) -> None:
        self._simulation = simulation
        self._floats, self._closed = simulation.plant.floats.copy(), self._switches()

    def changes(self) -> dict[str, Any]:
        """Data of an event: "parameters" name → new value, "attached" and "released" loops; only what changed."""
        data: dict[str, Any] = {}
        floats = self._simulation.plant.floats
        changed = set(np.flatnonzero(floats != self._floats).tolist())
        if changed:
            places = self._simulation.plant.parameters.items()
            data["parameters"] = {name: float(floats[place]) for name, place in places if place in changed}
        now, loops = self._switches(), [loop.name for loop in self._simulation.system.loops if loop.switchable]
        for word, flag in (("attached", True), ("released", False)):
            names = [name for name, old, new in zip(loops, self._closed, now) if old != new and new == flag]
            if names:
                data[word] = names
        return data

    def _switches(self) -> list[bool]:
        return [bool(row[SW_CLOSED] > 0.5) for row in self._simulation.part("switch").reshape(-1, SWITCH)]


@dataclass(frozen=True)
class At:
    """An action and its simulated time, s; where: its place in a file, for messages."""

    time: float
    action: Action
    where: str = field(default="", compare=False)


class Timeline:
    """Actions in the order of their times; those of one time in the order given.

    An action happens in the first frame that begins at its time or later, after the commands of devices and before the
    step. `post` adds one from any thread while the bench runs.
    """

    def __init__(self, entries: Iterable[At] = ()) -> None:
        self.entries = sorted(entries, key=lambda entry: entry.time)
        self._next = 0
        self._rests: list[tuple[str, Rest]] = []
        self._posted: deque[Action] = deque()

    def check(self, simulation: BenchModel) -> None:
        """Every action against the model, before anything runs. ArgumentError."""
        for entry in self.entries:
            arguments.vector(f"{_place(entry)}: the time", entry.time, ())
            try:
                entry.action.check(simulation)
            except ArgumentError as error:
                raise ArgumentError(f"{_place(entry)}: {error}") from None

    def begin(self) -> None:
        """Back to the start, for a new run; what was posted before it begins happens in its first frame."""
        self._next = 0
        self._rests.clear()

    @property
    def next_time(self) -> float:
        """Simulated time from which `fire` has something to do, s: -inf while ramps go on, inf when all is done."""
        if self._rests or self._posted:
            return -np.inf
        return self.entries[self._next].time if self._next < len(self.entries) else np.inf

    def post(self, action: Action) -> None:
        """Let an action happen in the next frame. What the model refuses then is logged, and the run goes on."""
        self._posted.append(action)

    def fire(self, bench: Bench) -> None:
        """Do what is due in the frame that begins. ActionError if a timed action is refused."""
        if self._rests:
            self._rests = [(name, rest) for name, rest in self._rests if rest(bench)]
        until = bench.time + DUE * bench.period
        while self._next < len(self.entries) and self.entries[self._next].time <= until:
            entry = self.entries[self._next]
            self._next += 1
            try:
                self._start(entry.action, bench)
            except LimberjackError as error:
                raise ActionError(f"{_place(entry)}, t = {bench.time:.6g} s: {error}") from error
        while self._posted:
            action = self._posted.popleft()
            try:
                action.check(bench.simulation)
                self._start(action, bench)
            except LimberjackError as error:
                bench.say("refused", type(action).__name__, str(error))

    def end_ramp(self, name: str) -> None:
        """A command has been set again, by the timeline or from outside: a ramp that goes on would take it back."""
        self._rests = [pair for pair in self._rests if pair[0] != name]

    def _start(self, action: Action, bench: Bench) -> None:
        rest = action.begin(bench)
        name = action.name if isinstance(action, (Command, Ramp)) else ""
        if name:
            self.end_ramp(name)
        if rest is not None:
            self._rests.append((name, rest))


def _place(entry: At) -> str:
    return entry.where or f"timeline at {entry.time!r:.20} s"
