"""Contacts in long runs: a thousand collisions, eight hundred drops, and scenes that come to rest as MuJoCo's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limberjack as lj
from benchmarks.contacts.drops import drop
from benchmarks.contacts.random_drops import drop as drop_one
from tests.cases import long_only
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, sensors, solid_box, sphere
from tests.validation.figures import figure

G = 9.80665


def room(tmp_path, law: str) -> lj.System:
    """A free hollow room of six walls with a ball that flies about inside."""
    inner, thick = 0.4, 0.1
    walls, names = [], []
    for axis in range(3):
        for side in (-1.0, 1.0):
            size, place = [inner + 2.0 * thick] * 3, [0.0] * 3
            size[axis], place[axis] = thick, 0.5 * side * (inner + thick)
            names.append(f"w{len(names)}")
            walls.append(f"{{body: room, type: box, size: {size}, position: {place}, name: {names[-1]}}}")
    bodies = [
        free("room", 5.0, (0.5, 0.55, 0.45), (0, 0, 0), "{wx: 0.1, wy: -0.05, wz: 0.07}"),
        ball("ball", (0.01, 0.005, 0), "{vx: 2.0, vy: 1.1, vz: 0.7, wx: 5.0}"),
    ]
    laws = [f"{{name: c, first: [{', '.join(names)}], second: ball, {law}}}"]
    return scene(tmp_path, bodies, [*walls, sphere("ball")], laws, "gravity: [0, 0, 0]\n" + sensors("c"))


#: law, step, most change of linear momentum, N·s of 2, and of angular momentum, N·m·s of 0.08; energy that a hit adds
ROOMS = [
    pytest.param("stiffness: 1.0e5, exponent: 1.5, friction: 0.1", 1e-4, 1e-9, 1e-9, 1e-6, id="compliant, resolved"),
    pytest.param("stiffness: 1.0e4, exponent: 1.5, friction: 0.1", 1e-3, 1e-9, 1e-9, 1e-4, id="compliant, 1 kHz"),
    pytest.param("restitution: 1.0, friction: 0.1", 1e-3, 1e-9, 5e-9, 1e-12, id="nearly rigid, 1 kHz"),
]


@pytest.mark.long
@pytest.mark.parametrize(("law", "dt", "linear", "angular", "gain"), ROOMS)
def test_two_free_bodies_keep_their_momentum_in_a_thousand_collisions(tmp_path, law, dt, linear, angular, gain):
    simulation = lj.Simulation(room(tmp_path, law), dt=dt)
    start = simulation.survey()
    energy, before, hits, gained = start[2], False, 0, 0.0
    while hits < 1000:
        simulation.step()
        now = simulation.output["touching"] > 0.5
        hits += now and not before
        before = now
        if not now:
            total = simulation.survey()[2]
            gained, energy = max(gained, total / energy - 1.0), total
        assert simulation.time < 600.0
    change, oracle = np.abs(simulation.survey() - start), "conservation, 1000 collisions"
    figure("change of linear momentum", change[6:9].max(), unit="N·s", oracle=oracle, below=linear)
    figure("change of angular momentum", change[3:6].max(), unit="N·m·s", oracle=oracle, below=angular)
    figure("energy that a collision adds", gained, oracle="of the energy before", below=gain)


@pytest.mark.long
def test_hundreds_of_random_drops():
    """No NaN, nothing falls through the floor, and no shape goes deeper than it falls in a step."""
    found = drop(800, seed=1)
    assert found.failed == 0
    fastest = np.sqrt(2.0 * G * 2.5) + 5.0 * 4.0 * 0.2  # m/s: height and spin
    figure("deepest in 800 drops", found.deepest.max(), unit="m", oracle="way in a step", below=fastest * 1e-3)
    last = np.quantile(found.last, 0.99)
    figure("depth at the end of 99 % of 800 drops", last, unit="m", oracle="micrometres", below=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("model", range(24))
def test_random_shapes_on_random_ground(model):
    """No NaN, no energy gained, and no shape deeper than its law allows."""
    found, _ = drop_one(model, 100)
    assert not found.failed, "worlds that failed"
    assert not found.gained, "worlds that gained energy"
    assert not found.deep, "worlds that were too deep"


#: contacts of the bodies of `heap`
HEAP_LAWS = [
    *(f"{{name: c{i}, first: floor, second: b{i}, friction: 0.6}}" for i in range(4)),
    "{name: on, first: b0, second: b1, friction: 0.6}",
]


def heap(seed: int) -> tuple[list[str], list[str], list[str]]:
    """Bodies and shapes of two boxes, a ball and a capsule, and the same bodies in MuJoCo's words."""
    random = np.random.default_rng(seed)
    bodies, shapes, theirs = [], [], []
    places = [(0.0, 0.3), (0.0, 0.8), (1.5, 0.15), (-1.5, 0.15)]
    for i, (x, z) in enumerate(places):
        name, mass = f"b{i}", float(random.uniform(0.5, 3.0))
        size = [float(edge) for edge in random.uniform([0.3, 0.3, 0.1], [0.6, 0.6, 0.2])]
        moments = solid_box(size, mass) if i < 2 else [0.4 * mass * 0.01] * 3
        where = [x + float(random.uniform(-0.03, 0.03)), float(random.uniform(-0.03, 0.03)), z]
        geom = f'type="box" size="{size[0] / 2} {size[1] / 2} {size[2] / 2}"'
        shape = box(name, size)
        if i == 2:
            geom, shape = 'type="sphere" size="0.1"', sphere(name)
        elif i == 3:
            geom, shape = (
                'type="capsule" size="0.07 0.1"',
                (f"{{body: {name}, type: capsule, radius: 0.07, length: 0.2, name: {name}}}"),
            )
        bodies.append(free(name, mass, moments, where))
        shapes.append(shape)
        inertial = f'<inertial pos="0 0 0" mass="{mass}" diaginertia="{" ".join(map(str, moments))}"/>'
        geom = f'<geom {geom} friction="0.6 0 0"/>'
        theirs.append(f'<body pos="{" ".join(map(str, where))}"><freejoint/>{inertial}{geom}</body>')
    return bodies, shapes, theirs


def mujoco_at_rest(bodies: list[str], seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions (4, 3), m, and forces of the floor (4, 3), N, with stiff contacts and elliptic cones."""
    mujoco: Any = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="0.0005" integrator="implicitfast" cone="elliptic" impratio="100" iterations="200" '
        f'tolerance="1e-12" gravity="0 0 -{G}"/><default><geom solref="0.002 1" solimp="0.99 0.9999 0.0001"/></default>'
        f'<worldbody><geom type="plane" size="5 5 1" friction="0.6 0 0"/>{"".join(bodies)}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(seconds / 0.0005))
    forces, local = np.zeros((4, 3)), np.zeros(6)
    for i in range(data.ncon):
        contact = data.contact[i]
        first, second = model.geom_bodyid[contact.geom1], model.geom_bodyid[contact.geom2]
        if first == 0:
            mujoco.mj_contactForce(model, data, i, local)
            forces[second - 1] += contact.frame.reshape(3, 3).T @ local[:3]
    return data.qpos.reshape(4, 7)[:, :3].copy(), forces


@pytest.mark.parametrize("seed", [pytest.param(seed, id=f"heap{seed}") for seed in range(10)])
def test_scenes_come_to_rest_as_mujocos(tmp_path, seed):
    """One box falls onto another: both slip a little in impacts, but heights and forces are those of statics."""
    bodies, shapes, theirs = heap(seed)
    more = "sensors:\n" + "".join(f"  - {{name: f{i}, type: contact_force, target: c{i}}}\n" for i in range(4))
    simulation = lj.Simulation(scene(tmp_path, bodies, [FLOOR, *shapes], HEAP_LAWS, more))
    simulation.step(3000)
    places, forces = mujoco_at_rest(theirs, 3.0)
    found = simulation.q.reshape(4, 7)[:, 4:7]
    felt = np.array([simulation.output[f"f{i}"] for i in range(4)])
    figure("heights at rest", found[:, 2], places[:, 2], unit="m", oracle="MuJoCo", atol=3e-6)
    figure("places at rest", found[:, :2], places[:, :2], unit="m", oracle="MuJoCo", atol=1e-3)
    figure("forces at rest", felt, forces, unit="N", oracle="MuJoCo", atol=1e-8)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
@pytest.mark.parametrize("seed", [21, *long_only(range(10))])
def test_a_box_on_a_box_comes_to_rest(tmp_path, seed, integrator):
    """Their faces are nearly parallel, and take turns in being the one that clips the other: one heap never rested."""
    bodies, shapes, _ = heap(seed)
    simulation = lj.Simulation(scene(tmp_path, bodies, [FLOOR, *shapes], HEAP_LAWS), integrator=integrator)
    simulation.step(3000)
    fastest = 0.0
    for _ in range(10):
        simulation.step()
        fastest = max(fastest, np.abs(simulation.v).max())
    figure("velocities at rest", fastest, unit="rad/s, m/s", oracle="rest", below=1e-10)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("boxes", [3, 8])
def test_equal_boxes_on_each_other_stand(tmp_path, boxes, integrator):
    """Faces of one size, edge on edge: the corners are listed in another order in every step. Eight fell with rk4."""
    size, names = (0.2, 0.2, 0.2), [f"b{i}" for i in range(boxes)]
    bodies = [free(name, 1.0, solid_box(size, 1.0), [0.0, 0.0, 0.1 + 0.2 * i]) for i, name in enumerate(names)]
    law = f"{{name: c, first: [floor, {', '.join(names)}], friction: 0.5}}"
    simulation = lj.Simulation(
        scene(tmp_path, bodies, [FLOOR, *(box(name, size) for name in names)], [law]), integrator=integrator
    )
    simulation.step(1500)
    places = simulation.q.reshape(boxes, 7)[:, 4:]
    figure("heights of boxes", places[:, 2], 0.1 + 0.2 * np.arange(boxes), unit="m", oracle="geometry", atol=1e-4)
    figure("places of boxes", places[:, :2], np.zeros((boxes, 2)), unit="m", oracle="geometry", atol=1e-4)
    figure("velocities at rest", np.abs(simulation.v).max(), unit="rad/s, m/s", oracle="rest", below=1e-8)
