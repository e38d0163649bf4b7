"""What the requests of clients change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from limberjack.bridge.errors import Code
from limberjack.bridge.fault_state import FaultState
from limberjack.bridge.messages import Refusal
from limberjack.engine.api.impact import Impact
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError


class Controls:
    """Requests change the simulation itself, at once; the test bench has its own controls.

    refused : kinds of requests that cannot be had, and why
    about : what `hello` and `describe` report beside the usual
    parameters : those that were set, with their newest values
    """

    refused: Mapping[str, str] = {}
    about: Mapping[str, Any] = {}

    def __init__(self, simulation: Simulation, parameters: Mapping[str, float] | None = None) -> None:
        """parameters : those that were set before"""
        self.simulation, self._command = simulation, simulation.part("command")
        self.parameters = dict(parameters or {})

    def command(self, places: slice | np.ndarray, values: np.ndarray, client: str) -> None:
        """Set the commands at these places; all have been checked."""
        self._command[places] = values
        self.simulation.changed()

    def parameter(self, name: str, value: float, client: str) -> None:
        """Set a parameter. ArgumentError if there is none, or it cannot have that value."""
        self.simulation.parameters[name] = value
        self.parameters[name] = value

    def switch(self, kind: str, name: str, client: str) -> Impact:
        """Kind "attach" or "release" a loop, "lock" or "unlock" a hinge. ArgumentError if that cannot be."""
        impact: Impact = getattr(self.simulation, kind)(name)
        return impact

    def fault(self, name: str, active: bool | None, client: str) -> FaultState:
        """Begin or end a fault, None: only look; its state then. ArgumentError for one that there is not."""
        raise ArgumentError(
            f"there is no fault '{name:.40}': only the faults of a scenario have names. Run one with 'limberjack hil "
            "SCENARIO --serve', or set the parameters '….fault.…' of the model."
        )

    def run(self, what: str, reason: str, frames: int, client: str) -> None:
        """Pause a run ("pause"), continue it ("resume"), do so many frames ("step"), or end it ("abort").
        ArgumentError.
        """
        raise ArgumentError(
            f"an engine has no run to {what}. Run a scenario with 'limberjack hil SCENARIO --serve'; an engine in "
            "lockstep waits by itself until it is stepped."
        )

    def shut_down(self, client: str) -> None:
        """A client ended the engine; its loop ends by itself."""

    def check(self, kind: str) -> None:
        """Refusal of a kind of request that this engine does not serve."""
        if kind in self.refused:
            raise Refusal(Code.MODE, self.refused[kind])
