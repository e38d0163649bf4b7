"""Each non-trivial hinge against the equations that its own Lagrangian gives, worked out by hand.

Tolerance: both sides are a few tens of operations on numbers of the order of 1 to 100, so 1e-12 relative.
"""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import to_quaternion
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from tests.engine.single_body import GRAVITY, X, Y, Z, one_body
from tests.validation.figures import figure

DOWN = [0.0, 0.0, -GRAVITY]
RNG = np.random.default_rng(5)
STATES = [(RNG.uniform(-1.2, 1.2, 3), RNG.normal(size=3), RNG.normal(size=3)) for _ in range(5)]


def check(system: lj.System, q, v, M, bias, tau) -> None:
    """M, bias and the acceleration that `tau` gives."""
    dynamics = lj.Dynamics(system)
    n = system.nv
    q, v, M, bias, tau = q[:n], v[:n], np.reshape(M, (n, n)), np.reshape(bias, n), tau[:n]
    figure(
        "mass matrix", dynamics.mass_matrix(q), M, oracle="Lagrange's equations, by hand", atol=1e-12 * np.abs(M).max()
    )
    figure(
        "bias forces",
        dynamics.bias(q, v),
        bias,
        oracle="Lagrange's equations, by hand",
        atol=1e-12 * max(1.0, np.abs(bias).max()),
    )
    expected = np.linalg.solve(M, tau - bias)
    figure(
        "accelerations",
        dynamics.forward(q, v, tau),
        expected,
        oracle="Lagrange's equations, by hand",
        atol=1e-11,
        rtol=1e-11,
    )


@pytest.mark.parametrize(("q", "v", "tau"), STATES)
@pytest.mark.parametrize("pitch", [0.3, -0.2])
def test_helical(q, v, tau, pitch):
    """T = ½ (I + m x²) q̇², U = m g x q: a screw driven by gravity. The body's own axis carries its mass."""
    m, I = 1.7, 0.4
    system = one_body("helical", [Z], mass=m, com=[0, 0, 0.2], moments=[0.5, 0.5, I], gravity=DOWN, pitch=pitch)
    check(system, q, v, I + m * pitch**2, m * GRAVITY * pitch, tau)


@pytest.mark.parametrize(("q", "v", "tau"), STATES)
def test_cylindrical(q, v, tau):
    """T = ½ (I + m d²) q̇1² + ½ m q̇2², U = m g (q2 cos γ + d sin γ cos q1): the axis leans by γ towards x."""
    m, d, I, lean = 1.7, 0.3, 0.4, 0.6
    gravity = -GRAVITY * np.array([np.sin(lean), 0.0, np.cos(lean)])
    system = one_body("cylindrical", [Z], mass=m, com=[d, 0, 0.1], moments=[0.5, 0.5, I], gravity=gravity)
    bias = m * GRAVITY * np.array([-d * np.sin(lean) * np.sin(q[0]), np.cos(lean)])
    check(system, q, v, np.diag([I + m * d * d, m]), bias, tau)


def test_cylindrical_carries_the_centrifugal_force():
    """The reaction holds the mass on its circle: -m d q̇1² along the arm, in the body's axes."""
    m, d, rate = 1.7, 0.3, 2.5
    dynamics = lj.Dynamics(one_body("cylindrical", [Z], mass=m, com=[d, 0, 0]))
    reaction = dynamics.reaction("hinge", [0.8, 0.1], [rate, 0.4], [0.0, 0.0])
    figure(
        "centrifugal reaction",
        reaction,
        [0, 0, 0, -m * d * rate**2, 0, 0],
        unit="N",
        oracle="m d q̇²",
        atol=1e-14,
        rtol=1e-7,
    )


@pytest.mark.parametrize(("q", "v", "tau"), STATES)
def test_universal(q, v, tau):
    """ω = (-sin b ȧ, ḃ, cos b ȧ) in body axes: T = ½ (A sin² b + C cos² b) ȧ² + ½ B ḃ²."""
    A, B, C = 0.7, 1.1, 1.6
    s, c = np.sin(q[1]), np.cos(q[1])
    M = np.diag([A * s * s + C * c * c, B])
    bias = np.array([2.0 * (A - C) * s * c * v[0] * v[1], -(A - C) * s * c * v[0] ** 2])
    check(one_body("universal", [Z, Y], moments=[A, B, C]), q, v, M, bias, tau)


@pytest.mark.parametrize("third", [1.0, -1.0], ids=["right-handed", "left-handed"])
@pytest.mark.parametrize(("q", "v", "tau"), STATES)
def test_gimbal_with_a_ball(q, v, tau, third):
    """Axes z, y, ±x: the first and third meet at z · x' = ∓sin b, so T = ½ I (ȧ² + ḃ² + ċ² ∓ 2 ȧ ċ sin b)."""
    I = 0.8
    s, c = third * np.sin(q[1]), third * np.cos(q[1])
    M = I * np.array([[1.0, 0.0, -s], [0.0, 1.0, 0.0], [-s, 0.0, 1.0]])
    bias = I * c * np.array([-v[1] * v[2], v[0] * v[2], -v[0] * v[1]])
    check(one_body("gimbal", [Z, Y, third * X], moments=[I, I, I]), q, v, M, bias, tau)


def test_gimbal_is_a_gyroscope():
    """A rotor spins at Ω about the third axis; turning the first at ȧ takes the moment C Ω ȧ on the second."""
    A, C, spin, rate = 0.6, 0.9, 200.0, 0.3
    dynamics = lj.Dynamics(one_body("gimbal", [Z, Y, X], moments=[C, A, A]))
    tau = dynamics.inverse([0.2, 0.0, 1.0], [rate, 0.0, spin], np.zeros(3))
    figure("gyroscopic moment", tau, [0.0, C * spin * rate, 0.0], unit="N·m", oracle="C Ω ȧ", atol=1e-11)


@pytest.mark.parametrize(("q", "v", "tau"), STATES)
def test_planar(q, v, tau):
    """Centre of mass at (x + d cos θ, y + d sin θ), gravity along -y."""
    m, d, I = 1.3, 0.4, 0.2
    s, c = np.sin(q[0]), np.cos(q[0])
    system = one_body("planar", [Z, X], mass=m, com=[d, 0, 0.7], moments=[0.5, 0.4, I], gravity=[0, -GRAVITY, 0])
    M = np.array([[I + m * d * d, -m * d * s, m * d * c], [-m * d * s, m, 0.0], [m * d * c, 0.0, m]])
    bias = np.array([m * GRAVITY * d * c, -m * d * c * v[0] ** 2, -m * d * s * v[0] ** 2 + m * GRAVITY])
    check(system, q, v, M, bias, tau)


def test_planar_axes_are_normal_and_x():
    """angle about the normal, x along the second axis, y along normal × x."""
    dynamics = lj.Dynamics(one_body("planar", [X, Z], node=[0.0, 0.0, 1.0]))
    _, p = dynamics.pose("body", [0.0, 2.0, 3.0])
    np.testing.assert_allclose(p, 2.0 * Z + 3.0 * np.cross(X, Z), atol=1e-15)
    _, p = dynamics.pose("tip", [np.pi / 2, 0.0, 0.0])
    np.testing.assert_allclose(p, np.cross(X, Z), atol=1e-15)


def test_disc_rolls_down_an_incline():
    """dv/dt = g sin β / (1 + k²/r²); plane turned by β: gravity (g sin β, 0, -g cos β) in its axes."""
    m, r, slope = 2.0, 0.35, 0.3
    k2 = 0.5 * r**2
    gravity = GRAVITY * np.array([np.sin(slope), 0.0, -np.cos(slope)])
    system = one_body("rolling", [Y, X], mass=m, moments=[m * k2 / 2, m * k2, m * k2 / 2], gravity=gravity, radius=r)
    expected = GRAVITY * np.sin(slope) / (1.0 + k2 / r**2)
    vdot = lj.Dynamics(system).forward([0.4], [1.1], [0.0])
    figure(
        "acceleration down the incline", r * vdot[0], expected, unit="m/s²", oracle="g sin β / (1 + k²/r²)", rtol=1e-13
    )
    sim = lj.Simulation(system, dt=1e-3)
    sim.step(1000)
    figure(
        "way down the incline",
        sim.output["body.position"],
        [0.5 * expected, 0.0, 0.0],
        unit="m",
        oracle="½ a t²",
        atol=1e-15,
        rtol=1e-12,
    )


@pytest.mark.parametrize(("q", "v", "tau"), STATES)
def test_unbalanced_wheel_rolls(q, v, tau):
    """Centre of mass e below the centre at q = 0: T = ½ (I + m (r² + e² - 2 r e cos q)) q̇², U = -m g e cos q."""
    m, r, e, I = 1.4, 0.5, 0.2, 0.15
    system = one_body("rolling", [Y, X], mass=m, com=[0, 0, -e], moments=[0.2, I, 0.2], gravity=DOWN, radius=r)
    M = I + m * (r * r + e * e - 2.0 * r * e * np.cos(q[0]))
    bias = m * r * e * np.sin(q[0]) * v[0] ** 2 + m * GRAVITY * e * np.sin(q[0])
    check(system, q, v, M, bias, tau)


def test_the_contact_point_of_a_rolling_wheel_stands_still():
    """No slip: for every angle the material point under the centre has no velocity."""
    r = 0.5
    for angle in np.linspace(-7.0, 7.0, 9):
        below = np.array([r * np.sin(angle), 0.0, -r * np.cos(angle)])  # Ry(-q) (0, 0, -r)
        dynamics = lj.Dynamics(one_body("rolling", [Y, X], radius=r, node=below))
        velocity = dynamics.velocity("tip", [angle], [1.7])
        figure(
            "velocity of the contact point",
            velocity,
            [0, 1.7, 0, 0, 0, 0],
            oracle="no slip",
            atol=1e-15 * 10,
            rtol=1e-7,
        )


def test_cardan_speed_ratio():
    """Shafts at the angle β, driving pin at θ from their plane: ω2 / ω1 = cos β / (1 - sin² β cos² θ)."""
    beta = 0.6
    out = np.array([np.sin(beta), 0.0, np.cos(beta)])
    for theta in np.linspace(0.0, 2.0 * np.pi, 13):
        c, s = np.cos(theta), np.sin(theta)
        m = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ out  # output axis seen from the driving shaft
        pins = np.array([np.arctan2(-m[1], m[2]), np.arcsin(m[0])])
        J = lj.Dynamics(cardan()).jacobian("output", [theta, *pins])[:3]
        # Unit rate of the driving shaft; pin rates and output speed from ω = J (1, ṗ) = speed · out.
        pin_rates_and_speed = np.linalg.solve(np.column_stack([J[:, 1:], -out]), -J[:, 0])
        expected = np.cos(beta) / (1.0 - np.sin(beta) ** 2 * np.cos(theta) ** 2)
        figure(
            "ratio of speeds of a Cardan joint",
            pin_rates_and_speed[2],
            expected,
            oracle="cos β / (1 - sin² β cos² θ)",
            rtol=1e-13,
        )


def cardan() -> lj.System:
    """Driving shaft about z, then pins along its x and the cross's y."""
    inertia = Inertia(1.0, np.zeros(3), np.eye(3))
    drive = Body("input", inertia, Hinge("drive", "revolute", None, axes=Z[None]))
    joint = Body("output", inertia, Hinge("cross", "universal", "input", axes=np.array([X, Y])))
    return validate(System("cardan", (drive, joint)))


def test_custom_hinge_with_a_sliding_screw_map():
    """H* = [z; x z] constant is a helical hinge; velocities are quasi-velocities along the body's axes."""
    pitch = 0.3
    screw = np.array([[0, 0, 1, 0, 0, pitch]]).T
    hinge = Hinge("hinge", "custom", None, map=screw)
    body = Body("body", Inertia(1.7, np.array([0.1, 0.0, 0.2]), np.diag([0.5, 0.5, 0.4])), hinge)
    custom = lj.Dynamics(validate(System("custom", (body,), gravity=np.array(DOWN))))
    helical = lj.Dynamics(
        one_body("helical", [Z], mass=1.7, com=[0.1, 0, 0.2], moments=[0.5, 0.5, 0.4], gravity=DOWN, pitch=pitch)
    )
    q = np.array([np.cos(0.35), 0, 0, np.sin(0.35), 0, 0, pitch * 0.7])
    figure(
        "mass matrix of a custom hinge",
        custom.mass_matrix(q),
        helical.mass_matrix([0.7]),
        oracle="a helical hinge",
        rtol=1e-14,
    )
    figure(
        "acceleration of a custom hinge",
        custom.forward(q, [1.2], [0.5]),
        helical.forward([0.7], [1.2], [0.5]),
        unit="rad/s²",
        oracle="a helical hinge",
        rtol=1e-13,
    )


def test_gimbal_equals_spherical_under_the_map_of_its_rates():
    """Same body, ω = E(q) q̇ and dω/dt = E dq̇/dt + (dE/dt) q̇: gimbal torque = E* moment."""
    moments, com = [0.3, 0.5, 0.7], [0.1, -0.2, 0.15]
    gimbal = lj.Dynamics(one_body("gimbal", [Z, Y, X], com=com, moments=moments, gravity=DOWN))
    ball = lj.Dynamics(one_body("spherical", com=com, moments=moments, gravity=DOWN))
    for q, v, a in STATES:
        R, _ = gimbal.pose("body", q)
        rate, angular = gimbal.velocity("body", q, v)[:3], gimbal.acceleration("body", q, v, a)[:3]
        moment = ball.inverse(to_quaternion(R), R.T @ rate, R.T @ angular)
        E = R.T @ gimbal.jacobian("body", q)[:3]
        figure(
            "torques of a gimbal",
            gimbal.inverse(q, v, a),
            E.T @ moment,
            unit="N·m",
            oracle="a spherical hinge and the map of rates",
            atol=1e-12,
        )
