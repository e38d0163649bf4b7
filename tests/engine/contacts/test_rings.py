"""Rings: gaps against minimized distances of circles and surfaces; rings that stand, dock, hang and roll; what is
refused."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.common.errors import ModelError
from limberjack.engine.tables.contacts import (
    C_TOUCHES,
    ME_GAP,
    ME_NEAR,
    ME_NORMAL,
    ME_POINT,
    TO_FORCE,
    TO_GAP,
    TO_POINT,
    TOUCH,
)
from tests.engine.contacts.least import hulls_apart, least_near
from tests.engine.contacts.scenes import FLOOR, free, scene, sphere
from tests.engine.contacts.test_height_fields import random_pose
from tests.engine.contacts.test_meshes import CUBE, Pair, cloud, mesh
from tests.validation.figures import figure

G = 9.80665
AZIMUTHS = np.linspace(0.0, 2.0 * np.pi, 721)
LOAD = "sensors:\n  - {name: load, type: contact_force, target: c}"


def ring(name: str, radius: float, tube: float, body: str = "") -> str:
    """The line of a ring."""
    return f"{{body: {body or name}, name: {name}, type: ring, radius: {radius}, tube: {tube}}}"


def hoop(mass: float, radius: float, tube: float) -> list[float]:
    """Principal moments of a solid torus."""
    across = mass * (0.5 * radius**2 + 0.625 * tube**2)
    return [across, across, mass * (radius**2 + 0.75 * tube**2)]


@cache
def _turned(quaternion: tuple[float, ...]) -> np.ndarray:
    """Rotation matrix; the search for a least distance asks for that of one pose a thousand times."""
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def circle(pose: np.ndarray, radius: float, azimuth: np.ndarray) -> np.ndarray:
    """(..., 3) places on a circle about the z axis of a pose."""
    local = radius * np.stack([np.cos(azimuth), np.sin(azimuth), 0.0 * azimuth], axis=-1)
    return local @ _turned(tuple(pose[:4])).T + pose[4:]


def least(distance) -> float:
    """The least of a function of the azimuth, from 721 samples."""
    values, found = distance(AZIMUTHS), math.inf
    for i in range(720):
        if values[i] <= values[i - 1 if i else 719] and values[i] <= values[i + 1]:
            found = min(found, least_near(lambda a: distance(a[:, 0]), AZIMUTHS[i : i + 1], AZIMUTHS[1:2]))
    return found


def circles_apart(a: np.ndarray, radius_a: float, b: np.ndarray, radius_b: float) -> float:
    """The distance of two circles, minimized from the best of 180² places."""
    azimuth = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
    first, second = circle(a, radius_a, azimuth), circle(b, radius_b, azimuth)
    apart = np.linalg.norm(first[:, None] - second[None], axis=2)
    found = math.inf

    def square(x: np.ndarray) -> np.ndarray:
        return np.sum((circle(a, radius_a, x[:, 0]) - circle(b, radius_b, x[:, 1])) ** 2, axis=1)

    for flat in np.argsort(apart.ravel())[:200:25]:
        i, j = np.unravel_index(flat, apart.shape)
        found = min(found, least_near(square, [azimuth[i], azimuth[j]], 2.0 * azimuth[[1, 1]]))
    return math.sqrt(found)


def from_profile(local: np.ndarray, profile: np.ndarray, closed: bool) -> np.ndarray:
    """Distances of places in a shape's axes from the surface that lines [ρ, z] sweep about z; below 0 inside."""
    x, out = np.stack([np.hypot(local[:, 0], local[:, 1]), local[:, 2]], axis=-1), np.full(len(local), math.inf)
    inside = np.full(len(local), closed)
    for a, b in itertools.pairwise(profile):
        d = b - a
        if not d.any():
            continue
        share = np.clip((x - a) @ d / (d @ d), 0.0, 1.0)
        out = np.minimum(out, np.linalg.norm(x - a - share[:, None] * d, axis=1))
        inside &= d[0] * (x[:, 1] - a[1]) - d[1] * (x[:, 0] - a[0]) > 0.0
    return np.where(inside, -out, out)


def from_box(local: np.ndarray, half: np.ndarray) -> np.ndarray:
    beyond = np.abs(local) - half
    return np.linalg.norm(np.maximum(beyond, 0.0), axis=1) + np.minimum(beyond.max(axis=1), 0.0)


def from_capsule(local: np.ndarray) -> np.ndarray:
    return np.linalg.norm(local - np.clip(local[:, 2:], -0.2, 0.2) * [0.0, 0.0, 1.0], axis=1) - 0.07


#: shapes that touch rings: their fields, distance of places in their axes
SHAPES = {
    "plane": ("type: plane", lambda x: x[:, 2]),
    "small sphere": ("type: sphere, radius: 0.02", lambda x: np.linalg.norm(x, axis=1) - 0.02),
    "small box": ("type: box, size: [0.03, 0.01, 0.02]", lambda x: from_box(x, np.array([0.015, 0.005, 0.01]))),
    "sphere": ("type: sphere, radius: 0.2", lambda x: np.linalg.norm(x, axis=1) - 0.2),
    "capsule": ("type: capsule, radius: 0.07, length: 0.4", from_capsule),
    "box": ("type: box, size: [0.3, 0.2, 0.4]", lambda x: from_box(x, np.array([0.15, 0.1, 0.2]))),
    "cylinder": (
        "type: cylinder, radius: 0.15, length: 0.3",
        lambda x: from_profile(x, np.array([[0.0, -0.15], [0.15, -0.15], [0.15, 0.15], [0.0, 0.15]]), True),
    ),
    "cone": (
        "type: cylinder, radius: [0.25, 0.05], length: 0.3",
        lambda x: from_profile(x, np.array([[0.0, -0.15], [0.25, -0.15], [0.05, 0.15], [0.0, 0.15]]), True),
    ),
    "mesh": (
        mesh("a", CUBE * [1.5, 1.0, 2.0]).removeprefix("{body: a, name: a, ").removesuffix("}"),
        lambda x: from_box(x, np.array([0.15, 0.1, 0.2])),
    ),
    "funnel": (
        "type: funnel, radius: [0.1, 0.4], length: 0.3",
        lambda x: from_profile(x, np.array([[0.1, -0.15], [0.4, 0.15]]), False),
    ),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_gaps_are_least_distances_of_the_circle(tmp_path, kind):
    """Also with the shapes named in the other order, where the normal is the other way round."""
    random, compared = np.random.default_rng(3), 0
    fields, distance = SHAPES[kind]
    shape = "{body: a, name: a, " + fields + "}"
    pair = Pair(tmp_path, [shape, ring("b", 0.3, 0.04)])
    for _ in range(150):
        q = np.concatenate([random_pose(random, 0.0), random_pose(random, 0.5)])
        turn = Rotation.from_quat(q[:4], scalar_first=True)
        row = pair.nearest(q)
        found = least(lambda a, q=q, turn=turn: distance(turn.inv().apply(circle(q[7:], 0.3, a)))) - 0.04
        if row[ME_NEAR] == 0.0:
            assert row[ME_GAP] <= found + 1e-9
            continue
        if found < -0.04 and kind != "plane":  # its circle is inside, and may go through: there are several ways out
            assert row[ME_GAP] < 0.0
            continue
        figure("gap of a ring", row[ME_GAP], found, unit="m", oracle="minimized distance", atol=1e-9)
        n, middle = row[ME_NORMAL : ME_NORMAL + 3], row[ME_POINT : ME_POINT + 3]
        assert abs(np.linalg.norm(n) - 1.0) < 1e-12
        surface = distance(turn.inv().apply((middle - 0.5 * row[ME_GAP] * n)[None]))[0]
        assert abs(surface) < 1e-9
        compared += 1
    assert compared > 25


def test_gaps_to_a_polytope_are_those_of_programmes(tmp_path):
    random, compared = np.random.default_rng(17), 0
    corners = cloud(random, 12)
    pair = Pair(tmp_path, [mesh("a", corners), ring("b", 0.3, 0.04)])
    for _ in range(12):
        q = np.concatenate([[1.0, 0, 0, 0, 0, 0, 0], random_pose(random, 0.3)])
        row, azimuths = pair.nearest(q), np.linspace(0.0, 2.0 * np.pi, 120, endpoint=False)
        apart = [hulls_apart(corners, x[None]) for x in circle(q[7:], 0.3, azimuths)]
        start = azimuths[int(np.argmin(apart))]

        def along(a: np.ndarray, q: np.ndarray = q) -> np.ndarray:
            return np.array([hulls_apart(corners, x[None]) for x in circle(q[7:], 0.3, a[:, 0])])

        best = least_near(along, [start], [0.06])
        if best > 1e-3:
            figure("gap of a ring", row[ME_GAP], best - 0.04, unit="m", oracle="quadratic programme", atol=1e-9)
            compared += 1
    assert compared > 4


def test_a_mesh_whose_corners_have_no_faces_ends_the_search(tmp_path):
    """A foreign Plant may say so."""
    pair = Pair(tmp_path, [mesh("a", CUBE), ring("b", 0.05, 0.04)])
    pair.plant.sections["mesh_corner_int"][:] = 0
    assert pair.nearest(np.array([1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0]))[ME_GAP] > 1.0


@pytest.mark.parametrize("radii", [(0.3, 0.3), (0.3, 0.2), (0.4, 0.1)])
def test_gaps_of_two_rings_are_distances_of_their_circles(tmp_path, radii):
    """And do not depend on which is first, nor on how both are placed together."""
    random, compared = np.random.default_rng(5), 0
    pair = Pair(tmp_path, [ring("a", radii[0], 0.03), ring("b", radii[1], 0.04)])
    (tmp_path / "other").mkdir()
    other = Pair(tmp_path / "other", [ring("a", radii[1], 0.04), ring("b", radii[0], 0.03)])
    for _ in range(100):
        q = np.concatenate([random_pose(random, 0.0), random_pose(random, 0.4)])
        row = pair.nearest(q)
        found = circles_apart(q[:7], radii[0], q[7:], radii[1]) - 0.07
        if row[ME_NEAR] == 0.0:
            assert row[ME_GAP] <= found + 1e-9
            continue
        figure("gap of two rings", row[ME_GAP], found, unit="m", oracle="minimized distance", atol=1e-11)
        swapped = other.nearest(np.concatenate([q[7:], q[:7]]))
        assert abs(swapped[ME_GAP] - row[ME_GAP]) < 1e-12
        assert np.abs(swapped[ME_NORMAL : ME_NORMAL + 3] + row[ME_NORMAL : ME_NORMAL + 3]).max() < 1e-6
        turn, way = Rotation.random(random_state=random), random.normal(size=3)
        moved = [
            np.concatenate(
                [
                    (turn * Rotation.from_quat(p[:4], scalar_first=True)).as_quat(scalar_first=True),
                    turn.apply(p[4:]) + way,
                ]
            )
            for p in (q[:7], q[7:])
        ]
        there = pair.nearest(np.concatenate(moved))
        assert abs(there[ME_GAP] - row[ME_GAP]) < 1e-12
        compared += 1
    assert compared > 40


#: relative poses [x, y, z], turn about x, and the gap of circles of 0.3 m and 0.3 or 0.2 m
SYMMETRIC = [
    ((0.0, 0.0, 0.1), 0.0, 0.3, 0.1),
    ((0.0, 0.0, 0.0), 0.0, 0.3, 0.0),
    ((0.0, 0.0, 0.0), 0.0, 0.2, 0.1),
    ((0.0, 0.0, 0.1), 0.0, 0.2, math.hypot(0.1, 0.1)),
    ((0.65, 0.0, 0.0), 0.0, 0.3, 0.05),
    ((0.0, 0.0, 0.0), math.pi / 2, 0.3, 0.0),
    ((0.0, 0.0, 0.0), math.pi / 2, 0.2, 0.1),
    ((0.3, 0.0, 0.0), math.pi / 2, 0.2, 0.2),
    ((0.0, 0.3, 0.0), math.pi / 2, 0.2, math.hypot(0.2, 0.3) - 0.3),
    ((0.0, 0.0, 0.1), math.pi, 0.3, 0.1),
]


@pytest.mark.parametrize(("place", "turn", "radius", "distance"), SYMMETRIC)
def test_symmetric_poses_have_their_distance(tmp_path, place, turn, radius, distance):
    pair = Pair(tmp_path, [ring("a", 0.3, 0.03), ring("b", radius, 0.04)])
    half = [math.cos(turn / 2), math.sin(turn / 2), 0.0, 0.0]
    row = pair.nearest(np.array([1.0, 0, 0, 0, 0, 0, 0, *half, *place]))
    assert np.isfinite(row).all()
    assert abs(row[ME_GAP] - (distance - 0.07)) < 1e-12
    assert abs(np.linalg.norm(row[ME_NORMAL : ME_NORMAL + 3]) - 1.0) < 1e-12


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("other", ["{body: a, name: a, type: box, size: [1, 1, 1]}", ring("a", 0.3, 0.1)])
def test_rings_that_are_nowhere_end_the_search(tmp_path, bad, other):
    pair = Pair(tmp_path, [other, ring("b", 0.3, 0.04)])
    pair.nearest(np.array([1.0, 0, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0, bad]))


def touches(simulation: lj.Simulation) -> np.ndarray:
    """(touches, TOUCH) of the present state."""
    return simulation.state[-TOUCH * simulation.plant.count(C_TOUCHES) :].reshape(-1, TOUCH)


LAWS = ["friction: 0.3", "stiffness: 1.0e6, dissipation: 0.5, friction: 0.3"]


@pytest.mark.parametrize("law", LAWS, ids=["nearly rigid", "compliant"])
@pytest.mark.parametrize("seat", ["plane", "ring", "box", "beam"])
def test_a_ring_stands_without_tilt_and_creep(tmp_path, seat, law):
    """On a plane, on a box, across a beam, and on a ring of the same size."""
    below = {
        "plane": (FLOOR.replace("floor", "a"), 0.0),
        "ring": (ring("a", 0.4, 0.05, "world"), 0.05),
        "box": ("{body: world, name: a, type: box, size: [2, 2, 0.1]}", 0.05),
        "beam": ("{body: world, name: a, type: box, size: [0.3, 2, 0.1]}", 0.05),
    }[seat]
    bodies = [free("b", 5.0, hoop(5.0, 0.4, 0.05), (0, 0, below[1] + 0.05))]
    contact = f"{{name: c, first: a, second: b, {law}}}"
    simulation = lj.Simulation(scene(tmp_path, bodies, [below[0], ring("b", 0.4, 0.05)], [contact], LOAD))
    simulation.step(3000)
    rest = simulation.q.copy()
    figure("load of a ring", simulation.output["load"], [0, 0, 5.0 * G], unit="N", oracle="weight", atol=2e-5)
    acting = touches(simulation)[np.linalg.norm(touches(simulation)[:, TO_FORCE : TO_FORCE + 3], axis=1) > 1e-3]
    assert len(acting) >= 3
    simulation.step(20_000)
    creep = np.linalg.norm(simulation.q[4:6] - rest[4:6])
    figure("creep of a ring in 20 s", creep, unit="m", oracle="none", below=1e-7)
    tilt = 2.0 * np.linalg.norm(simulation.q[1:3])
    figure("tilt of a ring", tilt, unit="rad", oracle="none", below=1e-6)


def test_coaxial_rings_touch_evenly_all_around(tmp_path):
    """Whatever the last bits of the pose are."""
    random = np.random.default_rng(1)
    bodies = [free("b", 5.0, hoop(5.0, 0.4, 0.05), (0, 0, 0.1 - 1e-6))]
    contact = "{name: c, first: a, second: b, stiffness: 1.0e6}"
    system = scene(tmp_path, bodies, [ring("a", 0.4, 0.05, "world"), ring("b", 0.4, 0.05)], [contact])
    for _ in range(20):
        simulation = lj.Simulation(system)
        q = simulation.q
        q[1:7] += 1e-15 * random.normal(size=6)
        simulation.q = q
        simulation.step()
        gaps = touches(simulation)[:, TO_GAP]
        assert (gaps < 1e9).sum() == 6
        azimuth = np.sort(np.arctan2(touches(simulation)[:6, TO_POINT + 1], touches(simulation)[:6, TO_POINT]))
        assert np.abs(np.diff(azimuth) - np.pi / 3).max() < 1e-6


def test_a_tilted_ring_touches_at_its_low_side(tmp_path):
    pair = Pair(tmp_path, [ring("a", 0.4, 0.05), ring("b", 0.4, 0.05)])
    tilt = 0.01
    half = [math.cos(tilt / 2), math.sin(tilt / 2), 0.0, 0.0]  # about x: the low side is at -y
    row = pair.nearest(np.array([1.0, 0, 0, 0, 0, 0, 0, *half, 0, 0, 0.1]))
    assert abs(row[ME_POINT + 1] + 0.4) < 1e-3
    assert abs(row[ME_GAP] + 0.4 * math.sin(tilt)) < 1e-5


def test_a_ball_sits_in_a_ring(tmp_path):
    """At the height at which its centre has the distance of both radii from the circle."""
    bodies = [free("b", 3.0, [0.4 * 3.0 * 0.09] * 3, (0.001, 0.0005, 0.3))]
    contact = "{name: c, first: a, second: b, friction: 0.2}"
    system = scene(tmp_path, bodies, [ring("a", 0.2, 0.03, "world"), sphere("b", 0.3)], [contact], LOAD)
    simulation = lj.Simulation(system)
    simulation.step(4000)
    height = math.sqrt(0.33**2 - 0.2**2)
    figure("height of a ball in a ring", simulation.q[6], height, unit="m", oracle="closed form", atol=1e-5)
    assert np.linalg.norm(simulation.q[4:6]) < 2e-5
    figure("load", simulation.output["load"], [0, 0, 3.0 * G], unit="N", oracle="weight", atol=1e-4)


def test_a_ring_rolls_down_at_its_share_of_what_slides(tmp_path):
    """Rolling on its outer side: a = g sin(slope) / (1 + I / (m ρ²)), where ρ is the outer radius."""
    slope, mass, radius, tube = 0.2, 2.0, 0.3, 0.02
    outer, moments = radius + tube, hoop(mass, radius, tube)
    floor = f"{{body: world, name: a, type: plane, rpy: [0, {slope}, 0]}}"
    up = np.array([math.sin(slope), 0.0, math.cos(slope)])
    body = free("b", mass, [moments[0], moments[2], moments[0]], outer * up)
    shape = f"{{body: b, name: b, type: ring, radius: {radius}, tube: {tube}, rpy: [{math.pi / 2}, 0, 0]}}"
    system = scene(tmp_path, [body], [floor, shape], ["{name: c, first: a, second: b, friction: 0.8}"])
    simulation = lj.Simulation(system)
    simulation.step(1000)
    way = (simulation.q[4:7] - outer * up) @ [math.cos(slope), 0.0, -math.sin(slope)]
    expected = 0.5 * G * math.sin(slope) / (1.0 + moments[2] / (mass * outer**2))
    figure("way of a rolling ring in 1 s", way, expected, unit="m", oracle="closed form", atol=1e-4 * expected)


def test_a_ring_hangs_on_a_peg(tmp_path):
    """Two links of a chain, one of which is fixed: it hangs from the peg, at rest."""
    peg = "{body: world, name: a, type: capsule, radius: 0.02, length: 0.5, rpy: [1.5707963267948966, 0, 0]}"
    body = free("b", 1.0, hoop(1.0, 0.2, 0.03), (0, 0, -0.15 + 0.02))
    shape = f"{{body: b, name: b, type: ring, radius: 0.2, tube: 0.03, rpy: [{math.pi / 2}, 0, 0]}}"
    system = scene(tmp_path, [body], [peg, shape], ["{name: c, first: a, second: b, friction: 0.5}"], LOAD)
    simulation = lj.Simulation(system)
    simulation.step(3000)
    assert abs(simulation.q[6] - (-0.2 + 0.03 + 0.02)) < 5e-3
    figure("load", simulation.output["load"][2], G, unit="N", oracle="weight", atol=0.05)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("radius: 0.1, tube: 0.1", "the tube of the ring has the radius 0.1 m, and its circle 0.1 m.*smaller"),
        ("radius: 0.1, tube: 0", "tube.*above 0"),
        ("radius: 0.1", "tube"),
        ("tube: 0.1", "radius"),
        ("radius: 0.1, tube: 0.01, length: 1", "length"),
    ],
)
def test_rings_that_cannot_be_are_refused_with_their_line(tmp_path, line, text):
    with pytest.raises(ModelError, match=f"scene.yaml:(?s:.*){text}"):
        scene(tmp_path, [free("b", 1.0, (1, 1, 1), (0, 0, 0))], [f"{{body: b, name: b, type: ring, {line}}}"], [])


def test_pairs_without_a_method_are_refused_by_name(tmp_path):
    shapes = [
        "{body: world, name: a, type: height_field, size: [1, 1], heights: [[0, 0], [0, 0]]}",
        ring("b", 0.4, 0.05),
    ]
    contact = "{name: c, first: a, second: b}"
    with pytest.raises(ModelError, match="between the height_field 'a' and the ring 'b', a pair that is not supported"):
        lj.Simulation(scene(tmp_path, [free("b", 1.0, (1, 1, 1), (0, 0, 0))], shapes, [contact]))


@pytest.mark.parametrize("kind", ["box", "cylinder", "mesh", "plane"])
def test_a_ring_on_its_rim_touches_at_the_lowest_place(tmp_path, kind):
    """Upright on a face, at the symmetric pose, where one of the places that are looked at is the lowest."""
    height = {"box": 0.2, "cylinder": 0.15, "mesh": 0.2, "plane": 0.0}[kind]
    pair = Pair(tmp_path, ["{body: a, name: a, " + SHAPES[kind][0] + "}", ring("b", 0.3, 0.04)])
    half = math.sqrt(0.5)
    row = pair.nearest(np.array([1.0, 0, 0, 0, 0, 0, 0, half, half, 0, 0, 0, 0, height + 0.34 - 1e-3]))
    assert abs(row[ME_GAP] + 1e-3) < 1e-12
    assert np.abs(row[ME_NORMAL : ME_NORMAL + 3] - [0, 0, 1]).max() < 1e-6
