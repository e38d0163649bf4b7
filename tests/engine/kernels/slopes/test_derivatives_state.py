"""Derivatives of all that is observed, in the numbers of State: against differences and `lj.linearize`."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.system import System
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.hinge_types import CUSTOM, FREE, SPHERICAL
from tests.engine.full_model import full_model
from tests.engine.motions import hinges
from tests.engine.random_systems import random_state
from tests.fmu.test_dependencies import driven_tree

SEEDS = range(8)


def model(seed: int) -> System:
    """The full model, or a random tree with springs, stops, drives and sensors."""
    return full_model() if seed == 0 else driven_tree(seed)


def pushed(system: System) -> np.ndarray:
    """Coordinates from which many stops push back: they are 0.3 or less from the start."""
    q = system.q0.copy()
    for hinge, i, _ in hinges(system):
        if hinge.type in ("revolute", "prismatic", "helical", "cylindrical", "planar"):
            q[i] += 0.35 * (-1.0) ** np.arange(i.stop - i.start)
    return q


def at(seed: int) -> tuple[lj.Simulation, np.ndarray]:
    """A simulation and a State of it where stops act, with random velocities."""
    simulation, rng = lj.Simulation(model(seed)), np.random.default_rng(seed)
    system, state = simulation.system, simulation.state
    state[layout.S_Q :][: system.nq] = pushed(system)
    state[layout.S_Q + system.nq :][: system.nv] = 0.5 * random_state(system, rng)[1]
    return simulation, state


def observed(simulation: lj.Simulation, state: np.ndarray) -> np.ndarray:
    """[tau | vdot | outputs] at a State whose quaternions may have any length."""
    plant, nv, state = simulation.plant, simulation.system.nv, state.copy()
    parts = np.empty(nv), np.empty(nv), np.empty(plant.observed_size - 2 * nv)
    entries().normalise(plant.ints, plant.floats, state)
    entries().observe(plant.ints, plant.floats, plant.new_work(), state, *parts)
    return np.concatenate(parts)


def slopes(simulation: lj.Simulation, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The matrix and which of its columns are known."""
    plant, sizes = simulation.plant, np.zeros(10, dtype=np.int64)
    entries().sizes(plant.ints, sizes)
    out, before = np.full(sizes[9], np.nan), state.copy()
    entries().state_slopes(plant.ints, plant.floats, plant.new_work(), np.full(sizes[8], np.nan), state, out)
    assert np.array_equal(state, before)
    matrix = out.reshape(plant.observed_size + 1, len(state) - layout.S_Q)
    return matrix[:-1], matrix[-1] != 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_are_those_of_what_is_observed(seed):
    simulation, state = at(seed)
    for body in simulation.plant.sections["topo"]:
        if body[layout.KIND] in (SPHERICAL, FREE, CUSTOM):
            state[layout.S_Q + body[layout.QI] :][:4] *= 1.3
    matrix, known = slopes(simulation, state)
    scale = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), 1.0)
    assert np.isfinite(matrix).all()

    def slope(place: int, h: float) -> np.ndarray:
        step = h * np.eye(len(state))[place]
        return (observed(simulation, state + step) - observed(simulation, state - step)) / (2.0 * h)

    for column in np.flatnonzero(known):
        place = layout.S_Q + column
        expected = (4.0 * slope(place, 1e-4) - slope(place, 2e-4)) / 3.0
        assert np.abs(matrix[:, column] - expected).max(initial=0.0) <= 1e-7 * scale.max(), column
        assert (np.abs(matrix[:, column] - expected) <= 1e-6 * scale).all(), column


def test_stops_and_drives_at_their_limits_are_among_the_states():
    simulation, state = at(0)
    switches = np.empty(simulation.plant.switches_size)
    entries().switches(simulation.plant.ints, simulation.plant.floats, state, switches)
    stops, drives = np.split(switches > 0.0, [2 * simulation.system.nv])
    assert stops.any()
    assert drives.any()
    assert not drives.all()


@pytest.mark.parametrize("seed", SEEDS)
def test_only_coordinates_of_custom_hinges_are_not_known(seed):
    simulation, state = at(seed)
    matrix, known = slopes(simulation, state)
    for hinge, i, _ in hinges(simulation.system):
        assert (known[i] == (hinge.type != "custom")).all()
    assert known[simulation.system.nq :].all()
    assert not matrix[:, ~known].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_slopes_are_those_of_the_linear_model(seed):
    """Along the velocities: ∂/∂q times the rates of the coordinates at one unit of each velocity."""
    simulation, state = at(seed)
    system, plant, nq, nv = simulation.system, simulation.plant, simulation.system.nq, simulation.system.nv
    custom = np.zeros(nv, dtype=bool)
    for hinge, _, j in hinges(system):
        custom[j] = hinge.type == "custom"
    state[layout.S_Q + nq :][:nv][custom] = 0.0  # its linear model is about rest
    matrix, _ = slopes(simulation, state)
    command = state[layout.S_Q + nq + nv :]
    linear = lj.linearize(system, state[layout.S_Q :][:nq], state[layout.S_Q + nq :][:nv], command=command)
    moved = state.copy()
    turned = np.zeros((nq, nv))
    for j in range(nv):
        moved[layout.S_Q + nq :][:nv] = np.eye(nv)[j]
        column = np.empty(nq)
        entries().rates(plant.ints, plant.floats, moved, column)
        turned[:, j] = column
    wanted_x, wanted_u = np.vstack([linear.A[nv:], linear.C]), np.vstack([linear.B[nv:], linear.D])
    found = matrix[nv:]
    rows = slice(None) if system.sensors else slice(0, nv)
    scale = max(1.0, np.abs(wanted_x).max(), np.abs(wanted_u).max(initial=0.0))
    along = (found[:, :nq] @ turned)[:, ~custom]
    np.testing.assert_allclose(along, wanted_x[rows, :nv][:, ~custom], rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(found[:, nq : nq + nv], wanted_x[rows, nv:], rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(found[:, nq + nv :], wanted_u[rows], rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_alone_have_the_bits_of_what_is_observed(seed):
    simulation, state = at(seed)
    plant, nv = simulation.plant, simulation.system.nv
    tau = np.full(nv, np.nan)
    entries().forces(plant.ints, plant.floats, plant.new_work(), state, tau)
    assert np.array_equal(tau, observed(simulation, state)[:nv])
