"""Motions with a closed solution: torque-free body, heavy top, pendulum, projectile.

All by rk4. Tolerance: its error over a run is about (h ω)⁴ ω T / 120 with ω the fastest rate; each test states h and
asks for 1e-9 or better, above that estimate and far below any modelling error.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import limberjack as lj
from limberjack.engine.algebra.rotations import from_axis_angle, to_quaternion
from limberjack.engine.model.system import Body, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate
from tests.engine.single_body import GRAVITY, Y, Z, one_body
from tests.validation.figures import figure


def elliptic_rates(I: np.ndarray, w1: float, w3: float, t: float) -> np.ndarray:
    """ω(t) from ω(0) = (w1, 0, w3) of a free body with I1 < I2 < I3 and L² > 2 T I2 (Landau & Lifshitz, §37)."""
    E2, L2 = I[0] * w1**2 + I[2] * w3**2, (I[0] * w1) ** 2 + (I[2] * w3) ** 2
    assert E2 * I[1] < L2
    tau = t * np.sqrt((I[2] - I[1]) * (L2 - E2 * I[0]) / np.prod(I))
    m = (I[1] - I[0]) * (E2 * I[2] - L2) / ((I[2] - I[1]) * (L2 - E2 * I[0]))
    sn, cn, dn, _ = ellipj(tau, m)
    return np.array(
        [
            np.sqrt((E2 * I[2] - L2) / (I[0] * (I[2] - I[0]))) * cn,
            np.sqrt((E2 * I[2] - L2) / (I[1] * (I[2] - I[1]))) * sn,
            np.sqrt((L2 - E2 * I[0]) / (I[2] * (I[2] - I[0]))) * dn,
        ]
    )


@pytest.mark.parametrize("hinge_type", ["free", "spherical"])
def test_torque_free_asymmetric_body(hinge_type):
    """ω in body axes follows Jacobi's functions, and R I ω stays where it is in the inertial frame."""
    I, w1, w3 = np.array([1.0, 2.0, 3.0]), 0.6, 2.0
    rate = [w1, 0.0, w3]
    v0 = [*rate, 0.3, -0.1, 0.2] if hinge_type == "free" else rate
    system = one_body(hinge_type, moments=I, v0=v0)
    sim = lj.Simulation(system, dt=2e-3)
    start = sim.output["momentum"]
    for _ in range(10):
        sim.step(500)
        expected = elliptic_rates(I, w1, w3, sim.time)
        figure("rates in body axes", sim.v[:3], expected, unit="rad/s", oracle="Jacobi's elliptic functions", atol=1e-9)
        L = sim.output["momentum"][:3]
        figure("angular momentum", L, start[:3], unit="N·m·s", oracle="conservation", atol=1e-9)


def top(spin: float, precession: float, tilt: float, **options) -> lj.System:
    """Symmetric top on its tip at the origin, axis tilted about y; ω = precession ẑ + spin axis."""
    R = from_axis_angle(Y, tilt)
    rate = R.T @ (precession * Z) + spin * Z
    fixed_point = {"mass": 0.5, "com": [0.0, 0.0, 0.1], "moments": [0.002, 0.002, 0.001]}
    gravity = [0.0, 0.0, -GRAVITY]
    return one_body(
        "spherical", gravity=gravity, q0=to_quaternion(R), v0=rate, node=[0, 0, 1], **fixed_point, **options
    )


TOP_I1, TOP_I3, TOP_MGL = 0.002 + 0.5 * 0.1**2, 0.001, 0.5 * GRAVITY * 0.1


@pytest.mark.parametrize("root", [0, 1], ids=["fast", "slow"])
@pytest.mark.parametrize("spin_rate", [150.0, 220.0])
def test_steady_precession_of_a_heavy_top(root, spin_rate):
    """I1 Ω² cos θ - I3 ω3 Ω + m g l = 0 has two roots; with either the axis turns about z at the rate Ω."""
    tilt = 0.7
    roots = np.roots([TOP_I1 * np.cos(tilt), -TOP_I3 * spin_rate, TOP_MGL])
    assert np.all(np.isreal(roots))
    rate = float(np.sort(roots)[::-1][root])
    sim = lj.Simulation(top(spin_rate - rate * np.cos(tilt), rate, tilt), dt=1e-4)
    for _ in range(4):
        sim.step(1000)
        axis = from_axis_angle(Z, rate * sim.time) @ from_axis_angle(Y, tilt) @ Z
        # (h ω)⁴ ω T / 120 = (1e-4 · 220)⁴ · 220 · 0.4 / 120
        figure("axis of a heavy top", sim.output["tip.position"], axis, oracle="roots of its quadratic", atol=2e-7)


def test_nutation_of_a_heavy_top_between_the_roots_of_its_cubic():
    """u = cos θ swings between roots of (1 - u²)(α - β u) - (b - a u)²; energy, L_z and ω3 stay."""
    tilt, spin = 0.5, 150.0
    sim = lj.Simulation(top(spin, 1.0, tilt), dt=1e-4)
    w3 = sim.v[2]
    energy, L = sum(sim.dynamics.energy(sim.q, sim.v)), sim.output["momentum"][2]
    a, b = TOP_I3 * w3 / TOP_I1, L / TOP_I1
    alpha, beta = (2 * energy - TOP_I3 * w3**2) / TOP_I1, 2 * TOP_MGL / TOP_I1
    roots = np.sort(np.roots([beta, -(alpha + a * a), 2 * a * b - beta, alpha - b * b]).real)
    u = []
    for _ in range(5000):
        sim.step(1)
        u.append(sim.output["tip.position"][2])
    # A turning point falls between samples by at most (h × nutation rate)² / 8 of the swing.
    missed = (1e-4 * a) ** 2 / 8 * (roots[1] - roots[0])
    found = [np.min(u), np.max(u)]
    figure("cosines at which it turns", found, roots[:2], oracle="roots of its cubic", atol=missed + 1e-7)
    figure("spin", sim.v[2], w3, unit="rad/s", oracle="conservation", rtol=1e-9)
    found = sum(sim.dynamics.energy(sim.q, sim.v))
    figure("energy of a heavy top", found, energy, unit="J", oracle="conservation", rtol=1e-6)
    figure("momentum about z", sim.output["momentum"][2], L, unit="N·m·s", oracle="conservation", rtol=1e-6)


@pytest.mark.parametrize("amplitude", [0.1, 1.0, 2.5, 3.1])
def test_pendulum_period(amplitude):
    """T = 4 K(sin²(θ0 / 2)) √(I / m g l): after it the pendulum is back at rest at θ0."""
    m, l, I = 1.3, 0.4, 0.05
    system = one_body(
        "revolute", [Y], mass=m, com=[0, 0, -l], moments=[I, I, I], gravity=[0, 0, -GRAVITY], q0=[amplitude]
    )
    period = 4.0 * ellipk(np.sin(0.5 * amplitude) ** 2) * np.sqrt((I + m * l * l) / (m * GRAVITY * l))
    sim = lj.Simulation(system, dt=period / 4000)
    oracle = "complete elliptic integral"
    sim.step(2000)
    figure("angle after half a period", sim.q[0], -amplitude, unit="rad", oracle=oracle, atol=1e-9)
    sim.step(2000)
    figure("angle after a period", sim.q[0], amplitude, unit="rad", oracle=oracle, atol=1e-9)
    figure("rate after a period", sim.v[0], 0.0, unit="rad/s", oracle=oracle, atol=1e-8)


def test_projectile():
    """A tumbling body's centre of mass flies a parabola."""
    g = np.array([0.3, -0.2, -GRAVITY])
    system = one_body(
        "free", com=[0.2, -0.1, 0.3], moments=[0.3, 0.4, 0.5], gravity=g, v0=[1.0, -2.0, 0.5, 3.0, 1.0, 6.0]
    )
    sim = lj.Simulation(system, dt=1e-3)
    start, velocity = sim.dynamics.center_of_mass(sim.q), sim.output["momentum"][3:] / system.mass
    sim.step(2000)
    expected = start + velocity * sim.time + 0.5 * g * sim.time**2
    found = sim.dynamics.center_of_mass(sim.q)
    figure("centre of mass", found, expected, unit="m", oracle="parabola", atol=1e-10)


def double_pendulum(m1: float, m2: float, l1: float, l2: float) -> lj.System:
    """Point masses at the ends of massless links that hang down at q = 0 and turn about -y."""
    upper = Hinge("upper", "revolute", None, axes=-Y[None])
    lower = Hinge("lower", "revolute", "link1", Pose(position=np.array([0.0, 0.0, -l1])), axes=-Y[None])
    bodies = (
        Body("link1", Inertia(m1, np.array([0.0, 0.0, -l1])), upper),
        Body("link2", Inertia(m2, np.array([0.0, 0.0, -l2])), lower),
    )
    return validate(System("double pendulum", bodies, gravity=np.array([0.0, 0.0, -GRAVITY])))


def test_double_pendulum_acceleration():
    """Textbook equations of two point masses, with the joint angles of the chain (relative to the link before)."""
    m1, m2, l1, l2 = 1.2, 0.7, 0.8, 0.5
    dynamics = lj.Dynamics(double_pendulum(m1, m2, l1, l2))
    a, b, da, db = 0.7, -1.1, 1.3, 2.1  # absolute angle of link 1, relative angle of link 2
    c, s, w = np.cos(b), np.sin(b), da + db
    M = np.array(
        [
            [(m1 + m2) * l1**2 + m2 * l2**2 + 2 * m2 * l1 * l2 * c, m2 * l2**2 + m2 * l1 * l2 * c],
            [m2 * l2**2 + m2 * l1 * l2 * c, m2 * l2**2],
        ]
    )
    coriolis = m2 * l1 * l2 * s * np.array([da**2 - w**2, da**2])
    gravity = GRAVITY * np.array([(m1 + m2) * l1 * np.sin(a) + m2 * l2 * np.sin(a + b), m2 * l2 * np.sin(a + b)])
    oracle = "textbook equations"
    figure("mass matrix", dynamics.mass_matrix([a, b]), M, unit="kg·m²", oracle=oracle, rtol=1e-14)
    bias = dynamics.bias([a, b], [da, db])
    figure("Coriolis, centrifugal and gravity torques", bias, coriolis + gravity, unit="N·m", oracle=oracle, rtol=1e-13)
