"""Engines in threads, outlets that remember, bounded waits: what tests of the telemetry share."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from limberjack.bridge.server import Server
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.gateway import Gateway
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.system import System

WAIT_S = 20.0  # bound on every wait; reached only when something is broken


def until(condition: Callable[[], object], what: str) -> None:
    """Wait, with a bound, for something that another thread or process does."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


class Recorder:
    """An outlet that keeps all it gets, and can be made to fail or to hang."""

    def __init__(self, name: str = "recorder") -> None:
        self.name = name
        self.dictionaries: list[Dictionary] = []
        self.samples: list[Sample] = []
        self.notices: list[Notice] = []
        self.closed = 0
        self.fails = False
        self.go_on = threading.Event()
        self.go_on.set()

    def open(self, dictionary: Dictionary) -> None:
        self.dictionaries.append(dictionary)

    def sample(self, sample: Sample) -> None:
        self.go_on.wait()
        if self.fails:
            raise RuntimeError("made to fail")
        self.samples.append(sample)

    def notice(self, notice: Notice) -> None:
        self.notices.append(notice)

    def close(self) -> None:
        self.closed += 1

    def value(self, id: str) -> float:
        """The newest value of a quantity."""
        return float(self.samples[-1].vector[self.dictionaries[-1].place(id)])

    def texts(self, kind: str) -> list[str]:
        """What all notices of a kind say."""
        return [notice.text for notice in list(self.notices) if notice.kind == kind]


@contextlib.contextmanager
def engine(system: System, endpoint: str, dt: float | None = None, **options: Any) -> Iterator[Server]:
    """An engine in a thread of this process, free-running by default. dt : instead of the model's own, s"""
    server = Server(Simulation(system, dt=dt), Settings(**{"endpoint": endpoint, "mode": "free-running", **options}))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()


@contextlib.contextmanager
def gateway(endpoint: str, *outlets: Any, **options: Any) -> Iterator[Gateway]:
    """A gateway of an engine with these outlets."""
    made = Gateway(endpoint, **options)
    try:
        made.connect()
        for outlet in outlets:
            made.add(outlet)
        made.start()
        yield made
    finally:
        made.stop()


def same(a: float, b: float) -> bool:
    """Whether numbers are equal, or both NaN: what there is not."""
    return a == b or (math.isnan(a) and math.isnan(b))
