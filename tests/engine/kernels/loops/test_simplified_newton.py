"""Loops closed with the factors of the last accelerations: how far they stay open, and what closing them changes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import limberjack as lj
from benchmarks.closed_chains.models import MECHANISMS, by_method
from benchmarks.closed_chains.reference import Reference
from benchmarks.states import States
from tests.engine.motions import euler

KINDS = ("four-bar", "10 four-bars", "stewart free", "grasp")


@cache
def mechanism(kind: str) -> tuple[lj.System, Reference, States]:
    system = by_method(Reference(MECHANISMS[kind]()).assembled(), "embed")
    reference = Reference(system)
    return system, reference, reference.states()


def step_from(sim: lj.Simulation, states: States, k: int) -> None:
    """One step from state k."""
    sim.q, sim.v = states.q[k], states.v[k]
    sim.step()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize(("dt", "pace"), [(1e-4, 1.0), (1e-3, 1.0), (1e-3, 8.0), (5e-3, 3.0)])
def test_what_stays_open(kind, integrator, dt, pace):
    """Far below 1e-10 of positions and 1e-8 of velocities, whether the factors serve or new ones are made."""
    system, reference, states = mechanism(kind)
    states = States(states.q, pace * states.v, states.tau, states.vdot)
    sim = lj.Simulation(system, dt=dt, integrator=integrator)
    for k in range(4):
        step_from(sim, states, k)
        assert np.abs(reference.residual(sim.q)).max() < 5e-12
        assert np.abs(reference.jacobian(sim.q) @ sim.v).max() < 1e-9 * max(1.0, np.abs(sim.v).max())


def least_change(reference: Reference, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """v brought onto the loops at q by impulses of their forces: -M⁻¹ J* (J M⁻¹ J*)⁺ J v, rows that depend included."""
    J, M = reference.jacobian(q), reference.tree.mass_matrix(q)
    answers = np.linalg.solve(M, J.T)
    return -answers @ np.linalg.lstsq(J @ answers, J @ v, rcond=1e-10)[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dt", [1e-3, 2.5e-4])
def test_velocities_change_by_the_least(kind, dt):
    """The factors are those of a position h v away, and later passes move dependent velocities alone: what closing does
    differs from the least change by a small share."""
    system, reference, states = mechanism(kind)
    sim = lj.Simulation(system, dt=dt, integrator="semi_implicit")
    for k in range(4):
        step_from(sim, states, k)
        a = reference.forward(states.q[k], states.v[k], np.zeros(system.nv))
        free = euler(system, states.v[k], a, dt)
        change = least_change(reference, sim.q, free)
        assert np.abs(sim.v - free - change).max() < 0.03 * np.abs(change).max()


def test_state_alone_decides():
    """Factors are made in the step that uses them: a step from a snapshot has the bits of one of a run, and of one
    behind which another simulation's numbers stand."""
    system, _, states = mechanism("10 four-bars")
    run, other = (lj.Simulation(system, dt=1e-3, integrator="semi_implicit") for _ in range(2))
    run.q, run.v = states.q[0], states.v[0]
    for k in range(20):
        other.q, other.v = states.q[k % 8], states.v[k % 8]
        other.step()
        other.restore(run.snapshot())
        run.step()
        other.step()
        np.testing.assert_array_equal(other.state, run.state)
