"""The interfaces of recorders, faults and watchdogs that the executive uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from limberjack.bridge.fault_state import FaultState
from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.bench_model import BenchModel
from limberjack.hil.events import Event, EventLog
from limberjack.hil.signals import Signals


@dataclass
class Bench:
    """The bench on which an action acts.

    frame : number of the frame that begins, from 1;  time : simulated time at which it begins, s
    end_text : why the run must end now, before the frame's step; "" while it continues
    faults : states of the faults that were ever set, by name
    client : the client that acts, named in the events; "" while the bench itself acts
    """

    simulation: BenchModel
    log: EventLog
    period: float
    frame: int = 0
    time: float = 0.0
    end_text: str = ""
    faults: dict[str, FaultState] = field(default_factory=dict)
    client: str = ""

    def fault(self, name: str) -> FaultState:
        """State of a fault."""
        return self.faults.get(name, FaultState())

    def set_fault(self, name: str, active: bool) -> None:
        """Note that a fault acts, or no longer acts, from now on."""
        self.faults[name] = FaultState(active, self.client or "scenario", self.time)

    def say(self, kind: str, source: str, text: str, **data: Any) -> None:
        """Log an event of this frame; data "frame": the frame whose step is the first to be affected."""
        who = {"client": self.client} if self.client else {}
        self.log.add(Event(self.time, kind, source, text, {"frame": self.frame, **data, **who}))


class Recorder(Protocol):
    """Keeps a run; neither `row` nor `event` waits for anything."""

    def open(self, names: Sequence[str], units: Sequence[str], meta: Mapping[str, Any]) -> None:
        """Begin a record of these signals; meta: texts and numbers about the run."""

    def row(self, vector: np.ndarray) -> None:
        """Keep the signals: once before the first frame, then once a frame. The caller reuses the array."""

    def event(self, event: Event) -> None:
        """Keep an event."""

    def close(self) -> None:
        """Finish the record; may be called twice."""


class Fault(Protocol):
    """A named fault that is set and cleared on a running bench."""

    name: str

    def set(self, simulation: BenchModel, time: float) -> None:
        """Begin, at simulated time, s."""

    def clear(self, simulation: BenchModel, time: float) -> None:
        """End."""


class Interference(Protocol):
    """Changes the commands from the bench to the model, and the signals from the bench to its devices."""

    def restore(self, commands: np.ndarray) -> None:
        """Restore the commands (nu,) as they were given, before new ones arrive."""

    def apply(self, time: float, commands: np.ndarray) -> None:
        """Make the commands (nu,) those with which the model steps, at simulated time, s."""

    def measured(self, vector: np.ndarray) -> np.ndarray:
        """The signals (n,) as devices receive them."""


@dataclass(frozen=True)
class Trip:
    """The finding of a watchdog; ends: whether the run must end."""

    event: Event
    ends: bool = False


class Watchdog(Protocol):
    """Checks every frame after commands have arrived and before the step; brings its actuators to their safe state."""

    def check(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> Sequence[Trip]:
        """What tripped in this frame, simulated time, s; the signals are those of the state before the step."""


class Visitor(Protocol):
    """An outside observer of a run, who may act on it. Every call returns at once; its work is bounded."""

    def command(self, commands: np.ndarray) -> None:
        """Set the commands that it holds, among those (nu,) of the next step, after the devices have set theirs."""

    def visit(self, bench: Bench) -> None:
        """After each frame, and every 2 ms while the end of a longer one is awaited.

        What it does takes effect in the step of the next frame, bench.frame.
        """
