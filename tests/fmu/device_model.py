"""A model with instruments of every kind, motors and valves, for the tests of what an FMU makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import Sensor, SensorErrors
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, Pose, System
from limberjack.engine.model.validate import validate

DT = 1e-3
SOLID = Inertia(20.0, np.array([0.05, 0.0, 0.02]), np.diag([2.0, 3.0, 4.0]))
LINK = Inertia(2.0, np.array([0.3, 0.0, 0.0]), np.diag([0.02, 0.1, 0.1]))
STIFF = Motor(0.06, 0.4, 4e-4, 400.0, 24.0, 20.0, gear=50.0, inertia=2e-5, friction=0.01, damping=1e-4)
ELASTIC = replace(STIFF, gear=200.0, stiffness=2e4, gear_damping=20.0, backlash=1e-4)


def _numbers(*values: float) -> np.ndarray:
    return np.array(values)


def instruments() -> tuple[Sensor, ...]:
    """One of every kind of reading, with and without delay and rate; motors and thrusters looked at as well."""
    wide = SensorErrors(
        rate=200.0,
        delay=0.0037,
        noise=_numbers(1e-3),
        bias=_numbers(0.01, 0.0, -0.02),
        misalignment=_numbers(0, 0.1, 0),
    )
    encoder = SensorErrors(bias=_numbers(0.002), resolution=_numbers(1e-4), wrap=6.0)
    resolver = SensorErrors(noise=_numbers(1e-4), pole_pairs=4, amplitude_imbalance=0.01, wrap=1.5)
    walking = SensorErrors(
        rate=100.0, noise_density=_numbers(1e-3), bias_walk=_numbers(1e-2), saturation=_numbers(30.0)
    )
    tracker = SensorErrors(rate=50.0, delay=0.012, noise=_numbers(1e-4), max_rate=0.11, sun_exclusion=0.5)
    return (
        Sensor("imu.gyro", "gyro", "bus", wide),
        Sensor("imu.accelerometer", "accelerometer", "bus", replace(wide, bias_walk=_numbers(0.01), bias_time=1.0)),
        Sensor("encoder", "position", "elbow", encoder),
        Sensor("resolver", "position", "elbow", resolver),
        Sensor("torque", "effort", "elbow", walking),
        Sensor("load", "reaction", "elbow", replace(walking, delay=0.002)),
        Sensor("tracker", "star_tracker", "head", tracker),
        Sensor("eye", "sun_sensor", "head", SensorErrors(noise=_numbers(1e-3), field_of_view=2.0)),
        Sensor("sight", "sun_sensor", "head"),
        Sensor("current", "motor_current", "elbow drive"),
        Sensor("rotor", "motor_position", "slide drive"),
        Sensor("spin", "motor_rate", "elbow drive", SensorErrors(rate=300.0)),
        Sensor("push", "thrust", "late"),
        Sensor("press", "thrust", "quick"),
    )


def equipped() -> System:
    """A free bus with a thruster behind a valve and one without, an arm behind a stiff gear and a slider behind an
    elastic one."""
    level, up = np.array([1.0, 0.0, 0.0, 0.0]), np.eye(3)
    spin = np.array([0.06, 0.08, 0.03, 0.01, 0.0, 0.0])
    bodies = (
        Body("bus", SOLID, Hinge("bus", "free", None, q0=np.concatenate([level, np.zeros(3)]), v0=spin)),
        Body(
            "arm",
            LINK,
            Hinge("elbow", "revolute", "bus", Pose(position=up[0]), axes=up[2:], dofs=(Dof(),), q0=_numbers(0.1)),
        ),
        Body("slider", LINK, Hinge("slide", "prismatic", "bus", axes=up[:1], dofs=(Dof(damping=0.5),))),
    )
    actuators = (
        Actuator("elbow drive", "elbow", "servo", kp=40.0, kd=8.0, limit=60.0, motor=STIFF),
        Actuator("slide drive", "slide", motor=ELASTIC),
    )
    thrusters = (
        Thruster("late", "bus", up[0], 20.0, delay=0.0035, minimum_pulse=0.01, initial=5.0),
        Thruster("quick", "bus", up[1], 20.0, minimum=1.0),
    )
    nodes = (Node("head", "bus", Pose(position=up[2])),)
    return validate(
        System(
            "equipped",
            bodies,
            nodes,
            actuators,
            instruments(),
            thrusters=thrusters,
            dt=DT,
            gravity=np.zeros(3),
            sun=_numbers(0.6, 0.0, 0.8),
            seed=7,
        )
    )
