"""Nearly rigid shapes that overlap deeply come apart slowly: pushing them out adds hardly any energy, however deep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.kernels.contacts.push_out import PUSH
from limberjack.engine.tables.contacts import TO_FORCE
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, solid_box, sphere
from tests.engine.contacts.test_height_fields import KINDS, ground, line
from tests.validation.figures import figure

SPACE = "gravity: [0, 0, 0]\n"
SIZE = (0.2, 0.2, 0.2)


def fixed(name: str, position, size=(1.0, 1.0, 1.0)) -> str:
    return f"{{body: world, name: {name}, type: box, size: {list(size)}, position: {[float(x) for x in position]}}}"


def turned(system: lj.System, seed: int, **options) -> lj.Simulation:
    """Its first body turned at random."""
    simulation = lj.Simulation(system, **options)
    q = simulation.q.copy()
    q[:4] = Rotation.random(random_state=seed).as_quat(scalar_first=True)
    simulation.q = q
    return simulation


def gained(simulation: lj.Simulation, steps: int) -> float:
    """The most that the energy is ever above what it was, J."""
    start, most = simulation.survey()[2], -np.inf
    for _ in range(steps):
        simulation.step()
        most = max(most, simulation.survey()[2] - start)
    return most


def squeezed(folder: Path, seed: int, law: str, **options) -> lj.Simulation:
    """A cube in any attitude in a slot that is narrower than it."""
    random = np.random.default_rng(seed)
    half = 0.5 + random.uniform(0.01, 0.09)
    walls = [fixed("left", (-half, 0, 0)), fixed("right", (half, 0, 0))]
    body = free("b", 1.0, solid_box(SIZE, 1.0), [random.uniform(-0.02, 0.02), *random.uniform(-0.3, 0.3, 2)])
    contact = f"{{name: c, first: [left, right], second: b, {law}}}"
    return turned(scene(folder, [body], [*walls, box("b", SIZE)], [contact], SPACE), seed, **options)


def sunk(folder: Path, seed: int, walls: int) -> lj.Simulation:
    """A cube in any attitude that begins inside of one or two fixed boxes that overlap."""
    random = np.random.default_rng(seed)
    names = ["one", "two"][:walls]
    shapes = [fixed(name, random.uniform(-0.5, 0.5, 3) if i else (0, 0, 0)) for i, name in enumerate(names)]
    body = free("b", 1.0, solid_box(SIZE, 1.0), random.uniform(-0.5, 0.5, 3))
    contact = f"{{name: c, first: [{', '.join(names)}], second: b, friction: 0.3}}"
    return turned(scene(folder, [body], [*shapes, box("b", SIZE)], [contact], SPACE), seed)


@pytest.mark.parametrize("dt", [pytest.param(2e-4, marks=pytest.mark.long), 1e-3, 5e-3])
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", pytest.param("implicit", marks=pytest.mark.long)])
@pytest.mark.parametrize("law", ["friction: 0.0", "friction: 0.3"])
def test_what_is_squeezed_gains_next_to_nothing(tmp_path, law, integrator, dt):
    """Up to 1e16 J before. Each of two sides may do ½ m V²."""
    for seed in range(5):
        most = gained(squeezed(tmp_path, seed, law, integrator=integrator, dt=dt), 500)
        figure("energy of a squeezed cube", most, unit="J", oracle="½ m V² a side", below=PUSH**2)


@pytest.mark.parametrize("walls", [1, 2])
def test_what_begins_in_a_fixed_body_gains_next_to_nothing(tmp_path, walls):
    for seed in range(12):
        most = gained(sunk(tmp_path, seed, walls), 1500)
        figure("energy of a cube that was in others", most, unit="J", oracle="½ m V² a side", below=PUSH**2)


def test_a_ball_leaves_a_box_at_the_speed_of_the_push(tmp_path):
    """In space: half of its energy after half of its way out, ½ m V² s / L; then it keeps its speed."""
    radius, depth = 0.1, 0.08
    body = ball("b", (0, 0, 0.5 + radius - depth), radius=radius)
    system = scene(tmp_path, [body], [fixed("rock", (0, 0, 0)), sphere("b", radius)],
                   ["{name: c, first: rock, second: b, restitution: 0.5}"], SPACE)  # fmt: skip
    simulation = lj.Simulation(system)
    while simulation.q[6] < 0.5 + radius:
        simulation.step()
    speed, expected = simulation.v[5], PUSH * (depth / radius) ** 0.5
    figure("speed out of a box", speed, expected, unit="m/s", oracle="½ m V² s / L", rtol=0.02)
    simulation.step(1000)
    assert simulation.v[5] == pytest.approx(speed, rel=1e-9)


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit"])
@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_what_spins_about_an_axis_beside_its_own_does_not_sink(tmp_path, kind, integrator):
    """Without friction, on its side: it sank by 0.16 mm, and others, in a million drops, by 5 mm."""
    body = free("b", 20.0, (0.026, 0.39, 0.39), [0.0, 0.0, 0.1], "{wx: 33.0, wy: 13.0}")
    place = "position: [0.003, 0.016, 0.01], rpy: [0, 1.5707963, 0]"
    shape = f"{{body: b, name: b, type: {kind}, radius: 0.06, length: 0.5, {place}}}"
    gap = "sensors:\n  - {name: gap, type: contact_gap, target: c}\n"
    system = scene(tmp_path, [body], [FLOOR, shape], ["{name: c, first: floor, second: b}"], gap)
    simulation, least = lj.Simulation(system, dt=1e-3, integrator=integrator), 0.0
    for _ in range(800):
        simulation.step()
        least = min(least, simulation.output["gap"])
    figure("depth of a body that spins off its axis", -least, unit="m", oracle="none", below=5e-5)


@pytest.mark.parametrize("dt", [5e-4, 1e-3])
def test_a_stack_in_the_floor_rises_and_rests(tmp_path, dt):
    """Its load is lifted, and the energy on top of that is that of the speed at which it rises."""
    heights = [0.098, 0.296, 0.495]
    bodies = [free(f"b{i}", 1.0, solid_box(SIZE, 1.0), (0, 0, z)) for i, z in enumerate(heights)]
    names = [f"b{i}" for i in range(3)]
    contacts = [
        "{name: c, first: floor, second: [b0, b1, b2], friction: 0.4}",
        f"{{name: mutual, first: [{', '.join(names)}], friction: 0.4}}",
    ]
    simulation = lj.Simulation(scene(tmp_path, bodies, [FLOOR, *(box(n, SIZE) for n in names)], contacts), dt=dt)
    for _ in range(80):
        simulation.step(round(0.05 / dt))
        moves = simulation.v.reshape(3, 6)
        assert 0.5 * (moves[:, 3:] ** 2).sum() <= 3 * 0.5 * PUSH**2
    assert np.abs(simulation.q.reshape(3, 7)[:, 6] - [0.1, 0.3, 0.5]).max() < 1e-4
    assert np.abs(simulation.v).max() < 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_into_ground_from_the_side_is_not_thrown(tmp_path, kind):
    """It falls beside the border, and moves in."""
    start = free("b", 1.0, (0.004, 0.005, 0.006), (1.11, 0.1, -0.1), "{vx: -1.5}")
    heights = [[0.1, 0.2, 0.1], [0.2, 0.1, 0.2], [0.1, 0.2, 0.1]]
    contact = "{name: c, first: ground, second: b, friction: 0.3}"
    simulation = turned(scene(tmp_path, [start], [ground(heights), line(kind)], [contact], SPACE), 3)
    most = gained(simulation, 1500)
    figure("energy of what comes in from the side", most, unit="J", oracle="½ m V²", below=0.5 * PUSH**2)


@pytest.mark.parametrize("seed", range(6))
def test_worlds_and_snapshots_of_deep_overlaps_have_equal_bits(tmp_path, seed):
    simulation = squeezed(tmp_path, seed, "friction: 0.1")
    batch = lj.Batch(simulation.system, 3)
    batch.q = np.tile(simulation.q, (3, 1))
    batch.step(120)
    simulation.step(60)
    kept = simulation.snapshot()
    simulation.step(60)
    there = simulation.state.copy()
    for world in range(3):
        assert np.array_equal(batch.q[world], simulation.q)
        assert np.array_equal(batch.v[world], simulation.v)
    simulation.restore(kept)
    simulation.step(60)
    assert np.array_equal(simulation.state, there)


def overlapping_at_a_hinge(folder: Path, lever: float, friction: float, **options) -> lj.Simulation:
    """A pendulum of 1 kg in space whose ball and one on the world overlap; the normal passes the axis at `lever`."""
    axis = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    across = np.cross(axis, [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    hinge = f"{{name: swing, type: revolute, parent: world, axis: {axis.tolist()}, position: [0.7, 0.1, -0.4]}}"
    body = f"{{name: b, mass: 1.0, com: [0.2, 0, 0], inertia: {{xx: 0.01, yy: 0.06, zz: 0.06}}, hinge: {hinge}}}"
    theirs = np.array([0.7, 0.1, -0.4]) + 0.05 * across
    shapes = [
        f"{{body: world, name: a, type: sphere, radius: 0.1, position: {theirs.tolist()}}}",
        f"{{body: b, name: b, type: sphere, radius: 0.1, position: {(lever * np.cross(axis, across)).tolist()}}}",
    ]
    system = scene(folder, [body], shapes, [f"{{name: c, first: a, second: b, friction: {friction}}}"], SPACE)
    return lj.Simulation(system, **options)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_what_overlaps_near_the_axis_of_a_hinge_gains_next_to_nothing(tmp_path, friction, integrator):
    """Up to 1e31 N before: a force through the axis moves nothing, and one beside it feels a mass without bounds."""
    for lever in (0.0, 1e-15, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 5e-2):
        simulation = overlapping_at_a_hinge(tmp_path, lever, friction, integrator=integrator)
        most = gained(simulation, 1000)
        figure("energy of what overlaps near an axis", most, unit="J", oracle="½ m V²", below=0.5 * PUSH**2)


def test_a_hinge_turns_freely_where_shapes_overlap_on_its_axis(tmp_path):
    """No force along the normal or across could stop it, nor shows in the sensors."""
    simulation = overlapping_at_a_hinge(tmp_path, 0.0, 0.5)
    simulation.v = [2.0]
    simulation.step(1000)
    figure("angle of a free hinge", simulation.q[0], 2.0, unit="rad", oracle="free motion", rtol=1e-12)
    assert not simulation.part("touch")[TO_FORCE : TO_FORCE + 3].any()


def leg(folder: Path, seed: int, **options) -> lj.Simulation:
    """A leg of 8 kg that hangs from a ball joint, in the midst of three fixed capsules."""
    random = np.random.default_rng(seed)
    body = "{name: b, mass: 8.0, com: [0, 0, -0.3], inertia: {xx: 0.3, yy: 0.3, zz: 0.02}, hinge: {name: hip, "
    body += "type: spherical, parent: world}}"
    shapes = ["{body: b, name: leg, type: capsule, radius: 0.08, length: 0.4, position: [0, 0, -0.25]}"]
    for i in range(3):
        place = f"position: {random.uniform(-0.08, 0.08, 3).tolist()}, rpy: {random.uniform(-3.0, 3.0, 3).tolist()}"
        shapes.append(f"{{body: world, name: w{i}, type: capsule, radius: 0.07, length: 0.2, {place}}}")
    contact = f"{{name: c, first: leg, second: [w0, w1, w2], friction: {random.choice([0.0, 0.7])}}}"
    return lj.Simulation(scene(folder, [body], shapes, [contact]), **options)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
def test_what_is_squeezed_around_a_joint_gains_little_in_a_step(tmp_path, integrator):
    """Up to 1e25 J before: touches near the joint bore and pushed with up to 1e7 N."""
    for seed in (17, 18, 43, 46, 71, 82, 83, 87, 95):
        simulation = leg(tmp_path, seed, integrator=integrator)
        most = max(gained(simulation, 1) for _ in range(800))
        figure("energy of a squeezed leg in a step", most, unit="J", oracle="½ m V²", below=0.5 * 8.0 * PUSH**2)
