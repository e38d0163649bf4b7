"""Springs, dampers, friction, stops and actuators against their closed solutions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.stops import LIMIT_TIME
from limberjack.engine.model.system import Dof
from tests.engine.single_body import X, Z, one_body
from tests.validation.figures import figure

MASS = 2.0


def slider(dof: Dof, q0: float = 0.0, v0: float = 0.0, actuators: tuple[Actuator, ...] = ()) -> lj.System:
    """A mass MASS that slides along x."""
    return one_body("prismatic", [X], mass=MASS, dofs=(dof,), q0=[q0], v0=[v0], actuators=actuators)


def spring_damper(k: float, c: float, m: float) -> np.ndarray:
    """d[x; v]/dt = A [x; v]."""
    return np.array([[0.0, 1.0], [-k / m, -c / m]])


@pytest.mark.parametrize(("k", "c"), [(50.0, 1.0), (50.0, 20.0), (50.0, 60.0)], ids=["under", "critical", "over"])
def test_rk4_follows_a_spring_and_damper(k, c):
    rest = 0.3
    sim = lj.Simulation(slider(Dof(stiffness=k, damping=c, rest=rest), q0=1.0, v0=-2.0), dt=1e-3)
    for _ in range(5):
        sim.step(200)
        x, v = expm(spring_damper(k, c, MASS) * sim.time) @ [1.0 - rest, -2.0]
        # (h ω)⁴ ω T / 120 with the fastest rate ω = 28/s
        figure("position of a damped oscillator", sim.q[0], rest + x, unit="m", oracle="matrix exponential", atol=2e-7)
        figure("velocity of a damped oscillator", sim.v[0], v, unit="m/s", oracle="matrix exponential", atol=2e-6)


@pytest.mark.parametrize(("k", "c"), [(50.0, 1.0), (50.0, 60.0), (1e8, 0.0), (1e8, 1e7)])
def test_implicit_follows_its_own_recursion(k, c):
    """v⁺ = (m v - h k x) / (m + h c + h² k), x⁺ = x + h v⁺, to rounding, however stiff."""
    h, x, v = 1e-3, 1.0, -2.0
    sim = lj.Simulation(slider(Dof(stiffness=k, damping=c), q0=x, v0=v), dt=h, integrator="implicit")
    for _ in range(500):
        v = (MASS * v - h * k * x) / (MASS + h * c + h * h * k)
        x += h * v
        sim.step()
        figure("velocity", sim.v[0], v, unit="m/s", oracle="recursion of the implicit method", atol=1e-12, rtol=1e-9)
        figure("position", sim.q[0], x, unit="m", oracle="recursion of the implicit method", atol=1e-12, rtol=1e-9)


@pytest.mark.parametrize("h", [2e-3, 1e-3])
def test_implicit_response_of_a_spring_and_damper(h):
    """First order: the error at t = 1 s is at most h/2 × |d²x/dt²| × t, here with ω² = 25/s² and swings of 1 m."""
    k, c = 50.0, 2.0
    sim = lj.Simulation(slider(Dof(stiffness=k, damping=c), q0=1.0), dt=h, integrator="implicit")
    sim.step(round(1.0 / h))
    x, _ = expm(spring_damper(k, c, MASS)) @ [1.0, 0.0]
    figure("error of implicit after 1 s", abs(sim.q[0] - x), unit="m", oracle="h/2 |d²x/dt²| t", below=0.5 * h * 25.0)


def test_armature_adds_to_the_moving_mass():
    sim = lj.Simulation(slider(Dof(stiffness=50.0, armature=3.0), q0=1.0), dt=1e-3)
    sim.step(1000)
    figure(
        "position with armature", sim.q[0], np.cos(np.sqrt(50.0 / (MASS + 3.0))), unit="m", oracle="cos ω t", atol=1e-9
    )


def test_coulomb_friction_brings_a_mass_to_rest():
    """m dv/dt = -F tanh(v / v_F) has the solution sinh(v / v_F) = sinh(v0 / v_F) exp(-F t / (m v_F))."""
    force, rate, v0 = 4.0, 0.05, 0.4
    sim = lj.Simulation(slider(Dof(friction=force, friction_rate=rate), v0=v0), dt=1e-4)
    for _ in range(8):
        sim.step(500)
        expected = rate * np.arcsinh(np.sinh(v0 / rate) * np.exp(-force * sim.time / (MASS * rate)))
        figure(
            "velocity under friction",
            sim.v[0],
            expected,
            unit="m/s",
            oracle="sinh law of smoothed friction",
            atol=1e-10,
        )
    # The stopping distance of dry friction, m v0² / 2 F, up to the rounding of the corner at rest: v_F² m / F.
    figure(
        "stopping distance",
        sim.q[0],
        MASS * v0**2 / (2 * force),
        unit="m",
        oracle="m v0² / 2 F",
        atol=MASS * rate**2 / force,
    )


def test_friction_holds_against_a_smaller_force_up_to_its_creep():
    """A push below F only creeps at v_F artanh(push / F)."""
    force, push, rate = 4.0, 3.0, 1e-3
    drive = Actuator("push", "hinge", initial=push)
    system = slider(Dof(friction=force, friction_rate=rate), actuators=(drive,))
    sim = lj.Simulation(system, dt=1e-4, integrator="implicit")
    sim.step(20_000)
    figure(
        "creep under a smaller force",
        sim.v[0],
        rate * np.arctanh(push / force),
        unit="m/s",
        oracle="v_F artanh",
        rtol=1e-9,
    )


def test_elastic_stop_returns_the_speed():
    """Contact lasts π √(m / k), goes v √(m / k) deep and gives the speed back."""
    k, v0, gap = 2e4, 1.5, 0.2
    dof = Dof(upper=gap, limit_stiffness=k, limit_damping=0.0)
    w = np.sqrt(k / MASS)
    h = 1e-6
    sim = lj.Simulation(slider(dof, v0=v0), dt=h)
    # The corner of the force costs one step of second order in the gap: h v of position, once each way.
    to_deepest = gap / v0 + 0.5 * np.pi / w
    sim.step(round(to_deepest / h))
    figure("deepest point in a stop", sim.q[0], gap + v0 / w, unit="m", oracle="v √(m/k)", atol=2 * h * v0)
    assert abs(sim.v[0]) < 2 * h * v0 * w
    sim.step(round((to_deepest + 0.01) / h) - round(to_deepest / h) + round(0.5 * np.pi / w / h))
    figure("speed that a stop returns", sim.v[0], -v0, unit="m/s", oracle="conservation", rtol=2 * h * w)


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["upper", "lower"])
def test_stop_chosen_at_build_is_critically_damped_and_never_pulls(sign):
    """k = D / T², c = 2 D / T; the force on the hinge never points towards the limit."""
    limits = {"upper": 0.1} if sign > 0 else {"lower": -0.1}
    sim = lj.Simulation(slider(Dof(armature=1.0, **limits), v0=sign), dt=1e-5)
    D = MASS + 1.0
    stop = sim.dynamics.passive
    figure(
        "force of a stop at rest",
        stop([sign * 0.101], [0.0])[0],
        -sign * 0.001 * D / LIMIT_TIME**2,
        unit="N",
        oracle="D d / T²",
        rtol=1e-9,
    )
    figure(
        "force of a stop in motion",
        stop([sign * 0.101], [sign])[0],
        -sign * (0.001 * D / LIMIT_TIME**2 + 2 * D / LIMIT_TIME),
        unit="N",
        oracle="D d / T² + 2 D v / T",
        rtol=1e-9,
    )
    assert stop([sign * 0.101], [-sign])[0] == 0.0
    assert stop([sign * 0.099], [sign])[0] == 0.0
    deepest = 0.0
    for _ in range(400):
        sim.step(50)
        assert sign * sim.tau[0] <= 0.0
        deepest = max(deepest, sign * sim.q[0] - 0.1)
    # Critically damped: x(t) = v t exp(-t / T) is deepest at t = T, with v T / e.
    figure(
        "deepest point in a critically damped stop", deepest, LIMIT_TIME / np.e, unit="m", oracle="v T / e", rtol=1e-3
    )
    assert sim.time == pytest.approx(0.2)


def test_quasi_velocities_can_be_damped():
    """A ball in a viscous socket: I dω/dt = -c ω about any axis of a sphere."""
    dofs = (Dof(damping=0.5),) * 3
    sim = lj.Simulation(one_body("spherical", dofs=dofs, v0=[1.0, -2.0, 0.5]), dt=1e-3)
    sim.step(1000)
    figure(
        "rates of a damped ball",
        sim.v,
        np.exp(-0.5) * np.array([1.0, -2.0, 0.5]),
        unit="rad/s",
        oracle="exp(-c t / I)",
        rtol=1e-12,
    )


def servo(limit: float) -> lj.System:
    drive = Actuator("servo", "hinge", "servo", kp=80.0, kd=12.0, limit=limit)
    return one_body("revolute", [Z], moments=[1, 1, 0.5], actuators=(drive,))


def test_servo_step_with_torque_limit():
    """Full torque first: q = ½ (limit / I) t²; then the linear law. The whole against scipy on I q̈ = clip(…)."""
    limit, I = 4.0, 0.5
    sim = lj.Simulation(servo(limit), dt=1e-4)
    sim.command["servo"] = 1.0
    sim.step(1000)
    figure(
        "servo at its torque limit",
        sim.q[0],
        0.5 * limit / I * 0.1**2,
        unit="rad",
        oracle="½ (limit / I) t²",
        rtol=1e-12,
    )
    assert sim.tau[0] == limit
    sim.step(9000)

    def slope(_, y):
        return [y[1], np.clip(80.0 * (1.0 - y[0]) - 12.0 * y[1], -limit, limit) / I]

    end = solve_ivp(slope, (0.0, 1.0), [0.0, 0.0], rtol=1e-11, atol=1e-12, max_step=1e-3).y[:, -1]
    # The switch between torque limit and linear law falls inside one step of ours: about (jump of slope) h².
    figure("servo that leaves its limit", [sim.q[0], sim.v[0]], end, oracle="scipy's solve_ivp", atol=1e-6)


def test_servo_without_limit_follows_the_linear_response():
    I = 0.5
    sim = lj.Simulation(servo(np.inf), dt=1e-4)
    sim.command["servo"] = 1.0
    sim.step(2000)
    x, v = expm(spring_damper(80.0, 12.0, I) * 0.2) @ [-1.0, 0.0]
    figure("servo without limit", [sim.q[0], sim.v[0]], [1.0 + x, v], oracle="matrix exponential", atol=1e-9)


def test_servo_rate_and_torque_commands_add():
    sim = lj.Simulation(servo(np.inf), dt=1e-4)
    sim.command["servo"], sim.command["servo.rate"], sim.command["servo.torque"] = 0.3, -0.2, 1.5
    figure(
        "torque of a servo", sim.tau[0], 80.0 * 0.3 - 12.0 * 0.2 + 1.5, unit="N·m", oracle="its definition", rtol=1e-15
    )
    assert sim.vdot[0] == pytest.approx(sim.tau[0] / 0.5, rel=1e-14)


def test_velocity_drive_approaches_its_rate():
    """I dv/dt = kd (u - v): v = u (1 - exp(-kd t / I))."""
    drive = Actuator("wheel", "hinge", "velocity", kd=2.0, initial=5.0)
    sim = lj.Simulation(one_body("revolute", [Z], moments=[1, 1, 0.5], actuators=(drive,)), dt=1e-4)
    sim.step(3000)
    figure(
        "rate of a velocity drive",
        sim.v[0],
        5.0 * (1.0 - np.exp(-2.0 * 0.3 / 0.5)),
        unit="rad/s",
        oracle="u (1 - exp(-k t / I))",
        rtol=1e-10,
    )
    sim.command["wheel.torque"] = 1.0
    assert sim.tau[0] == pytest.approx(2.0 * (5.0 - sim.v[0]) + 1.0, rel=1e-14)


@pytest.mark.parametrize("command", [7.0, -7.0])
def test_torque_drive_is_clipped(command):
    drive = Actuator("motor", "hinge", limit=3.0)
    sim = lj.Simulation(one_body("revolute", [Z], actuators=(drive,)), dt=1e-3)
    sim.command["motor"] = command
    assert sim.tau[0] == np.copysign(3.0, command)


@pytest.mark.parametrize("gain", [1e3, 1e7])
def test_stiff_servo_is_implicit_too(gain):
    """The implicit method counts kp and kd: h² kp / I is 0.1 and 1000; no overshoot, exact arrival."""
    drive = Actuator("servo", "hinge", "servo", kp=gain, kd=gain / 10, initial=1.0)
    sim = lj.Simulation(one_body("revolute", [Z], actuators=(drive,)), dt=1e-2, integrator="implicit")
    highest = 0.0
    for _ in range(400):
        sim.step()
        highest = max(highest, sim.q[0])
    figure("overshoot of a stiff servo", highest, unit="rad", oracle="its target", below=1.0 + 1e-12)
    figure("arrival of a stiff servo", sim.q[0], 1.0, unit="rad", oracle="its target", atol=1e-9)
