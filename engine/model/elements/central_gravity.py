"""The field of a point mass, beside the uniform gravity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from limberjack.engine.files.numbers import usable
from limberjack.engine.files.schema_values import Positive, Vector3
from limberjack.engine.model.elements.facts import Fact, Fail, check_numbers
from limberjack.engine.tables import elements as at

_PARAMETER = "gravitational parameter"
_MU = "Give a number > 0, m³/s²; 3.986004418e14 for Earth"
_GRADIENT = (
    "include the field's gradient across each body: gravity-gradient torque, the small force that goes "
    "with it (relative size: body size over distance, squared), and forces on the modes of flexible bodies"
)


@dataclass(frozen=True, eq=False)
class CentralGravity:
    """The field of a point mass."""

    mu: Annotated[
        Positive, Fact("gravitational parameter", "m³/s²", "", at.CE_MU, None, "gravitational parameter", _MU)
    ]
    position: Annotated[
        np.ndarray, Fact("centre of attraction, in the inertial frame", "m", "", at.CE_P, given=Vector3)
    ] = field(default_factory=lambda: np.zeros(3))
    gradient: Annotated[bool, Fact(_GRADIENT, column=at.CE_GRADIENT)] = True

    def check(self, fail: Fail) -> None:
        """Refuse a field that cannot be."""
        check_numbers(self, "the {field} is {value}", fail)
        if np.shape(self.position) != (3,) or not usable(self.position):
            fail("position", "the centre of gravity is not 3 finite numbers", "Give metres along x, y, z")
