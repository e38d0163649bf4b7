"""What the mappings and the topology of a simulation ask of it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System


class Steered(Protocol):
    """A model whose commands and parameters are set: its System, its Plant, and its State by parts."""

    system: System
    plant: Plant

    @property
    def command_names(self) -> tuple[str, ...]:
        """Names of the commands (nu,)."""

    def part(self, name: str) -> np.ndarray:
        """A view of the State: "q", "v", "command", "switch", …"""

    def changed(self) -> None:
        """Note that State or Plant were written to: what is computed from them is out of date."""


class Running(Steered, Protocol):
    """A running model."""

    @property
    def time(self) -> float:
        """Simulated time, s."""

    @property
    def output_vector(self) -> np.ndarray:
        """All outputs, in the order of the System's."""

    def survey(self) -> np.ndarray:
        """Energies, momenta and poses of nodes at the present state (see tables/plant.py, SURVEY_HEAD)."""


class Stepped(Running, Protocol):
    """A model that can be stepped."""

    dynamics: Dynamics

    @property
    def dt(self) -> float:
        """Step, s."""

    @property
    def substeps(self) -> int:
        """Parts of a step."""

    def step(self, n: int = 1, ahead: int | None = None) -> None:
        """Advance by n steps, as `Simulation.step`."""
