"""A PID controller of joints in torque mode, for the bench: python:joint_servo:controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from limberjack.hil.devices.device import Wiring

#: gains of the joints: N·m/rad, N·m·s/rad, N·m/(rad·s)
KP = np.array([1200.0, 1200.0, 400.0, 400.0, 60.0, 60.0, 15.0])
KD, KI = 0.1 * KP, 1.0 * KP
#: the reference moves as a critically damped filter of this time constant, s
FILTER_S = 0.08


def controller(
    wiring: Wiring, start: Sequence[float], step: dict[str, Any], hold: Sequence[float]
) -> Callable[[float, np.ndarray], np.ndarray]:
    """Joint torques from angles and rates.

    start : angles that are held, rad;  step : {joint: its place, at: s, size: rad};  hold : first torques, N·m
    """
    n = len(wiring.commands)
    target, reference, rate = np.array(start, dtype=float), np.array(start, dtype=float), np.zeros(n)
    integral, last = np.array(hold, dtype=float), 0.0

    def law(time: float, signals: np.ndarray) -> np.ndarray:
        nonlocal last
        period, last = time - last, time
        if time >= step["at"]:
            target[step["joint"]] = start[step["joint"]] + step["size"]
        # r'' = (target − r)/T² − 2 r'/T
        rate[:] += period * ((target - reference) / FILTER_S**2 - 2.0 * rate / FILTER_S)
        reference[:] += period * rate
        error = reference - signals[:n]
        integral[:] += period * KI * error
        torque: np.ndarray = KP * error + KD * (rate - signals[n:]) + integral
        return torque

    return law
