"""The tree that plans loops: poses of all hinge types against the dense reference, axes and motions against poses."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.compile.interpreted import interpreted
from limberjack.engine.kernels.nodes.hinges import hinge_pose
from limberjack.engine.model.frames import assemble, skew
from limberjack.engine.model.loops.joint_tree import Tree, move, place
from limberjack.engine.model.system import Pose
from limberjack.engine.tables.hinge_types import FREE
from tests.engine import dense
from tests.engine.random_systems import MOVING, random_state, random_system


def one_hinge(kind: str, seed: int):
    """A tree of one hinge, and coordinates."""
    rng = np.random.default_rng(seed)
    system = random_system([kind], rng)
    q, _ = random_state(system, rng)
    frames = assemble(system)
    return system.bodies[0], frames, Tree(frames).joints[0], q, rng


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", MOVING)
def test_a_body_stands_where_the_reference_says(kind, seed):
    body, frames, joint, q, _ = one_hinge(kind, seed)
    found = place(joint, Pose(), q)[0] @ frames.of_body[body.name][1]
    expected = body.hinge.inboard @ dense.hinge_pose(body.hinge, q) @ body.hinge.outboard.inverse()
    np.testing.assert_allclose(found.rotation, expected.rotation, atol=1e-14)
    np.testing.assert_allclose(found.position, expected.position, atol=1e-14)


@pytest.mark.parametrize("kind", MOVING)
def test_a_motion_goes_along_the_axes(kind):
    """Central differences of the pose: their error is of the order of h² and of rounding over h."""
    _, _, joint, q, rng = one_hinge(kind, 1)
    v, h, ends = rng.normal(size=joint.nv), 1e-5, []
    for sign in (1.0, -1.0):
        moved = q.copy()
        move(joint, moved, sign * h * v)
        ends.append(place(joint, Pose(), moved)[0])
    pose, w, u = place(joint, Pose(), q)
    np.testing.assert_allclose((ends[0].position - ends[1].position) / (2 * h), u @ v, atol=1e-8)
    rate = (ends[0].rotation - ends[1].rotation) / (2 * h)
    np.testing.assert_allclose(rate, skew(w @ v) @ pose.rotation, atol=1e-8)


def test_a_kernel_runs_without_its_compiler():
    q = np.array([0.5, -0.5, 0.1, 0.7]) / np.linalg.norm([0.5, -0.5, 0.1, 0.7])
    angles = SimpleNamespace(cosine=[1.0] * 7, sine=[0.0] * 7)
    R, p = interpreted(hinge_pose)(FREE, 0.0, angles, [*q.tolist(), 1.0, 2.0, 3.0], 0)
    np.testing.assert_allclose(np.reshape(R, (3, 3)), from_quaternion(q), atol=1e-15)
    assert p == (1.0, 2.0, 3.0)
