"""Linear models where touches hold velocities: nearly rigid shapes and shapes that stick, against closed forms, rolling
loops and steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, sensors, solid_box, sphere
from tests.engine.contacts.test_linear_contacts import put
from tests.engine.contacts.test_robots import anymal_on_its_feet
from tests.validation.figures import figure

G, MASS, RADIUS = 9.80665, 2.0, 0.1
STICKS = "{name: c, first: floor, second: ball, friction: 0.6}"


def frequencies(model: lj.LinearModel) -> np.ndarray:
    """Of the poles that oscillate, rad/s, ascending."""
    return np.sort(model.poles.imag[model.poles.imag > 1e-3])


def test_a_ball_on_a_spring_rolls(tmp_path):
    """ω² = k / (m + I / r²), however high its floor: what sticks takes part of the force."""
    k = 300.0
    more = (
        "nodes:\n  - {name: wall, body: world, position: [-1, 0, 0.1]}\n  - {name: hub, body: ball}\n"
        f"springs: [{{name: s, from: wall, to: hub, length: 1.0, stiffness: {k}}}]"
    )
    system = scene(tmp_path, [ball("ball", (0, 0, RADIUS), mass=MASS)], [FLOOR, sphere("ball")], [STICKS], more)
    found = frequencies(lj.linearize(system))
    expected = math.sqrt(k / (MASS + 0.4 * MASS))
    figure(
        "frequency of a ball that rolls on a spring", found, [expected], unit="rad/s", oracle="closed form", rtol=1e-8
    )


@pytest.mark.parametrize("low", [0.02, 0.07])
def test_a_weighted_ball_rocks(tmp_path, low):
    """With its centre of mass d below the middle: ω² = m g d / (I + m (r - d)²), about both level axes."""
    body = free("ball", MASS, [0.005, 0.005, 0.004], (0, 0, RADIUS - low))
    shape = f"{{body: ball, type: sphere, radius: {RADIUS}, name: ball, position: [0, 0, {low}]}}"
    found = frequencies(lj.linearize(scene(tmp_path, [body], [FLOOR, shape], [STICKS])))
    expected = math.sqrt(MASS * G * low / (0.005 + MASS * (RADIUS - low) ** 2))
    figure("frequency of a weighted ball", found, [expected] * 2, unit="rad/s", oracle="closed form", rtol=1e-8)


ROLLING = (
    "loops: [{name: roll, type: rolling, shape: ball, radius: 0.1, from: origin, to: middle, "
    "independent: [ball_free.wx, ball_free.wy, ball_free.wz]}]"
)


@pytest.mark.parametrize("speed", [0.0, 0.7, 3.0])
def test_what_sticks_moves_as_a_rolling_loop_asks(tmp_path, speed):
    """A weighted ball that rolls: the matrices of both models in the same states."""
    inertia, low = [0.004, 0.005, 0.006], 0.03
    body = free("ball", MASS, inertia, (0, 0, RADIUS - low))
    nodes = f"nodes:\n  - {{name: origin, body: world}}\n  - {{name: middle, body: ball, position: [0, 0, {low}]}}\n"
    nodes += "external_forces: [{name: pull, node: middle}]\nsensors: [{name: m, type: imu, target: middle}]\n"
    shape = f"{{body: ball, type: sphere, radius: {RADIUS}, name: ball, position: [0, 0, {low}]}}"
    touching = scene(tmp_path, [body], [FLOOR, shape], [STICKS], nodes)
    (tmp_path / "loop").mkdir()
    looped = scene(tmp_path / "loop", [body], [], [], nodes + ROLLING)
    q, v = put(touching, RADIUS - low, vx=speed * (RADIUS - low), wy=speed)
    models = [lj.linearize(system, q, v) for system in (touching, looped)]
    assert models[0].states == models[1].states
    for matrix in ("A", "B", "C", "D", "vdot", "y"):
        found, expected = (getattr(model, matrix) for model in models)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * max(1.0, np.abs(expected).max()))


def test_a_rigid_block_that_slides(tmp_path):
    """At a speed s along x: -µ g along it, and -µ g / s across; it neither heaves nor tilts."""
    mu, speed, size = 0.3, 1.5, (0.4, 0.3, 0.2)
    law = f"{{name: c, first: floor, second: block, friction: {mu}}}"
    body = free("block", MASS, solid_box(size, MASS), (0, 0, 1.0))
    system = scene(tmp_path, [body], [FLOOR, box("block", size)], [law], sensors("c"))
    model = lj.linearize(system, *put(system, 0.5 * size[2], vx=speed))
    moving = [name.removeprefix("block_free.") for name in model.states]
    assert [name for name in moving if name.startswith(("v", "w"))] == ["wz", "vx", "vy"]
    at = {name: moving.index(name) for name in ("vx", "vy")}
    assert model.vdot[1] == pytest.approx(-mu * G, rel=1e-9)
    assert model.A[at["vx"], at["vx"]] == pytest.approx(0.0, abs=1e-8)
    assert model.A[at["vy"], at["vy"]] == pytest.approx(-mu * G / speed, rel=1e-8)
    assert model.y[model.outputs.index("force.fz")] == pytest.approx(MASS * G, rel=1e-9)


def test_what_sticks_answers_with_the_force_that_pulls(tmp_path):
    """A block does not move, and its friction is the command's opposite, its load the weight."""
    size = (0.4, 0.3, 0.2)
    body = free("block", MASS, solid_box(size, MASS), (0, 0, 0.1))
    nodes = "nodes:\n  - {name: at, body: block}\nexternal_forces: [{name: pull, node: at}]\n"
    law = "{name: c, first: floor, second: block, friction: 0.5}"
    system = scene(tmp_path, [body], [FLOOR, box("block", size)], [law], nodes + sensors("c"))
    model = lj.linearize(system)
    assert len(model.vdot) == 0
    rows = [model.outputs.index(f"force.{axis}") for axis in ("fx", "fy", "fz")]
    columns = [model.inputs.index(f"pull.{axis}") for axis in ("fx", "fy", "fz")]
    np.testing.assert_allclose(model.D[np.ix_(rows, columns)], -np.eye(3), atol=1e-8)
    np.testing.assert_allclose(model.y[rows], [0.0, 0.0, MASS * G], atol=1e-8)


def walker(folder, law):
    """A block on four sprung legs with balls for feet, and a motor at one of them."""
    legs, shapes = [], []
    for i, (x, y) in enumerate([(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]):
        hinge = (
            f"{{name: hip{i}, type: revolute, parent: block, axis: [0, 1, 0], position: [{x}, {y}, 0], "
            "stiffness: 60, damping: 0.8}"
        )
        legs.append(
            f"{{name: leg{i}, mass: 0.3, com: [0, 0, -0.2], inertia: {{xx: 4e-3, yy: 4e-3, zz: 1e-3}}, hinge: {hinge}}}"
        )
        shapes.append(f"{{body: leg{i}, type: sphere, radius: 0.03, name: foot{i}, position: [0, 0, -0.4]}}")
    names = ", ".join(f"foot{i}" for i in range(4))
    more = (
        "actuators: [{name: motor, coordinate: hip0}]\nsensors:\n"
        + "".join(f"  - {{name: angle{i}, type: position, target: hip{i}}}\n" for i in range(4))
        + "  - {name: turn, type: node_angular_velocity, target: block}\n"
    )
    bodies = [free("block", 4.0, [0.05, 0.1, 0.12], (0, 0, 0.431)), *legs]
    return scene(folder, bodies, [FLOOR, *shapes], [f"{{name: c, first: floor, second: [{names}], {law}}}"], more)


def of_a_torque(model, end):
    """What a unit of the first command makes of the states (n,) until `end`."""
    n = len(model.A)
    both = np.zeros((n + 1, n + 1))
    both[:n, :n], both[:n, n] = model.A, model.B[:, 0]
    return expm(both * end)[:n, n]


def of_a_tiny_torque(system, q, end, tiny=1e-3):
    """What a unit of the first command makes of velocities and outputs from rest, by two runs."""
    runs = []
    for torque in (0.0, tiny):
        run = lj.Simulation(system, dt=1e-4, integrator="rk4")
        run.q, run.v = q, np.zeros(system.nv)
        command = run.command_vector
        command[0] += torque
        run.command_vector = command
        run.step(round(end / 1e-4))
        runs.append((run.v, run.output_vector))
    return (runs[1][0] - runs[0][0]) / tiny, (runs[1][1] - runs[0][1]) / tiny


def at_rest(system, steps):
    """q after some steps of a millisecond, and the linear model there."""
    simulation = lj.Simulation(system, dt=1e-3)
    simulation.step(steps)
    return simulation.q, lj.linearize(system, simulation.q, np.zeros(system.nv))


@pytest.mark.parametrize("law", ["friction: 0.8", "stiffness: 2.0e5, dissipation: 0.5, friction: 0.8"])
def test_a_walker_on_four_feet_follows_the_linear_model(tmp_path, law):
    """What a small torque of one hip does in a tenth of a second, with all feet on the ground, beside steps."""
    system, end = walker(tmp_path, law), 0.1
    q, model = at_rest(system, 6000)
    expected, found = model.C @ of_a_torque(model, end) + model.D[:, 0], of_a_tiny_torque(system, q, end)[1]
    np.testing.assert_allclose(found[:4], expected[:4], rtol=2e-4)
    np.testing.assert_allclose(found[4:], expected[4:], rtol=0, atol=0.01 * np.abs(expected).max())


@pytest.mark.parametrize("law", [{}, {"stiffness": 1e5, "dissipation": 0.5}])
def test_anymal_on_its_feet_follows_the_linear_model(law):
    """The velocities that a torque of one hip causes in 0.05 s, beside steps."""
    robot, end = anymal_on_its_feet(**law), 0.05
    q, model = at_rest(robot, 8000)
    states = model.states[-len(model.vdot) :]
    found = of_a_tiny_torque(robot, q, end)[0][[robot.velocity_names.index(x.removesuffix(".rate")) for x in states]]
    expected = of_a_torque(model, end)[-len(states) :]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3 * np.abs(found).max())
    assert np.abs(model.vdot).max() < 1e-8


@pytest.mark.parametrize(
    ("law", "gravity", "words"),
    [
        ("friction: 0.3", "[3.2, 0, -9.8]", "about to part or slide"),
        ("stiffness: 1.0e5, friction: 0.3", "[5.0, 0, -9.8]", "about to part or slide"),
        ("friction: 0.3", "[0, 0, 1]", "about to part or slide"),
        ("friction: 0.0", "[0, 0, 1]", "about to part or slide"),
    ],
)
def test_what_cannot_be_held_is_refused(tmp_path, law, gravity, words):
    body = free("block", MASS, solid_box((0.4, 0.3, 0.2), MASS), (0, 0, 0.09995))
    law = f"{{name: c, first: floor, second: block, {law}}}"
    system = scene(tmp_path, [body], [FLOOR, box("block", (0.4, 0.3, 0.2))], [law], f"gravity: {gravity}")
    with pytest.raises(lj.ArgumentError, match=f"'floor' and 'block' of contact 'c' .*{words}"):
        lj.linearize(system)


def test_a_slope_is_held_up_to_the_friction_angle(tmp_path):
    body = free("block", MASS, solid_box((0.4, 0.3, 0.2), MASS), (0, 0, 0.1))
    law = "{name: c, first: floor, second: block, friction: 0.3}"
    for share, holds in ((0.999, True), (1.001, False)):
        gravity = f"gravity: [{0.3 * share * G}, 0, {-G}]"
        system = scene(tmp_path, [body], [FLOOR, box("block", (0.4, 0.3, 0.2))], [law], gravity)
        if holds:
            assert len(lj.linearize(system).vdot) == 0
            continue
        with pytest.raises(lj.ArgumentError, match="about to part or slide"):
            lj.linearize(system)


def test_touches_without_load_are_refused(tmp_path):
    """A ball beside a wall may roll from it, but not into it."""
    wall = "{{body: world, type: box, name: wall, size: [0.2, 1, 1], position: [{}, 0, 0.5]}}"
    smooth = "{name: w, first: wall, second: ball, friction: 0.0}"
    bodies, shapes = [ball("ball", (0, 0, RADIUS))], [FLOOR, sphere("ball")]
    with pytest.raises(lj.ArgumentError, match="'ball' and 'wall' of contact 'w' touch without load"):
        lj.linearize(scene(tmp_path, bodies, [*shapes, wall.format(-0.2)], [STICKS, smooth]))
    beside = lj.linearize(scene(tmp_path, bodies, [*shapes, wall.format(-0.20002)], [STICKS, smooth]))
    assert beside.states == lj.linearize(scene(tmp_path, bodies, shapes, [STICKS])).states


def test_velocities_that_touches_do_not_have_are_refused(tmp_path):
    system = scene(tmp_path, [ball("ball", (0, 0, RADIUS))], [FLOOR, sphere("ball")], [STICKS])
    with pytest.raises(lj.ArgumentError, match="'floor' and 'ball' of contact 'c' move at 0.5 m/s where they touch"):
        lj.linearize(system, *put(system, RADIUS, vz=0.5))
