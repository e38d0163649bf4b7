"""A rotor of constant momentum: body and rotor are a gyrostat."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from limberjack.engine.files.numbers import usable
from limberjack.engine.model.elements.facts import Fail


@dataclass(frozen=True, eq=False)
class Rotor:
    """A rotor that a drive keeps at constant momentum relative to its body: body and rotor are a gyrostat.

    name : unique among rotors; body : the body that carries it
    momentum : (3,) in the body's axes, N·m·s. The mass properties of the rotor at rest belong to the body.
    """

    name: str
    body: str
    momentum: np.ndarray
    where: str = field(default="", compare=False)

    def check(self, fail: Fail) -> None:
        """Refuse a momentum of other than three finite numbers."""
        if np.shape(self.momentum) != (3,) or not usable(self.momentum):
            what = f"the momentum of rotor '{self.name}' is not 3 finite numbers"
            fail("momentum", what, "Give x, y, z in the axes of the body")
