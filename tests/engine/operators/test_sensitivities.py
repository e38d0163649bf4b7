"""Sensitivities against complex steps through all of the workbench, and against the compiled kernels.

A complex step along the manifold is exact to rounding, so relative 1e-10 leaves room for the condition of D only; trees
with a worse one are drawn again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import limberjack as lj
from limberjack.engine.operators import Operator, Operators
from limberjack.engine.operators import sensitivities_mass as mass
from limberjack.engine.operators.hinge_motion import displaced
from limberjack.engine.operators.sensitivities import Sensitivity
from tests.engine.operators.parts import random_part
from tests.engine.random_systems import ALL_TYPES, random_state, random_system, trees

TOLERANCE, STEP = 1e-10, 1e-30
#: what a rounding of 1e-16 may grow by on its way through D⁻¹
MOST_CONDITION = 1e5

OPERATORS: dict[str, Callable[[Operators], Operator]] = {
    "E_phi": lambda o: o.E_phi,
    "phi": lambda o: o.phi,
    "H_star": lambda o: o.H.T,
    "M": lambda o: o.M,
    "mass_matrix": lambda o: o.H * o.phi * o.M * o.phi.T * o.H.T + o.J,
    "P": lambda o: o.P,
    "D": lambda o: o.D,
    "D_inverse": lambda o: o.D.inverse(),
    "G": lambda o: o.G,
    "K": lambda o: o.K,
    "tau": lambda o: o.tau,
    "tau_bar": lambda o: o.tau_bar,
    "E_psi": lambda o: o.E_psi,
    "psi": lambda o: o.psi,
    "innovations": lambda o: o.I + o.H * o.phi * o.K,
    "innovations_inverse": lambda o: o.I - o.H * o.psi * o.K,
}


def moved(system: lj.System, q: np.ndarray, direction: np.ndarray, step: complex) -> np.ndarray:
    """Coordinates a step along the generalized velocities `direction` (nv,)."""
    parts, i, j = [np.zeros(0)], 0, 0
    for hinge in (body.hinge for body in system.bodies):
        parts.append(displaced(hinge, q[i : i + hinge.kind.nq] + 0 * step, step * direction[j : j + hinge.nv]))
        i, j = i + hinge.kind.nq, j + hinge.nv
    return np.concatenate(parts)


def spread(ops: Operators, direction: np.ndarray) -> np.ndarray:
    """A direction of the sub-graph as one of the whole system."""
    places = [ops.system.velocity_names.index(name) for name in ops.velocity_names]
    whole = np.zeros(ops.system.nv)
    whole[places] = direction
    return whole


def stepped(ops: Operators, direction: np.ndarray) -> Operators:
    """The same operators at complex coordinates."""
    q = moved(ops.system, ops.q, spread(ops, direction), STEP * 1j)
    return Operators(ops.system, q, bodies=list(ops.body_names))


def well_conditioned(ops: Operators) -> bool:
    return all(np.linalg.cond(ops.D[name]) < MOST_CONDITION for name in ops.body_names if ops.D[name].size)


def operators(tree: tuple[lj.System, np.random.Generator]) -> tuple[Operators, np.random.Generator]:
    system, rng = tree
    q, v = random_state(system, rng)
    ops = Operators(system, q, v, bodies=random_part(system, rng) if rng.integers(2) else None)
    assume(ops.velocity_space.size and well_conditioned(ops))
    return ops, rng


def close(actual: np.ndarray, expected: np.ndarray, scale: float) -> None:
    assert actual.shape == expected.shape
    assert np.max(np.abs(actual - expected), initial=0.0) <= TOLERANCE * scale


def size(array: np.ndarray) -> float:
    return float(np.max(np.abs(array), initial=1e-3))


def compare(ops: Operators, direction: np.ndarray, names: list[str]) -> None:
    """Every named derivative against its complex step; the scale is that of the operator or of the derivative."""
    d, at = Sensitivity(ops, direction), stepped(ops, direction)
    for name in names:
        value = OPERATORS[name](at).to_array()
        expected = value.imag / STEP
        close(getattr(d, name).to_array(), expected, max(size(expected), size(value.real)))


@given(trees(most_bodies=7))
@settings(max_examples=60, deadline=None)
def test_all_operators(tree):
    ops, rng = operators(tree)
    compare(ops, rng.normal(size=ops.velocity_space.size), list(OPERATORS))


@pytest.mark.parametrize("hinge_type", [name for name in ALL_TYPES if name != "fixed"])
def test_every_velocity_of_every_hinge_type(hinge_type):
    """In the middle of a chain, with a hinge on either side."""
    rng = np.random.default_rng(5)
    system = random_system(["gimbal", hinge_type, "universal"], rng, parents=[None, 0, 1])
    q, _ = random_state(system, rng)
    ops = Operators(system, q)
    for unit, name in zip(np.eye(system.nv), system.velocity_names):
        compare(ops, unit, list(OPERATORS))
        assert np.array_equal(Sensitivity(ops, name).phi.to_array(), Sensitivity(ops, unit).phi.to_array())


@given(trees(most_bodies=6))
@settings(max_examples=40, deadline=None)
def test_gradient_of_the_mass_matrix_and_of_its_determinant(tree):
    ops, _ = operators(tree)
    gradient, log_det = mass.mass_matrix_gradient(ops), mass.log_det_gradient(ops)
    D_condition = max(np.linalg.cond(ops.D[name]) for name in ops.body_names if ops.D[name].size)
    for i, unit in enumerate(np.eye(ops.velocity_space.size)):
        at = stepped(ops, unit)
        value = OPERATORS["mass_matrix"](at).to_array()
        close(gradient[i], value.imag / STEP, size(value.real))
        determinants = [np.linalg.det(at.D[name]) for name in ops.body_names]
        exact = sum(d.imag / d.real for d in determinants) / STEP
        assert abs(log_det[i] - exact) <= TOLERANCE * D_condition * max(1.0, np.max(np.abs(log_det)))
        assert abs(Sensitivity(ops, unit).log_det - exact) <= TOLERANCE * D_condition * max(
            1.0, np.max(np.abs(log_det))
        )


@given(trees(most_bodies=8, gravity=np.zeros(3)))
@settings(max_examples=60, deadline=None)
def test_coriolis_vector_and_determinant_against_the_engine(tree):
    system, rng = tree
    q, v = random_state(system, rng)
    ops, dynamics = Operators(system, q, v), lj.Dynamics(system)
    assume(well_conditioned(ops))
    expected = dynamics.bias(q, v)
    kinetic = v @ dynamics.mass_matrix(q) @ v
    close(mass.coriolis(ops).to_array(), expected, max(size(expected), kinetic))
    sign, log_det = np.linalg.slogdet(dynamics.mass_matrix(q))
    assert sign == 1.0
    assert mass.log_det(ops) == pytest.approx(log_det, rel=1e-9, abs=1e-9)


def test_christoffel_symbols_make_the_rate_of_the_mass_matrix_where_velocities_are_rates():
    """Γ_i(j, k) + Γ_j(i, k) = [𝓜_ij]_k, the textbook property that passivity rests on."""
    rng = np.random.default_rng(11)
    system = random_system(["revolute", "planar", "gimbal", "rolling", "universal", "cylindrical", "helical"], rng)
    q, _ = random_state(system, rng)
    ops = Operators(system, q)
    symbols, gradient = mass.christoffel_symbols(ops), mass.mass_matrix_gradient(ops)
    close(symbols + symbols.transpose(1, 0, 2), gradient.transpose(1, 2, 0), size(gradient))
    close(symbols, symbols.transpose(0, 2, 1), 1e-4)


def test_a_free_body_has_eulers_equations():
    """Constant mass matrix, and yet Γ v v = ω × J ω: the Hamel terms alone."""
    rng = np.random.default_rng(3)
    system = random_system(["spherical"], rng, gravity=np.zeros(3))
    q, v = random_state(system, rng)
    ops = Operators(system, q, v)
    J = (ops.H * ops.M * ops.H.T).to_array()
    assert np.all(mass.mass_matrix_gradient(ops) == 0.0)
    close(mass.coriolis(ops).to_array(), np.cross(v, J @ v), size(J))


def test_messages():
    rng = np.random.default_rng(1)
    system = random_system(["revolute", "universal"], rng)
    ops = Operators(system, random_state(system, rng)[0])
    with pytest.raises(lj.UnknownNameError, match="did you mean"):
        Sensitivity(ops, "h1.angle")
    with pytest.raises(lj.ArgumentError, match=r"\(3,\)"):
        Sensitivity(ops, [1.0, 0.0])
    with pytest.raises(lj.ArgumentError, match="finite"):
        Sensitivity(ops, [1.0, 0.0, np.nan])


@given(trees(most_bodies=6), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_the_derivative_is_linear_in_its_direction(tree, seed):
    ops, _ = operators(tree)
    x, y = np.random.default_rng(seed).normal(size=(2, ops.velocity_space.size))
    both = Sensitivity(ops, 2.0 * x - y)
    for name in ("phi", "P", "innovations"):
        parts = [getattr(Sensitivity(ops, z), name).to_array() for z in (x, y)]
        close(getattr(both, name).to_array(), 2.0 * parts[0] - parts[1], 3.0 * max(map(size, parts)))
