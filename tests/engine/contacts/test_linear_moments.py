"""Linear models of touches with torsional and rolling friction: balls that spin, roll and stand, against closed forms
and steps."""

from __future__ import annotations

import math

import numpy as np
import pytest

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, free, scene, sensors, sphere
from tests.engine.contacts.test_linear_contacts import put
from tests.engine.contacts.test_linear_held import at_rest, of_a_tiny_torque, of_a_torque, walker
from tests.validation.figures import figure

G, MASS, RADIUS = 9.80665, 2.0, 0.1
INERTIA = 0.4 * MASS * RADIUS**2
ARM, SPIN = 0.004, 0.006
LAW = f"{{name: c, first: floor, second: ball, friction: 0.6, torsional_friction: {SPIN}, rolling_friction: {ARM}}}"
SOFT = LAW.replace("}", ", stiffness: 1.0e6}")
PULL = "nodes:\n  - {name: at, body: ball}\nexternal_forces: [{name: pull, node: at}]\n"


def lone(folder, law, more=""):
    return scene(folder, [ball("ball", (0, 0, RADIUS), mass=MASS)], [FLOOR, sphere("ball")], [law], more)


def row(model, name):
    """Of a velocity among the rates of the states, and in A."""
    place = model.states.index(f"ball_free.{name}")
    return place - (len(model.states) - len(model.vdot)), place


@pytest.mark.parametrize("law", [LAW, SOFT])
def test_a_ball_that_rolls_slows_down(tmp_path, law):
    """At a speed s along x by 5/7 arm g / r, and by s'/s of that across: the moment turns with the velocity."""
    speed, depth = 0.7, MASS * G / 1.0e6 * (law == SOFT)
    lever = RADIUS - 0.5 * depth  # soft shapes touch halfway between their surfaces
    system = lone(tmp_path, law)
    model = lj.linearize(system, *put(system, RADIUS - depth, vx=speed, wy=speed / lever))
    rate = ARM * G / (lever * lever + INERTIA / MASS)  # of wy
    (y, along), (_, across) = row(model, "wy"), row(model, "wx")
    assert model.vdot[y] == pytest.approx(-rate, rel=1e-8)
    assert model.A[across, across] == pytest.approx(-rate * lever / speed, rel=1e-7)
    assert model.A[along, along] == pytest.approx(0.0, abs=1e-7)


def test_a_ball_that_spins_on_the_spot_slows_down(tmp_path):
    """By torsion times load over its inertia; it would have to be pushed to roll."""
    system = lone(tmp_path, LAW)
    model = lj.linearize(system, *put(system, RADIUS, wz=5.0))
    assert [name for name in model.states if name.startswith(("ball_free.w", "ball_free.v"))] == ["ball_free.wz"]
    assert model.vdot[0] == pytest.approx(-SPIN * MASS * G / INERTIA, rel=1e-9)


def test_a_ball_that_stands_answers_with_force_and_moment(tmp_path):
    """It does not move, and its friction is the opposite of what pulls."""
    model = lj.linearize(lone(tmp_path, LAW, PULL + sensors("c")))
    assert len(model.vdot) == 0
    rows = [model.outputs.index(f"force.{axis}") for axis in ("fx", "fy", "fz")]
    columns = [model.inputs.index(f"pull.{axis}") for axis in ("fx", "fy", "fz")]
    np.testing.assert_allclose(model.D[np.ix_(rows, columns)], -np.eye(3), atol=1e-8)


def pendulum(folder, law):
    """One that swings on a ball that stands."""
    length, mass, stiffness = 0.3, 0.5, 40.0
    hinge = f"{{name: swing, type: revolute, parent: ball, axis: [0.6, 0.8, 0], stiffness: {stiffness}}}"
    bob = (
        f"{{name: bob, mass: {mass}, com: [0, 0, {length}], inertia: {{xx: 1e-9, yy: 1e-9, zz: 1e-9}}, hinge: {hinge}}}"
    )
    bodies = [ball("ball", (0, 0, RADIUS), mass=MASS), bob]
    expected = math.sqrt((stiffness - mass * G * length) / (mass * length**2 + 1e-9))
    return scene(folder, bodies, [FLOOR, sphere("ball")], [law]), expected


def test_a_ball_that_stands_carries_a_pendulum(tmp_path):
    """Its frequency is that on fixed ground: ω² = (k - m g l) / m l²."""
    system, expected = pendulum(tmp_path, LAW)
    model = lj.linearize(system)
    assert [name for name in model.states if name.endswith(".rate")] == ["swing.rate"]
    found = model.poles.imag[model.poles.imag > 1e-3]
    figure("frequency of a pendulum on a ball that does not roll", found, [expected], unit="rad/s",
           oracle="closed form", rtol=1e-8)  # fmt: skip


@pytest.mark.parametrize("share", [0.999, 1.001])
@pytest.mark.parametrize("law", [LAW, SOFT])
def test_a_ball_stands_on_slopes_up_to_its_arm(tmp_path, law, share):
    """tan φ = arm / r."""
    depth = MASS * G / 1.0e6 * (law == SOFT)
    system = lone(tmp_path, law, f"gravity: [{share * ARM / (RADIUS - 0.5 * depth) * G}, 0, {-G}]")
    q, v = put(system, RADIUS - depth)
    if share < 1.0:
        assert len(lj.linearize(system, q, v).vdot) == (1 if law == SOFT else 0)  # a soft one heaves
        return
    with pytest.raises(lj.ArgumentError, match="'floor' and 'ball' of contact 'c' .*or to spin or roll"):
        lj.linearize(system, q, v)


def test_a_ball_is_turned_up_to_its_torsion(tmp_path):
    for share in (0.999, 1.001):
        twist = f"{{name: twist, coordinate: ball_free.wz, initial: {share * SPIN * MASS * G}}}"
        system = lone(tmp_path, LAW, f"actuators: [{twist}]")
        if share < 1.0:
            assert len(lj.linearize(system).vdot) == 0
            continue
        with pytest.raises(lj.ArgumentError, match="or to spin or roll"):
            lj.linearize(system)


def test_a_weighted_ball_that_may_only_roll(tmp_path):
    """Torsion holds its spin, and leaves ω² = m g d / (I + m (r - d)²) about both level axes."""
    low = 0.04
    body = free("ball", MASS, [0.005, 0.005, 0.004], (0, 0, RADIUS - low))
    shape = f"{{body: ball, type: sphere, radius: {RADIUS}, name: ball, position: [0, 0, {low}]}}"
    law = f"{{name: c, first: floor, second: ball, friction: 0.6, torsional_friction: {SPIN}}}"
    model = lj.linearize(scene(tmp_path, [body], [FLOOR, shape], [law]))
    expected = math.sqrt(MASS * G * low / (0.005 + MASS * (RADIUS - low) ** 2))
    found = model.poles.imag[model.poles.imag > 1e-3]
    assert len(model.vdot) == 2
    np.testing.assert_allclose(found, [expected] * 2, rtol=1e-8)


def test_a_walker_whose_feet_do_not_spin_follows_the_linear_model(tmp_path):
    """What a small torque of one hip does in a tenth of a second, beside steps."""
    system, end = walker(tmp_path, "friction: 0.8, torsional_friction: 0.01"), 0.1
    q, model = at_rest(system, 6000)
    expected, found = model.C @ of_a_torque(model, end) + model.D[:, 0], of_a_tiny_torque(system, q, end)[1]
    np.testing.assert_allclose(found[:4], expected[:4], rtol=2e-4)
    np.testing.assert_allclose(found[4:], expected[4:], rtol=0, atol=0.01 * np.abs(expected).max())
