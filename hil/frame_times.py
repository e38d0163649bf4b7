"""The times of every frame, kept without allocation: the latest ones one by one, all of them in histograms."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from limberjack.bridge.pacing import Recent

#: most frames kept one by one
MOST_KEPT = 1_000_000
#: each value below 2^_BITS ns has its own bin, larger ones share bins of 1 part in 2^(_BITS - 1)
_BITS = 12
_MOST_NS = 2**44 - 1


@dataclass(frozen=True)
class Spread:
    """Percentiles of a time, s."""

    p50: float
    p99: float
    p999: float
    max: float


class Histogram:
    """Counts of times, in whole ns from 0: exact up to 4 µs, within 1 part in 2048 beyond, all ever added."""

    def __init__(self) -> None:
        self.counts = np.full(_place(_MOST_NS) + 1, 0, dtype=np.int64)
        self._counts = self.counts.data
        self.most = self.sum = self.total = 0

    def add(self, value_ns: int) -> None:
        """Count one value; negative ones count as 0, those of hours in the last bin."""
        value = min(max(value_ns, 0), _MOST_NS)
        self._counts[_place(value)] += 1
        self.total += 1
        self.sum += value
        if value > self.most:
            self.most = value

    def percentile(self, percent: float) -> int:
        """The least value, ns, that at least so many percent of all values do not exceed; 0 of none."""
        if self.total == 0:
            return 0
        reached = np.cumsum(self.counts[: _place(self.most) + 1])
        place = int(np.searchsorted(reached, max(percent / 100.0 * reached[-1] * (1.0 - 1e-12), 0.5)))
        return min(_upper_edge(place), self.most)

    def spread(self) -> Spread:
        """Percentiles, s."""
        p50, p99, p999 = (1e-9 * self.percentile(percent) for percent in (50.0, 99.0, 99.9))
        return Spread(p50, p99, p999, 1e-9 * self.most)

    def bins(self) -> tuple[np.ndarray, np.ndarray]:
        """Values, ns, and counts of the bins that are not empty."""
        places = np.flatnonzero(self.counts)
        return np.array([_upper_edge(int(place)) for place in places]), self.counts[places]


def _place(value: int) -> int:
    """Bin of a value: s 2^11 + value / 2^s with s = max(bits − 12, 0)."""
    shift = max(value.bit_length() - _BITS, 0)
    return (shift << (_BITS - 1)) + (value >> shift)


def _upper_edge(place: int) -> int:
    """The largest value of a bin."""
    shift = max((place >> (_BITS - 1)) - 1, 0)
    return ((place - (shift << (_BITS - 1)) + 1) << shift) - 1


@dataclass(frozen=True)
class FrameStatistics:
    """What the frames of a run took; times in s.

    lateness : of a frame's start behind its deadline;  compute : its work;  jitter : |time between two starts − period|
    finish : from the deadline to the end of the work; the period less this is the slack
    least_slack : period less the longest finish, negative after an overrun
    overruns, most_consecutive, skipped : see `overruns.Overruns`; overruns at start-up included
    real_time_factor : simulated over elapsed time
    """

    frames: int
    period: float
    elapsed: float
    real_time_factor: float
    overruns: int
    most_consecutive: int
    skipped: int
    least_slack: float
    lateness: Spread
    compute: Spread
    jitter: Spread
    finish: Spread

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, nested, for reports."""
        return asdict(self)


class FrameLog:
    """Start, work, slack and jitter of frames.

    period_ns : intended time from frame to frame;  kept : frames kept one by one, the latest ones
    """

    def __init__(self, period_ns: int, kept: int) -> None:
        self.period_ns, self.kept = period_ns, max(min(kept, MOST_KEPT), 1)
        # full, not zeros: every page is touched now
        self._rings = np.full((4, self.kept), 0, dtype=np.int64)
        self._start, self._compute, self._slack, self._jitter = (ring.data for ring in self._rings)
        self.lateness, self.compute, self.jitter, self.finish = (Histogram() for _ in range(4))
        self.frames = self.overruns = self.most_consecutive = self.skipped = 0
        self.late = Recent()  # delays of the latest starts, s
        self.first_ns = self.until_ns = self._last_ns = 0

    def add(self, deadline_ns: int, start_ns: int, end_ns: int) -> int:
        """Record one frame; returns its slack, ns: the time left at its end before the next deadline."""
        if self.frames == 0:
            self.first_ns = deadline_ns
            self._last_ns = start_ns - self.period_ns
        place = self.frames % self.kept
        compute, slack = end_ns - start_ns, deadline_ns + self.period_ns - end_ns
        jitter = start_ns - self._last_ns - self.period_ns
        self._start[place], self._compute[place] = start_ns - self.first_ns, compute
        self._slack[place], self._jitter[place] = slack, jitter
        self.lateness.add(start_ns - deadline_ns)
        self.late.add(1e-9 * (start_ns - deadline_ns), 1e-9 * start_ns)
        self.compute.add(compute)
        self.jitter.add(abs(jitter))
        self.finish.add(end_ns - deadline_ns)
        self._last_ns = start_ns
        self.frames += 1
        return slack

    def shift(self, held_ns: int) -> None:
        """The run was paused for so long after the latest frame: no time of a frame, nor of the run."""
        if self.frames:
            self.first_ns += held_ns
            self.until_ns += held_ns
            self._last_ns += held_ns

    def latest(self) -> dict[str, np.ndarray]:
        """The frames kept, in order, in ns: "start" since the first deadline, "compute", "slack", "jitter" (signed)."""
        count = min(self.frames, self.kept)
        order = (np.arange(count) + (self.frames - count)) % self.kept
        return dict(zip(("start", "compute", "slack", "jitter"), self._rings[:, order], strict=True))

    def real_time_factor(self) -> float:
        """Simulated over elapsed time."""
        elapsed = self.until_ns - self.first_ns
        return self.frames * self.period_ns / elapsed if elapsed > 0 else 0.0

    def statistics(self) -> FrameStatistics:
        """Of all frames so far; may be asked for at any time, from any thread."""
        lateness, compute, jitter, finish = (
            part.spread() for part in (self.lateness, self.compute, self.jitter, self.finish)
        )
        return FrameStatistics(
            frames=self.frames,
            period=1e-9 * self.period_ns,
            elapsed=1e-9 * (self.until_ns - self.first_ns),
            real_time_factor=self.real_time_factor(),
            overruns=self.overruns,
            most_consecutive=self.most_consecutive,
            skipped=self.skipped,
            least_slack=1e-9 * (self.period_ns - self.finish.most),
            lateness=lateness,
            compute=compute,
            jitter=jitter,
            finish=finish,
        )
