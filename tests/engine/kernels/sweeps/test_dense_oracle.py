"""All of `Dynamics` against the dense oracle: each hinge type alone and in random mixed trees.

Tolerance: the oracle's eighth-order differences leave about 1e-12 of the largest term, its dense sums 1e-14;
1e-10 relative to the largest element covers both for trees of this size. Accelerations are compared with the
condition number of M times that, since both sides solve with it.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import limberjack as lj
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from tests.engine.dense import Dense
from tests.engine.random_systems import MOVING, random_state, random_system, trees
from tests.validation.figures import figure

TOLERANCE = 1e-10


def close(name: str, actual: np.ndarray, expected: np.ndarray, scale: float = 0.0, factor: float = 1.0) -> None:
    """Equal within TOLERANCE of the largest element (or of `scale`, where cancellation makes the result small)."""
    size = max(float(np.max(np.abs(expected), initial=0.0)), scale)
    if np.size(expected):
        figure(name, actual, expected, oracle="dense sums and differences", atol=TOLERANCE * factor * max(size, 1e-3))


def some_wrenches(system: lj.System, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Spatial forces at bodies, at nodes and at a node of the ground, where it can do nothing."""
    last = len(system.bodies) - 1
    return {name: rng.normal(size=6) for name in ("anchor", "b0", f"n{last}", "n0")}


def check_motion(dynamics: lj.Dynamics, oracle: Dense, vdot: np.ndarray) -> None:
    """Pose, velocity, acceleration, J and (dJ/dt) v of every body and node."""
    q, v = oracle.q, oracle.v
    for node in dynamics.system.node_names:
        expected = oracle.motion[node]
        R, p = dynamics.pose(node, q)
        close("rotations", R, expected.pose.rotation)
        close("positions", p, expected.pose.position)
        close("velocities of nodes", dynamics.velocity(node, q, v), expected.Jv)
        close("Jacobians", dynamics.jacobian(node, q), expected.J)
        close("rates of Jacobians", dynamics.jacobian_rate(node, q, v), expected.Jdot_v, scale=1.0)
        close(
            "accelerations of nodes",
            dynamics.acceleration(node, q, v, vdot),
            expected.J @ vdot + expected.Jdot_v,
            scale=1.0,
        )


def check_totals(dynamics: lj.Dynamics, oracle: Dense) -> None:
    q, v = oracle.q, oracle.v
    close("energies", np.array(dynamics.energy(q, v)), np.array(oracle.energy()))
    close("momentum", dynamics.momentum(q, v), oracle.momentum())
    close("centre of mass", dynamics.center_of_mass(q), oracle.center_of_mass())


def check_forces(dynamics: lj.Dynamics, oracle: Dense, rng: np.random.Generator) -> None:
    """Mass matrix, bias, inverse and forward dynamics, reactions, with and without external forces."""
    q, v = oracle.q, oracle.v
    M, bias = oracle.mass_matrix(), oracle.bias()
    close("mass matrix", dynamics.mass_matrix(q), M)
    close("bias forces", dynamics.bias(q, v), bias, scale=1.0)
    tau, vdot = rng.normal(size=len(v)), rng.normal(size=len(v))
    condition = float(np.linalg.cond(M)) if len(v) else 1.0
    for wrenches in ({}, some_wrenches(dynamics.system, rng)):
        external = wrenches or None
        close("inverse dynamics", dynamics.inverse(q, v, vdot, external), oracle.inverse(vdot, wrenches), scale=1.0)
        expected = oracle.forward(tau, wrenches)
        close("forward dynamics", dynamics.forward(q, v, tau, external), expected, factor=condition)
        for body in dynamics.system.bodies:
            if body.hinge.name in dynamics.plant.hinge_rows:
                reaction = dynamics.reaction(body.hinge.name, q, v, vdot, external)
                close("reactions of hinges", reaction, oracle.reaction(body.name, vdot, wrenches), scale=1.0)


def check_all(system: lj.System, rng: np.random.Generator) -> None:
    dynamics = lj.Dynamics(system)
    oracle = Dense(system, *random_state(system, rng))
    check_motion(dynamics, oracle, rng.normal(size=system.nv))
    check_totals(dynamics, oracle)
    check_forces(dynamics, oracle, rng)


@pytest.mark.parametrize("hinge_type", MOVING)
@pytest.mark.parametrize("armature", [False, True], ids=["plain", "armature"])
def test_one_hinge_on_the_ground(hinge_type, armature):
    rng = np.random.default_rng(HINGE_TYPES[hinge_type].code)
    check_all(random_system([hinge_type], rng, armature=armature), rng)


@pytest.mark.parametrize("hinge_type", MOVING)
def test_a_branched_tree_of_one_type(hinge_type):
    rng = np.random.default_rng(100 + HINGE_TYPES[hinge_type].code)
    check_all(random_system([hinge_type] * 4, rng, parents=[None, 0, 0, 1], armature=False), rng)


@pytest.mark.parametrize("merge", [True, False], ids=["merged", "unmerged"])
@pytest.mark.parametrize("base", ["fixed", "free", "revolute"])
def test_fixed_hinges_between_moving_ones(merge, base):
    rng = np.random.default_rng(7)
    types = [base, "fixed", "universal", "fixed", "revolute", "fixed", "spherical", "prismatic"]
    check_all(random_system(types, rng, merge=merge), rng)


def test_z_turning_chains_with_aligned_axes():
    """Frames that need no turn (all axes parallel, or the next axis in the parent's plane) take shorter paths."""
    rng = np.random.default_rng(8)
    system = random_system(["revolute"] * 6, rng, parents=[None, 0, 1, 1, 1, 0], armature=False)
    check_all(system, rng)


@settings(max_examples=25, deadline=None)
@given(trees())
def test_random_mixed_trees(tree):
    system, rng = tree
    check_all(system, rng)


@settings(max_examples=10, deadline=None)
@given(trees(root="free"))
def test_random_mixed_trees_on_a_free_base(tree):
    system, rng = tree
    check_all(system, rng)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(trees(most_bodies=12))
def test_many_random_mixed_trees(tree):
    system, rng = tree
    check_all(system, rng)
