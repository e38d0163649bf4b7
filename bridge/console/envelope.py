"""Reduces many samples for a browser: the newest value of every quantity, and the extremes in between."""

from __future__ import annotations

import math
import threading

import numpy as np

from limberjack.bridge.telemetry.sample import Sample

Point = tuple[float, float]
_WAITING_MAX = 256  # samples whose extremes have not been computed yet


def extremes(before: np.ndarray, after: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest values of a span if they lie beyond both its ends, else NaN."""
    below, above = low < np.minimum(before, after), high > np.maximum(before, after)
    return np.where(below, low, np.nan), np.where(above, high, np.nan)


class Envelope:
    """Gathers samples on one thread until another takes them. Spikes and vibration between two takings stay visible.

    It holds the newest value of n quantities, and the lowest and highest since the last taking, each with its time.
    Adding a sample is cheap: extremes are computed for many samples at once.
    """

    def __init__(self, size: int) -> None:
        """size : number of quantities"""
        self._lock = threading.Lock()
        self._size = size
        self._waiting: list[Sample] = []
        self._begin()
        self.newest: Sample | None = None
        self._taken: Sample | None = None  # the newest at the last taking
        self.gap = 0

    def _begin(self) -> None:
        self._low, self._high = np.full(self._size, np.inf), np.full(self._size, -np.inf)
        self._low_at, self._high_at = np.zeros(self._size, np.int64), np.zeros(self._size, np.int64)

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        with self._lock:
            self._waiting.append(sample)
            self.newest = sample
            self.gap += sample.gap
            if len(self._waiting) >= _WAITING_MAX:
                self._gather()

    def _gather(self) -> None:
        """Bring the extremes up to the newest sample. NaN is none."""
        if not self._waiting:
            return
        rows = np.array([sample.vector for sample in self._waiting])
        times = np.array([sample.unix_ns for sample in self._waiting])
        self._waiting.clear()
        every = np.arange(self._size)
        for lower, best, at in ((True, self._low, self._low_at), (False, self._high, self._high_at)):
            known = np.where(np.isnan(rows), np.inf if lower else -np.inf, rows)
            places = known.argmin(axis=0) if lower else known.argmax(axis=0)
            found = known[places, every]
            better = found < best if lower else found > best
            best[better], at[better] = found[better], times[places[better]]

    def take(self) -> Taken | None:
        """The samples gathered since the last taking, None if there are none."""
        with self._lock:
            sample = self.newest
            if sample is None or sample is self._taken:
                return None
            self._gather()
            before = (self._taken or sample).vector
            low, high = extremes(before, sample.vector, self._low, self._high)
            taken = Taken(sample, self.gap, low, high, self._low_at, self._high_at)
            self._taken, self.gap = sample, 0
            self._begin()
            return taken


class Taken:
    """One taking: the newest sample and, for each quantity, its extremes if they are not at an end, else NaN."""

    def __init__(
        self, sample: Sample, gap: int, low: np.ndarray, high: np.ndarray, low_at: np.ndarray, high_at: np.ndarray
    ) -> None:
        self.sample, self.gap = sample, gap
        self._extremes = ((low, low_at), (high, high_at))

    def points(self, place: int) -> list[Point]:
        """(ms since 1970, value) of one quantity, in order of time: one to three."""
        extremes = ((1e-6 * float(at[place]), float(best[place])) for best, at in self._extremes)
        found = [(at, value) for at, value in extremes if not math.isnan(value)]
        return [*sorted(found), (1e-6 * self.sample.unix_ns, float(self.sample.vector[place]))]
