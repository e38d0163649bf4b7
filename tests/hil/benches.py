"""A clock that gives made-up times, devices and recorders that remember what was asked of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from limberjack.hil.devices.device import Link, Wiring
from limberjack.hil.events import Event
from limberjack.hil.realtime_rights import RealtimeRights


class FakeClock:
    """Time passes by `spend` alone; late(k) ns after its deadline ends the k-th wait; the latest starts are kept."""

    def __init__(self, late: Callable[[int], int] = lambda _: 0, kept: int = 10_000) -> None:
        self.time_ns, self._late, self.waits = 1_000_000_007, late, 0
        self.starts: deque[int] = deque(maxlen=kept)

    def now_ns(self) -> int:
        return self.time_ns

    def wait_until(self, deadline_ns: int) -> int:
        if self.time_ns < deadline_ns:
            self.time_ns = deadline_ns + self._late(self.waits)
        self.waits += 1
        self.starts.append(self.time_ns)
        return self.time_ns

    def spend(self, duration_ns: int) -> None:
        self.time_ns += duration_ns


def fake(clock: FakeClock | None = None) -> dict[str, Any]:
    """Options of an Executive whose times are made up; collecting garbage before each run would take most of a test."""
    return {"clock": clock or FakeClock(), "placing": RealtimeRights(freeze=False)}


class FakeDevice:
    """Remembers its calls in a list that may be shared; `on_send`, `on_receive` do what a test wants."""

    def __init__(self, name: str = "fake", calls: list[Any] | None = None) -> None:
        self.name, self.link = name, Link()
        self.calls = [] if calls is None else calls
        self.wiring: Wiring | None = None
        self.on_send: Callable[[int, float, np.ndarray], None] = lambda *_: None
        self.on_receive: Callable[[float, np.ndarray], bool] = lambda *_: False
        self.on_answer: Callable[[float, np.ndarray], bool] | None = None
        self.on_close: Callable[[], None] = lambda: None
        self.answers = 0

    def open(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.calls.append(f"open {self.name}")

    def send(self, frame: int, time: float, signals: np.ndarray) -> None:
        self.on_send(frame, time, signals)

    def receive(self, time: float, commands: np.ndarray) -> bool:
        return self.on_receive(time, commands)

    def answer(self, time: float, commands: np.ndarray, limit_s: float) -> bool:
        self.answers += 1
        return (self.on_answer or self.on_receive)(time, commands)

    def close(self) -> None:
        self.calls.append(f"close {self.name}")
        self.on_close()


class FakeRecorder:
    """Keeps rows and events in lists."""

    def __init__(self, calls: list[Any] | None = None) -> None:
        self.calls = [] if calls is None else calls
        self.rows: list[np.ndarray] = []
        self.events: list[Event] = []
        self.names: tuple[str, ...] = ()
        self.meta: dict[str, Any] = {}

    def open(self, names: Sequence[str], units: Sequence[str], meta: Mapping[str, Any]) -> None:
        self.names, self.meta = tuple(names), dict(meta)
        self.calls.append("open recorder")

    def row(self, vector: np.ndarray) -> None:
        self.rows.append(vector.copy())

    def event(self, event: Event) -> None:
        self.events.append(event)

    def close(self) -> None:
        self.calls.append("close recorder")
