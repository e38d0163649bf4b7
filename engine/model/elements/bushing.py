"""A bushing: stiffness and damping of all six relative motions of two nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import Discriminator, Tag
from pydantic import Field as Bounds

from limberjack.engine.files.numbers import usable
from limberjack.engine.files.schema_values import Name, Number
from limberjack.engine.model.elements.facts import Element, Fact, Fail
from limberjack.engine.tables import elements as at

#: how far a matrix may be from symmetric and positive, relative to its largest number
_TOLERANCE = 1e-9


def _shape(value: Any) -> str:
    return "matrix" if isinstance(value, list) and value and isinstance(value[0], list) else "diagonal"


_Six = Annotated[list[Number], Bounds(min_length=6, max_length=6)]
#: six numbers of a diagonal, or six rows
Matrix6 = Annotated[
    Annotated[_Six, Tag("diagonal")] | Annotated[list[_Six], Bounds(min_length=6, max_length=6), Tag("matrix")],
    Discriminator(_shape),
]
_ROWS = (
    "for [rotations about x, y, z; displacements along x, y, z] in the axes of `from`: six numbers, or a symmetric "
    "6×6 matrix"
)
_FROM = "a body or node; the bushing has no force where the frames of `from` and `to` coincide"


@dataclass(frozen=True, eq=False)
class Bushing(Element):
    """Stiffness and damping between the frames of two nodes. Matrices (6, 6), of which the diagonal (6,) is enough."""

    TABLE, SAID = "bushing", "bushings"
    name: Annotated[Name, Fact("unique among bushings")]
    first: Annotated[Name, Fact(_FROM, column=at.BU_FIRST, key="from", aims="node")]
    second: Annotated[Name, Fact("the other body or node", column=at.BU_SECOND, key="to", aims="node")]
    stiffness: Annotated[np.ndarray, Fact(f"{_ROWS}", "N·m/rad, N/m, N, N/rad", "", at.BU_STIFFNESS, given=Matrix6)] = (
        field(default_factory=lambda: np.zeros(6))
    )
    damping: Annotated[
        np.ndarray,
        Fact("damping of these motions, in the same order", "N·m·s/rad, N·s/m, …", "", at.BU_DAMPING, given=Matrix6),
    ] = field(default_factory=lambda: np.zeros(6))
    where: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping"):
            value = np.asarray(getattr(self, name), dtype=float)
            object.__setattr__(self, name, np.diag(value) if value.shape == (6,) else value)

    def check(self, fail: Fail) -> None:
        """Refuse one from a node to itself, and matrices that are not symmetric or make energy."""
        if self.first == self.second:
            fail("second", f"bushing '{self.name}' joins '{self.first}' with itself", "Name two nodes")
        for name in ("stiffness", "damping"):
            matrix = getattr(self, name)
            said = f"the {name} of bushing '{self.name}'"
            if matrix.shape != (6, 6) or not usable(matrix):
                fail(name, f"{said} is not 6 × 6 finite numbers", "Give six numbers, or six rows of six")
            size = _TOLERANCE * float(np.abs(matrix).max())
            if np.abs(matrix - matrix.T).max() > size or np.linalg.eigvalsh(matrix).min() < -size:
                fail(name, f"{said} is not symmetric and positive semidefinite", "Give a matrix that adds no energy")
