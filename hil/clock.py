"""The clock of the test bench: waits for absolute deadlines on the monotonic clock by a sleep and a short spin."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np

#: bounds of the time spun before a deadline, ns
LEAST_MARGIN_NS, MOST_MARGIN_NS = 20_000, 500_000


class Clock(Protocol):
    """The interface of a clock for the executive; times are whole nanoseconds from any origin."""

    def now_ns(self) -> int:
        """The present time."""

    def wait_until(self, deadline_ns: int) -> int:
        """Return the time, not before the deadline; at once if it has passed."""


class MonotonicClock:
    """Sleeps until `margin_ns` before a deadline and spins from there.

    The sleep alone would end late by the time that the kernel needs to wake a task; the margin should cover nearly all
    of it.
    """

    def __init__(self, margin_ns: int) -> None:
        self.margin_ns = margin_ns

    def now_ns(self) -> int:
        """Monotonic time, ns."""
        return time.monotonic_ns()

    def wait_until(self, deadline_ns: int) -> int:
        """Sleep and spin until the deadline; returns the time then."""
        now = time.monotonic_ns()
        nap = deadline_ns - self.margin_ns - now
        if nap > 0:
            time.sleep(1e-9 * nap)
        while now < deadline_ns:
            now = time.monotonic_ns()
        return now


def oversleeps(naps: int = 200, nap_s: float = 1e-3) -> np.ndarray:
    """By how much each of so many sleeps ended late, ns, (naps,); takes naps times nap_s."""
    late = np.zeros(naps, dtype=np.int64)
    for i in range(naps):
        start = time.monotonic_ns()
        time.sleep(nap_s)
        late[i] = time.monotonic_ns() - start
    return late - round(1e9 * nap_s)


def measured_clock(period_ns: int) -> MonotonicClock:
    """A clock whose margin covers 99 of 100 sleeps measured now, and at most half a period.

    Call it from the thread that will wait, after its priority and processors are set: both change the result.
    """
    covers = int(np.percentile(oversleeps(), 99.0, method="higher"))
    return MonotonicClock(min(max(covers, LEAST_MARGIN_NS), MOST_MARGIN_NS, period_ns // 2))
