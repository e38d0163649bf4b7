"""A uniform magnetic field, for magnetometers."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as of_default
from typing import Annotated

import numpy as np

from limberjack.engine.files.schema_values import Name, Vector3
from limberjack.engine.model.elements.facts import Element, Fact
from limberjack.engine.tables import elements as at


@dataclass(frozen=True, eq=False)
class MagneticField(Element):
    """A uniform magnetic field; the fields of a model add up."""

    TABLE, SAID, COMMAND, FORCE = "magnetic_field", "magnetic fields", at.MF_COMMAND, False
    name: Annotated[Name, Fact("unique among magnetic fields; first part of the commands' names")]
    field: Annotated[
        np.ndarray,
        Fact("components along the inertial axes; the initial value if `commanded`", "T", "", 0, given=Vector3),
    ]
    commanded: Annotated[bool, Fact("`true`: the field follows the commands *name*`.x`, `.y`, `.z`, in T")] = False
    where: str = of_default(default="", compare=False)

    @property
    def commands(self) -> tuple[tuple[str, str, float], ...]:
        """Its three components, if it is commanded."""
        words = zip("xyz", self.field, strict=True)
        return tuple((axis, "MagneticFluxDensity", float(value)) for axis, value in words if self.commanded)
