"""Limits beyond which a quantity of a running model is in alarm, as the user wrote them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Bounds:
    """What a value may be, both ends included; infinite where nothing bounds it.

    lower, upper : in the value's unit (SI: m, rad, N, …)
    """

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
