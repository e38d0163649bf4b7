"""Loops that close and open while running: impulses, energy and what follows, against the dense reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import Loop
from limberjack.engine.model.validate import validate
from tests.engine.kernels.loops.agreement import close
from tests.engine.kernels.loops.mechanisms import bars
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import KINDS, held, joining_loop, random_loop, set_state
from tests.engine.random_systems import random_state, random_system
from tests.validation.figures import figure

TYPES = ["free", "gimbal", "revolute", "cylindrical", "planar"]


def open_system(kinds: list[str], seed: int, closed: bool = False) -> tuple[lj.System, np.random.Generator]:
    """Five bodies of many freedoms and switchable loops, moving; frames are apart where they are."""
    rng = np.random.default_rng(seed)
    tree = random_system(TYPES, rng, parents=[None, 0, 1, 0, 3])
    q, v = random_state(tree, rng)
    loops = []
    for i, kind in enumerate(kinds):
        loop = random_loop(f"loop{i}", kind, tree, random_state(tree, rng)[0], rng)
        if loop is not None and kind not in ("coupling", "lock"):
            loop = joining_loop(f"loop{i}", kind, tree, q, ("b2", "b4") if i == 0 else (None, "b1"), rng)
        assert loop is not None
        loops.append(replace(loop, switchable=True, closed=closed))
    system = set_state(replace(tree, loops=tuple(loops)), q, 0.3 * v)
    return validate(system), rng


def now(sim: lj.Simulation, names: tuple[str, ...]) -> Oracle:
    """The reference with these loops as they would close now."""
    loops = tuple(held(sim.system, k, sim.q) for k in sim.system.loops if k.name in names)
    return Oracle(replace(sim.system, loops=loops))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_an_impact_is_that_of_the_reference(kind, seed):
    system, _ = open_system([kind], seed)
    sim = lj.Simulation(system)
    sim.step(3)
    oracle, q, v = now(sim, ("loop0",)), sim.q, sim.v
    expected, loss = oracle.impulse(q, v)
    assert not sim.closed("loop0")
    impact = sim.attach("loop0")
    assert sim.closed("loop0")
    assert np.array_equal(sim.q, q)
    close(sim.v, expected, name="velocities after an impact")
    figure(
        "energy lost in an impact", impact.energy_loss, loss, unit="J", oracle="dense reference", atol=1e-11, rtol=1e-9
    )
    assert impact.energy_loss > 0.0
    M, rows = oracle.dynamics.mass_matrix(q), oracle.rows(q, v)
    impulse = np.linalg.lstsq(rows.C.T, M @ (expected - v), rcond=None)[0]
    expected = rows.A["loop0"].T @ impulse if system.loops[0].joins else impulse
    close(np.atleast_1d(impact.impulse), expected, name="impulse")


@pytest.mark.parametrize("kind", KINDS)
def test_the_motion_after_closing_is_that_of_the_closed_model(kind):
    system, _ = open_system([kind], 5)
    sim = lj.Simulation(system, dt=5e-4)
    sim.step(3)
    oracle = now(sim, ("loop0",))
    sim.attach("loop0")
    close(sim.vdot, oracle.solve(sim.q, sim.v, np.zeros(system.nv)).vdot)
    q, v = oracle.motion(sim.q, sim.v, 0.05)
    sim.step(100)
    figure("coordinates 0.05 s after closing", sim.q, q[-1], oracle="dense reference", atol=1e-7)
    figure("velocities 0.05 s after closing", sim.v, v[-1], oracle="dense reference", atol=1e-6)
    figure("gap after closing", np.abs(oracle.gaps(sim.q)).max(initial=0.0), unit="m, rad", oracle="closed", below=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_released_it_moves_as_if_the_loop_had_never_been(kind):
    system, _ = open_system([kind], 6)
    sim = lj.Simulation(system, dt=5e-4)
    sim.attach("loop0")
    sim.step(20)
    velocity = sim.v
    impact = sim.release("loop0")
    assert np.array_equal(sim.v, velocity)
    assert impact.energy_loss == 0.0
    free = lj.Simulation(set_state(replace(system, loops=()), sim.q, sim.v), dt=5e-4)
    sim.step(50)
    free.step(50)
    figure("coordinates after release", sim.q, free.q, oracle="the tree without the loop", atol=1e-12)
    figure("velocities after release", sim.v, free.v, oracle="the tree without the loop", atol=1e-11)


def test_momentum_is_kept_when_two_free_bodies_dock():
    rng = np.random.default_rng(2)
    tree = random_system(["free", "free"], rng, parents=[None, None], armature=False, gravity=np.zeros(3))
    q, v = random_state(tree, rng)
    loop = replace(joining_loop("dock", "weld", tree, q, ("b0", "b1"), rng), switchable=True, closed=False)
    system = validate(set_state(replace(tree, loops=(loop,)), q, v))
    sim = lj.Simulation(system)
    before = sim.dynamics.momentum(sim.q, sim.v)
    kinetic = sim.dynamics.energy(sim.q, sim.v)[0]
    impact = sim.attach("dock")
    close(sim.dynamics.momentum(sim.q, sim.v), before, name="momentum through docking", oracle="conservation")
    figure(
        "energy lost in docking",
        kinetic - sim.dynamics.energy(sim.q, sim.v)[0],
        impact.energy_loss,
        unit="J",
        oracle="difference of kinetic energies",
        rtol=1e-10,
    )
    sim.step(500)
    close(sim.dynamics.momentum(sim.q, sim.v), before, 1.0, 1e-8, "momentum after docking", "conservation")
    sim.release("dock")
    sim.step(500)
    close(sim.dynamics.momentum(sim.q, sim.v), before, 1.0, 1e-8, "momentum after docking", "conservation")


def test_a_second_loop_closes_on_top_of_the_first():
    system, _ = open_system(["point", "distance"], 8)
    sim = lj.Simulation(system)
    first = now(sim, ("loop0",)).loops
    sim.attach("loop0")
    sim.step(5)
    second = now(sim, ("loop1",)).loops
    oracle = Oracle(replace(system, loops=(*first, *second)))
    expected, loss = oracle.impulse(sim.q, sim.v)
    impact = sim.attach("loop1")
    close(sim.v, expected, tolerance=1e-8)  # the first loop stands within its projection's tolerance
    figure("energy lost by a second loop", impact.energy_loss, loss, unit="J", oracle="dense reference", rtol=1e-6)


def test_locks_and_embedded_loops_together():
    """A hinge of an embedded loop is locked: all that hangs on it stands still, and moves again when unlocked."""
    bar = bars.four_bar("embed", rate=4.0)
    lock = Loop("brake", "lock", locked="crank", switchable=True, closed=False)
    sim = lj.Simulation(validate(replace(bar, loops=(*bar.loops, lock))))
    sim.step(10)
    kinetic = sim.dynamics.energy(sim.q, sim.v)[0]
    impact = sim.lock("crank")
    assert impact.energy_loss == pytest.approx(kinetic, rel=1e-9)
    np.testing.assert_allclose(sim.v, 0.0, atol=1e-12)
    q = sim.q
    sim.step(200)
    np.testing.assert_allclose(sim.q, q, atol=1e-9)
    sim.unlock("crank")
    sim.step(200)
    assert np.abs(sim.q - q).max() > 1e-2
    assert np.abs(Oracle(bar).gaps(sim.q)).max() < 1e-10


def test_commands_do_what_calls_do_and_bits_repeat():
    """By command at the start of a step or by a call; snapshots hold what is closed and how."""
    system, _ = open_system(["weld", "coupling"], 11)
    called, reported = lj.Simulation(system), lj.Simulation(system)
    called.step(10)
    called.attach("loop0")
    called.step(30)
    reported.step(10)
    reported.command["loop0.closed"] = 1.0
    reported.step(30)
    assert np.array_equal(called.q, reported.q)
    assert np.array_equal(called.v, reported.v)
    snapshot = reported.snapshot()
    reported.command["loop0.closed"] = 0.0
    reported.command["loop1.closed"] = 1.0
    reported.step(40)
    end = reported.state
    other = lj.Simulation(system)
    other.restore(snapshot)
    assert other.closed("loop0")
    other.command["loop0.closed"] = 0.0
    other.command["loop1.closed"] = 1.0
    other.step(40)
    assert np.array_equal(other.state, end)


def test_out_of_reach_it_stays_open_until_it_is_near():
    rng = np.random.default_rng(3)
    tree = random_system(["free", "free"], rng, parents=[None, None], armature=False, gravity=np.zeros(3))
    q, v = random_state(tree, rng)
    loop = joining_loop("dock", "point", tree, q, ("b0", "b1"), rng)
    loop = replace(loop, switchable=True, closed=False, reach=0.01)
    sim = lj.Simulation(validate(set_state(replace(tree, loops=(loop,)), q, 0.5 * v)))
    sim.step(200)
    sim.command["dock.closed"] = 1.0
    sim.step(2)
    assert not sim.closed("dock")
    sim.v = -sim.v
    sim.step(400)
    assert sim.closed("dock")
