"""Analytic derivatives against the operator workbench: gradients of the mass matrix and of its inverse.

The workbench shares no code with the kernels: its sensitivities are products of operators.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.operators.sensitivities_mass import mass_matrix_gradient
from tests.engine.random_systems import MOVING, random_state, random_system
from tests.validation.figures import figure

TOLERANCE = 1e-11


@pytest.mark.parametrize("seed", range(6))
def test_mass_matrix_gradient(seed):
    """At rest without gravity T = M dv/dt, and dv/dt = M⁻¹ τ: ∂_j T = (∂_j M) dv/dt, ∂_j dv/dt = -M⁻¹ (∂_j M) M⁻¹ τ."""
    rng = np.random.default_rng(seed)
    system = random_system([*rng.permutation(MOVING), "revolute"], rng, gravity=np.zeros(3))
    dynamics, (q, _), rest = lj.Dynamics(system), random_state(system, rng), np.zeros(system.nv)
    gradient, vdot = mass_matrix_gradient(lj.Operators(system, q)), rng.normal(size=system.nv)
    expected = np.einsum("jmk,k->mj", gradient, vdot)
    dq, dv = dynamics.inverse_derivatives(q, rest, vdot)
    figure("slopes of M dv/dt", dq, expected, oracle="operator workbench", atol=TOLERANCE * np.abs(expected).max())
    assert np.abs(dv).max() < TOLERANCE * np.abs(expected).max()
    tau = dynamics.mass_matrix(q) @ vdot
    dq, _, inverse = dynamics.forward_derivatives(q, rest, tau)
    expected = -inverse @ expected
    figure("slopes of M⁻¹ τ", dq, expected, oracle="operator workbench", atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_coriolis_forces_are_half_their_slope_in_v(seed):
    """They are quadratic in v (Euler): without gravity (∂T/∂v) v = 2 bias."""
    rng = np.random.default_rng(seed)
    system = replace(random_system([*rng.permutation(MOVING)], rng), gravity=np.zeros(3))
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    _, dv = dynamics.inverse_derivatives(q, v, np.zeros(system.nv))
    bias = dynamics.bias(q, v)
    figure(
        "Coriolis slopes times velocity",
        dv @ v,
        2.0 * bias,
        oracle="twice the bias, Euler",
        atol=TOLERANCE * np.abs(bias).max(),
    )
