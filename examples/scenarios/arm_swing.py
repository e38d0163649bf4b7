"""Swings an arm with position servos, and may fall silent: python:arm_swing:controller."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from limberjack.hil.devices.device import Wiring


def controller(
    wiring: Wiring, start: float, duration: float, to: Sequence[float], silent_after: float = math.inf
) -> Callable[[float, np.ndarray], np.ndarray | None]:
    """Angles, rates and no torques for each servo, along a smooth way from where the arm is first seen.

    start, duration : of the swing, s;  to : angles at its end, rad;  silent_after : s, no commands from then on
    """
    n = len(to)
    first = np.full(n, np.nan)

    def law(time: float, signals: np.ndarray) -> np.ndarray | None:
        if np.isnan(first[0]):
            first[:] = signals[:n]
        if time >= silent_after:
            return None
        p = min(max((time - start) / duration, 0.0), 1.0)
        way = np.array(to) - first
        angles = first + way * (10 * p**3 - 15 * p**4 + 6 * p**5)
        rates = way * (30 * p**2 - 60 * p**3 + 30 * p**4) / duration
        return np.column_stack([angles, rates, np.zeros(n)]).ravel()

    return law
