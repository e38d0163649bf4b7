"""Checks of instruments and motors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.device_tables import MOST_DELAYED, delayed_commands, delayed_samples, error_count
from limberjack.engine.model.devices import VECTORS, Actuator, Errors, Motor, Sensor
from limberjack.engine.model.places import Locate, refuse
from limberjack.engine.model.system import System

_SIZES = ("noise", "noise_density", "bias_walk", "saturation", "resolution")
#: largest seed that a float64 and a 32-bit program both hold
MOST_SEED = 2**32 - 1
_POSITIVE = ("torque_constant", "resistance", "inductance", "bandwidth", "gear", "friction_rate")
_NOT_NEGATIVE = ("inertia", "friction", "damping", "stiffness", "gear_damping", "backlash")


def check_devices(system: System, locate: Locate) -> System:
    """Refuse errors, motors and valves that cannot be; errors of one number for all stay as given."""
    where = system.source or f"system '{system.name}'"
    if np.shape(system.sun) != (3,) or not usable(system.sun) or not np.any(system.sun):
        raise ModelError("sun is no direction", where=f"{where}, sun", mend="Give x, y, z, not all zero")
    if not (isinstance(system.seed, int) and 0 <= system.seed <= MOST_SEED):
        mend = f"Give a whole number from 0 to {MOST_SEED}"
        raise ModelError(f"the seed is {system.seed}", where=f"{where}, seed", mend=mend)
    for sensor in system.sensors:
        if sensor.errors is not None:
            _check_errors(sensor, sensor.errors, system.dt, locate)
    for actuator in system.actuators:
        if actuator.motor is not None:
            _check_motor(actuator, actuator.motor, system, locate)
    for thruster in system.thrusters:
        for field in ("delay", "minimum_pulse"):
            value = getattr(thruster, field)
            if not (usable(value) and value >= 0.0):
                what = f"the {field} of thruster '{thruster.name}' is {value}"
                refuse(thruster, field, what, "Give seconds, zero or more", locate)
        if delayed_commands(thruster, system.dt) > MOST_DELAYED:
            what = f"the delay of thruster '{thruster.name}' is {thruster.delay:g} s, beyond {MOST_DELAYED} steps"
            refuse(thruster, "delay", what, "Give a shorter delay or a larger dt", locate)
    return replace(system, sun=system.sun / np.linalg.norm(system.sun))


def _check_errors(sensor: Sensor, errors: Errors, dt: float, locate: Locate) -> None:
    count, what = error_count(sensor), f"of sensor '{sensor.name}'"
    if sensor.type == "node_orientation":
        refuse(sensor, "type", f"sensor '{sensor.name}' is an ideal attitude", "Use type star_tracker", locate)
    for field in VECTORS:
        values = getattr(errors, field)
        if np.shape(values) not in ((0,), (1,), (count,)):
            mend = f"Give one number for all, or {count} of them" if count > 1 else "Give one number"
            refuse(sensor, field, f"{field} {what} has {np.size(values)} numbers, measured are {count}", mend, locate)
        bounded = values[np.isfinite(values)] if field == "saturation" else values
        if not usable(bounded) or (field in _SIZES and np.any(values < 0.0)):
            sizes = ", zero or more" if field in _SIZES else ""
            refuse(sensor, field, f"{field} {what} is {values}", f"Give finite numbers{sizes}", locate)
    _check_times(sensor, errors, dt, locate)
    _check_kind(sensor, errors, count, locate)


def _check_times(sensor: Sensor, errors: Errors, dt: float, locate: Locate) -> None:
    for field in ("rate", "delay", "bias_time", "wrap"):
        value = getattr(errors, field)
        if not (usable(value) and value >= 0.0):
            refuse(sensor, field, f"the {field} of sensor '{sensor.name}' is {value}", "Give zero or more", locate)
    if delayed_samples(errors, dt) > MOST_DELAYED:
        what = f"the delay of sensor '{sensor.name}' is {errors.delay:g} s, beyond {MOST_DELAYED} of its samples"
        refuse(sensor, "delay", what, "Give a shorter delay, or a lower rate", locate)


def _check_kind(sensor: Sensor, errors: Errors, count: int, locate: Locate) -> None:
    """What only some sensors can have."""
    if np.shape(errors.misalignment) != (3,) or not usable(errors.misalignment):
        what = f"the misalignment of sensor '{sensor.name}' is not 3 finite numbers"
        refuse(sensor, "misalignment", what, "Give a rotation vector, rad", locate)
    if np.any(errors.misalignment) and (count % 3 or sensor.type == "star_tracker"):
        what = f"sensor '{sensor.name}' of type {sensor.type} has no axes that could be misaligned"
        mend = "Give a bias of three small angles" if sensor.type == "star_tracker" else "Remove misalignment"
        refuse(sensor, "misalignment", what, mend, locate)
    if errors.wrap and count > 1:
        what = f"sensor '{sensor.name}' measures {count} numbers, which cannot be wrapped"
        refuse(sensor, "wrap", what, "Remove wrap", locate)
    if errors.pole_pairs and sensor.type not in ("position", "motor_position"):
        what = f"sensor '{sensor.name}' of type {sensor.type} is no resolver"
        refuse(sensor, "pole_pairs", what, "Remove pole_pairs, or use type resolver", locate)
    if abs(errors.amplitude_imbalance) > 0.5 or abs(errors.quadrature) > 0.5:
        what = (
            f"the windings of resolver '{sensor.name}' differ by {errors.amplitude_imbalance} and {errors.quadrature}"
        )
        refuse(sensor, "amplitude_imbalance", what, "Give an imbalance and an angle within ±0.5", locate)


def _check_motor(actuator: Actuator, motor: Motor, system: System, locate: Locate) -> None:
    quasi = {name for body in system.bodies if body.hinge.kind.quasi for name in body.hinge.velocity_names}
    if actuator.coordinate in quasi:
        what = f"the motor of '{actuator.name}' drives the quasi-velocity '{actuator.coordinate}'"
        refuse(actuator, "coordinate", what, "Drive a coordinate of a revolute or sliding hinge", locate)
    for field in (*_POSITIVE, *_NOT_NEGATIVE):
        value = getattr(motor, field)
        if not usable(value) or value < 0.0 or (field in _POSITIVE and value == 0.0):
            mend = "Give a number above zero" if field in _POSITIVE else "Give zero or more"
            refuse(actuator, "motor", f"{field} of the motor of '{actuator.name}' is {value}", mend, locate)
    for field in ("voltage", "current"):
        if not getattr(motor, field) > 0.0:
            what = f"the largest {field} of the motor of '{actuator.name}' is {getattr(motor, field)}"
            refuse(actuator, "motor", what, "Give a number above zero, or none for no limit", locate)
    if (motor.backlash or motor.gear_damping) and not motor.stiffness:
        what = f"the gear of the motor of '{actuator.name}' has backlash or damping, but no stiffness"
        refuse(actuator, "motor", what, "Give stiffness, N·m/rad at the joint", locate)
    if motor.stiffness and not motor.inertia:
        what = f"the motor of '{actuator.name}' turns behind an elastic gear, but its rotor has no inertia"
        refuse(actuator, "motor", what, "Give inertia, kg·m²", locate)
