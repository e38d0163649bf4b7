"""Limits beyond which a quantity of a running model is in alarm, as the user wrote them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

from limberjack.engine.files.schema_values import Name, Number
from limberjack.engine.model.elements.facts import Fact

_SIGNAL = (
    "name of a quantity (`q.`*coordinate*, `v.`…, `tau.`…, `output.`…, `command.`…, `energy.total`), or a pattern of "
    "names with `*` and `?`. `limberjack info MODEL --signals` lists the names"
)
_CRITICAL = "limits outside which the alarm is critical; they must enclose the warning limits"
_UNIT = "of the quantity"


@dataclass(frozen=True)
class Bounds:
    """What a value may be, both ends included; infinite where nothing bounds it.

    lower, upper : in the value's unit (SI: m, rad, N, …)
    """

    lower: Annotated[Number, Fact("lower end", otherwise="no lower limit")] = -math.inf
    upper: Annotated[Number, Fact("upper end", otherwise="no upper limit")] = math.inf

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


@dataclass(frozen=True)
class Alarm:
    """Limits beyond which a quantity of the running model is in alarm."""

    signal: Annotated[Name, Fact(_SIGNAL)]
    warning: Annotated[Bounds, Fact("limits outside which the alarm is a warning", _UNIT, "none")] = Bounds()
    critical: Annotated[Bounds, Fact(_CRITICAL, _UNIT, "none")] = Bounds()
    where: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.signal
