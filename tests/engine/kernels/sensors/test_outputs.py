"""Sensors and outputs of `Simulation` against what `Dynamics` says of the same state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from tests.engine.full_model import full_model
from tests.engine.single_body import GRAVITY, Z, one_body
from tests.validation.figures import figure


@pytest.fixture(scope="module")
def sim() -> lj.Simulation:
    sim = lj.Simulation(full_model(), dt=1e-3)
    for name in sim.command_names:
        sim.command[name] = 0.4
    sim.step(100)
    return sim


def close(actual, expected, name: str = "outputs", oracle: str = "Dynamics and the sensors' definitions") -> None:
    size = max(1.0, float(np.max(np.abs(expected))))
    figure(name, actual, expected, oracle=oracle, atol=1e-12 * size)


def test_every_type_of_sensor(sim):
    dynamics, q, v, out = sim.dynamics, sim.q, sim.v, sim.output
    node, hinge, coordinate = "n5", "h0", "h2"
    j = sim.system.velocity_names.index(coordinate)
    R, p = dynamics.pose(node, q)
    velocity = dynamics.velocity(node, q, v)
    acceleration = dynamics.acceleration(node, q, v, sim.vdot)
    elsewhere = {"strain_energy", "thrust"} | {
        kind for kind in SENSOR_TYPES if kind.startswith(("loop_", "motor_", "contact_"))
    }
    assert set(SENSOR_TYPES) - elsewhere <= set(out)
    assert out["position"] == q[sim.system.coordinate_names.index(coordinate)]
    assert out["rate"] == v[j]
    assert out["effort"] == sim.tau[j]
    close(out["node_position"], p)
    close(from_quaternion(out["node_orientation"]), R, "attitude")
    assert out["node_orientation"][0] >= 0.0
    close(out["node_angular_velocity"], velocity[:3])
    close(out["node_linear_velocity"], velocity[3:])
    close(out["gyro"], R.T @ velocity[:3], "gyro")
    close(out["accelerometer"], R.T @ (acceleration[3:] - sim.system.gravity), "accelerometer")
    close(out["reaction"], dynamics.reaction(hinge, q, v, sim.vdot), "reaction")
    weld = next(s.target for s in sim.system.sensors if s.name == "weld")
    close(out["weld"], dynamics.reaction(weld, q, v, sim.vdot))


def drive_force(actuator: Actuator, u: list[float], x: float, rate: float) -> float:
    """Force of a drive before its limit; u are its commands."""
    if actuator.mode == "torque":
        return u[0]
    if actuator.mode == "velocity":
        return actuator.kd * (u[0] - rate) + u[1]
    return actuator.kp * (u[0] - x) + actuator.kd * (u[1] - rate) + u[2]


def test_forces_and_accelerations_of_the_moment(sim):
    """vdot is forward dynamics under tau; tau is passive forces plus drives, each clipped to its limit."""
    dynamics, q, v = sim.dynamics, sim.q, sim.v
    close(sim.vdot, dynamics.forward(q, v, sim.tau), "accelerations")
    expected = dynamics.passive(q, v)
    for actuator in sim.system.actuators:
        j = sim.system.velocity_names.index(actuator.coordinate)
        i = sim.system.coordinate_names.index(actuator.coordinate)
        force = drive_force(actuator, [sim.command[name] for name in actuator.command_names], q[i], v[j])
        expected[j] += np.clip(force, -actuator.limit, actuator.limit)
    close(sim.tau, expected, "hinge forces")


def test_node_and_whole_outputs(sim):
    dynamics, q, v, out = sim.dynamics, sim.q, sim.v, sim.output
    for node in ("b4", "n4", "anchor"):
        R, p = dynamics.pose(node, q)
        close(out[f"{node}.position"], p)
        close(from_quaternion(out[f"{node}.orientation"]), R)
        close(out[f"{node}.velocity"], dynamics.velocity(node, q, v))
    close([out["energy.kinetic"], out["energy.potential"]], dynamics.energy(q, v))
    assert out["energy.total"] == out["energy.kinetic"] + out["energy.potential"]
    close(out["momentum"], dynamics.momentum(q, v))


def test_names_and_units_match_the_vector(sim):
    assert len(sim.output_names) == len(sim.output_units) == len(sim.output_vector)
    for sensor in sim.system.sensors:
        suffixes = SENSOR_TYPES[sensor.type].suffixes
        values = [sim.output_vector[sim.output_names.index(sensor.name + suffix)] for suffix in suffixes]
        assert np.array_equal(np.atleast_1d(sim.output[sensor.name]), values)


def test_outputs_follow_every_change():
    """State, commands and parameters set between steps show at the next look."""
    sim = lj.Simulation(full_model(), dt=1e-3)
    before = sim.vdot
    sim.command[sim.command_names[0]] = 2.0
    driven = sim.vdot
    sim.v = 0.5 * sim.v
    slower = sim.vdot
    sim.parameters["gravity.z"] = 0.0
    floating = sim.vdot
    sim.q = sim.system.q0
    sim.reset()
    sim.parameters["gravity.z"] = -9.8
    assert not np.array_equal(before, driven)
    assert not np.array_equal(driven, slower)
    assert not np.array_equal(slower, floating)
    assert np.array_equal(sim.vdot, before)


def test_accelerometer_at_rest_and_in_free_fall():
    """At rest it shows the support, +g upwards; falling freely, nothing; turning, the centripetal acceleration."""
    sensor = (Sensor("imu", "accelerometer", "tip"),)

    def reading(system: lj.System) -> np.ndarray:
        return lj.Simulation(validate(replace(system, sensors=sensor))).output["imu"]

    down = [0.0, 0.0, -GRAVITY]
    close(reading(one_body("revolute", [Z], gravity=down, node=[0.5, 0, 0])), [0.0, 0.0, GRAVITY], "at rest", "+g")
    close(reading(one_body("free", gravity=down)), np.zeros(3), "in free fall", "0")
    close(reading(one_body("revolute", [Z], v0=[3.0], node=[0.5, 0, 0])), [-4.5, 0.0, 0.0], "turning", "-ω² r")


@pytest.mark.parametrize("seed", range(12))
def test_orientation_sensor_for_every_largest_component(seed):
    """Turns near 180 degrees about each axis take the other branches of the matrix-to-quaternion map."""
    rng = np.random.default_rng(seed)
    quaternion = 0.1 * rng.normal(size=4)
    quaternion[seed % 4] = rng.choice([-1.0, 1.0])
    quaternion /= np.linalg.norm(quaternion)
    system = one_body("free", q0=[*quaternion, 0.1, 0.2, 0.3])
    sensors = (Sensor("attitude", "node_orientation", "body"),)
    out = lj.Simulation(validate(replace(system, sensors=sensors))).output["attitude"]
    close(out, quaternion * np.copysign(1.0, quaternion[0]), "attitude near half a turn")
