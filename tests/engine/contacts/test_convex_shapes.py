"""Cylinders, cones and meshes that stand, roll, tip over and collide, against closed forms and against boxes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, box, free, scene, solid_box
from tests.engine.contacts.test_meshes import CUBE, cloud, mesh
from tests.validation.figures import figure

G = 9.80665
TABLE = "{body: world, name: table, type: box, size: [4, 4, 1], position: [0, 0, -0.5]}"
ON_TABLE = "{name: c, first: table, second: b, friction: 0.5}"
LOAD = "sensors:\n  - {name: load, type: contact_force, target: c}"


def solid_cylinder(radius: float, length: float, mass: float) -> list[float]:
    """Principal moments of a solid cylinder along z."""
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return [across, across, 0.5 * mass * radius**2]


def turn(simulation: lj.Simulation, rotation: Rotation) -> None:
    """Turn the only body."""
    q = simulation.q.copy()
    q[:4] = rotation.as_quat(scalar_first=True)
    simulation.q = q


@pytest.mark.parametrize("radii", ["0.1", "[0.1, 0.05]", "[0.1, 0.0]"])
@pytest.mark.parametrize("carrier", ["box", "cylinder", "mesh"])
def test_what_stands_stays_where_it_is(tmp_path, radii, carrier):
    """On a carrier that lies on the floor itself, not in its middle."""
    corners = CUBE * [2.0, 2.0, 1.0]
    carriers = {
        "box": box("a", [0.4, 0.4, 0.2]),
        "cylinder": "{body: a, name: a, type: cylinder, radius: 0.25, length: 0.2}",
        "mesh": mesh("a", corners),
    }
    bodies = [
        free("a", 5.0, solid_box([0.4, 0.4, 0.2], 5.0), (0, 0, 0.1)),
        free("b", 2.0, solid_cylinder(0.1, 0.3, 2.0), (0.07, 0.03, 0.35)),
    ]
    shapes = [FLOOR, carriers[carrier], f"{{body: b, name: b, type: cylinder, radius: {radii}, length: 0.3}}"]
    contacts = ["{name: g, first: floor, second: a, friction: 0.5}", "{name: c, first: a, second: b, friction: 0.5}"]
    simulation = lj.Simulation(scene(tmp_path, bodies, shapes, contacts, LOAD))
    simulation.step(1000)
    rested = simulation.q[7:].copy()
    assert np.abs(rested[4:] - [0.07, 0.03, 0.35]).max() < 1e-5
    simulation.step(4000)
    assert np.abs(simulation.q[7:] - rested).max() < 1e-9
    assert np.abs(simulation.output["load"] - [0, 0, 2.0 * G]).max() < 1e-6


@pytest.mark.parametrize("carrier", ["box", "mesh"])
def test_a_cylinder_rolls_down_at_two_thirds_of_what_slides(tmp_path, carrier):
    """A solid one without slip: a = 2/3 g sin α."""
    slope = 0.1
    down = G * np.array([math.sin(slope), 0.0, -math.cos(slope)])
    flat = TABLE if carrier == "box" else mesh("table", CUBE * [20, 20, 5] - [0, 0, 0.5], "world")
    shapes = [flat, "{body: b, name: b, type: cylinder, radius: 0.1, length: 0.3}"]
    body = free("b", 2.0, solid_cylinder(0.1, 0.3, 2.0), (-1.0, 0.0, 0.1))
    simulation = lj.Simulation(scene(tmp_path, [body], shapes, [ON_TABLE], f"gravity: {down.tolist()}"))
    turn(simulation, Rotation.from_euler("x", 90, degrees=True))
    simulation.step(1000)
    expected = 0.5 * 2.0 / 3.0 * down[0]
    figure("way of a rolling cylinder", simulation.q[4] + 1.0, expected, unit="m", oracle="closed form", rtol=2e-3)
    assert abs(simulation.q[5]) < 1e-6
    assert abs(simulation.q[6] - 0.1) < 1e-5


@pytest.mark.parametrize(
    ("shape", "tilt", "tips"),
    [("cylinder", 0.85, False), ("cylinder", 1.03, True), ("mesh", 0.97, False), ("mesh", 1.03, True)],
)
def test_what_is_beyond_its_edge_tips_over(tmp_path, shape, tilt, tips):
    """On a slope steeper than its half width over the height of its centre: a cube towards its side, a cylinder between
    the points on which it stands, which are a hexagon in its rim."""
    half, height, azimuth = (0.05, 0.15, math.radians(45.0)) if shape == "cylinder" else (0.1, 0.1, 0.0)
    angle = math.atan(half / height) * tilt
    across = math.sin(angle)
    down = [G * across * math.cos(azimuth), G * across * math.sin(azimuth), -G * math.cos(angle)]
    line = "{body: b, name: b, type: cylinder, radius: 0.05, length: 0.3}" if shape == "cylinder" else mesh("b", CUBE)
    body = free("b", 2.0, solid_cylinder(0.05, 0.3, 2.0), (0, 0, height))
    contact = "{name: c, first: table, second: b, friction: 2.0}"
    simulation = lj.Simulation(scene(tmp_path, [body], [TABLE, line], [contact], f"gravity: {down}"))
    simulation.step(2000)
    upright = Rotation.from_quat(simulation.q[:4], scalar_first=True).as_matrix()[2, 2]
    assert (upright < 0.9) == tips
    if not tips:
        assert upright > 1.0 - 1e-9


def test_a_tetrahedron_comes_to_rest_on_a_face(tmp_path):
    """Dropped askew, on the floor and on a box: the centre of a regular one ends at a quarter of its height."""
    edge = 0.2
    points = edge / np.sqrt(8.0) * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    height = edge * np.sqrt(2.0 / 3.0)
    body = free("b", 2.0, [2.0 * edge**2 / 20.0] * 3, (0, 0, 0.25))
    for carrier in (FLOOR.replace("floor", "table"), TABLE):
        simulation = lj.Simulation(scene(tmp_path, [body], [carrier, mesh("b", points)], [ON_TABLE], LOAD))
        turn(simulation, Rotation.from_rotvec([0.3, -0.5, 0.7]))
        simulation.step(3000)
        assert np.abs(simulation.v).max() < 1e-9
        assert abs(simulation.q[6] - height / 4.0) < 2e-6
        assert np.abs(simulation.output["load"] - [0, 0, 2.0 * G]).max() < 1e-6


def test_a_mesh_cube_is_a_box(tmp_path):
    """Dropped on a plate, both come to rest in one place, with equal forces."""
    ends = []
    for shape in (mesh("b", CUBE), box("b", [0.2, 0.2, 0.2])):
        bodies = [
            free("a", 5.0, solid_box([0.5, 0.5, 0.1], 5.0), (0, 0, 0.05)),
            free("b", 1.0, solid_box([0.2, 0.2, 0.2], 1.0), (0.05, 0.02, 0.21)),
        ]
        ground = "{name: g, first: floor, second: a, friction: 0.5}"
        contacts = [ground, "{name: c, first: a, second: b, friction: 0.5}"]
        simulation = lj.Simulation(scene(tmp_path, bodies, [FLOOR, box("a", [0.5, 0.5, 0.1]), shape], contacts, LOAD))
        simulation.step(1500)
        assert np.abs(simulation.v).max() < 1e-9
        assert np.abs(simulation.output["load"] - [0, 0, G]).max() < 1e-6
        ends.append(simulation.q[7:].copy())
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


@pytest.mark.parametrize("tilt", [0.0, 45.0, 90.0])
@pytest.mark.parametrize("carrier", ["plane", "box", "mesh", "cylinder"])
def test_a_capsule_sinks_by_its_load_over_its_points(tmp_path, carrier, tilt):
    """Where its nearest point is an end, it touches there once: on one point askew and upright, on two lying."""
    carriers = {
        "plane": FLOOR.replace("floor", "table"),
        "box": TABLE,
        "mesh": mesh("table", CUBE * [20, 20, 5] - [0, 0, 0.5], "world"),
        "cylinder": "{body: world, name: table, type: cylinder, radius: 1, length: 0.2, position: [0, 0, -0.1]}",
    }
    turned = Rotation.from_euler("y", tilt, degrees=True).as_matrix().tolist()
    capsule = f"{{body: b, name: b, type: capsule, radius: 0.1, length: 0.1, rotation: {turned}}}"
    hinge = "hinge: {name: lift, type: prismatic, axis: [0, 0, 1], parent: world}"
    body = f"{{name: b, mass: 2, inertia: {{xx: 1, yy: 1, zz: 1}}, {hinge}}}"
    contact = "{name: c, first: table, second: b, stiffness: 1.0e5, dissipation: 3}"
    simulation = lj.Simulation(scene(tmp_path, [body], [carriers[carrier], capsule], [contact]))
    height = 0.05 * math.cos(math.radians(tilt)) + 0.1
    simulation.q = np.array([height])
    simulation.step(2000)
    assert (height - simulation.q[0]) * 1e5 / (2.0 * G) == pytest.approx(0.5 if tilt == 90.0 else 1.0, rel=1e-9)


@pytest.mark.parametrize("away", [0.0, 1e-24, 1e-12, 1e-6])
def test_cylinders_of_one_radius_stand_on_each_other(tmp_path, away):
    """Their rims are one, to rounding; compliant and without friction, for a thousand steps."""
    bodies = [
        free("a", 4.0, (0.06, 0.06, 0.06), (0, 0, 0.0999)),
        free("b", 2.0, (0.03, 0.03, 0.03), (away, 0.5 * away, 0.2998)),
    ]
    shapes = [f"{{body: {name}, name: {name}, type: cylinder, radius: 0.1, length: 0.2}}" for name in "ab"]
    law = "stiffness: 1.0e5, dissipation: 1.0"
    contacts = [f"{{name: g, first: floor, second: a, {law}}}", f"{{name: c, first: a, second: b, {law}}}"]
    simulation = lj.Simulation(scene(tmp_path, bodies, [FLOOR, *shapes], contacts), dt=1e-4)
    simulation.step(1000)
    assert np.abs(simulation.q.reshape(2, 7)[:, 4:] - [[0, 0, 0.1], [0, 0, 0.3]]).max() < 2e-4
    assert np.abs(simulation.v).max() < 0.02


def pile(tmp_path, more: str = "") -> lj.System:
    """A cylinder, a cone, a mesh and a box in the air over a table."""
    names = "abcd"
    bodies = [
        free(name, 1.0 + i, (0.01, 0.012, 0.014), (0.05 * i, 0.03 * i, 0.2 + 0.22 * i)) for i, name in enumerate(names)
    ]
    shapes = [
        TABLE,
        "{body: a, name: a, type: cylinder, radius: 0.1, length: 0.2}",
        "{body: b, name: b, type: cylinder, radius: [0.12, 0.04], length: 0.2}",
        mesh("c", 0.4 * cloud(np.random.default_rng(4), 16)),
        box("d", [0.2, 0.15, 0.1]),
    ]
    contacts = [f"{{name: c, first: [{', '.join(names)}], friction: 0.4}}"]
    contacts += [f"{{name: g, first: table, second: [{', '.join(names)}], friction: 0.4}}"]
    return scene(tmp_path, bodies, shapes, contacts, more)


def test_collisions_in_free_space_keep_momentum_and_gain_no_energy(tmp_path):
    more = "gravity: [0, 0, 0]\nsensors:\n  - {name: touching, type: contact_touching, target: c}"
    simulation = lj.Simulation(pile(tmp_path, more), dt=2e-4)
    v = np.zeros(24)
    v[5::6], v[0::6] = [2.0, 0.5, -0.5, -2.0], [0.5, -1.0, 0.3, 0.8]
    simulation.v = v
    start, impacts, touching = simulation.survey(), 0, False
    energy = start[2]
    for _ in range(1500):
        simulation.step()
        now = simulation.output["touching"] > 0.5
        impacts += now and not touching
        touching = now
        if not now:
            assert simulation.survey()[2] <= energy * (1.0 + 1e-9)
            energy = simulation.survey()[2]
    assert impacts >= 3
    change = np.abs(simulation.survey() - start)
    figure("change of angular momentum", change[3:6].max(), unit="N·m·s", oracle="conservation", below=1e-9)
    figure("change of linear momentum", change[6:9].max(), unit="N·s", oracle="conservation", below=1e-9)


def test_worlds_have_the_bits_that_they_have_alone(tmp_path):
    system = pile(tmp_path)
    batch, simulations = lj.Batch(system, 5), [lj.Simulation(system) for _ in range(5)]
    v = np.random.default_rng(2).normal(size=(5, 24)) * 0.3
    batch.v = v
    batch.step(500)
    for world, simulation in enumerate(simulations):
        simulation.v = v[world]
        simulation.step(500)
        assert np.array_equal(batch.state[world], simulation.state)


@pytest.mark.parametrize("carrier", ["plane", "box"])
def test_spinning_bodies_that_hop_from_corner_to_corner_gain_no_energy(tmp_path, carrier):
    """Of a body that hops fast the place of one touch is at another corner in the next step: a force that is held from
    step to step belongs to the corner at which it acted."""
    flat = FLOOR if carrier == "plane" else TABLE
    most = 0.0
    for seed in range(12):
        random = np.random.default_rng(seed)
        spin, corners = random.uniform(-8.0, 8.0, 3), cloud(random, 14)
        body = free("b", 1.0, solid_box([0.2, 0.15, 0.3], 1.0), (0.05, 0.0, 0.8))
        contact = f"{{name: c, first: {'floor' if carrier == 'plane' else 'table'}, second: b, friction: 0.4}}"
        simulation = lj.Simulation(scene(tmp_path, [body], [flat, mesh("b", corners)], [contact]), dt=1e-3)
        v = simulation.v.copy()
        v[:3] = spin
        simulation.v = v
        last = simulation.survey()[2]
        for _ in range(800):
            simulation.step(1)
            energy = simulation.survey()[2]
            most, last = max(most, energy - last), energy
    figure("energy that a hop adds", most, 0.0, unit="J", oracle="no gain", atol=1e-2)
