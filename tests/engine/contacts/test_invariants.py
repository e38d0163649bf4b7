"""What holds whatever touches: momentum, energy that only falls, sticking that stays, equal bits."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from tests.cases import long_only
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, sensors, solid_box, sphere
from tests.validation.figures import figure

SIZE = (0.3, 0.2, 0.25)


def crowd(tmp_path, law, more="gravity: [0, 0, 0]\n", seed=0):
    """Six bodies of different shapes that fly at each other."""
    random = np.random.default_rng(seed)
    bodies, shapes = [], []
    for i in range(6):
        name, mass = f"b{i}", float(random.uniform(0.5, 2.0))
        place = [0.45 * (i % 3), 0.45 * (i // 3), float(random.uniform(-0.02, 0.02))]
        way = -np.array(place) + [0.45, 0.22, 0.0]
        spin = random.uniform(-3.0, 3.0, 3)
        velocity = f"{{vx: {way[0]}, vy: {way[1]}, vz: {way[2]}, wx: {spin[0]}, wy: {spin[1]}, wz: {spin[2]}}}"
        if i % 3 == 0:
            bodies.append(free(name, mass, solid_box(SIZE, mass), place, velocity))
            shapes.append(box(name, SIZE))
        else:
            bodies.append(ball(name, place, velocity, mass, 0.12))
            shapes.append(
                sphere(name, 0.12)
                if i % 3 == 1
                else f"{{body: {name}, type: capsule, radius: 0.08, length: 0.15, name: {name}}}"
            )
    return scene(tmp_path, bodies, shapes, [f"{{name: c, first: [b0, b1, b2, b3, b4, b5], {law}}}"], more)


@pytest.mark.parametrize(
    "law", ["friction: 0.4, restitution: 0.5", "stiffness: 2.0e4, friction: 0.4, dissipation: 0.2"]
)
def test_free_bodies_keep_their_momentum_and_never_gain_energy(tmp_path, law):
    simulation = lj.Simulation(crowd(tmp_path, law, "gravity: [0, 0, 0]\n" + sensors("c")), dt=1e-3)
    start = simulation.survey()
    energy, impacts, touching = start[2], 0, False
    for _ in range(1500):
        simulation.step()
        now = simulation.output["touching"] > 0.5
        impacts += now and not touching
        touching = now
        if not now:
            total = simulation.survey()[2]
            assert total <= energy * (1.0 + 1e-9)
            energy = total
    assert impacts >= 3
    change = np.abs(simulation.survey() - start)
    figure("change of angular momentum", change[3:6].max(), unit="N·m·s", oracle="conservation", below=1e-9)
    figure("change of linear momentum", change[6:9].max(), unit="N·s", oracle="conservation", below=1e-9)


@pytest.mark.parametrize("spin", [0.0, 10.0])
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("integrator", ["rk4", *long_only(("semi_implicit", "implicit"))])
def test_a_compliant_hit_never_adds_energy(tmp_path, integrator, exponent, friction, spin):
    """Balls hit floors of any stiffness, from some that a step resolves well to some that it does not resolve."""
    stiffness, worlds, random = 10.0 ** np.linspace(2, 7, 20), 16, np.random.default_rng(3)
    n = stiffness.size
    bodies, shapes = [ball(f"b{i}", (i, 0, 0.2)) for i in range(n)], [sphere(f"b{i}") for i in range(n)]
    laws = [
        f"{{name: c{i}, first: floor, second: b{i}, stiffness: {k}, exponent: {exponent}, friction: {friction}}}"
        for i, k in enumerate(stiffness)
    ]
    system = scene(tmp_path, bodies, [FLOOR, *shapes], laws, "gravity: [0, 0, 0]\n")
    batch = lj.Batch(system, worlds, integrator=integrator)
    q, v = batch.q.reshape(worlds, n, 7), random.normal(size=(worlds, n, 6)) * [spin, spin, spin, 0.5, 0.5, 0]
    q[:, :, 6], v[:, :, 5] = random.uniform(0.1, 0.11, (worlds, n)), -random.uniform(0.3, 3.0, (worlds, n))
    batch.q, batch.v = q.reshape(worlds, -1), v.reshape(worlds, -1)
    inertia = np.array([0.004] * 3 + [1.0] * 3)
    batch.step(1000)
    after = batch.v.reshape(worlds, n, 6)
    assert (batch.q.reshape(worlds, n, 7)[:, :, 6] > 0.1).all()
    change = (inertia * after**2).sum(axis=2) / (inertia * v**2).sum(axis=2) - 1.0
    figure("energy that a compliant hit adds", change.max(), oracle="of the energy before", below=1e-12)
    resolved = change[:, stiffness < 1e3]
    if friction == 0.0 and integrator == "rk4":
        figure("energy that a resolved hit loses", -resolved.min(), oracle="conservation", below=1e-3)


def test_a_compliant_spring_that_is_pressed_at_the_start_gives_its_energy(tmp_path):
    """Shapes that overlap at the start store k δ² / 2, and the ball leaves with it."""
    law = "{name: c, first: floor, second: ball, stiffness: 1.0e4}"
    simulation = lj.Simulation(
        scene(tmp_path, [ball("ball", (0, 0, 0.09))], [FLOOR, sphere("ball")], [law], "gravity: [0, 0, 0]\n")
    )
    simulation.step(100)
    figure("speed", simulation.v[5], 0.01 * 1e4**0.5, unit="m/s", oracle="k δ² / 2", rtol=2e-3)


def resting(tmp_path):
    """A box that lies on a slope it does not slide down, and a ball on top of it."""
    bodies = [free("block", 2.0, solid_box(SIZE, 2.0), (0, 0, 0.125)), ball("ball", (0, 0, 0.35))]
    laws = [
        "{name: c, first: floor, second: [block, ball], friction: 0.6}",
        "{name: top, first: block, second: ball, stiffness: 1.0e5, dissipation: 1.0, friction: 0.6}",
    ]
    return scene(
        tmp_path, bodies, [FLOOR, box("block", SIZE), sphere("ball")], laws, "gravity: [0.5, 0, -9.8]\n" + sensors("c")
    )


def test_a_snapshot_taken_while_sticking_continues_with_equal_bits(tmp_path):
    simulation = lj.Simulation(resting(tmp_path))
    simulation.step(150)
    assert simulation.output["touching"] == 1.0
    kept = simulation.snapshot()
    simulation.step(100)
    there = simulation.state.copy()
    simulation.restore(kept)
    simulation.step(100)
    figure(
        "bits that differ after a snapshot", np.count_nonzero(simulation.state != there), 0, oracle="the run", atol=0.5
    )


def test_worlds_of_a_batch_have_the_bits_of_one(tmp_path):
    system = crowd(tmp_path, "friction: 0.4, stiffness: 2.0e4, dissipation: 0.2")
    batch = lj.Batch(system, 5)
    random = np.random.default_rng(1)
    start = np.array([lj.Simulation(system).v] * 5) + random.normal(0.0, 0.1, (5, system.nv))
    batch.v = start
    batch.step(600)
    for world in range(5):
        alone = lj.Simulation(system)
        alone.v = start[world]
        alone.step(600)
        assert np.array_equal(batch.q[world], alone.q)
        assert np.array_equal(batch.v[world], alone.v)


@pytest.mark.parametrize("worlds", [0, 3])
def test_shapes_that_are_set_into_each_other_push_themselves_apart(tmp_path, worlds):
    """Setting coordinates in a run is a new start; a touch that begins deep in a run gives no work."""
    law = "{name: c, first: floor, second: ball, stiffness: 1.0e4}"
    system = scene(tmp_path, [ball("ball", (0, 0, 0.3))], [FLOOR, sphere("ball")], [law], "gravity: [0, 0, 0]\n")
    run = lj.Batch(system, worlds) if worlds else lj.Simulation(system)
    run.step(10)
    q = run.q
    q[..., 6] = 0.09
    run.q = q
    run.step(100)
    assert np.abs(run.v[..., 5] - 0.01 * 1e4**0.5).max() < 2e-3


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit", "rk4"])
def test_boxes_that_fall_on_springs_stay_finite(tmp_path, integrator):
    """Others may close a corner that has just lifted off: with p > 1 its law then does not answer."""
    size = [0.4, 0.3, 0.2]
    law = "{name: c, first: floor, second: b, stiffness: 1.0e6, exponent: 1.5, friction: 0.3}"
    body = free("b", 10.0, solid_box(size, 10.0), (0, 0, 0.5))
    batch = lj.Batch(scene(tmp_path, [body], [FLOOR, box("b", size)], [law]), 300, dt=1e-3, integrator=integrator)
    random, q = np.random.default_rng(0), batch.q.copy()
    turns = random.normal(size=(1000, 4))[:300]
    q[:, :4] = turns / np.linalg.norm(turns, axis=1)[:, None]
    batch.q, batch.v = q, random.normal(size=(1000, 6))[:300] * [8, 8, 8, 1, 1, 1]
    batch.step(700)
    assert not batch.errors
    assert np.isfinite(batch.v).all()


@pytest.mark.parametrize("dt", [5e-4, 1e-3])
def test_a_box_that_meets_another_corner_of_a_box_gains_no_energy(tmp_path, dt):
    """Within the step of the impact the list of corners changes; forces acted half-way between two: 14 % and 1.4 %."""
    inertia = "{xx: 0.144, yy: 0.261, zz: 0.206}"
    hinge = "hinge: {name: free, type: free, parent: world}"
    body = f"{{name: b, mass: 11.8, com: [0.002, -0.016, -0.036], inertia: {inertia}, {hinge}}}"
    table = "{body: world, name: table, type: box, size: [6, 6, 0.4], position: [0, 0, -0.2]}"
    law = "{name: c, first: table, second: b, friction: 0.5}"
    simulation = lj.Simulation(scene(tmp_path, [body], [table, box("b", (0.448, 0.236, 0.351))], [law]), dt=dt)
    turned = np.array([-0.02151, 0.35173, 0.27559, -0.89436])
    simulation.q = np.r_[turned / np.linalg.norm(turned), 0.42582, -0.0558, 0.30575]
    simulation.v = [3.3675, -4.2649, -6.3745, 0.4733, 0.9245, -1.4029]
    start, most = simulation.survey()[2], 0.0
    for _ in range(round(0.01 / dt)):
        simulation.step()
        most = max(most, simulation.survey()[2] / start - 1.0)
    assert simulation.survey()[2] < 0.8 * start  # it hit the table
    figure("energy that a box gains in an impact", most, oracle="of the first", below=1e-9)
