"""Contacts against closed forms: bounces, Hertz' impact, slip that turns to rolling, slopes, stacks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, sensors, solid_box, sphere
from tests.validation.figures import figure

G = 9.80665


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
def test_a_ball_bounces_when_it_must(tmp_path, integrator):
    """Restitution e from a height H: it is down at √(2H/g) and after each further flight of 2 e^k √(2H/g)."""
    height, e, dt = 0.5, 0.8, 1e-3
    law = f"{{name: c, first: floor, second: ball, restitution: {e}}}"
    system = scene(tmp_path, [ball("ball", (0, 0, 0.1 + height))], [FLOOR, sphere("ball")], [law])
    simulation = lj.Simulation(system, dt=dt, integrator=integrator)
    first = math.sqrt(2.0 * height / G)
    expected = [first]
    for k in range(1, 5):
        expected.append(expected[-1] + 2.0 * e**k * first)
    found, before = [], 0.0
    while simulation.time < expected[-1] + 0.05:
        simulation.step()
        rate = simulation.v[5]
        if before < 0.0 < rate:
            found.append(simulation.time)
        before = rate
    assert len(found) == len(expected)
    # each bounce is at the end of a step: off by a step at most, and so is the speed of the next flight's start
    figure(
        "times of bounces", found, np.array(expected), unit="s", oracle="flights", atol=4.0 * dt * len(expected) ** 0.5
    )


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
@pytest.mark.parametrize(("height", "e"), [(0.002, 1.0), (0.002, 0.9), (0.1, 1.0), (0.1, 0.8)])
def test_bounces_of_any_height_leave_e_squared_of_the_energy(tmp_path, integrator, height, e):
    """½v² + g z after k bounces, also of hops that last a few steps; Euler's methods keep it with ½ v g h more."""
    law = f"{{name: c, first: floor, second: ball, restitution: {e}}}"
    system = scene(tmp_path, [ball("ball", (0, 0, 0.1 + height))], [FLOOR, sphere("ball")], [law])
    simulation, dt = lj.Simulation(system, dt=1e-3, integrator=integrator), 1e-3
    late = 0.5 * G * dt if integrator == "semi_implicit" else 0.0
    start, before, bounces = G * height + 0.5 * late**2, 0.0, 0
    while bounces < 5:
        simulation.step()
        rate = simulation.v[5]
        if before < 0.0 < rate:
            bounces += 1
            energy = 0.5 * (rate - late) ** 2 + G * (simulation.q[6] - 0.1)
            left = start * e ** (2 * bounces)
            figure("energy after bounces", energy, left, unit="J/kg", oracle="e² a bounce", rtol=1e-6)
        before = rate


def test_an_impact_follows_hertz(tmp_path):
    """m d²δ/dt² = -k δ^1.5: largest force k^0.4 (1.25 m v²)^0.6, duration 2.9432 δ/v; of second order in the step."""
    mass, speed, k = 1.0, 1.0, 1.0e7
    deepest = (1.25 * mass * speed**2 / k) ** 0.4
    largest = k * deepest**1.5
    lasts = 2.0 * math.sqrt(math.pi) * math.gamma(0.4) / (5.0 * math.gamma(0.9)) * 2.0 * deepest / speed
    errors = []
    for parts in (40, 80):
        dt = lasts / parts
        law = f"{{name: c, first: floor, second: ball, stiffness: {k}, exponent: 1.5}}"
        more = "gravity: [0, 0, 0]\n" + sensors("c")
        system = scene(
            tmp_path, [ball("ball", (0, 0, 0.1 + 0.5 * dt), "{vz: -1.0}")], [FLOOR, sphere("ball")], [law], more
        )
        simulation = lj.Simulation(system, dt=dt)
        forces = []
        for _ in range(int(1.5 * parts)):
            simulation.step()
            forces.append(simulation.output["force.fz"])
        acting = dt * np.count_nonzero(forces)
        assert abs(acting / lasts - 1.0) < 3.0 / parts
        assert abs(simulation.v[5] - speed) < 2e-3
        errors.append(abs(max(forces) / largest - 1.0))
        figure("largest force of Hertz' impact", max(forces), largest, unit="N", oracle="Hertz", rtol=4e-3)
    assert errors[1] < errors[0] / 2.5


@pytest.mark.parametrize(
    ("integrator", "dt", "late", "off"), [("rk4", 1e-3, 1e-3, 1e-4), ("semi_implicit", 1e-4, 1e-3, 1e-3)]
)
def test_a_ball_slides_and_then_rolls(tmp_path, integrator, dt, late, off):
    """Friction µ: it rolls from 2v / (7 µ g) on, with 5/7 of its speed, and rolls on unhindered."""
    speed, mu = 1.0, 0.2
    law = f"{{name: c, first: floor, second: ball, friction: {mu}}}"
    system = scene(tmp_path, [ball("ball", (0, 0, 0.1), "{vx: 1.0}")], [FLOOR, sphere("ball")], [law], sensors("c"))
    simulation = lj.Simulation(system, dt=dt, integrator=integrator)
    rolls = 2.0 * speed / (7.0 * mu * G)
    while simulation.output["slip"] > 1e-4 or simulation.time < 0.01:
        simulation.step()
    figure("time when rolling begins", simulation.time, rolls, unit="s", oracle="2 v / (7 µ g)", atol=late)
    simulation.step(round(0.5 / dt))
    assert abs(np.linalg.norm(simulation.v[3:6]) - 5.0 / 7.0 * speed) < off * speed
    assert abs(simulation.v[1] * 0.1 - 5.0 / 7.0 * speed) < off * speed


@pytest.mark.parametrize("friction", [1e-80, 1e-200, 5e-324])
def test_friction_out_of_all_scales_is_none(tmp_path, friction):
    """Squares of its bound vanish; the floor bears the ball all the same."""
    law = f"{{name: c, first: floor, second: ball, friction: {friction!r}}}"
    system = scene(tmp_path, [ball("ball", (0, 0, 0.1), "{vx: 1}")], [FLOOR, sphere("ball")], [law], sensors("c"))
    simulation = lj.Simulation(system)
    simulation.step(100)
    assert np.abs(simulation.q[4:] - [0.1, 0.0, 0.1]).max() < 1e-6
    assert np.abs(simulation.output["force"] - [0, 0, G]).max() < 1e-3


def test_a_force_that_is_no_number_fails_the_step(tmp_path):
    """Rather than vanish, and let the ball sink."""
    law = "{name: c, first: floor, second: ball, stiffness: 1.0e+5, friction: 0.3}"
    simulation = lj.Simulation(scene(tmp_path, [ball("ball", (0, 0, 0.0999))], [FLOOR, sphere("ball")], [law]))
    plant = simulation.plant
    plant.floats[plant.parameters["contact.c.stiffness"]] = 1e200  # more than a parameter may have
    with pytest.raises(lj.SimulationError, match="no longer a finite number"):
        simulation.step(100)


@pytest.mark.parametrize("over", [-1e-3, 1e-3])
def test_a_block_slides_on_a_slope_only_beyond_the_angle_of_friction(tmp_path, over):
    angle, dt = math.radians(20.0), 1e-3
    mu = math.tan(angle) * (1.0 - over)
    size, mass = (0.3, 0.2, 0.2), 2.0
    gravity = f"gravity: [{G * math.sin(angle)}, 0, {-G * math.cos(angle)}]\n"
    law = f"{{name: c, first: floor, second: block, friction: {mu}}}"
    block = free("block", mass, solid_box(size, mass), (0, 0, 0.1))
    system = scene(tmp_path, [block], [FLOOR, box("block", size)], [law], gravity)
    simulation = lj.Simulation(system, dt=dt)
    simulation.step(1000)
    start = simulation.q[4]
    simulation.step(2000)
    way = simulation.q[4] - start
    if over < 0.0:
        figure("creep on a slope", abs(way), unit="m", oracle="it sticks", below=1e-8)
    else:
        pull = G * (math.sin(angle) - mu * math.cos(angle))
        figure("way down a slope", way, 0.5 * pull * (3.0**2 - 1.0), unit="m", oracle="½ a t²", rtol=0.01)


def test_a_stack_of_ten_balls_bears_its_weight(tmp_path):
    names = ["floor", *(f"b{i}" for i in range(10))]
    bodies = [ball(name, (0, 0, 0.1 + 0.2 * i)) for i, name in enumerate(names[1:])]
    laws = [
        f"{{name: c{i}, first: {a}, second: {b}, friction: 0.5}}" for i, (a, b) in enumerate(itertools.pairwise(names))
    ]
    more = "sensors:\n" + "".join(f"  - {{name: f{i}, type: contact_force, target: c{i}}}\n" for i in range(10))
    system = scene(tmp_path, bodies, [FLOOR, *(sphere(name) for name in names[1:])], laws, more)
    simulation = lj.Simulation(system, dt=1e-3)
    simulation.step(500)
    for i in range(10):
        load = simulation.output[f"f{i}.fz"]
        figure("load in a stack", load, (10 - i) * G, unit="N", oracle="weight above", rtol=1e-6)
    assert np.abs(simulation.v).max() < 1e-6


def test_newtons_cradle_passes_the_speed_on(tmp_path):
    """Five equal balls, a hair apart, elastic: the last one leaves with the first one's speed."""
    names = [f"b{i}" for i in range(5)]
    bodies = [ball(name, (0.21 * i, 0, 0), "{vx: 1.0}" if i == 0 else "{}") for i, name in enumerate(names)]
    laws = [
        f"{{name: c{i}, first: {a}, second: {b}, stiffness: 1.0e6, exponent: 1.5}}"
        for i, (a, b) in enumerate(itertools.pairwise(names))
    ]
    system = scene(tmp_path, bodies, [sphere(name) for name in names], laws, "gravity: [0, 0, 0]\n")
    simulation = lj.Simulation(system, dt=1e-4)
    simulation.step(1000)
    speeds = simulation.v.reshape(5, 6)[:, 3]
    figure("speeds of a cradle", speeds, np.array([0, 0, 0, 0, 1.0]), unit="m/s", oracle="elastic chain", atol=1e-3)


LEG = """
limberjack: 1
name: leg
bodies:
  - {name: hull, mass: 10.0, inertia: {xx: 1, yy: 1, zz: 1}, hinge: {name: fall, type: prismatic, parent: world,
     axis: [0, 0, 1], initial: {position: 1.102, velocity: -2.0}}}
  - {name: leg, mass: 0.1, inertia: {xx: 0.01, yy: 0.01, zz: 0.01}, hinge: {name: strut, type: prismatic, parent: hull,
     position: [0, 0, -1], axis: [0, 0, 1], friction: 400.0, friction_rate: 0.001}}
shapes:
  - {name: floor, body: world, type: plane}
  - {name: foot, body: leg, type: sphere, radius: 0.1}
contacts:
  - {name: c, first: floor, second: foot}
"""


@pytest.mark.parametrize(("dt", "off"), [(1e-3, 3e-2), (1e-4, 6e-3)])
def test_a_strut_is_crushed_by_what_its_friction_takes_up(tmp_path, dt, off):
    """A hull lands on a strut that slides against F: (F - m g) s = m v² / 2. The step is far from resolving F."""
    file = tmp_path / "leg.yaml"
    file.write_text(LEG)
    simulation = lj.Simulation(lj.load(file), dt=dt, integrator="implicit")
    simulation.step(round(0.1 / dt))
    wanted = (2.0**2 + 2.0 * G * 0.002) / 2.0 / (400.0 / 10.0 - G)
    figure("stroke of a strut", simulation.q[1], wanted, unit="m", oracle="(F - m g) s = m v² / 2", rtol=off)
