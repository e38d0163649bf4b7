"""Absolute deadlines on the monotonic clock, and the engine's processors and priority."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable

from limberjack.bridge.errors import BridgeError
from limberjack.engine.common.errors import ArgumentError


class Recent:
    """The largest of the values of the last one to two seconds."""

    def __init__(self) -> None:
        self._before = self._now = 0.0
        self._since = -math.inf

    def add(self, value: float, at: float) -> None:
        """One value at a time of a clock, s; times do not go back."""
        if at - self._since >= 1.0:
            self._before, self._now = (self._now if at - self._since < 2.0 else 0.0), 0.0
            self._since = at
        self._now = max(self._now, value)

    @property
    def most(self) -> float:
        """0 before the first value."""
        return max(self._before, self._now)


class Pacer:
    """Deadlines at fixed spacing from the start, so that lateness never adds up.

    A cycle that ends after the next deadline is an overrun: the next one starts at once, until the engine has
    caught up. Beyond ``backlog_s`` of delay the deadlines move: the time given up is added to ``lost_s``, and
    simulated time then lags the clock by that much.
    """

    def __init__(self, period_s: float, backlog_s: float = 0.1) -> None:
        self.period_s = period_s
        self.backlog_s = max(backlog_s, 2.0 * period_s)
        self.cycles = 0
        self.overruns = 0
        self.lost_s = 0.0
        self.late_max_s = 0.0
        self.late = Recent()  # delays of the last cycles, s
        self.start = self.deadline = time.monotonic()

    def advance(self) -> float:
        """Move to the next deadline and return it; counts an overrun when it has passed already."""
        self.cycles += 1
        self.deadline += self.period_s
        now = time.monotonic()
        late = now - self.deadline
        self.late.add(max(late, 0.0), now)
        if late > 0.0:
            self.overruns += 1
            self.late_max_s = max(self.late_max_s, late)
            if late > self.backlog_s:
                self.lost_s += late
                self.deadline += late
        return self.deadline

    def real_time_factor(self) -> float:
        """Simulated over elapsed time since the start; 1 when no time was lost."""
        elapsed = time.monotonic() - self.start
        return self.cycles * self.period_s / elapsed if elapsed > 0.0 else 1.0


def place(cpus: Iterable[int] | None, priority: int | None) -> None:
    """Pin this process and give it a SCHED_FIFO priority; threads made later inherit both.

    Call before a ZeroMQ context exists. Raises ArgumentError for processors that do not exist, BridgeError
    when the priority is not permitted.
    """
    if cpus is not None:
        chosen = set(cpus)
        available = os.sched_getaffinity(0)
        if not chosen or not chosen <= available:
            raise ArgumentError(f"processors {sorted(chosen)} are not all available. Choose from {sorted(available)}.")
        os.sched_setaffinity(0, chosen)
    if priority is not None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        except PermissionError:
            raise BridgeError(
                f"this user may not set real-time priority {priority}. Raise its rtprio limit "
                "(/etc/security/limits.conf), grant CAP_SYS_NICE, or run without a priority."
            ) from None
