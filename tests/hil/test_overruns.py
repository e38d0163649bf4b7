"""Deadlines and overrun policies, on a clock whose times are made up: no test waits for anything."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.bench_device import mount
from limberjack.hil.executive import Executive
from limberjack.hil.overruns import OverrunPolicy
from limberjack.hil.signals import Signals
from tests.hil.benches import FakeClock, FakeDevice, fake

PERIOD = 1_000_000


def run(arm, work, frames, policy=None, late=lambda _: 0):
    """Outcome and clock of a run whose frame k takes work(k) ns."""
    clock, device = FakeClock(late), FakeDevice()
    device.on_send = lambda frame, *_: clock.spend(work(frame)) if frame else None
    mounted = mount(device, Signals(arm), arm, ["time"])
    outcome = Executive(arm, policy=policy, devices=[mounted], **fake(clock)).run(frames * 1e-3)
    return outcome, clock


def test_lateness_never_adds_up(arm):
    late = np.random.default_rng(0).integers(0, 400_000, 500)
    outcome, clock = run(arm, lambda _: 500_000, 500, late=lambda k: int(late[k]))
    ideal = clock.starts[0] - late[0] + PERIOD * np.arange(500)
    assert np.array_equal(clock.starts, ideal + late)
    assert outcome.reason == "completed"
    found = outcome.frames.latest()
    assert np.array_equal(found["start"], PERIOD * np.arange(500) + late)
    assert np.array_equal(found["slack"], 500_000 - late)
    assert np.array_equal(found["jitter"], np.diff(late, prepend=late[0]))
    statistics = outcome.frames.statistics()
    assert statistics.overruns == 0
    assert statistics.real_time_factor == 1.0


def test_catching_up(arm):
    """One frame of 3.5 periods among frames of a quarter: the next starts are at once until the deadlines are met."""
    outcome, clock = run(arm, lambda k: 3_500_000 if k == 5 else 250_000, 20)
    starts = (np.array(clock.starts) - clock.starts[0]) / PERIOD
    assert np.allclose(starts, [0, 1, 2, 3, 4, 7.5, 7.75, 8, 8.25, *range(9, 20)])
    statistics = outcome.frames.statistics()
    assert (statistics.overruns, statistics.most_consecutive, statistics.skipped) == (4, 4, 0)
    assert statistics.real_time_factor == 1.0
    assert statistics.least_slack == pytest.approx(-2.5e-3)
    assert arm.time == pytest.approx(0.02)
    assert [(event.data["frame"], event.data["cause"]) for event in outcome.log.of("overrun")] == [(5, "device 'fake'")]
    assert outcome.log.of("overrun")[0].data["late_s"] == pytest.approx(2.5e-3)


def test_skipping(arm):
    """The same frame: deadlines that passed are left out, the others stay where they were."""
    outcome, clock = run(arm, lambda k: 3_500_000 if k == 5 else 250_000, 20, OverrunPolicy("skip"))
    starts = (np.array(clock.starts) - clock.starts[0]) / PERIOD
    assert np.allclose(starts, [0, 1, 2, 3, 4, *range(8, 23)])
    statistics = outcome.frames.statistics()
    assert (statistics.overruns, statistics.skipped) == (1, 3)
    assert statistics.real_time_factor == pytest.approx(20 / 23)
    assert arm.time == pytest.approx(0.02)


def test_the_machine_is_blamed_for_a_late_start(arm):
    outcome, _ = run(arm, lambda _: 250_000, 10, late=lambda k: 1_200_000 if k == 6 else 0)
    assert [(event.data["frame"], event.data["cause"]) for event in outcome.log.of("overrun")] == [(7, "a late start")]


def test_overruns_do_not_fill_the_log(arm):
    """Every second frame overruns: all are counted, a thousand are events, and the last of these says so."""
    outcome, _ = run(arm, lambda k: 1_200_000 if k % 2 else 100_000, 2200, OverrunPolicy("skip"))
    events = outcome.log.of("overrun")
    assert (outcome.frames.overruns, len(events)) == (1100, 1000)
    assert [event.text.endswith("but not logged as events.") for event in events[-2:]] == [False, True]


def test_a_frame_that_ends_at_its_deadline_is_no_overrun(arm):
    for policy in ("catch_up", "skip", "stop"):
        outcome, _ = run(arm, lambda _: PERIOD, 10, OverrunPolicy(policy))
        assert (outcome.reason, outcome.frames.overruns, outcome.frames.skipped) == ("completed", 0, 0)


@pytest.mark.parametrize(
    ("policy", "long", "ends", "words"),
    [
        (OverrunPolicy("stop"), {7}, 7, "frame 7 ended"),
        (OverrunPolicy("stop", start_up_frames=7), {3, 7, 11}, 11, "frame 11 ended"),
        (OverrunPolicy("skip", most_total=2), {2, 8, 14, 16}, 14, "3 overruns"),
        (OverrunPolicy("skip", most_consecutive=2), {2, 3, 5, 6, 10, 11, 12}, 12, "3 overruns in a row"),
        (OverrunPolicy("skip", start_up_frames=5, most_start_up=1), {2, 4}, 4, "2 overruns at start-up"),
        (OverrunPolicy("skip", start_up_frames=5, most_total=1), {1, 2, 4, 5, 9}, None, ""),
        (OverrunPolicy("skip", start_up_frames=5, most_consecutive=1), {4, 5, 6}, None, ""),
    ],
)
def test_limits(arm, policy, long, ends, words):
    outcome, _ = run(arm, lambda k: 1_500_000 if k in long else 1000, 20, policy)
    assert outcome.frames.frames == (ends or 20)
    assert outcome.reason == ("overrun" if ends else "completed")
    assert outcome.text.startswith(words)
    assert outcome.frames.overruns == len([k for k in long if k <= (ends or 20)])


@pytest.mark.parametrize("wrong", [{"policy": "hurry"}, {"most_total": -1}, {"start_up_frames": 0.5}])
def test_policies_that_mean_nothing(wrong):
    with pytest.raises(ArgumentError):
        OverrunPolicy(**wrong)
