"""The test trajectory: inside the limits, smooth, at rest at its ends."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.commands.trajectory import SLIDE_M, TURN_RAD, Trajectory, _share, _waypoints
from limberjack.engine.model.system import Dof


@pytest.mark.parametrize(
    ("start", "lower", "upper"),
    [(0.0, -np.inf, np.inf), (0.0, -0.0175, 3.7), (0.0, -3.0, 0.0), (0.4, -0.5, 0.5), (0.0, 0.0, 0.0)],
)
def test_waypoints_stay_within_limits(start: float, lower: float, upper: float) -> None:
    for index in range(14):
        for way in _waypoints(start, Dof(lower=lower, upper=upper), True, _share(index)):
            assert lower <= start + way <= upper
            assert abs(way) <= TURN_RAD


def test_hinges_that_start_together_part() -> None:
    ways = {_waypoints(0.0, Dof(), True, _share(index))[0] for index in range(14)}
    assert len(ways) == 14


def test_sliding_hinges_move_less() -> None:
    assert max(map(abs, _waypoints(0.0, Dof(), angular=False))) == SLIDE_M


def test_rates_are_the_derivatives_and_ends_are_at_rest() -> None:
    trajectory = Trajectory(np.array([0.3]), np.array([[0.6], [-0.3]]), 6.0)
    h = 1e-5
    for time in (0.4, 1.7, 3.1, 5.5):
        before, here, after = (trajectory.at(time + d) for d in (-h, 0.0, h))
        assert here.rate == pytest.approx((after.position - before.position) / (2 * h), abs=1e-8)
        assert here.acceleration == pytest.approx((after.rate - before.rate) / (2 * h), abs=1e-8)
    for time in (0.0, 6.0, 7.0):
        assert trajectory.at(time).position == pytest.approx([0.3], abs=1e-15)
        assert trajectory.at(time).rate == pytest.approx([0.0], abs=1e-15)
