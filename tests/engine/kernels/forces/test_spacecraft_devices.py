"""Wheels, gyrostats, control-moment gyros and thrusters against closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from tests.engine.kernels.flexible.particles import random_flexible, random_state
from tests.validation.figures import figure

MOMENTS = np.array([5.0, 6.0, 4.0])


def bus(moments: np.ndarray = MOMENTS, com: np.ndarray | None = None, **more) -> System:
    inertia = Inertia(50.0, np.zeros(3) if com is None else com, np.diag(moments))
    return validate(System("bus", (Body("bus", inertia, Hinge("bus", "free", None)),), gravity=np.zeros(3), **more))


def start(simulation: lj.Simulation, omega: np.ndarray) -> None:
    v = simulation.v
    v[:3] = omega
    simulation.v = v


def rotor_axis() -> np.ndarray:
    return np.array([0.0, 0.0, 1.0])


def test_gyrostat_obeys_eulers_equation():
    """J dω/dt = -ω × (J ω + h), and the body's energy and the whole momentum stay."""
    h, omega = np.array([1.0, -2.0, 3.0]), np.array([0.3, 0.2, -0.4])
    simulation = lj.Simulation(lj.equip(bus(), lj.Rotor("rotor", "bus", h)), dt=0.01)
    start(simulation, omega)
    expected = -np.cross(omega, MOMENTS * omega + h) / MOMENTS
    figure(
        "acceleration of a gyrostat",
        simulation.vdot[:3],
        expected,
        unit="rad/s²",
        oracle="Euler's equation",
        atol=1e-14,
    )
    energy, momentum = simulation.output["energy.total"], simulation.output["momentum"]
    figure("momentum of a gyrostat", momentum[:3], MOMENTS * omega + h, unit="N·m·s", oracle="J ω + h", atol=1e-14)
    simulation.step(5000)
    figure(
        "energy of a gyrostat", simulation.output["energy.total"], energy, unit="J", oracle="conservation", rtol=1e-9
    )
    figure(
        "momentum of a gyrostat",
        simulation.output["momentum"],
        momentum,
        unit="N·m·s",
        oracle="conservation",
        atol=1e-9,
    )


def test_nutation_of_a_dual_spin_satellite():
    """Round across z, with spin ω_z and rotor momentum h along z: ω_x, ω_y turn at ((I_z - I_t) ω_z + h) / I_t."""
    across, along, spin, h = 6.0, 4.0, 0.2, 5.0
    system = lj.equip(bus(np.array([across, across, along])), lj.Rotor("rotor", "bus", h * rotor_axis()))
    simulation = lj.Simulation(system, dt=0.005)
    start(simulation, np.array([1e-2, 0.0, spin]))
    rate = ((along - across) * spin + h) / across
    for _ in range(10):
        simulation.step(200)
        turned = rate * simulation.time
        expected = 1e-2 * np.array([np.cos(turned), np.sin(turned)])
        figure("nutation", simulation.v[:2], expected, unit="rad/s", oracle="closed form", atol=1e-9)


def test_a_wheel_that_holds_its_speed_is_a_gyrostat():
    """A stiff speed drive and the rotor of constant momentum move the body alike; the wheel's body joins the bus."""
    mass, spin, across, speed = 3.0, 0.04, 0.025, 150.0
    axis = np.array([0.6, 0.0, 0.8])
    inertia = across * np.eye(3) + (spin - across) * np.outer(axis, axis)
    held = lj.Wheel("w", "bus", axis, mass, spin, across, speed=speed, mode="speed", gain=1e4)
    lump = Body("lump", Inertia(mass, np.zeros(3), inertia), Hinge("lump", "fixed", "bus"))
    locked = validate(replace(bus(), bodies=(*bus().bodies, lump)))
    found = []
    for system in (lj.equip(bus(), held), lj.equip(locked, lj.Rotor("r", "bus", spin * speed * axis))):
        simulation = lj.Simulation(system, dt=1e-3, integrator="implicit")
        start(simulation, np.array([0.2, 0.3, -0.1]))
        simulation.step(2000)
        found.append(np.concatenate([simulation.q[:7], simulation.v[:6]]))
        assert np.linalg.norm(simulation.output["momentum"][:3]) > 1.0
    figure("state with a wheel at constant speed", found[0], found[1], oracle="a gyrostat", atol=1e-4)


def test_wheel_torque_and_its_limits():
    """The bus gets the opposite of the motor's torque; momentum stays; at the largest speed the motor only brakes."""
    wheel = lj.Wheel("rw", "bus", np.array([0.0, 0.0, 2.0]), 2.0, 0.05, max_torque=0.2, max_speed=20.0)
    system = lj.equip(bus(np.array([5.0, 6.0, 3.95])), wheel)
    simulation = lj.Simulation(system, dt=0.01)
    simulation.command["rw"] = 5.0  # more than it has
    momentum = simulation.output["momentum"]
    figure(
        "acceleration by a wheel's torque", simulation.vdot[2], -0.2 / 3.95, unit="rad/s²", oracle="-T / J", rtol=1e-12
    )
    simulation.step(100)
    figure("rate after 1 s of torque", simulation.v[2], -0.2 / 3.95, unit="rad/s", oracle="-T t / J", rtol=1e-9)
    figure(
        "speed of the wheel",
        simulation.v[6],
        0.2 * (1 / 0.05 + 1 / 3.95),
        unit="rad/s",
        oracle="T (1/J_w + 1/J) t",
        rtol=1e-9,
    )
    simulation.step(2000)
    assert 20.0 <= simulation.v[6] <= 20.0 + 0.01 * 0.2 * (1 / 0.05 + 1 / 3.95)
    assert simulation.tau[6] == 0.0
    figure(
        "momentum with a wheel",
        simulation.output["momentum"],
        momentum,
        unit="N·m·s",
        oracle="conservation",
        atol=1e-13,
    )
    simulation.command["rw"] = -0.1
    assert simulation.tau[6] == -0.1


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize("command", [600.0, -600.0])
def test_a_held_speed_stays_within_the_largest(command, integrator):
    """A gain that takes the wheel there in one step does not take it beyond."""
    wheel = lj.Wheel("rw", "bus", rotor_axis(), 1.0, 0.01, max_speed=500.0, mode="speed", gain=0.5)
    system = lj.equip(bus(np.array([5.0, 6.0, 3.95])), wheel)
    simulation = lj.Simulation(replace(system, integrator=integrator), dt=0.01)
    simulation.command["rw"] = command
    simulation.step(200)
    figure(
        "largest speed of a wheel", abs(simulation.v[6]), unit="rad/s", oracle="its limit", below=500.0 * (1.0 + 1e-9)
    )
    figure(
        "speed that is held",
        simulation.v[6],
        np.copysign(500.0, command),
        unit="rad/s",
        oracle="its command",
        rtol=1e-3,
    )
    slope = lj.linearize(system, q=simulation.q, v=np.zeros(7), command=[command, 0.0]).B[:, 0]
    assert not slope.any()


def test_cmg_torque_is_rate_times_momentum():
    """A gimbal turning at a steady rate on a body at rest asks it for h × ω_gimbal."""
    h, rate = 40.0, 0.3
    cmg = lj.Cmg("cmg", "bus", np.array([0, 0, 1.0]), np.array([1.0, 0, 0]), h, 6.0, 0.1 * np.eye(3), mode="torque",
                 angle=0.4, rate=rate)  # fmt: skip
    body = bus()
    held = replace(body, bodies=(replace(body.bodies[0], hinge=Hinge("bus", "fixed", None, merge=False)),))
    sensed = validate(replace(held, sensors=(Sensor("load", "reaction", "bus"),)))
    simulation = lj.Simulation(lj.equip(sensed, cmg))
    turned = np.array([np.cos(0.4), np.sin(0.4), 0.0])
    expected = rate * h * np.cross([0, 0, 1.0], turned)  # the rate of the rotor's momentum, which the ground gives
    figure(
        "torque of a control-moment gyro",
        simulation.output["load"][:3],
        expected,
        unit="N·m",
        oracle="h × rate",
        atol=1e-12,
    )


PYRAMID = """
limberjack: 1
name: pyramid
gravity: [0, 0, 0]
bodies:
  - {name: bus, mass: 300, inertia: {xx: 100, yy: 120, zz: 90}, hinge: {type: free, parent: world}}
cmgs:
"""
ENTRY = """  - {{name: cmg{0}, body: bus, rpy: [0, {1}, {2}], gimbal_axis: [0, 0, 1], rotor_axis: [0, 1, 0],
     momentum: 25, mass: 5, inertia: {{xx: 0.05, yy: 0.06, zz: 0.05}}, gain: 50, max_rate: 2}}
"""


def test_a_pyramid_of_four_in_a_model_file(tmp_path):
    """Momentum is kept while the gimbals turn the bus; in the zero state that of the rotors sums to nothing."""
    skew = np.arccos(1.0 / np.sqrt(3.0))
    entries = (ENTRY.format(i, skew, i * np.pi / 2) for i in range(4))
    (tmp_path / "pyramid.yaml").write_text(PYRAMID + "".join(entries))
    simulation = lj.Simulation(lj.load(tmp_path / "pyramid.yaml"), dt=1e-3, integrator="implicit")
    figure(
        "momentum of a pyramid at the start",
        simulation.output["momentum"],
        0.0,
        unit="N·m·s",
        oracle="zero state",
        atol=1e-13,
    )
    for i, rate in enumerate((0.3, 0.0, -0.3, 0.0)):
        simulation.command[f"cmg{i}"] = rate
    simulation.step(2000)
    figure(
        "momentum of a pyramid that turns",
        simulation.output["momentum"][:3],
        0.0,
        unit="N·m·s",
        oracle="conservation",
        atol=2e-2,
    )  # the first-order integrator
    rotors = sum(simulation.dynamics.pose(f"cmg{i}", simulation.q)[0][:, 1] * 25.0 for i in range(4))
    assert np.linalg.norm(rotors) > 10.0
    assert np.linalg.norm(simulation.v[:3]) > 0.05


def thrust(offset: np.ndarray) -> lj.Thruster:
    return lj.Thruster("t", "bus", np.array([0.0, 3.0, 4.0]), 20.0, offset, minimum=2.0)


@pytest.mark.parametrize(("command", "force"), [(10.0, 10.0), (25.0, 20.0), (1.9, 0.0), (-5.0, 0.0), (2.0, 2.0)])
def test_thruster_is_force_by_mass(command, force):
    com, offset = np.array([0.1, 0.2, 0.3]), np.array([0.5, -0.2, 0.4])
    simulation = lj.Simulation(lj.equip(bus(com=com), thrust(offset)))
    simulation.command["t"] = command
    push = force * np.array([0.0, 0.6, 0.8])
    turning = np.cross(offset - com, push) / MOMENTS
    figure(
        "angular acceleration by a thruster",
        simulation.vdot[:3],
        turning,
        unit="rad/s²",
        oracle="moment by inertia",
        atol=1e-14,
    )
    figure(
        "acceleration by a thruster",
        simulation.vdot[3:],
        push / 50.0 - np.cross(turning, com),
        unit="m/s²",
        oracle="force by mass",
        atol=1e-14,
    )
    still = np.zeros(6)
    np.testing.assert_array_equal(
        simulation.dynamics.forward(simulation.q, still, still), still
    )  # commands are not its


@pytest.mark.parametrize("place", ["panel.node0", "boom.node1", "panel", "base"])
def test_thruster_on_a_flexible_body_is_a_force_on_that_node(place):
    """Accelerations are those of `forward` with the same force as an external one."""
    rng = np.random.default_rng(3)
    system = random_flexible(rng, curved=0.1).system
    q, v = random_state(system, rng, 0.05)
    push, arm = rng.normal(size=3), 0.3 * rng.normal(size=3)
    size = float(np.linalg.norm(push))
    simulation = lj.Simulation(lj.equip(system, lj.Thruster("t", place, push, 100.0, arm)))
    simulation.q, simulation.v = q, v
    simulation.command["t"] = size
    R, _ = simulation.dynamics.pose(place, q)
    external = {place: np.concatenate([R @ np.cross(arm, push), R @ push])}
    expected = lj.Dynamics(system).forward(q, v, simulation.tau, external)
    figure(
        "acceleration of a flexible body",
        simulation.vdot,
        expected,
        oracle="the force given from outside",
        atol=1e-11 * np.abs(expected).max(),
    )


def test_forward_and_inverse_agree_with_all_elements_and_a_users_force():
    rng = np.random.default_rng(8)
    flexible = random_flexible(rng, curved=0.1).system
    system = lj.equip(
        flexible,
        lj.CentralGravity(3.0e3, np.array([3.0, -14.0, 5.0])),
        lj.Rotor("rotor", "panel.node0", rng.normal(size=3)),
        lj.Cmg("cmg", "boom.node1", np.array([0, 0, 1.0]), np.array([0, 1.0, 0]), 3.0, 1.0, np.eye(3), gain=1.0),
        lj.Thruster("t", "arm", rng.normal(size=3), 5.0),
    )
    q, v = random_state(system, rng, 0.02)
    dynamics, tau = lj.Dynamics(system), rng.normal(size=system.nv)
    external = {"arm": rng.normal(size=6), "boom.node1": rng.normal(size=6)}
    vdot = dynamics.forward(q, v, tau, external)
    size = np.abs(vdot).max()
    figure(
        "torques with all elements",
        dynamics.inverse(q, v, vdot, external),
        tau,
        oracle="inverse undoes forward",
        atol=1e-10 * size,
    )
    again = dynamics.mass_matrix(q) @ vdot + dynamics.inverse(q, v, 0.0 * v, external)
    figure(
        "torques with all elements, by the mass matrix", again, tau, oracle="inverse undoes forward", atol=1e-10 * size
    )


def test_linear_model_of_a_satellite_in_orbit():
    """Gravity-gradient libration of all three axes: the poles of A, against the textbook's."""
    r, mu, I = 7.0e6, 3.986004418e14, np.array([120.0, 110.0, 40.0])  # x forward, y across, z away
    n = np.sqrt(mu / r**3)
    q0 = np.array([0.5, 0.5, 0.5, 0.5, r, 0, 0])  # x forward = inertial y, y = z, z = x
    hinge = Hinge("sat", "free", None, q0=q0, v0=np.array([0, n, 0, r * n, 0, 0]))
    system = validate(System("sat", (Body("sat", Inertia(100.0, np.zeros(3), np.diag(I)), hinge),)))
    system = lj.equip(
        system, lj.CentralGravity(mu), lj.Thruster("t", "sat", np.array([0, 1.0, 0]), 5.0, np.array([2.0, 0, 0]))
    )
    model = lj.linearize(system)
    turning = [0, 1, 2, 6, 7, 8]
    rates = np.sort(np.abs(np.linalg.eigvals(model.A[np.ix_(turning, turning)]).imag))[::2] / n
    k1, k3 = (I[1] - I[2]) / I[0], (I[1] - I[0]) / I[2]
    pitch = np.sqrt(3.0 * (I[0] - I[2]) / I[1])
    b, c = 1.0 + 3.0 * k1 + k1 * k3, 4.0 * k1 * k3
    roll_yaw = np.sqrt(np.roots([1.0, -b, c]).astype(complex))
    assert model.B[:, 0] == pytest.approx(np.concatenate([np.zeros(8), [2.0 / I[2]], [0, 1 / 100.0, 0]]), abs=1e-9)
    stable = [pitch, *(abs(x.real) for x in roll_yaw if abs(x.imag) < 1e-9)]
    for rate in stable:
        figure(
            "distance of a libration rate from the textbook's, over the orbital rate",
            np.abs(rates - rate).min(),
            oracle="√(3 (I_x - I_z) / I_y), roots of roll and yaw",
            below=1e-5,
        )


WRONG = [
    ({"axis": np.zeros(3)}, "is not a direction"),
    ({"mode": "speed"}, "has no gain"),
    ({"mode": "voltage"}, "unknown mode 'voltage'"),
    ({"gain": 1.0}, "has a gain, which mode torque does not use"),
    ({"transverse_inertia": 0.001}, "transverse_inertia: .* less than half .* Give 0.05 kg"),
    ({"spin_inertia": -0.1}, "inertia"),
    ({"body": "nobody"}, "'nobody'"),
    ({"max_torque": -1.0}, "limit of actuator 'w'"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_wrong_wheels_are_refused(change, words):
    wheel = replace(lj.Wheel("w", "bus", rotor_axis(), 1.0, 0.1), **change)
    with pytest.raises(ModelError, match=words):
        lj.equip(bus(), wheel)


LINES = [
    ("gravity: [0, 0, 0]", "gravity: {central: {mu: -1}}", "gravity.central.mu", "a number above 0"),
    ("gravity: [0, 0, 0]", "gravity: 9.81", "gravity", "not a list"),
    ("gravity: [0, 0, 0]", "gravity: {centre: {mu: 1}}", "gravity.centre", "did you mean"),
    ("thrust: 5", "thrust: 0", "thrusters[0].thrust", "a number above 0"),
    ("thrust: 5", "thrust: 5, minimum: 6", "thrusters[0].minimum", "from 0 to the thrust"),
    ("direction: [1, 0, 0]", "direction: [0, 0, 0]", "thrusters[0].direction", "is zero"),
    ("body: bus, direction", "body: bsu, direction", "thrusters[0].body", "not a body or node"),
    ("body: bus, direction", "body: world, direction", "thrusters[0].body", "does not move"),
    ("spin_inertia: 0.1", "spin_inertia: 0.1, speed: 1, momentum: 2", "wheels[0]", "both given"),
    ("name: w, body", "name: bus, body", "wheels[0].name", "used twice"),
    ("rotor_axis: [1, 0, 0]", "rotor_axis: [0, 0, 1]", "cmgs[0].rotor_axis", "right angles"),
    ("name: t, body: bus, d", "name: w, body: bus, d", "thrusters[0].name", "both take the command 'w'"),
]
MODEL = """limberjack: 1
name: model
gravity: [0, 0, 0]
bodies:
  - {name: bus, mass: 300, inertia: {xx: 100, yy: 120, zz: 90}, hinge: {type: free, parent: world}}
wheels:
  - {name: w, body: bus, axis: [0, 0, 1], mass: 1, spin_inertia: 0.1}
cmgs:
  - {name: c, body: bus, gimbal_axis: [0, 0, 1], rotor_axis: [1, 0, 0], momentum: 2, mass: 1, mode: torque,
     inertia: {xx: 1, yy: 1, zz: 1}}
thrusters:
  - {name: t, body: bus, direction: [1, 0, 0], thrust: 5}
"""


@pytest.mark.parametrize(("old", "new", "path", "words"), LINES)
def test_wrong_elements_in_a_file_are_refused_with_line_and_remedy(old, new, path, words, tmp_path):
    file = tmp_path / "model.yaml"
    file.write_text(MODEL)
    assert lj.load(file).command_names == ("w", "c", "t")
    assert old in MODEL
    text = MODEL.replace(old, new)
    file.write_text(text)
    line = next(i for i, line in enumerate(text.splitlines(), 1) if new in line)
    with pytest.raises(ModelError) as caught:
        lj.load(file)
    assert f"model.yaml:{line}, {path}" in str(caught.value)
    assert words in str(caught.value)
