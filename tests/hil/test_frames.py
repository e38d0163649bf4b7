"""Statistics of frames against numpy's percentiles; the ring keeps the latest."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.hil.frame_times import FrameLog, Histogram

PERIOD = 1_000_000


def filled(values):
    histogram = Histogram()
    for value in values:
        histogram.add(int(value))
    return histogram


@pytest.mark.parametrize("scale", [3e2, 4e4, 6e6, 2e11])
def test_percentiles(scale):
    values = np.random.default_rng(1).exponential(scale, 4993).astype(np.int64)
    histogram = filled(values)
    for percent in (0.0, 0.1, 1, 25, 50, 75, 99, 99.9, 100):
        wanted = np.percentile(values, percent, method="inverted_cdf")
        assert wanted <= histogram.percentile(percent) <= wanted * (1 + 1 / 2048)
    assert histogram.most == values.max()
    assert histogram.sum == values.sum()
    edges, counts = histogram.bins()
    assert counts.sum() == histogram.total == 4993
    assert np.all(np.diff(edges) > 0)


def test_small_times_are_exact_and_every_bin_holds_its_own():
    for value in [*range(4000, 4200), *(2**k + d for k in range(12, 44) for d in (-1, 0, 1))]:
        edge = filled([value]).bins()[0][0]
        assert value <= edge <= value * (1 + 1 / 2048)
    assert filled([-5]).percentile(50) == 0
    assert filled([2**60]).most == 2**44 - 1
    assert Histogram().percentile(99) == 0


def test_what_is_kept_and_what_is_counted():
    generator = np.random.default_rng(2)
    late, work = generator.integers(0, 90_000, 997), generator.integers(10_000, 1_200_000, 997)
    log = FrameLog(PERIOD, kept=64)
    for k in range(997):
        deadline = 77 + k * PERIOD
        start = deadline + int(late[k])
        assert log.add(deadline, start, start + int(work[k])) == PERIOD - late[k] - work[k]
    kept = log.latest()
    assert np.array_equal(kept["compute"], work[-64:])
    assert np.array_equal(kept["start"], (np.arange(997) * PERIOD + late)[-64:])
    assert np.array_equal(kept["jitter"], np.diff(late)[-64:])
    statistics = log.statistics()
    jitter = np.abs(np.diff(late, prepend=late[0]))
    for spread, values in (
        (statistics.lateness, late),
        (statistics.compute, work),
        (statistics.jitter, jitter),
        (statistics.finish, late + work),
    ):
        for found, percent in ((spread.p50, 50), (spread.p99, 99), (spread.p999, 99.9)):
            assert found == pytest.approx(1e-9 * np.percentile(values, percent, method="inverted_cdf"), rel=1 / 2048)
        assert spread.max == pytest.approx(1e-9 * values.max())
    assert statistics.least_slack == pytest.approx(1e-9 * (PERIOD - (late + work).max()))
    assert statistics.as_dict()["compute"]["p99"] == statistics.compute.p99


def test_before_the_first_frame():
    statistics = FrameLog(PERIOD, kept=10).statistics()
    assert (statistics.frames, statistics.real_time_factor, statistics.compute.max) == (0, 0.0, 0.0)
