"""How an engine process runs: addresses, mode, pace, lease, keys, place on the processor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from limberjack.bridge.endpoints import DEFAULT_ENDPOINT
from limberjack.engine.common.errors import ArgumentError

MODES = ("lockstep", "free-running")


@dataclass(frozen=True)
class Settings:
    """Settings of one engine process. Wrong values raise ArgumentError.

    endpoint : address for requests
    state_endpoint, topic_endpoint : addresses of the two streams (None: beside ``endpoint``)
    mode : "lockstep" (steps when asked) or "free-running" (paced by the monotonic clock)
    rate_hz : free-running, cycles a second; each takes 1/(rate dt) steps. None: the highest up to 1 kHz
        that is a whole number of steps
    publish_divisor : publish every so many cycles (free-running) or step requests (lockstep)
    lease_s : how long the command lease lasts after its holder's last message
    command_age_s : refuse commands whose sender last saw a state older than this, in simulated s
    keys : folder made by `limberjack keygen`: CurveZMQ on all sockets, for the clients in its ``clients``
    cpus : processors to run on, priority : SCHED_FIFO priority 1 to 99 (None: leave both as they are)
    steps_max : largest number of steps one request may ask for
    checkpoint_s : wall time between two checkpoints, s, written to the folder ``checkpoints`` (None: none)
    """

    endpoint: str = DEFAULT_ENDPOINT
    state_endpoint: str | None = None
    topic_endpoint: str | None = None
    mode: str = "lockstep"
    rate_hz: float | None = None
    publish_divisor: int = 1
    lease_s: float = 3.0
    command_age_s: float | None = None
    keys: Path | None = None
    cpus: tuple[int, ...] | None = None
    priority: int | None = None
    steps_max: int = 1_000_000
    checkpoint_s: float | None = None
    checkpoints: Path | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ArgumentError(f"mode {self.mode!r} is not one of {', '.join(MODES)}.")
        for name in ("rate_hz", "lease_s", "command_age_s", "checkpoint_s"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                raise ArgumentError(f"{name} is {value}; it must be a finite number above 0.")
        if (self.checkpoint_s is None) != (self.checkpoints is None):
            raise ArgumentError("checkpoint_s and checkpoints go together; give both, or none.")
        for name in ("publish_divisor", "steps_max"):
            if getattr(self, name) < 1:
                raise ArgumentError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.priority is not None and not 1 <= self.priority <= 99:
            raise ArgumentError(f"priority {self.priority} is not a SCHED_FIFO priority, 1 to 99.")

    def steps_per_cycle(self, dt: float) -> int:
        """Steps of length ``dt`` (s) in a free-running cycle. Raises ArgumentError if not a whole number."""
        if self.rate_hz is None:
            return max(1, math.ceil(1e-3 / dt - 1e-9))
        exact = 1.0 / (self.rate_hz * dt)
        steps = round(exact)
        if steps < 1 or abs(exact - steps) > 1e-6 * exact:
            raise ArgumentError(
                f"a rate of {self.rate_hz:g} Hz is {exact:g} steps of {dt:g} s a cycle; it must be a whole "
                f"number. Choose {1.0 / dt:g} Hz divided by a whole number, or another step."
            )
        return steps
