"""Attitude control of many solar satellites at once, over arrays: arrays:slew_control:controller.

Every number of the options is an array over the worlds (n,), so that a campaign may vary each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from limberjack.hil.devices.device import Wiring

#: spin axes of the wheels in the hub's frame, columns
AXES = np.array([[1, -1, -1, 1], [1, 1, -1, -1], [1, 1, 1, 1]]) / np.sqrt(3.0)
#: what a torque of each wheel has to be for a torque on the hub: T = −A τ, the least τ
ALLOCATION = -np.linalg.pinv(AXES)
LIMIT = 1.0


def controller(
    wiring: Wiring, inertia: np.ndarray, frequency: np.ndarray, slew: Mapping[str, np.ndarray]
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Wheel torques (n, 4) from attitude quaternions (w x y z, hub to inertial) and rates in the hub's axes (n, 7).

    inertia : (n, 3) about x, y and z, kg·m²;  frequency : (n,) of the controlled motion, rad/s
    slew : {start: s, duration: s, pulse: s, angle: rad} about x, each (n,)
    """

    def law(time: float, signals: np.ndarray) -> np.ndarray:
        angle, rate, acceleration = profile(time, slew)
        error, rate_error = deviation(signals[:, :4], angle), signals[:, 4:7].copy()
        rate_error[:, 0] -= rate
        gain = frequency[:, None]
        wanted = -(gain**2) * error - 1.8 * gain * rate_error
        wanted[:, 0] += acceleration
        torque = inertia * wanted
        # sums written out: a product of matrices adds in another order for one world than for many
        wheels = torque[:, :1] * ALLOCATION[:, 0] + torque[:, 1:2] * ALLOCATION[:, 1] + torque[:, 2:] * ALLOCATION[:, 2]
        return np.asarray(np.clip(wheels, -LIMIT, LIMIT))

    return law


def profile(time: float, slew: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angle, rate and acceleration (n,): a pulse of acceleration, a coast, a pulse of braking.

    A pulse that lasts whole periods of a mode leaves it at rest.
    """
    pulse, duration = slew["pulse"], slew["duration"]
    most = slew["angle"] / (pulse * (duration - pulse))
    t = np.clip(time - slew["start"], 0.0, duration)
    up, down = np.minimum(t, pulse), np.maximum(t - (duration - pulse), 0.0)
    acceleration = most * (1.0 * ((t > 0.0) & (t < pulse)) - 1.0 * ((t > duration - pulse) & (t < duration)))
    return most * (0.5 * up * up + pulse * (t - up) - 0.5 * down * down), most * (up - down), acceleration


def deviation(attitude: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Small rotation vectors (n, 3) from turns by an angle (n,) about x to attitudes (n, 4): 2 vec(target* ∘ attitude).

    Of quaternions that differ in sign alone the vectors are the same.
    """
    c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
    w, x, y, z = attitude.T
    sign = np.sign(c * w + s * x)
    return np.stack([2.0 * sign * part for part in (c * x - s * w, c * y + s * z, c * z - s * y)], axis=1)
