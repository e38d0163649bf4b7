"""One connection to an engine, with all that the engine reported about itself."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.bridge.client import Client
from limberjack.bridge.messages import PROTOCOL_VERSION, Message
from limberjack.bridge.state import Description
from limberjack.bridge.telemetry.dictionary import HEALTH, Dictionary, dictionary_of
from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.bridge.telemetry.sample import Sample
from limberjack.engine.model.archive import to_bytes
from limberjack.engine.model.system import System

_WAITING = 8192  # messages that may wait for the source while it does something else; more are lost and seen as a gap
_REQUEST_S = 2.0  # longest wait for one answer
#: name of a quantity of the engine's health, its key in a heartbeat, its value where there is none
_REPORTED = (
    ("real_time_factor", "real_time_factor", 0.0),
    ("overruns", "overruns", 0.0),
    ("late_max", "late_max_s", 0.0),
    ("late", "late_s", 0.0),
    ("lost", "lost_s", 0.0),
    ("received", "received", 0.0),
    ("frame_p50", "frame_p50_s", math.nan),
    ("frame_p99", "frame_p99_s", math.nan),
)
_STEP = [id for id, _, _ in HEALTH].index("engine.step")


class Session:
    """A client of the engine, its model, the dictionary made from it and a mirror of its simulation.

    same : whether this is the model of the session before, so that outlets need no message about another
    """

    def __init__(self, endpoint: str, keys: Path | None, key_name: str, before: Session | None = None) -> None:
        """Connect. Raises BridgeError, ModelError when the engine does not answer or is of another version."""
        options: dict[str, Any] = {"keys": keys, "key_name": key_name, "timeout_s": _REQUEST_S}
        self.client = Client(endpoint, name="gateway", **options)
        try:
            self.description: Description = self.client.describe()
            self.system: System = self.client.model()
            self.same = before is not None and to_bytes(before.system) == to_bytes(self.system)
            self.mirror: Mirror = before.mirror if before is not None and self.same else Mirror(self.system)
            self.dictionary: Dictionary = dictionary_of(self.mirror.simulation)
            self.status: dict[str, Any] = self.client.status()  # the newest map of a heartbeat
            status = self.status
            self.parameters_set = int(status.get("parameters_set", 0))  # before they are read: none is missed
            self.read_parameters()
            self._row = np.zeros(len(self.dictionary))  # the newest sample
            self._place_parts()
            self._health.read(status, 0.0)
        except BaseException:
            self.client.close()
            raise

    def _place_parts(self) -> None:
        """Where in a sample is what the engine sends, q and v of it, what the mirror computes, and the health."""
        names, row = self.description.names, self._row
        motion, wire = len(names["q"]) + len(names["v"]), sum(map(len, names.values()))
        self._wire, self._motion = (row[1 : 1 + size].view(np.uint8).data for size in (wire, motion))
        health = len(row) - len(HEALTH)
        self._whole, self._step = row[self.dictionary.groups["energy"].start : health], health + _STEP
        self._health = Health(row[health:])

    def read_parameters(self) -> None:
        """Set the mirror's parameters to the engine's present values. Raises BridgeError."""
        self.mirror.set_parameters({name: self.client.parameter(name) for name in self.description.parameters})

    def listen(self, timeout_s: float) -> Message:
        """The next message of the topic stream. Raises EngineTimeoutError when none comes."""
        return self.client.next_message(timeout_s=timeout_s, waiting=_WAITING)

    def heartbeat(self, status: dict[str, Any], overrun_share: float) -> None:
        """Take over the contents of a heartbeat. overrun_share : of the cycles of the last heartbeats"""
        self.status = status
        self._health.read(status, overrun_share)

    def state(self) -> Message:
        """The present state, asked for, as a message of the stream. Raises BridgeError."""
        state = self.client.state()
        return Message(PROTOCOL_VERSION, "state", 0, state.time, 0, (state.step, state.vector.tobytes()))

    def sample(self, state: Message, sequence: int, unix_ns: int, gap: int) -> Sample:
        """A state in the order of the dictionary, with what the mirror computes from it and the newest health."""
        row = self._row
        row[self._step], self._wire[:] = state.body
        row[0] = time = state.time
        self.mirror.fill(self._whole, self._motion)
        vector = row.copy()
        vector.setflags(write=False)
        return Sample(sequence, time, unix_ns, vector, gap)


class Health:
    """The group "engine" of the dictionary, from the newest heartbeat.

    Values that an engine in lockstep does not have are 0; those that only a test bench has are NaN without one.
    """

    def __init__(self, values: np.ndarray) -> None:
        """values : their part of a sample, written to"""
        self._values = values

    def read(self, status: dict[str, Any], overrun_share: float) -> None:
        """Take over the map of a heartbeat (docs/reference/protocol.md), and what the gateway makes of several."""
        reported = {f"engine.{name}": float(status.get(key, lack)) for name, key, lack in _REPORTED}
        reported["engine.running"] = float(status["status"] == "running")
        reported["engine.refused"] = float(sum(status["refused"].values()))
        reported["engine.overrun_share"] = overrun_share
        self._values[:] = [reported.get(id, 0.0) for id, _, _ in HEALTH]


class Clock:
    """The time of day in ns since 1970, never twice the same and never backwards. Usable from any thread.

    The monotonic clock carries it on. A clock of the machine that is set forward is followed; one that is set back is
    not: curves, rates of outlets and alarms would stand still until the old time is reached again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offset = self._last = 0

    def now(self) -> int:
        """The time now."""
        with self._lock:
            day = time.time_ns()
            monotonic = time.monotonic_ns()  # later than the time of day: a pause between the two adds nothing
            if day - monotonic > self._offset:
                self._offset = day - monotonic
            now = monotonic + self._offset
            self._last = now if now > self._last else self._last + 1
            return self._last


#: the clock of all times that a gateway sends or compares with those of samples
CLOCK = Clock()
