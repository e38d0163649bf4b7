"""A spring and damper between two points of any bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from limberjack.engine.files.schema_values import Name, NonNegative, Number
from limberjack.engine.model.elements.facts import Element, Fact, Fail, Tuned
from limberjack.engine.tables import elements as at

_ENDS = "one end: a body or node; for a fixed point, a node on `world`"


@dataclass(frozen=True, eq=False)
class Spring(Element):
    """A spring and damper along the line between two nodes, which must not meet."""

    TABLE, SAID, ALONG = "spring", "springs between nodes", True
    name: Annotated[Name, Fact("unique among springs")]
    first: Annotated[Name, Fact(_ENDS, column=at.SP_FIRST, key="from", aims="node")]
    second: Annotated[Name, Fact("the other end", column=at.SP_SECOND, key="to", aims="node")]
    length: Annotated[
        NonNegative,
        Fact("distance at which the force is `preload`", "m", "", at.SP_LENGTH, Tuned("length", "Distance")),
    ]
    stiffness: Annotated[
        NonNegative, Fact("spring stiffness", "N/m", "", at.SP_STIFFNESS, Tuned("stiffness", "LinearStiffness"))
    ] = 0.0
    damping: Annotated[
        NonNegative, Fact("damping along the line", "N·s/m", "", at.SP_DAMPING, Tuned("damping", "LinearDamping"))
    ] = 0.0
    preload: Annotated[
        Number, Fact("force at `length`, positive in tension", "N", "", at.SP_PRELOAD, Tuned("preload", "Force"))
    ] = 0.0
    where: str = field(default="", compare=False)

    def check(self, fail: Fail) -> None:
        """Refuse a spring from a node to itself, and numbers that cannot be."""
        super().check(fail)
        if self.first == self.second:
            fail("second", f"spring '{self.name}' joins '{self.first}' with itself", "Name two nodes")
