"""Torsional and rolling friction against closed forms: balls that spin, roll, and rest on slopes."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, solid_box, sphere
from tests.validation.figures import figure

G, RADIUS, ARM = 9.80665, 0.1, 2e-3


def on_the_floor(tmp_path, law, velocity="{}", more=""):
    contact = f"{{name: c, first: floor, second: ball, {law}}}"
    return scene(tmp_path, [ball("ball", (0, 0, RADIUS), velocity)], [FLOOR, sphere("ball", RADIUS)], [contact], more)


@pytest.mark.parametrize("law", ["friction: 0.5", "stiffness: 1.0e6, dissipation: 1.0, friction: 0.5"])
@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
def test_a_ball_that_spins_stops_when_it_must(tmp_path, integrator, law):
    """dω/dt = -µ m g / (2/5 m r²): torsional friction is the only moment about the normal."""
    spin, slows = 10.0, ARM * G / (0.4 * RADIUS**2)
    system = on_the_floor(tmp_path, f"{law}, torsional_friction: {ARM}", f"{{wz: {spin}}}")
    simulation = lj.Simulation(system, dt=1e-3, integrator=integrator)
    simulation.step(100)  # a compliant floor takes the weight up
    start = simulation.v[2]
    simulation.step(1000)
    figure("deceleration of a spinning ball", start - simulation.v[2], slows, unit="rad/s²", oracle="µ m g", rtol=1e-4)
    simulation.step(round(1000 * simulation.v[2] / slows) + 5)
    assert abs(simulation.v[2]) < 1e-12
    assert np.abs(simulation.v[:2]).max() < 1e-12


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_a_ball_that_rolls_slows_down_as_it_must(tmp_path, integrator):
    """dv/dt = -5/7 µ g / r: the moment µ m g turns a ball of 7/5 m r² about the point where it touches."""
    speed, slows = 0.5, 5.0 / 7.0 * ARM * G / RADIUS
    velocity = f"{{vx: {speed}, wy: {speed / RADIUS}}}"
    system = on_the_floor(tmp_path, f"friction: 0.5, rolling_friction: {ARM}", velocity)
    simulation = lj.Simulation(system, dt=1e-3, integrator=integrator)
    simulation.step(2000)
    lost = speed - np.linalg.norm(simulation.v[3:6])
    figure("speed that a rolling ball loses in 2 s", lost, 2.0 * slows, unit="m/s", oracle="5/7 µ g / r", rtol=5e-4)
    way = 2.0 * speed - 2.0 * slows
    figure("its way in 2 s", simulation.q[4], way, unit="m", oracle="5/7 µ g / r", rtol=2e-3)
    simulation.step(round(1000 * speed / slows) - 2000 + 10)
    there = simulation.q.copy()
    simulation.step(200)
    assert np.abs(simulation.v).max() < 1e-10
    assert np.abs(simulation.q - there).max() < 1e-10


@pytest.mark.parametrize("over", [-1e-3, 1e-3])
def test_a_ball_rolls_down_a_slope_only_beyond_the_angle_of_rolling_friction(tmp_path, over):
    """It rests up to tan φ = µ / r."""
    slope = ARM / RADIUS * (1.0 + over)
    gravity = f"gravity: [{G * slope}, 0, {-G}]\n"
    simulation = lj.Simulation(on_the_floor(tmp_path, f"friction: 0.5, rolling_friction: {ARM}", "{}", gravity))
    simulation.step(500)
    start = simulation.q[4]
    simulation.step(2000)
    way = simulation.q[4] - start
    if over < 0.0:
        figure("creep below the angle, 2 s", abs(way), unit="m", oracle="Coulomb's law", below=1e-9)
    else:
        pull = 5.0 / 7.0 * G * (slope - ARM / RADIUS)
        rolled = 0.5 * pull * (2.5**2 - 0.5**2)
        figure("way beyond the angle, 2 s", way, rolled, unit="m", oracle="g sin φ less friction", rtol=0.01)


def test_moments_of_two_free_bodies_cancel(tmp_path):
    """Boxes and a ball that meet in space, with all kinds of friction: momenta stay."""
    bodies = [
        free("a", 1.0, solid_box((0.3, 0.2, 0.25), 1.0), (-0.25, 0, 0), "{vx: 0.5, wz: 2.0, wx: 1.0}"),
        ball("b", (0.1, 0.05, 0.02), "{vx: -0.5, wz: -8.0, wx: 5.0}"),
    ]
    law = "{name: c, first: a, second: b, friction: 0.4, torsional_friction: 0.01, rolling_friction: 0.004}"
    more = "gravity: [0, 0, 0]\n"
    system = scene(tmp_path, bodies, [box("a", (0.3, 0.2, 0.25)), sphere("b")], [law], more)
    simulation = lj.Simulation(system, dt=1e-3)
    start = simulation.survey()
    simulation.step(600)
    end = simulation.survey()
    assert end[2] < 0.99 * start[2]
    assert np.abs(end - start)[3:9].max() < 1e-9


def test_lengths_of_friction_are_parameters_that_may_begin_at_zero(tmp_path):
    simulation = lj.Simulation(on_the_floor(tmp_path, "friction: 0.5", "{wz: 10.0}"), dt=1e-3)
    simulation.step(100)
    assert abs(simulation.v[2] - 10.0) < 1e-9
    simulation.parameters["contact.c.torsional_friction"] = ARM
    simulation.step(1000)
    assert abs((10.0 - simulation.v[2]) * 0.4 * RADIUS**2 / (ARM * G) - 1.0) < 1e-4
