"""The script of the flexible spacecraft: shaping against its closed form, wheels, and what its scenes show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.examples import flexible_spacecraft as scenes
from limberjack.examples.vibration import Wheels, apart, deflection, quickest, rotation, shaped
from tests.examples.spacecraft import load


def test_a_shaped_move_leaves_no_vibration() -> None:
    """An oscillator z'' + 2ζω z' + ω² z = ω² r(t), by its own convolution integral: |z - r| after the move."""
    frequency, ratio = 0.4, 0.01
    omega = 2.0 * np.pi * frequency
    damped = omega * np.sqrt(1.0 - ratio * ratio)
    time = np.linspace(0.0, 30.0, 6_001)
    kernel = omega**2 / damped * np.exp(-ratio * omega * time) * np.sin(damped * time)
    left = []
    for reference in (quickest(1.0, 1.0, 6.0), shaped(quickest(1.0, 1.0, 6.0), [frequency], ratio)):
        r = np.array([reference(t)[0] for t in time])
        response = np.convolve(r, kernel)[: len(time)] * time[1]
        left.append(np.abs(response - 1.0)[time > 11.0].max())
    assert left[0] > 0.01
    assert left[1] < 0.01 * left[0]


def test_quickest_rates_are_the_slopes_and_shaping_keeps_both_ends() -> None:
    turn = shaped(quickest(0.3, 2.0, 10.0), [0.5, 1.3])
    assert turn(1.9) == (0.0, 0.0)
    assert turn(20.0) == pytest.approx((0.3, 0.0), abs=1e-12)
    for time in (3.0, 6.5, 9.1, 12.0):
        slope = (turn(time + 1e-6)[0] - turn(time - 1e-6)[0]) / 2e-6
        assert turn(time)[1] == pytest.approx(slope, rel=1e-6)


def test_wheels_know_their_axes_and_turn_the_hub() -> None:
    """The pyramid of the file: (±1, ±1, 1)/√3. Held by its wheels, the hub stays; moment from outside there is none."""
    simulation = lj.Simulation(load("solar_satellite"))
    wheels = Wheels(simulation, "hub", [f"wheel_{i}" for i in range(1, 5)], bandwidth=0.02, period=0.02)
    signs = np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1]])
    np.testing.assert_allclose(wheels.axes.T, signs / np.sqrt(3.0), atol=1e-5)
    for _ in range(1000):
        wheels.hold(simulation, turn=quickest(0.01, 0.0, 30.0))
        simulation.step(20)
    turned = apart(simulation.dynamics.pose("hub", simulation.q)[0], np.zeros(3))
    assert turned[0] == pytest.approx(quickest(0.01, 0.0, 30.0)(20.0)[0], rel=0.05)
    assert np.abs(simulation.dynamics.momentum(simulation.q, simulation.v)[:3]).max() < 1e-6
    assert np.linalg.norm(deflection("wing_north", "tip")(simulation)) > 1e-5


def test_small_rotations_are_distinguished() -> None:
    first, small = np.array([0.3, -0.8, 0.5]), np.array([1e-4, -2e-4, 3e-4])
    np.testing.assert_allclose(apart(rotation(first) @ rotation(small), first), small, atol=1e-10)
    np.testing.assert_allclose(rotation(first) @ rotation(first).T, np.eye(3), atol=1e-15)


@pytest.mark.long
def test_scenes(tmp_path: Path) -> None:
    """Shaping takes nine tenths of the wings' swing; the arm settles when a rigid model says, a little later."""
    reported = [scene(tmp_path) for scene in scenes.SCENES]
    pictures = sorted(path.name for path in tmp_path.iterdir())
    assert pictures == ["spacecraft_arm.png", "spacecraft_cassini.png", "spacecraft_wings.png"]
    assert all(text for text in reported)
    arm = [float(word.rsplit(" ", 1)[1]) for word in reported[1].split(" s (")[:-1]]
    rigid, flexible, shaped_arm = arm
    assert flexible > 2.0 * shaped_arm
    assert shaped_arm < rigid + 8.0
