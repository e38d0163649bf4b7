"""Wheels that roll without slip: closed forms, energy, contact forces, and what a model may not ask of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_rpy
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.system import Pose, Wheel
from limberjack.engine.model.validate import validate
from limberjack.engine.operators import LoopForces, Operators
from tests.engine.api.test_linearize_loops import loaded
from tests.engine.kernels.flexible.closed import PLACES, closed, starting_at
from tests.engine.kernels.loops.agreement import check_forward, close, one_loop
from tests.engine.kernels.loops.closures import contact
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import WHEELS, random_closed, set_state
from tests.validation.figures import figure

G = 9.80665
METHODS = ("embed", "force")

BALL = """
limberjack: 1
name: ball
gravity: [{gx}, 0, {gz}]
bodies:
  - {{name: table, mass: 5, inertia: {{xx: 1, yy: 1, zz: 1}},
     hinge: {{name: spin, type: revolute, parent: world, axis: [0, 0, 1]}}}}
  - {{name: ball, mass: 0.4, inertia: {{xx: 4.0e-4, yy: 4.0e-4, zz: 4.0e-4}},
     hinge: {{type: free, parent: world, initial: {{position: [0.3, 0, 0.05], velocity: {{vx: 0.1, vy: 0.02}}}}}}}}
loops:
  - {{name: roll, type: rolling, shape: ball, radius: 0.05, from: table, to: ball, method: {method}}}
  - {{name: turn, type: coupling, terms: {{spin: 1}}, driven: true, initial: {{velocity: {rate}}}, method: {method}}}
sensors:
  - {{name: load, type: loop_wrench, target: roll}}
  - {{name: force, type: loop_force, target: roll}}
  - {{name: gap, type: loop_residual, target: roll}}
"""


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_on_a_turntable_runs_in_a_circle_with_two_sevenths_of_its_rate(method, tmp_path):
    rate, dt = 2.1, 2e-3
    simulation = lj.Simulation(loaded(BALL.format(gx=0, gz=-G, rate=rate, method=method), tmp_path), dt)
    path = []
    for k in range(1, 2001):
        simulation.command["turn.position"] = rate * dt * k
        simulation.step()
        path.append(simulation.output["ball.position"][:2].copy())
    w = 2.0 / 7.0 * rate
    start, v = np.array([0.3, 0.0]), np.array([0.1, 0.02])
    centre = start + np.array([-v[1], v[0]]) / w
    t = dt * np.arange(1, 2001)
    (x, y), c, s = start - centre, np.cos(w * t), np.sin(w * t)
    expected = centre + np.column_stack([c * x - s * y, s * x + c * y])
    figure("path of a ball on a turntable", path, expected, unit="m", oracle="circle with 2/7 of its rate", atol=1e-8)
    figure("weight of the ball", simulation.output["load"][5], 0.4 * G, unit="N", oracle="m g", rtol=1e-10)
    figure("gap of the ball", simulation.output["gap"], unit="m", oracle="closed", below=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_rolls_down_with_five_sevenths_of_a_slider(method, tmp_path):
    slope = math.radians(20.0)
    text = BALL.format(gx=G * math.sin(slope), gz=-G * math.cos(slope), rate=0.0, method=method)
    simulation = lj.Simulation(loaded(text, tmp_path), 5e-4)
    simulation.step(2000)
    a = 5.0 / 7.0 * G * math.sin(slope)
    figure(
        "way of a ball down a slope",
        simulation.output["ball.position"],
        [0.4 + 0.5 * a, 0.02, 0.05],
        unit="m",
        oracle="5/7 g sin β",
        atol=1e-8,
    )
    grip, normal = 2.0 / 7.0 * 0.4 * G * math.sin(slope), 0.4 * G * math.cos(slope)
    wrench = simulation.output["load"]
    figure("contact force of a ball", wrench[3:], [-grip, 0.0, normal], unit="N", oracle="2/7 m g sin β", atol=1e-9)
    figure(
        "moment about the ball's centre",
        wrench[:3],
        [0.0, 0.05 * grip, 0.0],
        unit="N·m",
        oracle="radius by grip",
        atol=1e-9,
    )  # about the ball's centre
    figure(
        "size of the contact force",
        simulation.output["force"],
        math.hypot(grip, normal),
        unit="N",
        oracle="closed form",
        rtol=1e-9,
    )


DISC = """
limberjack: 1
name: disc
bodies:
  - name: disc
    mass: 2.0
    inertia: {{xx: 0.045, yy: 0.09, zz: 0.045}}
    hinge: {{type: free, parent: world, initial: {{position: [0, 0, {height}], rpy: [{lean}, 0, 0],
            velocity: {velocity}}}}}
loops:
  - {{name: roll, type: rolling, shape: disc, radius: 0.3, axis: [0, 2, 0], from: world, to: disc, method: {method}}}
sensors:
  - {{name: load, type: loop_wrench, target: roll}}
"""
MASS, RADIUS, ACROSS, ALONG = 2.0, 0.3, 0.045, 0.09


def steady(lean: float, turning: float) -> float:
    """Rate about the axle at which a disc that leans by an angle turns steadily about the vertical.

    With the axle's angle θ from the vertical: (C + m r²) ω Ω sin θ - A Ω² sin θ cos θ + m g r cos θ = 0.
    """
    s, c = math.cos(lean), math.sin(lean)  # of θ: the axle y tilts up by the lean
    total = ALONG + MASS * RADIUS**2
    return (ACROSS * turning**2 * s * c - MASS * G * RADIUS * c) / (total * turning * s)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("lean", "turning"), [(0.3, 1.7), (-0.5, 2.5), (0.9, -3.0)])
def test_a_leaning_disc_turns_steadily(method, lean, turning, tmp_path):
    """Its axle is y, turned about x by the lean; ω = Ω sin θ ρ + ω₃ axle, v = ω × r ρ along -x for ω₃ > 0."""
    axle = steady(lean, turning)
    velocity = [0.0, axle, turning * math.cos(lean), RADIUS * axle, 0.0, 0.0]
    text = DISC.format(height=RADIUS * math.cos(lean), lean=lean, velocity=velocity, method=method)
    simulation = lj.Simulation(loaded(text, tmp_path))
    speed, period = RADIUS * axle, 1500
    simulation.step(period)
    t = period * simulation.dt
    away = speed / turning  # centre of the circle, to the left for a positive turn
    expected = [away * math.sin(turning * t), away * (1.0 - math.cos(turning * t)), RADIUS * math.cos(lean)]
    figure(
        "place of a leaning disc",
        simulation.output["disc.position"],
        expected,
        unit="m",
        oracle="steady turn",
        atol=1e-8,
    )
    figure(
        "velocity of a leaning disc",
        simulation.v,
        velocity_in_body(velocity, axle, turning, lean, t),
        oracle="steady turn",
        atol=1e-7,
    )
    inward = -MASS * speed * turning
    figure(
        "centripetal force on the disc",
        np.linalg.norm(simulation.output["load"][3:5]),
        abs(inward),
        unit="N",
        oracle="m v Ω",
        rtol=1e-7,
    )
    figure("weight of the disc", simulation.output["load"][5], MASS * G, unit="N", oracle="m g", rtol=1e-7)


def velocity_in_body(velocity: list[float], axle: float, turning: float, lean: float, t: float) -> np.ndarray:
    """The same motion seen in the body, which has turned about its axle."""
    spin = (axle - turning * math.sin(lean)) * t
    c, s = math.cos(spin), math.sin(spin)
    back = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    return np.concatenate([back @ velocity[:3], back @ velocity[3:]])


def kinetic_and_potential(simulation: lj.Simulation) -> float:
    return simulation.output["energy.total"]


@pytest.mark.parametrize("method", METHODS)
def test_a_wobbling_disc_keeps_its_energy_to_the_order_of_the_integrator(method, tmp_path):
    lean = 0.4
    text = DISC.format(height=RADIUS * math.cos(lean), lean=lean, velocity="{wz: 2.0, wy: 4.0}", method=method)
    changes = []
    for dt in (4e-3, 2e-3, 1e-3):
        simulation = lj.Simulation(loaded(text, tmp_path), dt)
        before = kinetic_and_potential(simulation)
        simulation.step(round(2.0 / dt))
        changes.append(abs(kinetic_and_potential(simulation) - before))
    assert changes[2] < 1e-7
    assert changes[0] / changes[2] > 2.0**7, changes


def test_a_disc_takes_energy_from_nothing_on_a_table_that_turns_freely(tmp_path):
    """The plane is a body: total energy and the momentum about its axis stay."""
    text = BALL.format(gx=0, gz=-G, rate=0.0, method="embed")
    lines = [line for line in text.splitlines() if "name: turn" not in line]
    simulation = lj.Simulation(loaded("\n".join(lines), tmp_path), 2e-3)
    energy, momentum = kinetic_and_potential(simulation), simulation.output["momentum"][2]
    simulation.step(1000)
    assert abs(simulation.v[0]) > 1e-3
    assert kinetic_and_potential(simulation) == pytest.approx(energy, abs=1e-11)
    assert simulation.output["momentum"][2] == pytest.approx(momentum, abs=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_wheels_beside_other_loops(seed):
    """Two wheels and a loop of another kind, by either method."""
    for attempt in range(20):
        rng, kinds = np.random.default_rng([seed, attempt]), [*WHEELS, "distance"]
        graph = random_closed(rng, bodies=7, kinds=kinds, loops=3, root="free")
        if len(graph.system.loops) > 1 and any(loop.wheel for loop in graph.system.loops):
            break
    tau = graph.rng.normal(size=graph.system.nv)
    for method in METHODS:
        check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau)


@pytest.mark.parametrize("shape", ["disc", "ball"])
@pytest.mark.parametrize("places", [PLACES[0], PLACES[1], PLACES[5]], ids=str)
def test_wheels_on_flexible_bodies(shape, places):
    """Where a weld would hold two frames, a wheel of the second leans on the plane of the first."""
    made, loops = closed(1, places, "weld"), []
    wheel = Wheel(shape, 0.4, np.array([0.6, 0.0, 0.8]) if shape == "disc" else np.zeros(0))
    R = from_rpy([0.3, -0.5, 0.7])
    for loop in made.system.loops:
        hinge = replace(loop.hinge, type="free", outboard=loop.hinge.outboard @ Pose(R, -contact(wheel, R)))
        loops.append(replace(loop, type="rolling", hinge=hinge, wheel=wheel))
    system = replace(made.system, loops=tuple(loops))
    oracle, tau = Oracle(system), made.rng.normal(size=system.nv)
    v = oracle.impulse(made.q, made.v)[0]
    expected = oracle.solve(made.q, v, tau).vdot
    system = validate(starting_at(system, made.q))
    for method in METHODS:
        by = replace(system, loops=tuple(replace(loop, method=method) for loop in system.loops))
        close(
            lj.Dynamics(set_state(by, made.q, v)).forward(made.q, v, tau),
            expected,
            name="accelerations of wheels on flexible bodies",
        )


@pytest.mark.parametrize("kind", WHEELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_workbench_moves_wheels_as_the_kernels_do(kind, seed):
    graph = one_loop(kind, 40 + seed)
    tau = graph.rng.normal(size=graph.system.nv)
    embedded = Operators(graph.by("embed"), graph.q, graph.v)
    forces = LoopForces(Operators(graph.by("force"), graph.q, graph.v))
    expected = lj.Dynamics(graph.by("force")).forward(graph.q, graph.v, tau)
    close(forces.accelerations(tau), expected, name="accelerations", oracle="operator workbench")
    X, X_dot = embedded.X.to_array(), (embedded.X_dot * embedded.beta).to_array()
    free = np.linalg.lstsq(X, expected - X_dot, rcond=None)[0]
    close(X @ free + X_dot, expected, name="accelerations, embedded", oracle="operator workbench")


def test_assembly_rolls_a_wheel_to_its_plane_and_lets_it_slip_there(tmp_path):
    """What is held is a place off the plane's grip: heights close, and no row of velocities holds positions."""
    text = DISC.format(height=0.5, lean=0.2, velocity="{vx: 1.0}", method="embed")
    text = text.replace("position: [0, 0, 0.5], ", "")
    system = loaded(text, tmp_path)
    assert system.q0[6] == pytest.approx(RADIUS * math.cos(0.2), abs=1e-12)
    wheel = lj.assemble(system, hold=["disc.vx"])
    assert wheel.v0[1] == pytest.approx(1.0 / RADIUS, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"wheel": None}, "rolls, and has no wheel"),
        ({"wheel": Wheel("cube", 0.3)}, "no wheel of shape 'cube'"),
        ({"wheel": Wheel("disc", 0.3)}, "the disc of loop 'roll' has no axle"),
        ({"wheel": Wheel("disc", 0.3, np.zeros(3))}, "has no axle"),
        ({"wheel": Wheel("ball", 0.3, np.array([0.0, 1.0, 0.0]))}, "a ball has no axis"),
        ({"wheel": Wheel("ball", -0.3)}, r"the radius of loop 'roll' is -0\.3 m"),
        ({"switchable": True}, "cannot be switchable"),
        ({"driven": True}, "a rolling loop has no driven"),
        ({"type": "point"}, "a point loop has no wheel"),
    ],
)
def test_what_a_wheel_cannot_be(change, wrong, tmp_path):
    text = DISC.format(height=RADIUS, lean=0.0, velocity="{vx: 1.0}", method="embed")
    system = loaded(text, tmp_path)
    loop = replace(system.loops[0], method=None, **change)
    with pytest.raises(ModelError, match=wrong):
        validate(replace(system, loops=(loop,)))


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("axis: [0, 2, 0], ", "", "the disc of loop 'roll' has no axle"),
        ("shape: disc", "shape: cone", "shape"),
        ("radius: 0.3", "radius: 0", "radius"),
        ("radius: 0.3, ", "", "radius"),
        ("from: world, ", "", "from"),
    ],
)
def test_files_with_bad_wheels(old, new, wrong, tmp_path):
    text = DISC.format(height=RADIUS, lean=0.0, velocity="{vx: 1.0}", method="embed")
    with pytest.raises(ModelError, match=wrong):
        loaded(text.replace(old, new), tmp_path)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("dt", [3.7e-4, 1e-3, 2e-2])
@pytest.mark.parametrize("method", METHODS)
def test_a_disc_that_falls_flat_ends_the_run_with_a_reason(method, dt, integrator, tmp_path):
    """Wherever its steps land: the last one before it lies flat, and until there it tips over a point of its edge."""
    text = DISC.format(height=RADIUS * math.cos(0.2), lean=0.2, velocity="{wx: 0.0}", method=method)
    simulation = lj.Simulation(loaded(text, tmp_path), dt, integrator=integrator)
    before = kinetic_and_potential(simulation)
    with pytest.raises(lj.SimulationError, match=r"loop 'roll' cannot be closed again.*disc fell flat"):
        simulation.step(round(1.0 / dt))
    height = simulation.output["disc.position"][2]
    rate = math.sqrt(2.0 * MASS * G * (RADIUS * math.cos(0.2) - height) / (ACROSS + MASS * RADIUS**2))
    assert simulation.v[0] == pytest.approx(rate, rel=1e-6 if integrator == "rk4" else 3.0 * dt)
    assert 0.0 < height < 2.5 * RADIUS * rate * dt
    if integrator == "rk4":
        assert kinetic_and_potential(simulation) == pytest.approx(before, abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("lean", "wz", "wy"), [(1.202, 0.0, -0.498), (0.796, 0.0, -0.128), (1.014, 0.0, 0.0369)])
def test_a_disc_that_all_but_falls_flat_rises_again_or_ends_the_run(method, lean, wz, wy, tmp_path):
    """It turns a little, so that its contact runs round next to the plane: with steps that follow it the energy stays,
    and with others the run ends before the energy is lost."""
    text = DISC.format(height=RADIUS * math.cos(lean), lean=lean, velocity=f"{{wz: {wz}, wy: {wy}}}", method=method)
    simulation = lj.Simulation(loaded(text, tmp_path), 4e-3)
    before = kinetic_and_potential(simulation)
    with pytest.raises(lj.SimulationError, match="disc fell flat"):
        simulation.step(500)
    assert kinetic_and_potential(simulation) == pytest.approx(before, abs=0.02)
    simulation = lj.Simulation(loaded(text, tmp_path), 5e-6)
    lowest, last = RADIUS, 0.0
    while not (lowest < 0.05 * RADIUS and last > 2.0 * lowest):
        simulation.step(200)
        last = simulation.output["disc.position"][2]
        lowest = min(lowest, last)
        assert simulation.time < 1.0
    assert kinetic_and_potential(simulation) == pytest.approx(before, abs=1e-6)
