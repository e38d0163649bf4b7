"""The interface to the model for timelines, faults and watchdogs: a Simulation, or one world of a batch."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Protocol

import numpy as np

from limberjack.engine.api.impact import Impact
from limberjack.engine.api.running import Steered


class BenchModel(Steered, Protocol):
    """A model on the bench."""

    @property
    def dt(self) -> float:
        """Step, s."""

    @property
    def time(self) -> float:
        """Simulated time, s."""

    @property
    def step_count(self) -> int:
        """Steps since the start."""

    @property
    def command(self) -> MutableMapping[str, float]:
        """Command name → value, held until changed."""

    @property
    def parameters(self) -> MutableMapping[str, float]:
        """Parameter name → value."""

    @property
    def command_vector(self) -> np.ndarray:
        """All commands (nu,), a copy."""

    def attach(self, loop: str) -> Impact:
        """Close a loop that can be switched."""

    def release(self, loop: str) -> Impact:
        """Open a loop that can be switched."""

    def lock(self, hinge: str) -> Impact:
        """Stop a hinge for which the model has a lock."""

    def unlock(self, hinge: str) -> Impact:
        """Let a locked hinge move again."""
