"""A thruster: a force on a body, commanded in newtons."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from limberjack.engine.files.numbers import usable
from limberjack.engine.files.schema_values import Name, NonNegative, Number, Positive, Vector3
from limberjack.engine.model.elements.facts import Fact, Fail, Tuned, check_numbers, check_vectors
from limberjack.engine.tables import elements as at

_BODY = "body or node that carries it; may be an attachment node of a flexible body"
_PULSE = "shortest time that the valve stays open, at the thrust of its last command"
_SECONDS = "Give seconds, zero or more"


@dataclass(frozen=True, eq=False)
class Thruster:
    """A force on a body, commanded in newtons, held between updates."""

    name: Annotated[Name, Fact("unique among thrusters; name of the command")]
    body: Annotated[Name, Fact(_BODY)]
    direction: Annotated[
        np.ndarray,
        Fact(
            "direction of the force on the body (opposite to the jet), in the axes of `body`; its length does "
            "not matter",
            given=Vector3,
        ),
    ]
    thrust: Annotated[
        Positive,
        Fact("largest force; larger commands are clipped", "N", "", at.T_MOST, remedy="Give its largest force, N, > 0"),
    ]
    position: Annotated[np.ndarray, Fact("point where the force acts, in the frame of `body`", "m", given=Vector3)] = (
        field(default_factory=lambda: np.zeros(3))
    )
    minimum: Annotated[
        NonNegative, Fact("smallest force; commands below it, and negative ones, give no force", "N", "", at.T_LEAST)
    ] = 0.0
    initial: Annotated[
        Number, Fact("initial command", "N", called="first command", remedy="Give a finite number, N")
    ] = 0.0
    delay: Annotated[NonNegative, Fact("delay of the valve from command to thrust", "s", remedy=_SECONDS)] = 0.0
    minimum_pulse: Annotated[NonNegative, Fact(_PULSE, "s", tuned=Tuned("shortest pulse", "Time"), remedy=_SECONDS)] = (
        0.0
    )
    where: str = field(default="", compare=False)

    @property
    def command_names(self) -> tuple[str, ...]:
        """The command that it takes."""
        return (self.name,)

    @property
    def has_valve(self) -> bool:
        """Whether its valve has a state."""
        return self.delay > 0.0 or self.minimum_pulse > 0.0

    def delayed_commands(self, dt: float) -> int:
        """Commands that its valve keeps: those of the steps of its delay, and two more."""
        return math.floor(self.delay / dt * (1.0 + 1e-12)) + 2

    def checked(self, fail: Fail) -> Thruster:
        """The thruster with a unit direction; refuses one that cannot act."""
        check_vectors(self, f"the {{field}} of thruster '{self.name}'", "Give x, y, z in the axes of the body", fail)
        length = float(np.linalg.norm(self.direction))
        if length == 0.0:
            what = f"the direction of thruster '{self.name}' is zero"
            fail("direction", what, "Give the direction of the force on the body")
        if not (usable(self.minimum) and 0 <= self.minimum <= self.thrust) and self.thrust > 0:
            what = f"the minimum of thruster '{self.name}' is {self.minimum}, its thrust {self.thrust}"
            fail("minimum", what, "Give a force from 0 to the thrust, N")
        check_numbers(self, f"the {{field}} of thruster '{self.name}' is {{value}}", fail)
        return self if abs(length - 1.0) < 1e-15 else replace(self, direction=self.direction / length)
