"""Makes many steps in portions of about a tenth of a second, so that other work can be done between them."""

from __future__ import annotations

import time
from collections.abc import Callable

#: how long a portion may take, s;  its steps: at most, and at first
_PORTION_S = 0.1
_MOST, _FIRST = 1000, 16


class Stepper:
    """Advances a simulation; the bits do not depend on the portions.

    step : steps and steps that are taken together, as of `Simulation.step`
    between : called between two portions
    """

    def __init__(self, step: Callable[[int, int], None]) -> None:
        self._step, self._portion = step, _FIRST
        self.between: Callable[[], None] = lambda: None

    def advance(self, steps: int, stopping: Callable[[], bool]) -> int:
        """Step until done or asked to stop; returns the number of steps made. Raises SimulationError."""
        done = 0
        while done < steps and not stopping():
            if done:
                self.between()
            portion = min(self._portion, steps - done)
            begun = time.monotonic()
            self._step(portion, steps - done)
            done += portion
            if portion == self._portion:
                self._adapt(time.monotonic() - begun)
        return done

    def _adapt(self, took_s: float) -> None:
        if took_s > 2.0 * _PORTION_S:
            self._portion = max(1, self._portion // 2)
        elif took_s < 0.5 * _PORTION_S:
            self._portion = min(_MOST, 2 * self._portion)
