"""Slosh pendulums: frequencies under thrust and gravity, damping, what they pass to the tank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from tests.validation.figures import figure

TANK = """
limberjack: 1
name: tank
gravity: {gravity}
bodies:
  - {{name: bus, mass: 100, inertia: {{xx: 30, yy: 30, zz: 20}}, hinge: {{type: {hinge}, parent: world}}}}
slosh:
  - {{name: fuel, body: bus, position: [0, 0, 0.5], direction: [0, 0, -2], mass: 20, length: 0.4, {more}}}
{rest}
"""
THRUST = "thrusters: [{name: main, body: bus, direction: [0, 0, 1], thrust: 500, initial: 240}]"


def loaded(tmp_path: Path, **given: str) -> lj.System:
    path = tmp_path / "tank.yaml"
    path.write_text(TANK.format(**{"gravity": "[0, 0, 0]", "hinge": "fixed", "more": "damping: 0", "rest": ""} | given))
    return lj.load(path)


def test_on_a_fixed_tank_it_swings_as_a_pendulum(tmp_path):
    system = loaded(tmp_path, gravity="[0, 0, -9.81]", more="damping: 0.9, angle: 0.001")
    assert system.coordinate_names == ("fuel.angle1", "fuel.angle2")
    A = lj.linearize(system, q=np.zeros(2)).A
    inertia = 20 * 0.4**2
    figure(
        "slopes by angle on a fixed tank", A[2:, :2], -9.81 / 0.4 * np.eye(2), unit="1/s²", oracle="-g / L", atol=1e-10
    )
    figure(
        "slopes by rate on a fixed tank",
        A[2:, 2:],
        -0.9 / inertia * np.eye(2),
        unit="1/s",
        oracle="-c / m L²",
        atol=1e-12,
    )


def test_under_thrust_a_free_tank_sloshes_faster(tmp_path):
    system = loaded(tmp_path, hinge="free", rest=THRUST)
    acceleration = 240.0 / 120.0
    # plane motion of tank and pendulum about the line of thrust: hinge h above the tank's centre, thrust through it
    M, m, J, h, L = 100.0, 20.0, 30.0, 0.5, 0.4
    # [lateral x of the tank's centre, tilt, swing relative to the tank], linear
    mass = np.array(
        [
            [M + m, m * (h - L), -m * L],
            [m * (h - L), J + m * (h - L) ** 2, -m * L * (h - L)],
            [-m * L, -m * L * (h - L), m * L * L],
        ]
    )
    stiffness = np.array(
        [
            [0, -240.0, 0],
            [0, -m * acceleration * (h - L), m * acceleration * L],
            [0, m * acceleration * L, m * acceleration * L],
        ]
    )
    wanted = np.sqrt(np.max(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real))
    poles = lj.linearize(system).poles
    figure(
        "slosh frequency under thrust",
        np.abs(poles.imag).max(),
        wanted,
        unit="rad/s",
        oracle="plane motion of tank and pendulum",
        rtol=1e-7,
    )
    assert wanted > np.sqrt(acceleration / L)


def test_stiffness_holds_it_without_gravity_and_a_wrong_direction_is_refused(tmp_path):
    A = lj.linearize(loaded(tmp_path, more="stiffness: 3, inertia: 0.1")).A
    figure(
        "slopes of a spring-held pendulum",
        A[2:, :2],
        -3.0 / (20 * 0.4**2 + 0.1) * np.eye(2),
        unit="1/s²",
        oracle="-k / (m L² + I)",
        atol=1e-10,
    )
    text = TANK.format(gravity="[0, 0, 0]", hinge="free", more="damping: 0", rest="").replace("[0, 0, -2]", "[0, 0, 0]")
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(lj.ModelError, match="the direction of 'fuel' is not a direction"):
        lj.load(tmp_path / "wrong.yaml")
