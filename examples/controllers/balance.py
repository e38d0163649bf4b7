"""The pole on the cart balanced by a law in the bench's own process: python:balance:controller."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from limberjack.hil.devices.device import Wiring

GOAL, RATE = 0.5, 0.2  # where the cart is to go, m, and how fast its target moves, m/s
LIMIT = 20.0  # N


def controller(wiring: Wiring) -> Callable[[float, np.ndarray], list[float]]:
    """Called once a run; what it returns is called with every message of signals."""
    target = last = 0.0

    def law(time: float, signals: np.ndarray) -> list[float]:
        """From simulated time, s, and the device's signals in their order to its commands in theirs."""
        nonlocal target, last
        step, last = RATE * (time - last), time
        target += min(max(GOAL - target, -step), step)
        cart, pole, cart_rate, pole_rate = signals.tolist()
        force = 10.0 * (cart - target) + 63.5 * pole + 10.8 * cart_rate + 14.6 * pole_rate
        return [min(max(force, -LIMIT), LIMIT)]

    return law
