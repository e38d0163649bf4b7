"""Loops that close and open while a model steps, because their commands, held over the steps, say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from limberjack.engine.model.system import System
from limberjack.engine.tables.loops import SW_CLOSED, SW_LOSS, SWITCH


@dataclass(frozen=True)
class Switched:
    """A loop that closed or opened.

    energy_loss : kinetic energy that closing it took, J; 0 for one that opened
    """

    loop: str
    closed: bool
    energy_loss: float

    def __str__(self) -> str:
        return f"closed by its command, {self.energy_loss:.6g} J lost" if self.closed else "opened by its command"


class Switching(Protocol):
    """A model with loops that can be switched."""

    system: System

    def part(self, name: str) -> np.ndarray:
        """A view of the State: "switch"."""


class SwitchWatch:
    """Reports which loops steps closed and opened: `begin` before the steps, `switched` after them."""

    def __init__(self, model: Switching) -> None:
        self._names = switchable(model.system)
        self._now = model.part("switch")
        self.begin()

    def begin(self) -> None:
        """Take the loops as they are now."""
        if self._names:
            self._before = self._now.tobytes()

    def switched(self) -> list[Switched]:
        """The loops that are not as they were."""
        if not self._names or self._now.tobytes() == self._before:  # bytes are compared in the least time
            return []
        return switched(self._names, np.frombuffer(self._before), self._now)


def switchable(system: System) -> list[str]:
    """The loops that can be switched, in the order of the State."""
    return [loop.name for loop in system.loops if loop.switchable]


def switched(names: Sequence[str], before: np.ndarray, now: np.ndarray) -> list[Switched]:
    """The loops that differ between two parts "switch" of a State."""
    rows, closed = now.reshape(-1, SWITCH), now[SW_CLOSED::SWITCH] > 0.5
    places = np.flatnonzero(closed != (before[SW_CLOSED::SWITCH] > 0.5)).tolist()
    return [Switched(names[i], bool(closed[i]), float(rows[i, SW_LOSS]) if closed[i] else 0.0) for i in places]
