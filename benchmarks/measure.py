"""Interleaved batches of several engines, and what is reported of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.engines import Engine

#: CPU time a batch should last: long against the clock's resolution, short against changes of the machine's pace
BATCH_SECONDS = 0.01
QUICK_BATCH_SECONDS = 0.0005
MAX_CALLS = 1_000_000


@dataclass(frozen=True)
class Spread:
    """Median, quartiles and least of a sample."""

    median: float
    q1: float
    q3: float
    least: float


def spread(sample: Sequence[float] | np.ndarray) -> Spread:
    """The Spread of a non-empty sample."""
    q1, median, q3 = np.percentile(sample, [25, 50, 75])
    return Spread(float(median), float(q1), float(q3), float(np.min(sample)))


@dataclass(frozen=True)
class Timing:
    """Time of one engine for one operation on one model.

    us : microseconds a call; ratio : its time over ours, batch by neighbouring batch (ours itself: 1)
    """

    engine: str
    operation: str
    us: Spread
    ratio: Spread
    note: str


def calls_per_batch(engine: Engine, operation: str, seconds: float) -> int:
    """How many calls last about `seconds`; doubles until a batch is long enough to judge by.

    By the faster of two: a single call that was interrupted would pass for a batch that is long enough.
    """
    timer, calls = engine.timers[operation], 1
    while calls < MAX_CALLS:  # at most 20 rounds
        spent = min(timer(calls), timer(calls))
        if spent > 0.2 * seconds:
            return max(1, min(MAX_CALLS, round(calls * seconds / spent)))
        calls *= 2
    return MAX_CALLS


def compare(engines: Sequence[Engine], operation: str, repeats: int, seconds: float) -> list[Timing]:
    """Time one operation of all engines, the first of which is ours, in batches A B C A B C …"""
    counts = [calls_per_batch(engine, operation, seconds) for engine in engines]
    times = np.empty((repeats, len(engines)))
    for row in times:
        for i, engine in enumerate(engines):
            row[i] = engine.timers[operation](counts[i]) / counts[i]
    ratios = times / times[:, :1]
    return [
        Timing(engine.name, operation, spread(1e6 * times[:, i]), spread(ratios[:, i]), engine.note)
        for i, engine in enumerate(engines)
    ]
