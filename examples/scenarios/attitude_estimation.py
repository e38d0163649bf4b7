"""Attitude control of the servicer by what its instruments show: python:attitude_estimation:controller.

An observer turns its attitude along with the gyro and lets the star tracker correct it:

    q ← q ∘ exp((ω - b) h)      and with every new sample of the tracker, e = 2 vec(q* ∘ q_tracker):
    q ← q ∘ exp(k e),  b ← b - l e
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from attitude_control import ALLOCATION, deviation, profile

from limberjack.hil.devices.device import Wiring

#: of the tracker's correction: attitude, and bias (1/s)
ATTITUDE_GAIN, BIAS_GAIN = 0.15, 0.02


class Observer:
    """Attitude (4,) w x y z and bias of the gyro (3,), rad/s."""

    def __init__(self) -> None:
        self.attitude, self.bias = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
        self._seen, self._time = np.zeros(4), 0.0

    def follow(self, time: float, rate: np.ndarray, tracker: np.ndarray, valid: bool) -> None:
        """Take in the instruments' readings."""
        self.attitude = turned(self.attitude, (rate - self.bias) * (time - self._time))
        self._time = time
        if valid and not np.array_equal(tracker, self._seen):
            error = deviation(tracker, self.attitude)
            self.attitude = turned(self.attitude, ATTITUDE_GAIN * error)
            self.bias = self.bias - BIAS_GAIN * error
            self._seen = tracker.copy()


def turned(attitude: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """The attitude turned by small angles (3,) about its own axes, of length 1."""
    w, v, half = attitude[0], attitude[1:], 0.5 * angles
    new = np.concatenate([[w - v @ half], v + w * half + np.cross(v, half)])
    return np.asarray(new / np.linalg.norm(new))


def controller(
    wiring: Wiring, inertia: Sequence[float], frequency: float, limit: float, slew: dict[str, float]
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Wheel torques from gyro (3) and star tracker (4 and whether it sees).

    inertia : about x, y and z, kg·m²;  frequency : of the controlled motion, rad/s;  limit : torque of a wheel, N·m
    slew : {start: s, duration: s, angle: rad} about y
    """
    gain, observer = np.array(inertia), Observer()

    def law(time: float, signals: np.ndarray) -> np.ndarray:
        rate, tracker = signals[:3], signals[3:7]
        observer.follow(time, rate, tracker, signals[7] > 0.5)
        angle, wanted_rate, acceleration = profile((time - slew["start"]) / slew["duration"], slew)
        error = deviation(observer.attitude, np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]))
        rate_error = rate - observer.bias - np.array([0.0, wanted_rate, 0.0])
        wanted = -(frequency**2) * error - 1.8 * frequency * rate_error + np.array([0.0, acceleration, 0.0])
        torque: np.ndarray = np.clip(ALLOCATION @ (gain * wanted), -limit, limit)
        return torque

    return law
