"""The closed models of examples/ in operators: embedding, constraint forces and the null-space reference agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.operators import LoopForces, Operators
from tests.engine.kernels.loops.oracle import Oracle

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CLOSED = (
    "delta_robot",
    "dual_arm_grasp",
    "four_bar",
    "four_bar_internal",
    "geared_arm",
    "solar_array",
    "stewart_platform",
    "wishbone",
)


def close(actual, expected, size: float) -> None:
    size = max(size, float(np.abs(expected).max()))
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("name", CLOSED)
def test_example(name):
    system = lj.load(EXAMPLES / f"{name}.yaml")
    rng = np.random.default_rng(8)
    oracle = Oracle(system)
    q, v = system.q0, oracle.impulse(system.q0, rng.normal(size=system.nv))[0]
    tau = rng.normal(size=system.nv)
    expected = oracle.solve(q, v, tau).vdot
    switched = {loop.name for loop in system.loops if loop.switchable and not loop.closed}
    every = [loop.name for loop in system.loops if loop.name not in switched]

    e = Operators(system, q, v, embed=every)
    H, phi, psi, M, K = e.H, e.phi, e.psi, e.M, e.K
    mass = H * phi * M * phi.T * H.T + e.J
    assert ((e.I + H * phi * K) * e.D * (e.I + H * phi * K).T).equals(mass)
    T = e.X.T * tau - e.c - H * phi * (M * phi.T * (e.a + e.g) + e.b)
    back = e.I - H * psi * K
    embedded = e.X * (back.T * (e.D_inverse * (back * T))) + e.X_dot * e.beta
    size = float(np.abs(e.X_dot * e.beta).max())
    close(embedded, expected, size)

    f = LoopForces(Operators(system, q, v, embed=()))
    close(f.accelerations(tau), expected, float(np.abs(f.free_accelerations(tau)).max()))

    o = Operators(system, q, v)  # as the model has them
    if o.loops.forced:
        rest = LoopForces(o)
        close(o.X * rest.accelerations(o.X.T * tau) + o.X_dot * o.beta, expected, size)
