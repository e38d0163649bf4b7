"""Moment and force at a node as commands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from limberjack.engine.files.schema_values import Name
from limberjack.engine.model.elements.facts import Element, Fact
from limberjack.engine.tables import elements as at


@dataclass(frozen=True, eq=False)
class ExternalForce(Element):
    """Moment and force that act on a node from outside, by the commands `<name>.nx` to `<name>.fz`."""

    TABLE, SAID, COMMAND = "external_force", "external forces", at.EF_COMMAND
    name: Annotated[Name, Fact("unique among external forces; first part of the commands' names")]
    node: Annotated[Name, Fact("body or node at whose origin moment and force act", column=at.EF_NODE, aims="node")]
    follows: Annotated[
        bool,
        Fact(
            "`true`: components along the node's axes, which turn with it; `false`: along inertial axes",
            column=at.EF_FOLLOWS,
        ),
    ] = False
    where: str = field(default="", compare=False)

    @property
    def commands(self) -> tuple[tuple[str, str, float], ...]:
        """Moment and force, 0 at first."""
        words = [(f"n{axis}", "Torque", 0.0) for axis in "xyz"] + [(f"f{axis}", "Force", 0.0) for axis in "xyz"]
        return tuple(words)
