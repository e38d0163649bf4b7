"""Over-constrained linkages: rk4 keeps its order whichever rows and coordinates are taken on the way.

The stages of a step do not close the loops. There the redundant rows ask for accelerations that differ by what the
loops are open by, so that a choice that changes between stages costs two orders.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from tests.loops.mechanisms.rings import RINGS, doubled_bars, moving, ring
from tests.loops.oracle import Oracle
from tests.loops.test_mechanisms import METHODS

KINDS = [*RINGS, "doubled bars"]
#: s, and times in it at which motions are compared; rad/s: faster ones need smaller steps
UNTIL, SAMPLES, FASTEST = 1.6, 8, 12.0


def linkage(kind: str, rng: np.random.Generator, method: str) -> lj.System:
    """One of random proportions, that moves."""
    if kind == "doubled bars":
        return moving(doubled_bars(rng, method), "crank0", 3.0)
    return moving(ring(RINGS[kind](rng), rng, method, first=int(rng.integers(4))), "axis0", 3.0)


def motion(system: lj.System, dt: float) -> tuple[np.ndarray, float]:
    """q and v at all samples, and the largest change of the energy, as a share of the largest kinetic energy."""
    sim, found, kinetic, change = lj.Simulation(system, dt=dt), [], 0.0, 0.0
    start = sum(sim.dynamics.energy(sim.q, sim.v))
    for _ in range(SAMPLES):
        sim.step(round(UNTIL / SAMPLES / dt))
        energy = sim.dynamics.energy(sim.q, sim.v)
        kinetic, change = max(kinetic, energy[0]), max(change, abs(sum(energy) - start))
        found.append(np.concatenate([sim.q, sim.v]))
    return np.array(found), change / kinetic


def calm(kind: str, seed: int, method: str) -> lj.System:
    """The first linkage of a seed that moves at a pace for steps of milliseconds."""
    for attempt in range(100):
        system = linkage(kind, np.random.default_rng([seed, attempt]), "embed")
        sim = lj.Simulation(system, dt=2e-3)
        fastest = 0.0
        while sim.time < UNTIL and fastest < FASTEST:
            sim.step(10)
            fastest = max(fastest, float(np.abs(sim.v).max()))
        if fastest < FASTEST:
            return linkage(kind, np.random.default_rng([seed, attempt]), method)
    raise AssertionError("no calm linkage")


def orders(system: lj.System) -> tuple[float, float]:
    """Measured order of the energy's and of the motion's error, the latter against a fine motion."""
    fine = motion(system, 5e-4)[0]
    runs = [motion(system, dt) for dt in (4e-3, 2e-3)]
    error = [float(np.sqrt(np.mean((q - fine) ** 2))) for q, _ in runs]
    change = [energy for _, energy in runs]
    return float(np.log2(change[0] / change[1])), float(np.log2(error[0] / error[1]))


def check_order(system: lj.System) -> None:
    energy, state = orders(system)
    assert energy > 3.5
    assert state > 3.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_rk4_is_of_fourth_order(kind, seed, method):
    check_order(calm(kind, seed, method))


@pytest.mark.parametrize("kind", RINGS)
@pytest.mark.parametrize("name", ["axis0", "axis1", "axis2"])
def test_whichever_coordinate_is_independent(kind, name):
    system = calm(kind, 7, "embed")
    check_order(replace(system, loops=tuple(replace(loop, independent=(name,)) for loop in system.loops)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_motion_is_that_of_the_null_space_equations(kind, method):
    """Against an integration of eighth order that shares nothing with the engine's loops."""
    system = calm(kind, 1, method)
    q, v = Oracle(system).motion(system.q0, system.v0, 0.4)
    sim = lj.Simulation(system, dt=5e-4)
    sim.step(800)
    np.testing.assert_allclose(sim.q, q[-1], rtol=0, atol=2e-9)
    np.testing.assert_allclose(sim.v, v[-1], rtol=0, atol=2e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_step_depends_on_the_state_alone(method):
    """What is held through the stages is forgotten at the end of the step: snapshots continue with the same bits."""
    system = calm("Bricard", 0, method)
    sim, other = lj.Simulation(system, dt=4e-3), lj.Simulation(system, dt=4e-3)
    for _ in range(40):
        sim.step(5)
        other.restore(sim.snapshot())
        np.testing.assert_array_equal(other.state, sim.state)
        sim.step()
        other.step()
        np.testing.assert_array_equal(other.state, sim.state)
