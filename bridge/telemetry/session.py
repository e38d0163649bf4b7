"""One connection to an engine, with all that the engine reported about itself."""

from __future__ import annotations

import math
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.bridge.client import Client
from limberjack.bridge.state import Description, State
from limberjack.bridge.telemetry.dictionary import HEALTH, Dictionary, dictionary_of
from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.bridge.telemetry.sample import Sample
from limberjack.engine.model.archive import to_bytes
from limberjack.engine.model.system import System

_WAITING = 8192  # messages that may wait for the source while it does something else; more are lost and seen as a gap
_REQUEST_S = 2.0  # longest wait for one answer
#: name of a quantity of the engine's health, its key in a heartbeat, its value where there is none
_TOLD = (
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
            wire = sum(len(names) for names in self.description.names.values())
            self._wire, self._whole = slice(1, 1 + wire), self.dictionary.groups["energy"].start
            self._health = Health(status)
        except BaseException:
            self.client.close()
            raise

    def read_parameters(self) -> None:
        """Set the mirror's parameters to the engine's present values. Raises BridgeError."""
        self.mirror.set_parameters({name: self.client.parameter(name) for name in self.description.parameters})

    def listen(self, timeout_s: float) -> Any:
        """The next message of the topic stream. Raises EngineTimeoutError when none comes."""
        return self.client.next_message(timeout_s=timeout_s, waiting=_WAITING)

    def heartbeat(self, status: dict[str, Any], overrun_share: float) -> None:
        """Take over the contents of a heartbeat. overrun_share : of the cycles of the last heartbeats"""
        self.status = status
        self._health.read(status, overrun_share)

    def sample(self, state: State, sequence: int, unix_ns: int, gap: int) -> Sample:
        """A state in the order of the dictionary, with what the mirror computes from it and the newest health."""
        vector = np.empty(len(self.dictionary))
        vector[0], vector[self._wire] = state.time, state.vector
        at = self._whole
        vector[at : at + 10] = self.mirror.whole(state.q, state.v)
        self._health.write(vector[at + 10 :], state.step)
        vector.setflags(write=False)
        return Sample(sequence, state.time, unix_ns, vector, gap)


class Health:
    """The group "engine" of the dictionary, from the newest heartbeat.

    Values that an engine in lockstep does not have are 0; those that only a test bench has are NaN without one.
    """

    def __init__(self, status: dict[str, Any]) -> None:
        self._values = np.zeros(len(HEALTH))
        self.read(status, 0.0)

    def read(self, status: dict[str, Any], overrun_share: float) -> None:
        """Take over the map of a heartbeat (docs/reference/protocol.md), and what the gateway makes of several."""
        told = {f"engine.{name}": float(status.get(key, lack)) for name, key, lack in _TOLD}
        told["engine.running"] = float(status["status"] == "running")
        told["engine.refused"] = float(sum(status["refused"].values()))
        told["engine.overrun_share"] = overrun_share
        self._values[:] = [told.get(id, 0.0) for id, _, _ in HEALTH]

    def write(self, target: np.ndarray, step: int) -> None:
        """Put the values into their part of a sample's vector."""
        target[:] = self._values
        target[_STEP] = step


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
            self._offset = max(self._offset, day - monotonic)
            self._last = max(self._last + 1, monotonic + self._offset)
            return self._last


#: the clock of all times that a gateway sends or compares with those of samples
CLOCK = Clock()
