"""Faults of a link: latency, loss, reordering and doubling of messages, seeded, set and cleared on a running bench."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.bench_device import PATIENCE
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.devices.device import LATE, Device, Link, Wiring

#: messages on their way in one direction; more are lost
MOST_UNDER_WAY = 4096
_LONGEST_S = 3600.0


@dataclass(frozen=True)
class Disturbance:
    """Faults that act on each message of a direction.

    latency_s, jitter_s : delay of simulated time, plus a uniform share of jitter, s; jitter reorders messages
    loss, duplicate, reorder : probabilities; a reordered message is delayed by one more reorder_s
    """

    latency_s: float = 0.0
    jitter_s: float = 0.0
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    reorder_s: float = 0.0

    def __post_init__(self) -> None:
        """ArgumentError for a value that is not a probability or a delay."""
        for name in ("loss", "duplicate", "reorder"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ArgumentError(f"{name} is {getattr(self, name)!r:.40}; give a probability from 0 to 1.")
        for name in ("latency_s", "jitter_s", "reorder_s"):
            if not 0.0 <= getattr(self, name) <= _LONGEST_S:
                raise ArgumentError(f"{name} is {getattr(self, name)!r:.40}; give seconds from 0 to {_LONGEST_S:g}.")
        if self.reorder > 0.0 and self.reorder_s == 0.0:
            raise ArgumentError("reorder needs reorder_s, by how much a message is held back; give it.")


def together(parts: Iterable[Disturbance]) -> Disturbance:
    """Several at once: delays add up, a message is lost if one of them loses it."""
    whole = Disturbance()
    for part in parts:
        times = {name: getattr(whole, name) + getattr(part, name) for name in ("latency_s", "jitter_s")}
        times["reorder_s"] = max(whole.reorder_s, part.reorder_s)
        pairs = {name: (getattr(whole, name), getattr(part, name)) for name in ("loss", "duplicate", "reorder")}
        chances = {name: min(a + b - a * b, 1.0) for name, (a, b) in pairs.items()}
        whole = Disturbance(**{name: min(time, _LONGEST_S) for name, time in times.items()}, **chances)
    return whole


@dataclass
class _Road:
    """One direction: messages by their time of arrival, each with the time at which it was sent."""

    generator: np.random.Generator
    disturbance: Disturbance = field(default_factory=Disturbance)
    waiting: list[tuple[float, int, int, float, np.ndarray]] = field(default_factory=list)
    number: int = 0
    lost: int = 0

    def put(self, time: float, frame: int, values: np.ndarray) -> None:
        """Send a message."""
        fault = self.disturbance
        draws = self.generator.random(4)  # always as many, so that faults do not shift each other's draws
        copies = 0 if draws[0] < fault.loss else 2 if draws[1] < fault.duplicate else 1
        due = (
            time + fault.latency_s + fault.jitter_s * draws[2] + (fault.reorder_s if draws[3] < fault.reorder else 0.0)
        )
        if copies == 0 or len(self.waiting) + copies > MOST_UNDER_WAY:
            self.lost += 1
            return
        for _ in range(copies):
            heapq.heappush(self.waiting, (due, self.number, frame, time, values.copy()))
            self.number += 1

    def due(self, time: float) -> tuple[int, float, np.ndarray] | None:
        """The next message that has arrived by a time, s: its frame, the time at which it was sent, and its values."""
        if not self.waiting or self.waiting[0][0] > time + 1e-12:
            return None
        _, _, frame, set_out, values = heapq.heappop(self.waiting)
        return frame, set_out, values


class DisturbedDevice:
    """A device behind a link with faults, in simulated time: in lockstep the same seed gives the same run.

    Commands that arrive out of order are taken in that order, as over a link without sequence numbers; with `in_order`
    late ones are dropped and counted as rejected.

    link : counts at the bench's end of the disturbed link: received messages are those that arrived there
    lost_signals, lost_commands : messages that the faults swallowed
    """

    def __init__(self, device: Device, seed: int, in_order: bool = True) -> None:
        """seed : of the draws, together with the device's name."""
        self._device, self._in_order = device, in_order
        self._faults: dict[str, tuple[Disturbance, Disturbance]] = {}
        self.name, self.link = device.name, Link()
        arguments.count("seed", seed, 0, 2**63 - 1)
        self._entropy = (seed, *device.name.encode())
        self._out: _Road
        self._in: _Road
        self._limit_s: float
        self._silent: int
        self._newest: int
        self._reset()

    @property
    def lost_signals(self) -> int:
        """Signals that the faults swallowed."""
        return self._out.lost

    @property
    def lost_commands(self) -> int:
        """Commands that the faults swallowed."""
        return self._in.lost

    def disturb(self, signals: Disturbance | None = None, commands: Disturbance | None = None) -> None:
        """From now on, only this disturbs the link; without arguments none does. Messages under way keep
        their delays."""
        self._faults.clear()
        self.begin("", signals or Disturbance(), commands or Disturbance())

    def begin(self, name: str, signals: Disturbance, commands: Disturbance) -> None:
        """From now on this disturbs the link too, in addition to active disturbances."""
        self._faults[name] = signals, commands
        self._combine()

    def end(self, name: str) -> None:
        """End the disturbance of this name; the others continue."""
        self._faults.pop(name, None)
        self._combine()

    def _combine(self) -> None:
        self._out.disturbance = together(signals for signals, _ in self._faults.values())
        self._in.disturbance = together(commands for _, commands in self._faults.values())

    def open(self, wiring: Wiring) -> None:
        """Connect; the draws begin again."""
        self._reset()
        self._combine()
        self._came = np.zeros(len(wiring.commands))
        self._device.open(wiring)
        self.link = Link()
        self._count()

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        """Send the signals into the link; forward what has arrived at its end, with the time at which it was sent."""
        self._out.put(time, frame, signals)
        self._asked = False
        while (found := self._out.due(time)) is not None:
            self._device.send(*found)
            self._asked = True

    def receive(self, time: float, commands: np.ndarray) -> bool:
        """The newest commands at the end of the link.

        In lockstep the device is waited for whenever signals have got through to it, as its caller cannot know that.
        """
        return self.answer(time, commands, self._limit_s)

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        """As the device's, where signals have got through; what is under way is not waited for."""
        self._came.fill(np.nan)
        self._limit_s = limit_s
        wait = limit_s > 0.0 and self._asked and self._silent < PATIENCE
        came = self._device.answer(time, self._came, limit_s) if wait else self._device.receive(time, self._came)
        self._silent = 0 if came else self._silent + wait
        self._asked = self._asked and not came
        if came:
            self._in.put(time, self._in.number, self._came)
        arrived = False
        while (found := self._in.due(time)) is not None:
            if self._in_order and found[0] < self._newest:
                self.link.reject(LATE)
                continue
            self._newest, arrived = found[0], True
            self.link.received, self.link.last_time = self.link.received + 1, time
            np.copyto(commands, found[2], where=np.isfinite(found[2]))
        self._count()
        return arrived

    def _count(self) -> None:
        """Copy the counts that only the device has; refusals of both are counted together."""
        own = self._device.link
        self.link.sent, self.link.dropped, self.link.rejected = own.sent, own.dropped, own.rejected

    def close(self) -> None:
        """Release all resources; messages under way are lost."""
        self._device.close()

    def _reset(self) -> None:
        seeds = np.random.SeedSequence(self._entropy).spawn(2)
        self._out, self._in = (_Road(np.random.default_rng(seed)) for seed in seeds)
        self._came, self._newest, self._asked = np.zeros(0), -1, False
        self._limit_s, self._silent = 0.0, 0


@dataclass
class LinkFault:
    """A fault of one device's link, for timelines.

    device : as mounted;  signals, commands : what it does to either direction
    """

    name: str
    device: DisturbedDevice
    signals: Disturbance = field(default_factory=Disturbance)
    commands: Disturbance = field(default_factory=Disturbance)

    def set(self, simulation: BenchModel, time: float) -> None:
        """Begin, beside other faults of the link."""
        self.device.begin(self.name, self.signals, self.commands)

    def clear(self, simulation: BenchModel, time: float) -> None:
        """End."""
        self.device.end(self.name)


def disturbance(settings: dict[str, float]) -> Disturbance:
    """A disturbance from plain settings. Raises ArgumentError for unknown names and values that are not numbers."""
    known = Disturbance.__dataclass_fields__
    for name, value in settings.items():
        if name not in known:
            arguments.index_of("setting of a link fault", name, known)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ArgumentError(f"{name} is {value!r:.40}; give a number.")
    return Disturbance(**settings)
