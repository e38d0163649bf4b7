"""One variable of an FMU: its properties for importers, and the place of its numbers in the running model."""

from __future__ import annotations

import math
from dataclasses import dataclass

from limberjack.engine.native.plant_file import Region


@dataclass(frozen=True)
class Variable:
    """A scalar or a vector of an FMU. Its value reference is its place in the list of variables.

    name : structured name (FMI 3.0.2, section 2.4.5.3.2)
    region, offset, size : `size` numbers of that vector from `offset`; `array` says that it is a vector even with
        size 1 (FMI 3 with arrays only)
    causality : "independent", "parameter", "input", "output", "local"
    variability : "continuous", "tunable", "fixed", "discrete" (truth values)
    start : numbers (or one text) where it has a start value, else empty; `exact` states have one too
    unit, display_unit : names of `units.py`, "" for none
    type_name : declared type, "" for none
    minimum, maximum, nominal : per element; infinite where open
    derivative_of : name of the variable whose time derivative this is, "" for none
    text : True for a text (settings of the process coupling); boolean : True for a truth value, 1.0 or 0.0 in its
        region
    """

    name: str
    description: str
    region: Region
    offset: int
    size: int = 1
    array: bool = False
    causality: str = "local"
    variability: str = "continuous"
    start: tuple[float | str, ...] = ()
    unit: str = ""
    display_unit: str = ""
    type_name: str = ""
    minimum: float = -math.inf
    maximum: float = math.inf
    nominal: float = 1.0
    derivative_of: str = ""
    text: bool = False
    boolean: bool = False

    @property
    def is_state(self) -> bool:
        """Whether it is a continuous state of Model Exchange."""
        return self.region in (Region.Q, Region.V) and self.variability == "continuous" and bool(self.start)
