"""Linear models at contact: spring floors, boxes that rock, blocks that slide, against closed forms and the steps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, sensors, solid_box, sphere
from tests.engine.contacts.test_meshes import CUBE, mesh

G = 9.80665
K, MASS = 1.0e5, 2.0
SIZE = (0.4, 0.3, 0.2)


def put(system, height, **velocities):
    """q with the body's centre at a height, and v."""
    q, v = system.q0.copy(), system.v0.copy()
    q[6] = height
    for name, value in velocities.items():
        v[[each.endswith(f".{name}") for each in system.velocity_names]] = value
    return q, v


@pytest.mark.parametrize(("p", "a"), [(1.0, 0.0), (1.0, 0.8), (1.5, 0.3), (2.0, 0.0)])
def test_a_ball_on_a_spring_floor(tmp_path, p, a):
    """At rest k δ^p = m g:  m z'' = -k p δ^(p-1) δz - k δ^p a δz'."""
    law = f"{{name: c, first: floor, second: ball, stiffness: {K}, exponent: {p}, dissipation: {a}}}"
    system = scene(tmp_path, [ball("ball", (0, 0, 1.0), mass=MASS)], [FLOOR, sphere("ball")], [law], sensors("c"))
    depth = (MASS * G / K) ** (1.0 / p)
    model = lj.linearize(system, *put(system, 0.1 - depth))
    z, w = (model.states.index(f"ball_free.{name}") for name in ("z", "vz"))
    assert model.A[w, z] == pytest.approx(-K * p * depth ** (p - 1.0) / MASS, rel=1e-8)
    assert model.A[w, w] == pytest.approx(-G * a, rel=1e-8, abs=1e-9)
    assert np.abs(model.vdot).max() < 1e-9
    others = np.delete(np.arange(len(model.states)), [z, w])
    assert np.abs(model.A[np.ix_([w], others)]).max() < 1e-6
    force = model.outputs.index("force.fz")
    assert model.C[force, z] == pytest.approx(-K * p * depth ** (p - 1.0), rel=1e-8)
    assert model.C[model.outputs.index("gap"), z] == pytest.approx(1.0, rel=1e-9)
    assert model.y[force] == pytest.approx(MASS * G, rel=1e-12)
    assert model.y[model.outputs.index("touching")] == 1.0


def resting_box(folder, friction=0.0, a=0.0):
    law = f"{{name: c, first: floor, second: block, stiffness: {K}, dissipation: {a}, friction: {friction}}}"
    body = free("block", MASS, solid_box(SIZE, MASS), (0, 0, 1.0))
    return scene(folder, [body], [FLOOR, box("block", SIZE)], [law], sensors("c"))


DEPTH = MASS * G / (4.0 * K)


def test_a_box_on_four_springs_heaves_pitches_and_rolls(tmp_path):
    """4 k along z; about y k Σx² less what the weight topples, m g h; about x the same with y."""
    system = resting_box(tmp_path)
    height = 0.5 * SIZE[2] - DEPTH
    model = lj.linearize(system, *put(system, height))
    at = {name: model.states.index(f"block_free.{name}") for name in ("rx", "ry", "z", "wx", "wy", "vz")}
    jx, jy, _ = solid_box(SIZE, MASS)
    assert model.A[at["vz"], at["z"]] == pytest.approx(-4.0 * K / MASS, rel=1e-8)
    for rate, turn, arm, moment in (("wy", "ry", SIZE[0], jy), ("wx", "rx", SIZE[1], jx)):
        stiff = K * 4.0 * (0.5 * arm) ** 2 - MASS * G * (height + 0.5 * DEPTH)
        assert model.A[at[rate], at[turn]] == pytest.approx(-stiff / moment, rel=1e-5)


PLATES = {
    "plane": FLOOR,
    "box": "{body: world, name: floor, type: box, size: [4, 4, 1], position: [0, 0, -0.5]}",
    "mesh": mesh("floor", CUBE * [20.0, 20.0, 5.0] - [0.0, 0.0, 0.5], "world"),
    "cylinder": "{body: world, name: floor, type: cylinder, radius: 1, length: 0.2, position: [0, 0, -0.1]}",
}
RADIUS = 0.1
#: what stands, its half height, its points, and the mean square of their distance from an axis through the middle
STANDING = [
    (f"{{body: b, name: b, type: cylinder, radius: {RADIUS}, length: 0.3}}", 0.15, 6, 0.5 * RADIUS**2),
    (f"{{body: b, name: b, type: cylinder, radius: [{RADIUS}, 0.05], length: 0.3}}", 0.15, 6, 0.5 * RADIUS**2),
    (f"{{body: b, name: b, type: cylinder, radius: [{RADIUS}, 0.0], length: 0.3}}", 0.15, 6, 0.5 * RADIUS**2),
    ("{body: b, name: b, type: ring, radius: 0.1, tube: 0.03}", 0.03, 6, 0.5 * RADIUS**2),
    (mesh("b", CUBE), 0.1, 4, 0.01),
    (box("b", [0.2, 0.2, 0.2]), 0.1, 4, 0.01),
    ("{body: b, name: b, type: capsule, radius: 0.1, length: 0.1}", 0.15, 1, 0.0),
]


@pytest.mark.parametrize(("shape", "half", "points", "square"), STANDING)
@pytest.mark.parametrize("plate", PLATES)
def test_what_stands_heaves_pitches_and_rolls(tmp_path, plate, shape, half, points, square):
    """n k along z; about x and y k Σx² less what the weight topples; turned about the upright, off the middle. A
    capsule on its end: its weight topples it by the height of its centre over that of its end's ball; a ring has its
    centre at the height of its tube's."""
    law = f"{{name: c, first: floor, second: b, stiffness: {K}}}"
    inertia = (0.02, 0.03, 0.04)
    system = scene(tmp_path, [free("b", MASS, inertia, (0, 0, 1.0))], [PLATES[plate], shape], [law], sensors("c"))
    depth = MASS * G / (points * K)
    q, v = put(system, half - depth)
    q[:6] = [np.cos(0.185), 0, 0, np.sin(0.185), 0.013, 0.007]
    model = lj.linearize(system, q, v)
    at = {name: model.states.index(f"b_free.{name}") for name in ("rx", "ry", "z", "wx", "wy", "vz")}
    assert model.A[at["vz"], at["z"]] == pytest.approx(-points * K / MASS, rel=1e-8)
    arm = 0.05 if points == 1 else (0.0 if "ring" in shape else half - 0.5 * depth)
    for rate, turn, moment in (("wx", "rx", inertia[0]), ("wy", "ry", inertia[1])):
        stiff = points * K * square - MASS * G * arm
        assert model.A[at[rate], at[turn]] == pytest.approx(-stiff / moment, rel=1e-5)
    assert np.abs(model.vdot).max() < 1e-8


def test_touches_that_begin_beside_others_have_no_slope(tmp_path):
    """Two cylinders of one radius on each other: wherever one goes, their rims cross, and more points bear it."""
    bodies = [free(name, MASS, (0.02, 0.02, 0.02), (0, 0, 0.1 + 0.2 * i)) for i, name in enumerate("ab")]
    shapes = [f"{{body: {name}, name: {name}, type: cylinder, radius: 0.1, length: 0.2}}" for name in "ab"]
    laws = [
        f"{{name: g, first: floor, second: a, stiffness: {K}}}",
        f"{{name: c, first: a, second: b, stiffness: {K}}}",
    ]
    system = scene(tmp_path, bodies, [FLOOR, *shapes], laws)
    q = system.q0.copy()
    q[6], q[13] = q[6] - 1e-4, q[13] - 2e-4
    with pytest.raises(lj.ArgumentError, match="'a' and 'b' of contact 'c' do not stay in touch"):
        lj.linearize(system, q, system.v0)


def test_a_block_that_slides(tmp_path):
    """At a speed s along x: friction follows the load, µ k δz / m, and turns with the velocity, -µ g / s across."""
    mu, speed = 0.3, 1.5
    system = resting_box(tmp_path, friction=mu)
    model = lj.linearize(system, *put(system, 0.5 * SIZE[2] - DEPTH, vx=speed))
    at = {name: model.states.index(f"block_free.{name}") for name in ("x", "y", "z", "vx", "vy", "vz")}
    assert model.vdot[3] == pytest.approx(-mu * G, rel=1e-9)
    assert model.A[at["vx"], at["z"]] == pytest.approx(4.0 * mu * K / MASS, rel=1e-8)
    assert model.A[at["vx"], at["vx"]] == pytest.approx(0.0, abs=1e-8)
    assert model.A[at["vy"], at["vy"]] == pytest.approx(-mu * G / speed, rel=1e-8)
    slip = model.C[model.outputs.index("slip")]
    assert slip[at["vx"]] == pytest.approx(1.0, rel=1e-9)
    assert slip[at["vy"]] == pytest.approx(0.0, abs=1e-9)


def difference(system, q, v, changed, dt, end, tiny):
    """How far apart two runs are, over how far apart they begin. changed: (q, v) of the second"""
    runs = []
    for start, velocity in ((q, v), changed):
        simulation = lj.Simulation(system, dt=dt)
        simulation.q, simulation.v = start, velocity
        simulation.step(round(end / dt))
        runs.append((simulation.q, simulation.v))
    return (runs[1][0] - runs[0][0]) / tiny, (runs[1][1] - runs[0][1]) / tiny


def extrapolated(coarse, fine):
    """The first step knows of no force before it, so that runs are of first order in dt."""
    return 2.0 * fine - coarse


def test_the_stepped_model_follows_the_linear_one(tmp_path):
    """Differences of runs that begin a hair apart: heave, pitch and roll with dissipation, for half a period."""
    system, tiny, end = resting_box(tmp_path, a=2.0), 1e-8, 6e-3
    q, v = put(system, 0.5 * SIZE[2] - DEPTH)
    moved = q.copy()
    moved[1:3] = 0.5 * tiny * np.array([2.0, -1.5])
    moved[6] += tiny
    (q1, v1), (q2, v2) = (difference(system, q, v, (moved, v), dt, end, tiny) for dt in (2e-5, 1e-5))
    dq, dv = extrapolated(q1, q2), extrapolated(v1, v2)
    x = expm(lj.linearize(system, q, v).A * end) @ np.array([2.0, -1.5, 0, 0, 0, 1.0, *np.zeros(6)])
    np.testing.assert_allclose([*2.0 * dq[1:4], *dq[4:]], x[:6], atol=2e-4)
    np.testing.assert_allclose(dv, x[6:], atol=2e-4 * np.abs(x[6:]).max())


def test_a_tip_in_a_funnel_follows_the_linear_model():
    """Docking in the middle of contact, with wings, a probe on a spring, and friction: runs that begin a hair apart."""
    system = lj.load("examples/docking/docking.yaml")
    simulation = lj.Simulation(system)
    simulation.step_until("touch", most=60_000)
    simulation.step(120)
    q, v = simulation.q, simulation.v
    model, bare = (lj.linearize(each, q, v) for each in (system, replace(system, contacts=(), sensors=())))
    load = simulation.output["load"]
    assert np.linalg.norm(model.y[:3] - load) < 0.03 * np.linalg.norm(load)  # of now, not the mean of the last step
    tiny, end, changed = 1e-8, 2e-3, q.copy()
    changed[system.coordinate_names.index("probe")] += tiny
    (_, v1), (_, v2) = (difference(system, q, v, (changed, v), dt, end, tiny) for dt in (2e-5, 1e-5))
    start = np.zeros(2 * system.nv)
    start[model.states.index("probe")] = 1.0
    with_contact, without = ((expm(each.A * end) @ start)[system.nv :] for each in (model, bare))
    contact = np.abs(with_contact - without).max()
    assert contact > 1.0
    np.testing.assert_allclose(extrapolated(v1, v2), with_contact, atol=0.01 * contact)


def test_shapes_that_are_apart_act_in_no_way(tmp_path):
    system = resting_box(tmp_path, friction=0.5)
    model, bare = lj.linearize(system), lj.linearize(replace(system, contacts=(), sensors=()))
    np.testing.assert_allclose(model.A, bare.A, atol=1e-9)
    assert model.y[model.outputs.index("touching")] == 0.0


@pytest.mark.parametrize(
    ("law", "height", "velocity", "words"),
    [
        (f"stiffness: {K}, dissipation: 2", 0.0999, {"vz": 1.0}, ["part so fast", "give another v"]),
    ],
)
def test_contacts_without_slopes_are_refused(tmp_path, law, height, velocity, words):
    contact = f"{{name: c, first: floor, second: ball, {law}}}"
    system = scene(tmp_path, [ball("ball", (0, 0, 1.0))], [FLOOR, sphere("ball")], [contact])
    with pytest.raises(lj.ArgumentError) as caught:
        lj.linearize(system, *put(system, height, **velocity))
    assert all(word in str(caught.value) for word in words)


def test_a_ball_that_slides_is_turned_by_friction(tmp_path):
    """A ball that slides at s with friction: the torque about its centre is µ N r, against the spin."""
    mu, speed, mass = 0.2, 2.0, 1.0
    law = f"{{name: c, first: floor, second: ball, stiffness: {K}, friction: {mu}}}"
    system = scene(tmp_path, [ball("ball", (0, 0, 1.0))], [FLOOR, sphere("ball")], [law])
    depth = mass * G / K
    model = lj.linearize(system, *put(system, 0.1 - depth, vx=speed))
    inertia, r = 0.4 * mass * 0.01, 0.1 - 0.5 * depth
    assert model.vdot[1] == pytest.approx(mu * mass * G * r / inertia, rel=1e-9)
    at = {name: model.states.index(f"ball_free.{name}") for name in ("z", "wx", "wy", "vx", "vy")}
    # v_y of the point is v_y + w_x r: spin across turns the force as well
    assert model.A[at["vy"], at["wx"]] == pytest.approx(-mu * G / speed * r, rel=1e-6)
    assert model.A[at["wx"], at["vy"]] == pytest.approx(-mu * mass * G / speed * r / inertia, rel=1e-6)
    assert math.isclose(model.A[at["vx"], at["z"]], mu * K / mass, rel_tol=1e-8)
