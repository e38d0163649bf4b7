"""Attitude control of the solar satellite by four wheels in a pyramid: python:attitude_control:controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from limberjack.hil.devices.device import Wiring

#: spin axes of the wheels in the hub's frame, columns
AXES = np.array([[1, -1, -1, 1], [1, 1, -1, -1], [1, 1, 1, 1]]) / np.sqrt(3.0)
#: what a torque of each wheel has to be for a torque on the hub: T = −A τ, the least τ
ALLOCATION = -np.linalg.pinv(AXES)
LIMIT = 1.0


def controller(
    wiring: Wiring, inertia: Sequence[float], frequency: float, slew: dict[str, float]
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Wheel torques from the attitude quaternion (w x y z, hub to inertial) and the rate in the hub's axes.

    inertia : about x, y and z, kg·m²;  frequency : of the controlled motion, rad/s
    slew : {start: s, duration: s, angle: rad} about y
    """
    gain = np.array(inertia)

    def law(time: float, signals: np.ndarray) -> np.ndarray:
        angle, rate, acceleration = profile((time - slew["start"]) / slew["duration"], slew)
        attitude, measured = signals[:4], signals[4:7]
        error = deviation(attitude, np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]))
        rate_error = measured - np.array([0.0, rate, 0.0])
        wanted = -(frequency**2) * error - 1.8 * frequency * rate_error + np.array([0.0, acceleration, 0.0])
        torque: np.ndarray = np.clip(ALLOCATION @ (gain * wanted), -LIMIT, LIMIT)
        return torque

    return law


def profile(part: float, slew: dict[str, float]) -> tuple[float, float, float]:
    """Angle, rate and acceleration at a part of the slew: s = 10 p³ − 15 p⁴ + 6 p⁵."""
    p, angle, duration = min(max(part, 0.0), 1.0), slew["angle"], slew["duration"]
    s = 10 * p**3 - 15 * p**4 + 6 * p**5
    ds = 30 * p**2 - 60 * p**3 + 30 * p**4
    dds = 60 * p - 180 * p**2 + 120 * p**3
    return angle * s, angle * ds / duration, angle * dds / duration**2


def deviation(attitude: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Small rotation vector (3,) from the target to the attitude: twice the vector part of target* ∘ attitude."""
    w, v = target[0], -target[1:]
    scalar = w * attitude[0] - v @ attitude[1:]
    vector = w * attitude[1:] + attitude[0] * v + np.cross(v, attitude[1:])
    return np.asarray(2.0 * np.sign(scalar) * vector)
