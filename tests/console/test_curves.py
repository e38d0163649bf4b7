"""What a browser is shown of many samples, live and past: no extreme is lost, no line drawn over a gap."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from limberjack.bridge.console.envelope import Envelope
from limberjack.bridge.console.past import curve
from limberjack.bridge.telemetry.history import Series
from limberjack.bridge.telemetry.sample import Sample

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)
START_NS = 1_700_000_000_000_000_000


def sample(k: int, value: float, gap: int = 0) -> Sample:
    return Sample(k, 0.001 * k, START_NS + 1_000_000 * k, np.array([value, -value]), gap)


@given(VALUES, st.integers(1, 20))
def test_extremes_and_ends_are_among_the_points(values, at_once):
    """Of every taking: the newest value, and lowest and highest ever, each at its own time, in order."""
    envelope = Envelope(2)
    points: list[tuple[float, float]] = []
    for k, value in enumerate(values):
        envelope.add(sample(k, value))
        if k % at_once == at_once - 1 or k == len(values) - 1:
            taken = envelope.take()
            assert taken is not None
            found = taken.points(0)
            assert 1 <= len(found) <= 3
            assert [-value for _, value in taken.points(1)] == [value for _, value in found]
            points += found
    assert envelope.take() is None
    by_time = {1e-6 * (START_NS + 1_000_000 * k): value for k, value in enumerate(values)}
    assert all(by_time[at] == value for at, value in points)
    assert [at for at, _ in points] == sorted(at for at, _ in points)
    shown = [value for _, value in points]
    assert shown[-1] == values[-1]
    assert max(shown) == max(values)
    assert min(shown) == min(values)


def test_gaps_are_counted_until_they_are_told():
    envelope = Envelope(2)
    for k, gap in enumerate((0, 3, 0, 2)):
        envelope.add(sample(k, 1.0, gap))
    taken = envelope.take()
    assert taken is not None
    assert taken.gap == 5
    envelope.add(sample(5, 1.0))
    taken = envelope.take()
    assert taken is not None
    assert taken.gap == 0


def test_values_that_are_not_numbers():
    envelope = Envelope(2)
    for k, value in enumerate((1.0, np.nan, 2.0, np.nan)):
        envelope.add(sample(k, value))
    taken = envelope.take()
    assert taken is not None
    *_, (_, newest) = taken.points(0)
    assert np.isnan(newest)


def series(last: list[float], low: list[float] | None = None, high: list[float] | None = None, gap: int = 0) -> Series:
    at = START_NS + 1_000_000_000 * np.arange(len(last))
    gaps = np.zeros(len(last), dtype=np.int64)
    gaps[len(last) // 2] = gap
    return Series(at, gaps, np.array(low or last), np.array(high or last), np.array(last))


def test_a_rising_curve_has_a_point_a_bin():
    """The lowest of each bin is the last of the one before: it would be a stair, and tells nothing."""
    found = curve(series([1.0, 2.0, 3.0], low=[1.0, 1.0, 2.0]))
    assert [value for _, value in found] == [1.0, 2.0, 3.0]


def test_a_spike_inside_a_bin_is_drawn():
    found = curve(series([1.0, 1.0, 1.0], high=[1.0, 9.0, 1.0], low=[1.0, -7.0, 1.0]))
    assert [value for _, value in found] == [1.0, -7.0, 9.0, 1.0, 1.0]
    assert [at for at, _ in found] == sorted(at for at, _ in found)


def test_what_is_missing_is_marked():
    found = curve(series([1.0, 2.0, np.nan, 4.0], gap=7))
    assert [value for _, value in found] == [1.0, 2.0, None, None, 4.0]
    assert curve(series([5.0], gap=3))[0][1] == 5.0
    empty = np.zeros(0)
    assert curve(Series(empty, empty, empty, empty, empty)) == []
