"""Residuals and rows that plan the loops, against the dense reference of the kernels' tests and against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from limberjack.engine.algebra.rotations import from_axis_angle, from_rpy, to_quaternion
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.closure import closures
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.system import Hinge, Loop, Pose
from limberjack.engine.model.validate import validate
from tests.engine.kernels.loops.random_graphs import KINDS, WHEELS, close_tree
from tests.engine.motions import derivative, move
from tests.engine.random_systems import ALL_TYPES, random_state, random_system


def mechanism_of(system) -> Mechanism:
    tree = Tree(assemble(system))
    return Mechanism(tree, closures(system, tree))


def graph_of(kind: str, seed: int):
    """A random tree of all twelve hinge types with one loop of this kind, closed."""
    rng = np.random.default_rng(seed)
    types = [*map(str, rng.permutation([*ALL_TYPES, *ALL_TYPES])[:8]), "gimbal"]
    tree = random_system(types, rng)
    graph = close_tree(tree, random_state(tree, rng)[0], [kind], rng)
    assert len(graph.system.loops) == 1
    return graph


def spans(A: np.ndarray) -> np.ndarray:
    """The projector onto the rows of A."""
    return np.linalg.pinv(A) @ A


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [*KINDS, *WHEELS])
def test_rows_allow_what_the_reference_allows(kind, seed):
    graph = graph_of(kind, seed)
    mechanism = mechanism_of(graph.system)
    rows = graph.oracle.rows(graph.q, graph.v).C
    r, Y = mechanism.evaluate(graph.q)
    full = np.zeros((len(Y), graph.system.nv))
    full[:, mechanism.dofs] = Y
    np.testing.assert_allclose(spans(full), spans(rows), atol=1e-9)
    np.testing.assert_allclose(r, 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", [*(kind for kind in KINDS if kind not in ("cut custom", "lock")), *WHEELS])
def test_rows_are_the_rates_of_the_residuals_where_they_vanish(kind, seed):
    """A helical or rolling hinge is closed after whole turns too: residuals are unwound."""
    graph = graph_of(kind, seed)
    mechanism, rng = mechanism_of(graph.system), graph.rng
    v = 0.2 * rng.normal(size=graph.system.nv)
    rate = derivative(graph.oracle.tree, graph.q, v, 0.0 * v, lambda q, _v: mechanism.evaluate(q)[0])
    expected = mechanism.evaluate(graph.q)[1] @ v[mechanism.dofs]
    own = mechanism.holonomic
    np.testing.assert_allclose(rate[own], expected[own], atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(3))
def test_rows_are_exact_away_from_the_constraint(seed):
    """The rows of a cut fixed hinge are all of [w; u]: rates of the relative pose, wherever it is."""
    graph = graph_of("weld", seed)
    system, rng = graph.system, graph.rng
    mechanism = mechanism_of(system)
    q = move(system, graph.q, 0.5 * rng.normal(size=system.nv))
    v = 0.2 * rng.normal(size=system.nv)

    def relative(at: np.ndarray, _v: np.ndarray) -> np.ndarray:
        a, b = mechanism.relative(mechanism.loops[0], mechanism.poses(at)[0])
        pose = a.inverse() @ b
        return np.column_stack([pose.rotation, pose.position])

    here, rate = relative(q, v), derivative(graph.oracle.tree, q, v, 0.0 * v, relative)
    spin = rate[:, :3] @ here[:, :3].T
    expected = np.concatenate([[spin[2, 1], spin[0, 2], spin[1, 0]], rate[:, 3]])
    np.testing.assert_allclose(mechanism.evaluate(q)[1] @ v[mechanism.dofs], expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_moving_coordinates_is_the_motion_of_the_velocities(seed):
    rng = np.random.default_rng(seed)
    system = random_system([str(name) for name in rng.permutation(ALL_TYPES)], rng)
    q, _ = random_state(system, rng)
    tree = Tree(assemble(system))
    whole = Mechanism(tree, [])
    whole.joints, whole.rows = tree.joints, [joint.body + 1 for joint in tree.joints]
    whole.slices = {joint.body + 1: slice(joint.vi, joint.vi + joint.nv) for joint in tree.joints}
    step = rng.normal(size=system.nv)
    np.testing.assert_allclose(whole.moved(q, step), move(system, q, step), atol=1e-14)


ANGLES = [0.0, 0.7, -2.4, 3.1]


@pytest.mark.parametrize("turns", [-2, 0, 3])
@pytest.mark.parametrize("angle", ANGLES)
def test_screws_are_unwound(angle, turns):
    """A screw of pitch 0.1 m/rad is closed at every whole turn, where its nut has travelled as far."""
    total = angle + 2 * np.pi * turns
    system = screw(Pose(from_axis_angle(np.array([0, 0, 1.0]), total), np.array([0, 0, 0.1 * total])))
    np.testing.assert_allclose(mechanism_of(system).evaluate(system.q0)[0], 0.0, atol=1e-13)
    off = screw(Pose(from_axis_angle(np.array([0, 0, 1.0]), total), np.array([0, 0, 0.1 * total + 0.02])))
    assert np.abs(mechanism_of(off).evaluate(off.q0)[0]).max() == pytest.approx(0.02)


def screw(pose: Pose):
    """A body that floats at `pose`, joined to the world by a screw along z."""
    system = random_system(["free"], np.random.default_rng(0))
    cut = Hinge("screw", "helical", None, axes=np.array([[0, 0, 1.0]]), pitch=0.1)
    body = system.bodies[0]
    q0 = np.concatenate([to_quaternion(pose.rotation), pose.position])
    placed = replace(body, hinge=Hinge(body.hinge.name, "free", None, q0=q0))
    return validate(replace(system, bodies=(placed,), loops=(Loop("screw", "hinge", cut, body.name),)))


def test_the_largest_tilt_has_a_finite_residual():
    """Axes that point against each other: the residual has length 2, its direction is open."""
    system = screw(Pose(from_rpy([np.pi, 0.0, 0.0])))
    residual = mechanism_of(system).evaluate(system.q0)[0]
    assert np.linalg.norm(residual[:2]) == pytest.approx(2.0)
    assert np.all(np.isfinite(residual))
