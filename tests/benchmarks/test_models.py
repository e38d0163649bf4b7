"""The models that all engines share, against Pinocchio's own reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.models import ROBOTS, _robot_file, chain_system, robot_system
from benchmarks.pinocchio_peer import WheelPinocchio
from benchmarks.states import COUNT, random_states, to_pinocchio
from benchmarks.trees import tree_of
from limberjack.engine.common.errors import ModelError

pin = pytest.importorskip("pinocchio")


def pinocchio_model(name: str) -> Any:
    """The robot as Pinocchio reads the same file."""
    robot = ROBOTS[name]
    root = [pin.JointModelFreeFlyer()] if robot.free else []
    model = pin.buildModelFromUrdf(str(_robot_file(robot.file)), *root)
    locked = [model.getJointId(joint) for joint in robot.locked]
    model = pin.buildReducedModel(model, locked, pin.neutral(model)) if locked else model
    model.gravity.linear = np.array([0.0, 0.0, -9.80665])
    model.armature = np.concatenate([np.zeros(6 * robot.free), np.full(model.nv - 6 * robot.free, robot.armature)])
    return model


@pytest.mark.parametrize("name", ROBOTS)
def test_tree_gives_the_accelerations_of_pinocchios_reader(name: str) -> None:
    system, model = robot_system(name), pinocchio_model(name)
    tree = tree_of(system)
    names = [link.name for link in tree.links][tree.free :]
    order = [model.joints[model.getJointId(joint)].idx_v for joint in names]
    theirs = to_pinocchio(tree, random_states(tree))
    peer = WheelPinocchio(tree, random_states(tree), "test")
    base = list(range(6 * tree.free))
    for k in range(COUNT):
        q, v, tau = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        q[: 7 * tree.free] = theirs.q[k, : 7 * tree.free]
        q[[i + tree.free for i in order]] = theirs.q[k, 7 * tree.free :]
        v[base + order], tau[base + order] = theirs.v[k], theirs.tau[k]
        expected = pin.aba(model, model.createData(), q, v, tau)[base + order]
        got = pin.aba(peer._model, peer._data, theirs.q[k], theirs.v[k], theirs.tau[k])
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_sizes() -> None:
    assert [robot_system(name).nv for name in ("panda", "anymal", "talos")] == [7, 18, 38]
    assert chain_system(12).nv == 12


def test_same_chain_every_time() -> None:
    one, two = chain_system(5), chain_system(5)
    for a, b in zip(one.bodies, two.bodies, strict=True):
        assert np.array_equal(a.hinge.inboard.rotation, b.hinge.inboard.rotation)
        assert np.array_equal(a.inertia.about_com, b.inertia.about_com)


def test_unknown_robot_is_named_with_the_known_ones() -> None:
    with pytest.raises(ModelError, match="'r2d2'.*panda"):
        robot_system("r2d2")


def test_missing_robot_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.models.ROBOT_PACKAGE", "no-such-robots")
    with pytest.raises(ModelError, match="no-such-robots.*pip install"):
        robot_system("panda")


def test_empty_chain_is_refused() -> None:
    with pytest.raises(ModelError, match="chain of 0 bodies"):
        chain_system(0)
