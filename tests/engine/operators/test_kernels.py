"""The compiled kernels and the workbench are two routes to the same numbers; for a part, the part as its own System."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import limberjack as lj
from limberjack.engine.operators import Operators
from tests.engine.operators.parts import part_system, random_part, same
from tests.engine.random_systems import random_state, trees

TREES = settings(max_examples=30, deadline=None)


def pairs(tree):
    """(operators, dynamics, q, v) of the whole tree and of a random part of it."""
    system, rng = tree
    q, v = random_state(system, rng)
    yield Operators(system, q, v), lj.Dynamics(system), q, v
    part = random_part(system, rng)
    alone, at_q, at_v = part_system(system, q, part)
    if alone.nv:
        yield Operators(system, q, v, bodies=part), lj.Dynamics(alone), q[at_q], v[at_v]


@TREES
@given(trees())
def test_mass_matrix(tree):
    for o, dynamics, q, _ in pairs(tree):
        same(o.H * o.phi * o.M * o.phi.T * o.H.T + o.J, dynamics.mass_matrix(q))


@TREES
@given(trees())
def test_bias(tree):
    for o, dynamics, q, v in pairs(tree):
        a = o.a + o.g
        C = o.H * o.phi * (o.b + o.M * o.phi.T * a)
        scale = max(1.0, np.max(np.abs(o.b)), o.M.scale * np.max(np.abs(a)))
        np.testing.assert_allclose(C.to_array(), dynamics.bias(q, v), rtol=0, atol=1e-10 * scale)


@TREES
@given(trees())
def test_forward_dynamics(tree):
    for o, dynamics, q, v in pairs(tree):
        T = np.linspace(-3.0, 2.0, len(v))
        a, b, Dinv = o.a + o.g, o.b, o.D.inverse()
        nu = Dinv * (T - o.H * (o.psi * (o.K * T + o.P * a + b)))
        alpha = o.psi.T * (o.H.T * nu + a)
        expected = dynamics.forward(q, v, T)
        scale = max(1.0, np.max(np.abs(expected)), np.max(np.abs(alpha)))
        got = (nu - o.G.T * o.E_phi.T * alpha).to_array()
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * scale)


@TREES
@given(trees())
def test_jacobians_velocities_and_poses(tree):
    for o, dynamics, q, v in pairs(tree):
        for name in (*o.body_names, *(node.name for node in dynamics.system.nodes if node.body)):
            B = o.B(name, axes="inertial")
            same(B.T * o.phi.T * o.H.T, dynamics.jacobian(name, q))
            scale = max(1.0, np.max(np.abs(o.V)))
            np.testing.assert_allclose(B.T * o.V, dynamics.velocity(name, q, v), rtol=0, atol=1e-10 * scale)
            R, p = dynamics.pose(name, q)
            np.testing.assert_allclose(o.pose(name).rotation, R, rtol=0, atol=1e-10)
            np.testing.assert_allclose(o.pose(name).position, p, rtol=0, atol=1e-10 * max(1.0, np.max(np.abs(p))))
            own = (o.B(name).T * o.V).to_array()
            np.testing.assert_allclose(np.concatenate([R @ own[:3], R @ own[3:]]), B.T * o.V, atol=1e-10 * scale)


@TREES
@given(trees())
def test_kinetic_energy(tree):
    for o, dynamics, q, v in pairs(tree):
        kinetic = 0.5 * (o.V.T * o.M * o.V + o.beta.T * o.J * o.beta)
        assert kinetic == pytest.approx(dynamics.energy(q, v)[0], rel=1e-10)
