"""Robots of `limberjack bench --contacts`: statics of the one that stands, and engines that agree on the box."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import models
from benchmarks.contacts import contacts_bench
from benchmarks.contacts.robot_engines import ROBOT_ENGINES, BestMuJoCoRobot, OurRobot
from benchmarks.contacts.robots import robot_scenes

STANDS, PUSHES = robot_scenes(quick=False)


@pytest.mark.long
@pytest.mark.parametrize("kind", ROBOT_ENGINES)
def test_the_floor_carries_the_standing_robot(kind):
    """Statics, after a minute: MuJoCo's own contacts still rock at 1e-5 of the weight after six seconds."""
    robot = kind(STANDS)
    weight = sum(body.inertia.mass for body in robot.system.bodies) * robot.system.gravity
    assert np.allclose(robot.support(), -weight, rtol=0.0, atol=1e-6 * np.linalg.norm(weight))


@pytest.mark.long
def test_the_standing_robot_does_not_creep_and_both_engines_have_it_where_it_was_put():
    """MuJoCo's feet sink into the floor by a millimetre, as its force law says; the stance is compared without that."""
    ours, theirs = OurRobot(STANDS), BestMuJoCoRobot(STANDS)
    assert ours.error() < 1e-6
    assert np.allclose(ours.places[:, :2], theirs.places[:, :2], rtol=0.0, atol=1e-3)
    stances = [robot.places - robot.places.mean(axis=0) for robot in (ours, theirs)]
    assert np.allclose(*stances, rtol=0.0, atol=1e-3)


@pytest.mark.long
def test_references_of_both_engines_push_the_box_as_far():
    """Where it turns to depends on the load of each corner, which Coulomb's law leaves open: not compared."""
    far = []
    for kind in (OurRobot, BestMuJoCoRobot):
        robot = kind(PUSHES, 1e-3 / PUSHES.refined)
        far.append(np.linalg.norm(robot.places - robot.first))
    assert far[0] > 0.1
    assert far[0] == pytest.approx(far[1], rel=0.03)


@pytest.mark.long
def test_a_pushed_box_ends_near_its_reference():
    assert OurRobot(PUSHES).error() < 1e-3


def test_a_package_of_robots_that_is_missing_is_a_remark(monkeypatch):
    monkeypatch.setattr(models, "ROBOT_PACKAGE", "no-such-package-of-robots")
    remarks: list[str] = []
    found = contacts_bench._measured(STANDS, ROBOT_ENGINES, True, remarks)
    assert found["engines"] == []
    assert "no-such-package-of-robots" in remarks[0]
    assert "limberjack[bench]" in remarks[0]
