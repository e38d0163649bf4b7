"""Steps of closed chains: loops stay closed, energy is kept to the integrator's order, bits repeat."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Dof
from limberjack.engine.model.validate import validate
from tests.engine.kernels.loops.agreement import one_loop
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import (
    EMBEDDABLE,
    KINDS,
    WHEELS,
    Closed,
    joining_loop,
    random_closed,
    set_state,
)
from tests.engine.random_systems import random_state, random_system
from tests.validation.figures import figure

CASES = [
    (kind, method)
    for kind in (*KINDS, *WHEELS)
    for method in ("embed", "force")
    if not (kind == "lock" and method == "embed")
]
CLOSED = {"embed": 1e-10, "force": 1e-8}
#: errors of a velocity constraint after a step, m/s or rad/s
KEPT = 1e-9


def slowed(graph: Closed) -> lj.System:
    """The same at a third of the speed, so that RK4 resolves it well."""
    return set_state(graph.system, graph.q, graph.v / 3.0)


def energy(sim: lj.Simulation) -> float:
    return sum(sim.dynamics.energy(sim.q, sim.v))


def by(system: lj.System, method: str) -> lj.System:
    return Closed(system, system.q0, system.v0, Oracle(system), np.random.default_rng(0)).by(method)


@pytest.mark.parametrize(("kind", "method"), CASES)
def test_loops_stay_closed(kind, method):
    graph = one_loop(kind, 400)
    sim = lj.Simulation(by(slowed(graph), method))
    for _ in range(10):
        sim.step(30)
        figure(
            "gap of the loops",
            np.abs(graph.oracle.gaps(sim.q)).max(initial=0.0),
            unit="m, rad",
            oracle="closed",
            below=CLOSED[method],
        )
        rows = graph.oracle.rows(sim.q, sim.v)
        figure(
            "rate of the gap",
            np.abs(rows.C @ sim.v).max(),
            unit="m/s, rad/s",
            oracle="closed",
            below=KEPT * max(1.0, np.abs(sim.v).max()),
        )


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("method", ["embed", "force"])
def test_every_integrator_keeps_loops_closed(integrator, method):
    graph = random_closed(np.random.default_rng(21), bodies=7, kinds=EMBEDDABLE, loops=3)
    sim = lj.Simulation(by(slowed(graph), method), integrator=integrator)
    for _ in range(10):
        sim.step(20)
        assert np.abs(graph.oracle.gaps(sim.q)).max() < CLOSED[method]
        rows = graph.oracle.rows(sim.q, sim.v)
        assert np.abs(rows.C @ sim.v).max() < KEPT * max(1.0, np.abs(sim.v).max())


@pytest.mark.parametrize(("kind", "method"), CASES)
def test_motion_is_the_reference_motion(kind, method):
    """A tenth of a second; both integrate at fourth order or better, so that halving the step divides the error."""
    graph = one_loop(kind, 410)
    system = by(slowed(graph), method)
    q, v = graph.oracle.motion(system.q0, system.v0, 0.1)
    error = []
    for dt in (2e-3, 1e-3):
        sim = lj.Simulation(system, dt=dt)
        sim.step(round(0.1 / dt))
        error.append(max(np.abs(sim.q - q[-1]).max(), np.abs(sim.v - v[-1]).max()))
    figure("error after 0.1 s", error[1], oracle="dense reference", below=1e-6)
    assert error[1] < 1e-10 or error[0] / error[1] > 8.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["embed", "force"])
def test_energy_is_kept(method, seed):
    graph = random_closed(np.random.default_rng(500 + seed), bodies=6, kinds=EMBEDDABLE, loops=2)
    drift = []
    for dt in (1e-3, 5e-4):
        sim = lj.Simulation(by(slowed(graph), method), dt=dt)
        start = energy(sim)
        sim.step(round(0.3 / dt))
        drift.append(abs(energy(sim) - start) / max(1.0, sim.dynamics.energy(sim.q, sim.v)[0]))
    figure("energy drift in 0.3 s over the kinetic energy", drift[1], oracle="conservation", below=1e-7)
    assert drift[1] < 1e-11 or drift[0] / drift[1] > 8.0


@pytest.mark.parametrize("method", ["embed", "force"])
def test_repeats_have_equal_bits(method):
    graph = random_closed(np.random.default_rng(31), bodies=7, kinds=EMBEDDABLE, loops=3)
    system = by(slowed(graph), method)
    first, second = lj.Simulation(system), lj.Simulation(system)
    first.step(60)
    snapshot = first.snapshot()
    first.step(60)
    second._work[:] = np.nan
    for _ in range(120):
        second.step()
    assert np.array_equal(first.state, second.state)
    second.restore(snapshot)
    second.step(60)
    assert np.array_equal(first.state, second.state)
    first.reset()
    second.reset()
    assert np.array_equal(first.state, second.state)


@pytest.mark.parametrize("method", ["embed", "force"])
def test_looking_does_not_change_the_motion(method):
    graph = random_closed(np.random.default_rng(32), bodies=6, kinds=EMBEDDABLE, loops=2)
    system = by(slowed(graph), method)
    seen, unseen = lj.Simulation(system), lj.Simulation(system)
    unseen.step(40)
    for _ in range(40):
        seen.step()
        assert np.all(np.isfinite(seen.vdot))
    assert np.array_equal(seen.state, unseen.state)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_closing_embedded_loops_keeps_the_momentum(integrator):
    """What closes the velocities again are impulses between bodies of the model, which float freely: the momentum
    changes by the integrator's error only, and by force and embedded alike."""
    rng = np.random.default_rng(41)
    tree = random_system(["free", *["revolute"] * 6], rng, parents=[None, 0, 1, 2, 0, 4, 5])
    bodies = (replace(b, hinge=replace(b.hinge, dofs=tuple(Dof() for _ in b.hinge.dofs))) for b in tree.bodies)
    tree = replace(tree, bodies=tuple(bodies))
    q = random_state(tree, rng)[0]
    closed = replace(tree, gravity=np.zeros(3), loops=(joining_loop("pin", "point", tree, q, ("b3", "b6"), rng),))
    system = validate(set_state(closed, q, Oracle(closed).impulse(q, rng.normal(size=tree.nv))[0] / 3.0))
    drift = {}
    for method in ("embed", "force"):
        for dt in (1e-3, 5e-4):
            sim = lj.Simulation(by(system, method), dt=dt, integrator=integrator)
            start = sim.dynamics.momentum(sim.q, sim.v)
            sim.step(round(0.2 / dt))
            drift[method, dt] = np.abs(sim.dynamics.momentum(sim.q, sim.v) - start).max()
    for dt in (1e-3, 5e-4):
        assert drift["embed", dt] == pytest.approx(drift["force", dt], rel=0.1, abs=1e-12)
    assert drift["embed", 5e-4] < 1e-12 or drift["embed", 5e-4] < drift["embed", 1e-3] / 1.8
