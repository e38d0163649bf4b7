"""Diagonalised dynamics against the engine: energy, accelerations, and a whole simulation."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.validate import validate
from limberjack.engine.operators import Operators
from limberjack.engine.operators.diagonal import DiagonalDynamics, diagonal_step
from tests.engine.operators.parts import part_system, random_part, same
from tests.engine.operators.test_sensitivities import STEP, moved, well_conditioned
from tests.engine.random_systems import random_state, random_system, trees


def drawn(tree: tuple[lj.System, np.random.Generator]) -> tuple[DiagonalDynamics, np.ndarray, np.ndarray]:
    system, rng = tree
    q, v = random_state(system, rng)
    ops = Operators(system, q)
    assume(well_conditioned(ops))
    return DiagonalDynamics(ops), q, v


@given(trees(most_bodies=7))
@settings(max_examples=50, deadline=None)
def test_velocities_energy_and_the_way_back(tree):
    dynamics, q, v = drawn(tree)
    nu = dynamics.diagonal_velocities(v)
    mass_matrix = lj.Dynamics(tree[0]).mass_matrix(q)
    assert 0.5 * (nu.T * nu) == pytest.approx(0.5 * v @ mass_matrix @ v, rel=1e-12)
    same(dynamics.velocities(nu), v)
    same(dynamics.factor * dynamics.factor.T, mass_matrix)
    assert (dynamics.factor * dynamics.factor_inverse).is_identity()


@given(trees(most_bodies=7))
@settings(max_examples=50, deadline=None)
def test_accelerations_against_the_engine(tree):
    """ν̇ = m* v̇ + (dm/dt)* v with v̇ from the compiled kernels and dm/dt from a complex step."""
    system, rng = tree
    dynamics, q, v = drawn(tree)
    tau = rng.normal(size=system.nv)
    at = Operators(system, moved(system, q, v, STEP * 1j))
    factor = (at.I + at.H * at.phi * at.K).to_array() @ complex_roots(at)
    forward = lj.Dynamics(system).forward(q, v, tau)
    expected = dynamics.factor.to_array().T @ forward + factor.imag.T @ v / STEP
    nu = dynamics.diagonal_velocities(v)
    actual = dynamics.accelerations(nu, tau).to_array()
    scale = max(np.max(np.abs(expected)), np.max(np.abs(dynamics.coriolis(nu).to_array())), nu.T * nu)
    assert np.max(np.abs(actual - expected)) <= 1e-10 * scale


def complex_roots(ops: Operators) -> np.ndarray:
    """The Cholesky factors of D column by column: numpy's own conjugates, which is not analytic."""
    out = np.zeros((ops.velocity_space.size,) * 2, dtype=complex)
    for name, own in zip(ops.body_names, ops.velocity_space.slices):
        D, L = ops.D[name], out[own, own]
        for j in range(len(D)):
            column = D[j:, j] - L[j:, :j] @ L[j, :j]
            L[j:, j] = column / np.sqrt(column[0])
    return out


@given(trees(most_bodies=7))
@settings(max_examples=50, deadline=None)
def test_the_coriolis_term_does_no_work_and_is_quadratic(tree):
    dynamics, _, v = drawn(tree)
    nu = dynamics.diagonal_velocities(v)
    C = dynamics.coriolis(nu)
    assert abs(nu.T * C) <= 1e-10 * np.linalg.norm(nu.to_array()) * max(np.linalg.norm(C.to_array()), nu.T * nu)
    nine = dynamics.coriolis(-3.0 * nu) - 9.0 * C
    assert np.max(np.abs(nine)) <= 1e-9 * max(np.max(np.abs(C)), nu.T * nu)


@given(trees(most_bodies=8))
@settings(max_examples=30, deadline=None)
def test_a_part_is_the_same_as_a_system_of_its_own(tree):
    system, rng = tree
    q, v = random_state(system, rng)
    part = random_part(system, rng)
    alone, at_q, at_v = part_system(system, q, part)
    assume(len(at_v))
    limb, free = (DiagonalDynamics(o) for o in (Operators(system, q, bodies=part), Operators(alone, q[at_q])))
    assume(well_conditioned(free.ops))
    nu, tau = limb.diagonal_velocities(v[at_v]), rng.normal(size=len(at_v))
    same(nu, free.diagonal_velocities(v[at_v]))
    same(limb.accelerations(nu, tau), free.accelerations(np.asarray(nu), tau))


def driven(types: list[str], seed: int) -> lj.System:
    """A random tree with a torque drive on every velocity."""
    system = random_system(types, np.random.default_rng(seed))
    drives = tuple(Actuator(f"drive {name}", name) for name in system.velocity_names)
    return validate(dataclasses.replace(system, actuators=drives))


def final_states(system: lj.System, tau: np.ndarray, dt: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """[q, v] at the end of the engine's simulation and of the one in diagonal velocities."""
    engine = lj.Simulation(system, dt=dt, integrator="rk4")
    engine.command_vector = tau
    q, nu = engine.q, DiagonalDynamics(Operators(system, engine.q)).diagonal_velocities(engine.v).to_array()
    engine.step(steps)
    for _ in range(steps):
        q, nu = diagonal_step(system, q, nu, tau, dt)
    v = DiagonalDynamics(Operators(system, q)).velocities(nu).to_array()
    return np.concatenate([engine.q, engine.v]), np.concatenate([q, v])


@pytest.mark.parametrize(
    "types",
    [
        ["revolute", "prismatic", "revolute", "helical"],
        ["free", "revolute", "universal", "spherical", "custom"],
        ["planar", "gimbal", "cylindrical", "rolling", "fixed", "revolute"],
    ],
    ids=["simple", "quasi", "compound"],
)
def test_a_simulation_in_diagonal_velocities(types):
    """Both integrators are of fourth order: the difference falls with dt⁴, and is small to begin with."""
    system = driven(types, seed=8)
    tau = np.random.default_rng(9).normal(size=system.nv)
    errors = []
    for steps in (10, 20, 40):
        engine, diagonal = final_states(system, tau, 0.08 / steps, steps)
        errors.append(np.max(np.abs(engine - diagonal)))
    size = np.max(np.abs(engine))
    assert errors[2] <= 1e-7 * size
    assert errors[1] <= errors[0] / 10 or errors[1] <= 1e-12 * size
    assert errors[2] <= errors[1] / 10 or errors[2] <= 1e-12 * size


def test_messages():
    dynamics = DiagonalDynamics(Operators(driven(["revolute", "universal"], 1), np.zeros(3)))
    with pytest.raises(lj.ArgumentError, match=r"nu has shape \(2,\)"):
        dynamics.velocities([1.0, 2.0])
    with pytest.raises(lj.ArgumentError, match="tau must be numbers"):
        dynamics.forces("none")
    with pytest.raises(lj.ArgumentError, match="bodies"):
        dynamics.coriolis(dynamics.ops.g)
