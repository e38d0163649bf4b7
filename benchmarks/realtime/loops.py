"""The loops that are compared: empty ones in C and in Python, and the executive with a model."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.peer_build import load_peer
from limberjack.engine.model.system import System
from limberjack.hil.frame_times import FrameLog
from limberjack.hil.probe import bare_loop, run_at
from limberjack.hil.realtime_rights import RealtimeRights

#: runs for so many seconds; lateness and work of its frames, ns
Loop = Callable[[float, RealtimeRights], tuple[np.ndarray, np.ndarray]]
QUANTILES = (50.0, 99.0, 99.9, 100.0)


@dataclass
class Times:
    """Frames of one loop, all rounds together; times in ns.

    late : (n,) start after the deadline;  work : (n,);  the end after the deadline is their sum
    """

    name: str
    rate_hz: float
    late: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    work: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def add(self, late: np.ndarray, work: np.ndarray) -> None:
        """Frames of one more round."""
        self.late, self.work = np.concatenate((self.late, late)), np.concatenate((self.work, work))

    @property
    def overruns(self) -> int:
        """Frames that ended after the next deadline."""
        return int(np.count_nonzero(self.late + self.work > 1e9 / self.rate_hz))

    def as_dict(self) -> dict[str, Any]:
        """Percentiles, µs, for the report."""
        parts = {"late": self.late, "work": self.work, "end": self.late + self.work}
        found = {name: [round(1e-3 * float(np.percentile(t, q)), 2) for q in QUANTILES] for name, t in parts.items()}
        return {
            "name": self.name,
            "rate_hz": self.rate_hz,
            "frames": len(self.late),
            "overruns": self.overruns,
            **found,
        }


def c_loop(rate_hz: float, margin_ns: int) -> Loop:
    """The empty loop in C. Raises PeerUnavailableError where it cannot be compiled."""
    function = load_peer("realtime/bare_loop.c", ["ziglang"], []).bare_loop
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]

    def run(seconds: float, placing: RealtimeRights) -> tuple[np.ndarray, np.ndarray]:
        late = np.full(round(seconds * rate_hz), 0, dtype=np.int64)
        with placing.held():
            done = function(round(1e9 / rate_hz), len(late), margin_ns, late.ctypes.data)
        return late[:done], np.zeros(done, dtype=np.int64)

    return run


def python_loop(rate_hz: float) -> Loop:
    """The executive's clock without any work."""

    def run(seconds: float, placing: RealtimeRights) -> tuple[np.ndarray, np.ndarray]:
        return _late_and_work(bare_loop(rate_hz, seconds, placing))

    return run


def model_loop(system: System, rate_hz: float) -> Loop:
    """The executive with a model, one step a frame."""

    def run(seconds: float, placing: RealtimeRights) -> tuple[np.ndarray, np.ndarray]:
        return _late_and_work(run_at(system, rate_hz, seconds, None, placing).frames)

    return run


def _late_and_work(frames: FrameLog) -> tuple[np.ndarray, np.ndarray]:
    """The slack is the period less lateness and work."""
    kept = frames.latest()
    return frames.period_ns - kept["slack"] - kept["compute"], kept["compute"]
