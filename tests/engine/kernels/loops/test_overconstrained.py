"""Over-constrained linkages: rk4 keeps its order whichever rows and coordinates are taken on the way.

The stages of a step do not close the loops. There the redundant rows ask for accelerations that differ by what the
loops are open by, so that a choice that changes between stages costs two orders.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.kernels.loops.projection import CLOSED
from tests.cases import long_only
from tests.engine.kernels.loops.mechanisms.rings import RINGS, doubled_bars, moving, ring
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.test_mechanisms import METHODS

KINDS = [*RINGS, "doubled bars"]
#: s, and times in it at which motions are compared; rad/s: faster ones need smaller steps
UNTIL, SAMPLES, FASTEST = 1.6, 8, 12.0


def linkage(kind: str, rng: np.random.Generator, method: str) -> lj.System:
    """One of random proportions, that moves."""
    if kind == "doubled bars":
        return moving(doubled_bars(rng, method), "crank0", 3.0)
    return moving(ring(RINGS[kind](rng), rng, method, first=int(rng.integers(4))), "axis0", 3.0)


def motion(system: lj.System, dt: float) -> tuple[np.ndarray, float]:
    """q and v at all samples, and the largest change of the energy, J."""
    sim, found, change = lj.Simulation(system, dt=dt), [], 0.0
    start = sum(sim.dynamics.energy(sim.q, sim.v))
    for _ in range(SAMPLES):
        sim.step(round(UNTIL / SAMPLES / dt))
        change = max(change, abs(sum(sim.dynamics.energy(sim.q, sim.v)) - start))
        found.append(np.concatenate([sim.q, sim.v]))
    return np.array(found), change


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


def closing_work(system: lj.System) -> float:
    """J that the energy jumps by when loops are closed that were open by what counts as closed.

    Steps leave loops alone that are open by less than CLOSED m or rad (at 1 m), and close them at once when they are
    open by more; the constraint forces, of the size of the weight, work along it. No order shows below that.
    """
    return float(np.linalg.norm(system.gravity)) * sum(body.inertia.mass for body in system.bodies) * CLOSED


def check_order(system: lj.System) -> None:
    """More than order 3.5 of the energy's error, and of the motion's against a fine motion."""
    fine = motion(system, 5e-4)[0]
    runs = [motion(system, dt) for dt in (4e-3, 2e-3)]
    error = [float(np.sqrt(np.mean((q - fine) ** 2))) for q, _ in runs]
    change, least = [energy for _, energy in runs], closing_work(system)
    assert change[0] > 8.0 * least  # else an error of second order could pass for it
    assert change[1] < change[0] / 2.0**3.5 + least
    assert np.log2(error[0] / error[1]) > 3.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, *long_only((2, 3))])
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
