"""Motors against their differential equations, solved by scipy, and against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from tests.validation.figures import figure

LOAD = 0.8  # kg·m²
MOTOR = Motor(torque_constant=0.05, resistance=0.5, inductance=1e-3, bandwidth=200.0, gear=50.0, inertia=1e-4)


def joint(
    motor: Motor | None,
    mode: str = "torque",
    integrator: str = "rk4",
    dt: float = 1e-3,
    load: float = LOAD,
    **drive: float,
) -> lj.Simulation:
    """A load on a joint behind a motor."""
    hinge = Hinge("joint", "revolute", None, axes=np.array([[0.0, 0.0, 1.0]]), dofs=(Dof(damping=0.4),))
    body = Body("load", Inertia(1.0, np.zeros(3), load * np.eye(3)), hinge)
    actuator = Actuator("drive", "joint", mode, motor=motor, **drive)
    system = System("joint", (body,), actuators=(actuator,), gravity=np.zeros(3), integrator=integrator)
    kinds = ("motor_current", "motor_position", "motor_rate")
    sensors = tuple(Sensor(kind, kind, "drive") for kind in kinds) if motor else ()
    return lj.Simulation(validate(replace(system, sensors=sensors)), dt=dt)


def equations(motor: Motor, torque: float, load: float = LOAD):
    """dx/dt of [current, ∫e, rotor angle / N, its rate, joint, its rate], for a constant wanted torque."""
    n, kt = motor.gear, motor.torque_constant
    kp, ki = (2.0 * math.pi * motor.bandwidth * x for x in (motor.inductance, motor.resistance))
    stiff = motor.stiffness == 0.0

    def rates(t: float, x: np.ndarray) -> list[float]:
        i, z, phi, w, q, v = x
        w = v if stiff else w
        wanted = float(np.clip(torque / (n * kt), -motor.current, motor.current))
        u = kp * (wanted - i) + ki * z
        limited = abs(u) > motor.voltage
        u = float(np.clip(u, -motor.voltage, motor.voltage))
        di = (u - motor.resistance * i - n * kt * w) / motor.inductance
        friction = n * (motor.friction * math.tanh(n * w / motor.friction_rate) + motor.damping * n * w)
        rotor = n * n * motor.inertia
        if stiff:
            dv = (n * kt * i - friction - 0.4 * v) / (load + rotor)
            return [di, 0.0 if limited else wanted - i, v, dv, v, dv]
        x, half = phi - q, 0.5 * motor.backlash
        gear = 0.0
        if abs(x) > half:
            gear = motor.stiffness * (x - math.copysign(half, x)) + motor.gear_damping * (w - v)
            gear = gear if gear * x > 0.0 else 0.0
        dw, dv = (n * kt * i - friction - gear) / rotor, (gear - 0.4 * v) / load
        return [di, 0.0 if limited else wanted - i, w, dw, v, dv]

    return rates


def solved(motor: Motor, torque: float, until: float) -> np.ndarray:
    found = solve_ivp(
        equations(motor, torque), (0.0, until), np.zeros(6), "LSODA", rtol=1e-9, atol=1e-11, max_step=1e-4
    )
    return found.y[:, -1]


VARIANTS = {
    "stiff": MOTOR,
    "friction": replace(MOTOR, friction=0.01, damping=1e-4, friction_rate=2.0),
    "voltage": replace(MOTOR, voltage=6.0),
    "current": replace(MOTOR, current=4.0),
    "elastic": replace(MOTOR, stiffness=3000.0, gear_damping=4.0),
    "backlash": replace(MOTOR, stiffness=3000.0, gear_damping=4.0, backlash=0.02, friction=0.005, friction_rate=2.0),
}


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
@pytest.mark.parametrize("name", VARIANTS)
def test_it_follows_its_equations(name, integrator):
    """Of first order in the step."""
    motor, torque, until = VARIANTS[name], 20.0, 0.12
    exact = solved(motor, torque, until)
    misses = []
    for dt in (2e-4, 5e-5):
        simulation = joint(motor, integrator=integrator, dt=dt)
        simulation.command["drive"] = torque
        simulation.step(round(until / dt))
        seen = [simulation.output["motor_current"], simulation.output["motor_position"] / motor.gear]
        seen += [simulation.output["motor_rate"] / motor.gear, simulation.q[0], simulation.v[0]]
        misses.append(np.abs(np.array(seen) - exact[[0, 2, 3, 4, 5]]) / np.abs(exact[[0, 2, 3, 4, 5]]))
    figure("current, angles and rates, relative error", misses[1], oracle="scipy's LSODA", below=5e-3)
    assert np.all(misses[1] < 0.5 * misses[0] + 1e-4), misses


def test_stall_current_and_no_load_speed():
    motor = replace(MOTOR, voltage=12.0)
    held = joint(motor, dt=1e-3, load=1e9)
    held.command["drive"] = 1e3
    held.step(100)
    figure("current of a stalled motor", held.output["motor_current"], 12.0 / 0.5, unit="A", oracle="U / R", rtol=1e-6)
    free = joint(replace(motor, inertia=1e-6), dt=1e-3, load=1e-3)
    system = replace(
        free.system, bodies=(replace(free.system.bodies[0], hinge=replace(free.system.bodies[0].hinge, dofs=(Dof(),))),)
    )
    free = lj.Simulation(validate(system), dt=1e-3)
    free.command["drive"] = 1e3
    free.step(3000)
    figure("no-load speed", free.output["motor_rate"], 12.0 / 0.05, unit="rad/s", oracle="U / K", rtol=1e-6)
    assert abs(free.output["motor_current"]) < 1e-4


def test_a_stiff_gear_reflects_the_rotors_inertia():
    simulation = joint(MOTOR)
    M = simulation.dynamics.mass_matrix(simulation.q)
    figure(
        "inertia seen at the joint", M[0, 0], LOAD + 50.0**2 * 1e-4, unit="kg·m²", oracle="J + N² J_rotor", rtol=1e-12
    )


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("stiffness", [1e3, 1e6, 1e9])
def test_an_elastic_gear_keeps_momentum_and_is_stable_for_any_stiffness(integrator, stiffness):
    """Without current and friction, what the rotor loses the load gains; nothing gains energy."""
    motor = replace(MOTOR, stiffness=stiffness, gear_damping=1.0, torque_constant=1e-9)
    simulation = joint(motor, integrator=integrator, dt=1e-3)
    system = simulation.system
    body = system.bodies[0]
    free = replace(system, bodies=(replace(body, hinge=replace(body.hinge, dofs=(Dof(),), v0=np.array([1.0]))),))
    simulation = lj.Simulation(validate(free), dt=1e-3)
    simulation.step()  # from then on the rotor has a rate of its own
    simulation.v = np.array([0.0])  # and turns on
    rotor = 50.0**2 * 1e-4
    for _ in range(400):
        simulation.step()
        w, v = simulation.output["motor_rate"] / 50.0, simulation.v[0]
        figure(
            "momentum of rotor and load", rotor * w + LOAD * v, rotor, unit="N·m·s", oracle="conservation", rtol=1e-5
        )
        figure(
            "twice the energy of rotor and load",
            rotor * w * w + LOAD * v * v,
            unit="J",
            oracle="conservation",
            below=rotor * (1.0 + 1e-6),
        )
    if stiffness > 1e3:
        figure(
            "common rate of rotor and load", w, rotor / (rotor + LOAD), unit="rad/s", oracle="conservation", rtol=1e-2
        )


def test_backlash_lets_the_rotor_turn_alone_first():
    play = 0.1
    simulation = joint(replace(MOTOR, stiffness=1e4, backlash=play), dt=1e-4)
    simulation.command["drive"] = 2.0
    while simulation.output["motor_position"] / 50.0 < 0.5 * play - 2e-3:
        simulation.step()
        assert simulation.q[0] == 0.0
    simulation.step(2000)
    assert simulation.q[0] > 0.01


def test_a_servo_holds_its_position_through_motor_and_gear():
    motor = replace(MOTOR, stiffness=5e3, gear_damping=5.0, backlash=1e-3, voltage=48.0, current=20.0)
    simulation = joint(motor, "servo", "implicit", dt=1e-3, kp=60.0, kd=12.0)
    simulation.command["drive"] = 0.5
    simulation.step(4000)
    for _ in range(50):  # backlash lets it hunt within the play
        simulation.step(20)
        figure(
            "position held through gear and play",
            simulation.q[0],
            0.5,
            unit="rad",
            oracle="its target and the play",
            atol=1e-3,
        )


def test_single_steps_and_snapshots():
    motor = VARIANTS["backlash"]
    one, two = joint(motor), joint(motor)
    for simulation in (one, two):
        simulation.command["drive"] = 20.0
    one.step(100)
    for _ in range(100):
        two.step()
    assert np.array_equal(one.state, two.state)
    snapshot = one.snapshot()
    one.step(50)
    two.restore(snapshot)
    two.step(50)
    assert np.array_equal(one.state, two.state)


def test_until_the_first_step_rotors_turn_with_their_joints():
    """Start values set by a program wind no gear up; later ones leave the rotor where it is."""
    sim = joint(replace(MOTOR, stiffness=1e4))
    sim.q, sim.v = [0.3], [0.2]
    assert sim.output["motor_position"] == pytest.approx(MOTOR.gear * 0.3)
    assert sim.output["motor_rate"] == pytest.approx(MOTOR.gear * 0.2)
    assert sim.tau == pytest.approx([-0.4 * 0.2])
    sim.step(1)
    rotor = sim.output["motor_position"]
    sim.q = [0.0]
    assert sim.output["motor_position"] == rotor
