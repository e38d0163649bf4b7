"""Loops closed with the factors of the last accelerations: how far they stay open, and what closing them changes."""

from __future__ import annotations

from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest

import limberjack as lj
from benchmarks.closed_chains.models import MECHANISMS, by_method
from benchmarks.closed_chains.reference import Reference
from benchmarks.states import States
from limberjack.engine.kernels.loops import simplified_newton
from limberjack.engine.tables.loops import GI_DOF, GI_DOFS
from limberjack.engine.tables.plant import V_CLOSE
from tests.engine.motions import along_start, euler, move

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


def solved(plant, embedded: tuple, group: np.ndarray, _: None) -> SimpleNamespace:
    """What the elimination leaves of a group: its velocities' rows of X and β, dependent ones first in `pick`."""
    X, bias, independent = embedded
    own = plant.sections["listed"].ravel()[group[GI_DOF] :][: group[GI_DOFS]]
    free = [j for j in independent if j in own]
    pick = [i for i, j in enumerate(own) if j not in free] + [list(own).index(j) for j in free]
    columns = [independent.index(j) for j in free]
    return SimpleNamespace(head=np.array([len(free), 1.0]), bias=bias[own], x=X[np.ix_(own, columns)], pick=pick)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_first_order_leaves_loops_open_by_third_order(kind, monkeypatch):
    """Along the velocities that the kernel foresees, run as plain Python: also where a platform or an object is free,
    whose velocities turn with its axes."""
    for name in ("_turnings", "_add_turning", "load3", "store3"):
        monkeypatch.setattr(simplified_newton, name, getattr(simplified_newton, name).py_func)
    monkeypatch.setattr(simplified_newton, "cross", np.cross)
    monkeypatch.setattr(simplified_newton, "is_flat", lambda plant, q: False)
    system, reference, states = mechanism(kind)
    dynamics = lj.Dynamics(system)
    tables, out = dynamics.plant.sections, np.zeros(system.nv)
    loops = SimpleNamespace(group_int=tables["group_int"], listed=tables["listed"].ravel())
    plant = SimpleNamespace(topo=tables["topo"], dof=tables["dof"], loops=loops)
    work = SimpleNamespace(loops=SimpleNamespace(group=None), vstage=np.zeros((V_CLOSE + 2, system.nv)))
    for k in range(4):
        q, v = states.q[k], states.v[k]
        a = reference.forward(q, v, np.zeros(system.nv))
        parts = partial(solved, dynamics.plant, dynamics.embedding(q, v))
        monkeypatch.setattr(simplified_newton, "group_view", parts)
        open_by = []
        for h in (4e-3, 2e-3, 1e-3):
            simplified_newton.foresee.py_func(plant, work, q, along_start(system, v, a, h), h, out)
            open_by.append(np.abs(reference.residual(move(system, q, h * out))).max())
        assert open_by[0] > 6.0 * open_by[1] > 36.0 * open_by[2]
