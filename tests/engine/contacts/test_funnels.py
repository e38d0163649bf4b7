"""Funnels: gaps of shapes with edges in them against minimized distances to the wall, what rests in and on them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.tables.contacts import ME_GAP, ME_NEAR, ME_NORMAL, TO_FORCE
from tests.cases import long_only
from tests.engine.contacts.least import least_near
from tests.engine.contacts.scenes import box, free, scene, sensors, solid_box
from tests.engine.contacts.test_height_fields import random_pose
from tests.engine.contacts.test_meshes import CUBE, Pair, mesh
from tests.engine.contacts.test_rings import from_box, from_profile, ring, touches
from tests.validation.figures import figure

G = 9.80665
LOW, HIGH, HALF = 0.1, 0.4, 0.15
FUNNEL = f"type: funnel, radius: [{LOW}, {HIGH}], length: {2 * HALF}"


def from_capsule(local: np.ndarray) -> np.ndarray:
    return np.linalg.norm(local - np.clip(local[:, 2:], -0.1, 0.1) * [0.0, 0.0, 1.0], axis=1) - 0.04


def profile(low: float, high: float, half: float) -> np.ndarray:
    return np.array([[0.0, -half], [low, -half], [high, half], [0.0, half]])


#: the line of shape b, and distances of places in its axes
SHAPES: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "capsule": ("{body: b, name: b, type: capsule, radius: 0.04, length: 0.2}", from_capsule),
    "box": (box("b", [0.1, 0.16, 0.12]), lambda x: from_box(x, np.array([0.05, 0.08, 0.06]))),
    "mesh": (mesh("b", CUBE * [0.5, 0.8, 0.6]), lambda x: from_box(x, np.array([0.05, 0.08, 0.06]))),
    "cylinder": (
        "{body: b, name: b, type: cylinder, radius: 0.06, length: 0.1}",
        lambda x: from_profile(x, profile(0.06, 0.06, 0.05), True),
    ),
    "cone": (
        "{body: b, name: b, type: cylinder, radius: [0.08, 0.02], length: 0.1}",
        lambda x: from_profile(x, profile(0.08, 0.02, 0.05), True),
    ),
    "whole cone": (
        "{body: b, name: b, type: cylinder, radius: [0.0, 0.08], length: 0.1}",
        lambda x: from_profile(x, profile(0.0, 0.08, 0.05), True),
    ),
}


def wall(share: np.ndarray, azimuth: np.ndarray) -> np.ndarray:
    """(..., 3) places on the wall."""
    rho = LOW + share * (HIGH - LOW)
    return np.stack([rho * np.cos(azimuth), rho * np.sin(azimuth), (2.0 * share - 1.0) * HALF], axis=-1)


SHARE, AZIMUTH = (x.ravel() for x in np.meshgrid(np.linspace(0.0, 1.0, 61), np.linspace(-np.pi, np.pi, 361)))
GRID = wall(SHARE, AZIMUTH)


def nearest_of_wall(distance: Callable[[np.ndarray], np.ndarray]) -> float:
    """The least of a distance over the wall."""
    values = distance(GRID)
    found = math.inf
    for i in np.argsort(values)[:60:12]:
        least = least_near(
            lambda x: distance(wall(np.clip(x[:, 0], 0.0, 1.0), x[:, 1])), [SHARE[i], AZIMUTH[i]], [0.04, 0.04]
        )
        found = min(found, least)
    return found


@pytest.mark.parametrize("kind", SHAPES)
def test_gaps_are_least_distances_to_the_wall(tmp_path, kind):
    """Of shapes whose middle is inside of the cone or over its mouth; wherever the funnel is, and in either order."""
    random, compared = np.random.default_rng(11), 0
    line, distance = SHAPES[kind]
    pair = Pair(tmp_path, ["{body: a, name: a, " + FUNNEL + "}", line])
    for _ in range(120):
        there = random_pose(random, 0.0)
        there[4:] = [*random.uniform(-0.35, 0.35, 2), random.uniform(-0.2, 0.3)]
        if np.hypot(*there[4:6]) > LOW + (HIGH - LOW) * (there[6] + HALF) / (2.0 * HALF):
            continue
        own = Rotation.from_quat(there[:4], scalar_first=True)
        found = nearest_of_wall(lambda x, own=own, p=there[4:]: distance(own.inv().apply(x - p)))
        if found < 0.0:
            continue
        where = random_pose(random, 1.0)
        turn = Rotation.from_quat(where[:4], scalar_first=True)
        moved = [*(turn * own).as_quat(scalar_first=True), *(turn.apply(there[4:]) + where[4:])]
        row = pair.nearest(np.concatenate([where, moved]))
        if row[ME_NEAR] == 0.0:
            assert row[ME_GAP] <= found + 1e-9
            continue
        figure("gap in a funnel", row[ME_GAP], found, unit="m", oracle="minimized distance", atol=1e-9)
        assert abs(np.linalg.norm(row[ME_NORMAL : ME_NORMAL + 3]) - 1.0) < 1e-9
        compared += 1
    assert compared > 20


SLANT = math.hypot(HIGH - LOW, 2.0 * HALF)


def rest(tmp_path, shape: str, height: float, moments: list[float], law: str, order: str) -> lj.Simulation:
    """A body of 2 kg that was put into a funnel, after 3 s."""
    names = ("a", "b") if order == "funnel first" else ("b", "a")
    system = scene(
        tmp_path,
        [free("b", 2.0, moments, (0, 0, height))],
        ["{body: world, name: a, " + FUNNEL + "}", shape],
        [f"{{name: c, first: {names[0]}, second: {names[1]}, {law}}}"],
        sensors("c"),
    )
    simulation = lj.Simulation(system)
    simulation.step(3000)
    return simulation


#: what rests in or on the funnel, its moments, and the height of its middle: where its corners or rim have the radius
#: of the wall, or over the mouth
RESTING = {
    "box": (box("b", [0.2, 0.2, 0.2]), solid_box([0.2, 0.2, 0.2], 2.0), math.hypot(0.1, 0.1) - LOW - HALF + 0.1),
    "mesh": (mesh("b", CUBE), solid_box([0.2, 0.2, 0.2], 2.0), math.hypot(0.1, 0.1) - LOW - HALF + 0.1),
    "cylinder": (
        "{body: b, name: b, type: cylinder, radius: 0.2, length: 0.2}",
        [2.0 * (0.04 / 4 + 0.04 / 12)] * 2 + [2.0 * 0.02],
        0.2 - LOW - HALF + 0.1,
    ),
    "plate": (box("b", [1.0, 1.0, 0.1]), solid_box([1.0, 1.0, 0.1], 2.0), HALF + 0.05),
    "whole cone": (
        "{body: b, name: b, type: cylinder, radius: [0.2, 0.0], length: 0.2}",
        [0.02, 0.02, 0.02],
        0.2 - LOW - HALF + 0.1,
    ),
}


@pytest.mark.parametrize("order", ["funnel first", "funnel second"])
@pytest.mark.parametrize("law", ["friction: 0.2", "stiffness: 1.0e6, dissipation: 20.0, friction: 0.2"])
@pytest.mark.parametrize("kind", RESTING)
def test_what_rests_in_a_funnel_keeps_its_place(tmp_path, kind, law, order):
    shape, moments, height = RESTING[kind]
    simulation = rest(tmp_path, shape, height + 1e-3, moments, law, order)
    before, sign = simulation.q.copy(), 1.0 if order == "funnel first" else -1.0
    load = simulation.output["force"]
    figure("load in a funnel", load, [0, 0, sign * 2.0 * G], unit="N", oracle="weight", atol=1e-3)
    acting = np.linalg.norm(touches(simulation)[:, TO_FORCE : TO_FORCE + 3], axis=1) > 1e-3
    assert acting.sum() >= 3
    assert abs(before[6] - height) < 2e-5
    simulation.step(5000)
    moved = np.abs(simulation.q - before).max()
    figure("creep in a funnel in 5 s", moved, unit="m", oracle="none", below=1e-7)


def test_a_plate_over_the_mouth_is_not_held_from_inside(tmp_path):
    """A tilted plate on the rim, whose low corners hang beside the wall, tips over it and falls."""
    shape = box("b", [1.2, 1.2, 0.04])
    system = scene(
        tmp_path,
        [free("b", 2.0, solid_box([1.2, 1.2, 0.04], 2.0), (0.45, 0, HALF + 0.05), "{wy: 0.3}")],
        ["{body: world, name: a, " + FUNNEL + "}", shape],
        ["{name: c, first: a, second: b, friction: 0.1}"],
    )
    simulation = lj.Simulation(system)
    energy = []
    for _ in range(60):
        simulation.step(10)
        energy.append(simulation.survey()[2])
    assert max(energy[1:]) <= energy[0] + 1e-6
    assert simulation.q[6] < HALF - 0.05


@pytest.mark.parametrize("law", ["friction: 0.3, restitution: 0.3", "stiffness: 5.0e4, dissipation: 0.5"])
@pytest.mark.parametrize("kind", ["capsule", "mesh", *long_only(("box", "cylinder", "cone"))])
def test_shapes_that_rattle_in_a_closed_pair_of_funnels(tmp_path, kind, law):
    """A free body of two funnels with their mouths together holds a shape: no energy is added, momentum is kept."""
    twins = [
        "{body: a, name: a, " + FUNNEL + f", position: [0, 0, {-HALF}]}}",
        "{body: a, name: a2, " + FUNNEL + f", position: [0, 0, {HALF}], rpy: [{math.pi}, 0, 0]}}",
    ]
    bodies = [
        free("a", 5.0, (0.3, 0.3, 0.4), (0, 0, 0), "{wx: 0.2, wz: 0.5}"),
        free("b", 1.0, (0.004, 0.004, 0.003), (0, 0, 0.02), "{vx: 1.0, vy: 0.3, vz: 0.4, wx: 2.0, wy: 1.0}"),
    ]
    more = "gravity: [0, 0, 0]\n" + sensors("c")
    contact = f"{{name: c, first: [a, a2], second: b, {law}}}"
    simulation = lj.Simulation(scene(tmp_path, bodies, [*twins, SHAPES[kind][0]], [contact], more), dt=2e-4)
    start, hits, before, gained = simulation.survey(), 0, False, 0.0
    energy = start[2]
    for _ in range(8000):
        simulation.step()
        now = simulation.output["touching"] > 0.5
        hits += now and not before
        before = now
        if not now:
            total = simulation.survey()[2]
            gained, energy = max(gained, total / energy - 1.0), total
    assert hits >= 2
    assert np.linalg.norm(simulation.q[4:7] - simulation.q[11:14]) < 0.5
    figure("energy that a hit adds", gained, oracle="of the energy before", below=1e-6)
    change = np.abs(simulation.survey() - start)
    figure("change of linear momentum", change[6:9].max(), unit="N·s", oracle="conservation", below=1e-9)
    figure("change of angular momentum", change[3:6].max(), unit="N·m·s", oracle="conservation", below=2e-8)


KINDS = ("sphere", "capsule", "box", "cylinder", "cone", "mesh", "ring")


def rain(tmp_path, seed: int, law: str) -> lj.System:
    """One body of each kind above the mouth of a funnel, in random order."""
    random, bodies, shapes = np.random.default_rng(seed), [], []
    for i, kind in enumerate(random.permutation(KINDS)):
        spin, way = random.uniform(-3.0, 3.0, 3), random.uniform(-0.3, 0.3, 3)
        velocity = dict(zip(("wx", "wy", "wz", "vx", "vy", "vz"), map(float, (*spin, *way))))
        written = "{" + ", ".join(f"{key}: {value}" for key, value in velocity.items()) + "}"
        place = [*random.uniform(-0.1, 0.1, 2), 0.4 + 0.25 * i]
        bodies.append(free(str(kind), 1.0, (0.004, 0.005, 0.006), place, written))
        line = "{body: b, name: b, type: sphere, radius: 0.08}" if kind == "sphere" else ring("b", 0.1, 0.02)
        line = SHAPES[kind][0] if kind in SHAPES else line
        shapes.append(line.replace("body: b,", f"body: {kind},").replace("name: b", f"name: {kind}"))
    funnel = "{body: world, name: funnel, type: funnel, radius: [0.1, 0.8], length: 0.5}"
    names = ", ".join(KINDS)
    contacts = [
        f"{{name: c, first: funnel, second: [{names}], {law}}}",
        f"{{name: mutual, first: [{names}], {law}}}",
    ]
    return scene(tmp_path, bodies, [funnel, *shapes], contacts, sensors("c"))


@pytest.mark.parametrize(
    "law", ["friction: 0.3, restitution: 0.2", "stiffness: 5.0e4, dissipation: 1.0, friction: 0.3"]
)
@pytest.mark.parametrize("seed", [0, *long_only(range(1, 4))])
def test_rain_into_a_funnel_has_equal_bits_and_gains_no_energy(tmp_path, seed, law):
    """From a snapshot, and in worlds of a batch. No more energy than at first: of nearly rigid shapes, which jam in the
    narrow end, the guide says what a step may add."""
    system = rain(tmp_path, seed, law)
    simulation, batch = lj.Simulation(system), lj.Batch(system, 3)
    simulation.step(300)
    kept, ends = simulation.snapshot(), []
    for _ in range(2):
        simulation.restore(kept)
        simulation.step(300)
        ends.append(simulation.state.tobytes())
    assert ends[0] == ends[1]
    batch.step(600)
    for world in range(3):  # points that touch no more may be kept from another step
        assert np.array_equal(batch.q[world], simulation.q)
        assert np.array_equal(batch.v[world], simulation.v)
    simulation.reset()
    start, gained = simulation.survey()[2], 0.0
    for _ in range(2000):
        simulation.step()
        gained = max(gained, simulation.survey()[2] - start)
    figure("energy gained in a funnel", gained, unit="J", oracle="none", below=2e-3)
    assert np.abs(simulation.v).max() < 100.0


@pytest.mark.parametrize("seed", [4, 23, 32])
def test_an_impact_on_what_jams_acts_once(tmp_path, seed):
    """An impact on a body that touches the wall already passes through that touch; a step added up to 0.23 J where the
    next step held its force."""
    simulation = lj.Simulation(rain(tmp_path, seed, "friction: 0.3, restitution: 0.2"))
    simulation.step(450)
    before, most = simulation.survey()[2], 0.0
    for _ in range(250):
        simulation.step()
        now = simulation.survey()[2]
        most, before = max(most, now - before), now
    figure("energy that a step adds in a jam", most, unit="J", oracle="none", below=0.05)
