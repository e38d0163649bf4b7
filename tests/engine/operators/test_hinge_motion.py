"""Hinge kinematics of the workbench against poses written down from the conventions, and complex steps through them."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.engine.operators import Operators
from limberjack.engine.operators.hinge_motion import displaced, hinge_motion
from tests.engine.dense import hinge_pose
from tests.engine.random_systems import ALL_TYPES, coordinates, random_hinge, random_system

STEP = 1e-30


def case(hinge_type: str, seed: int):
    rng = np.random.default_rng(seed)
    hinge = random_hinge("h", hinge_type, None, rng, armature=False, merge=False)
    return hinge, coordinates(hinge_type, rng)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hinge_type", ALL_TYPES)
def test_pose_and_map(hinge_type, seed):
    hinge, q = case(hinge_type, seed)
    motion, expected = hinge_motion(hinge, q), hinge_pose(hinge, q)
    np.testing.assert_allclose(motion.pose.rotation, expected.rotation, atol=1e-14)
    np.testing.assert_allclose(motion.pose.position, expected.position, atol=1e-14)
    for j in range(hinge.nv):
        moved = hinge_pose(hinge, q, (1j * STEP * np.eye(hinge.nv)[j],))
        W = expected.rotation.T @ moved.rotation.imag / STEP
        u = expected.rotation.T @ moved.position.imag / STEP
        np.testing.assert_allclose(motion.H_star[:, j], [W[2, 1], W[0, 2], W[1, 0], *u], atol=1e-14)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("hinge_type", ALL_TYPES)
def test_derivative_of_the_map(hinge_type, seed):
    hinge, q = case(hinge_type, seed)
    motion = hinge_motion(hinge, q)
    assert motion.dH_star.shape == (hinge.nv, 6, hinge.nv)
    for i in range(hinge.nv):
        moved = displaced(hinge, q, 1j * STEP * np.eye(hinge.nv)[i])
        np.testing.assert_allclose(motion.dH_star[i], hinge_motion(hinge, moved).H_star.imag / STEP, atol=1e-14)


@pytest.mark.parametrize("hinge_type", ALL_TYPES)
def test_displaced_moves_along_the_velocities(hinge_type):
    hinge, q = case(hinge_type, 7)
    for j in range(hinge.nv):
        step = 1j * STEP * np.eye(hinge.nv)[j]
        moved, expected = hinge_motion(hinge, displaced(hinge, q, step)).pose, hinge_pose(hinge, q, (step,))
        np.testing.assert_allclose(moved.rotation.imag / STEP, expected.rotation.imag / STEP, atol=1e-13)
        np.testing.assert_allclose(moved.position.imag / STEP, expected.position.imag / STEP, atol=1e-13)


def test_complex_coordinates_pass_through_every_operator():
    """d(mass matrix)/dq by a complex step equals central differences."""
    rng = np.random.default_rng(3)
    system = random_system(["revolute", "prismatic", "universal"], rng)
    q, n = rng.uniform(-0.5, 0.5, system.nq), system.nq

    def mass(q):
        o = Operators(system, q)
        factor = o.I + o.H * o.phi * o.K
        return (factor * o.D * factor.T).to_array()

    for i in range(n):
        exact = mass(q + 1j * STEP * np.eye(n)[i]).imag / STEP
        h = 1e-4
        near = (mass(q + h * np.eye(n)[i]) - mass(q - h * np.eye(n)[i])) / (2 * h)
        np.testing.assert_allclose(exact, near, atol=1e-6)
