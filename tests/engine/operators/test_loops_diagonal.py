"""Diagonalised dynamics of aggregated trees."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from limberjack.engine.operators import DiagonalDynamics, Operators
from limberjack.engine.operators.diagonal import diagonal_step
from tests.engine.kernels.loops.mechanisms.bars import four_bar, four_bar_freedom
from tests.engine.operators.closed import COUNT, Drawn, embedded
from tests.engine.operators.parts import same


@pytest.fixture(params=range(COUNT))
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return embedded(request.param)


def test_factor(drawn: Drawn):
    o, d = drawn.ops, DiagonalDynamics(drawn.ops)
    same(d.factor * d.factor.T, o.H * o.phi * o.M * o.phi.T * o.H.T + o.J)
    assert (d.factor * d.factor_inverse).is_identity(1e-8)
    same(d.velocities(d.diagonal_velocities(o.beta)), o.beta)


def test_energy_is_half_the_square(drawn: Drawn):
    o, d = drawn.ops, DiagonalDynamics(drawn.ops)
    nu = d.diagonal_velocities(o.beta)
    assert 0.5 * nu.T * nu == pytest.approx(0.5 * (o.V.T * o.M * o.V + o.beta.T * o.J * o.beta), rel=1e-10)


def test_coriolis_terms_do_no_work(drawn: Drawn):
    o, d = drawn.ops, DiagonalDynamics(drawn.ops)
    nu = d.diagonal_velocities(o.beta)
    C = d.coriolis(nu)
    size = np.abs(nu).max() ** 2 * np.abs(o.X_dot * o.beta).max() + np.abs(nu).max() * np.abs(C).max()
    assert abs(nu.T * C) <= 1e-10 * max(1.0, size)


def test_accelerations_are_the_oracles(drawn: Drawn):
    """d/dt(m* θ̇_R) = m* θ̈_R + (dm/dt)* θ̇_R, the rate of m by differences of its definition along the motion."""
    o, d, graph = drawn.ops, DiagonalDynamics(drawn.ops), drawn.graph
    nu = d.diagonal_velocities(o.beta)
    vdot = graph.oracle.solve(graph.q, graph.v, drawn.tau).vdot
    at = [o.system.velocity_names.index(name) for name in o.velocity_names]
    moved = o.displaced(o.beta)
    step = 1e-100
    m_rate = np.zeros((len(at), len(at)))
    innovations = (moved.I + moved.H * moved.phi * moved.K).to_array()
    for name, own in zip(o.block_names, o.velocity_space.slices, strict=True):
        root = cholesky(moved.D[name])
        m_rate[:, own] = ((innovations[:, own] @ root).imag) / step
    expected = d.factor.T * vdot[at] + m_rate.T @ o.beta.to_array()
    actual = d.accelerations(nu, o.X.T * drawn.tau)
    size = max(1.0, float(np.abs(expected).max()), float(np.abs(d.factor.T * vdot[at]).max()))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9 * size)


def cholesky(D: np.ndarray) -> np.ndarray:
    """Lower factor L L^T = D, analytic in D."""
    L = np.zeros_like(D)
    for j in range(len(D)):
        L[j, j] = np.sqrt(D[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, len(D)):
            L[i, j] = (D[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    return L


def test_one_freedom_has_no_coriolis_term():
    """The four-bar in ν: dν/dt is the force alone, ν = √A θ̇ of its closed form A."""
    system = four_bar("embed", theta=0.9, rate=3.0)
    loop = dataclasses.replace(system.loops[0], independent=("crank",))
    o = Operators(dataclasses.replace(system, loops=(loop,)), system.q0, system.v0)
    d = DiagonalDynamics(o)
    nu = d.diagonal_velocities(o.beta)
    assert nu.to_array()[0] == pytest.approx(3.0 * np.sqrt(four_bar_freedom().A(0.9)), rel=1e-12)
    assert np.abs(d.coriolis(nu)).max() < 1e-12 * nu.to_array()[0] ** 2


def test_a_motion_in_diagonal_velocities():
    """A conservative four-bar integrated in (q, ν) keeps its energy and the loop closed."""
    system = four_bar("embed", theta=0.9, rate=3.0)
    o = Operators(system, system.q0, system.v0)
    q, nu = system.q0, DiagonalDynamics(o).diagonal_velocities(o.beta).to_array()
    energies = []
    for _ in range(10):
        theta = q[0]
        energies.append(0.5 * nu @ nu + four_bar_freedom().V(theta))
        q, nu = diagonal_step(system, q, nu, np.zeros(1), 2e-3)
    assert abs(q[0] - 0.9) > 0.03
    np.testing.assert_allclose(energies, energies[0], rtol=1e-8)
