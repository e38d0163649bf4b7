"""Limits beyond which a quantity of a running model is in alarm, as the user wrote them, and what they may name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from limberjack.engine.model.system import System

#: quantities of the whole model: name, unit, meaning
WHOLE = (
    ("energy.kinetic", "J", "kinetic energy"),
    ("energy.potential", "J", "potential energy of gravity"),
    ("energy.strain", "J", "strain energy of flexible bodies"),
    ("energy.total", "J", "kinetic, potential and strain energy"),
    *((f"momentum.angular.{axis}", "N·m·s", f"angular momentum, inertial {axis}") for axis in "xyz"),
    *((f"momentum.linear.{axis}", "N·s", f"linear momentum, inertial {axis}") for axis in "xyz"),
)


@dataclass(frozen=True)
class Bounds:
    """What a value may be, both ends included; infinite where nothing bounds it."""

    lower: float = -math.inf
    upper: float = math.inf

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


@dataclass(frozen=True)
class Alarm:
    """Limits of quantities of the model.

    signal : name of a quantity ("q.elbow", "output.imu.x", "energy.total"), or a pattern of them with * and ?
    warning, critical : outside these the value is in alarm; the second encloses the first
    """

    signal: str
    warning: Bounds = Bounds()
    critical: Bounds = Bounds()
    where: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.signal


def quantity_names(system: System) -> tuple[str, ...]:
    """All that an alarm may name: "time", "q.<coordinate>", "v.…", "tau.…", "output.…", "command.…", and WHOLE."""
    parts = {
        "q": system.coordinate_names,
        "v": system.velocity_names,
        "tau": system.velocity_names,
        "output": system.output_names,
        "command": system.command_names,
    }
    own = (f"{part}.{name}" for part, names in parts.items() for name in names)
    return ("time", *own, *(name for name, _, _ in WHOLE))
