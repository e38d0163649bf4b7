"""Loops: constraints on the tree of bodies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from limberjack.engine.files.schema_values import Listed, Name, NonNegative, Number, Positive
from limberjack.engine.model.elements.facts import Fact
from limberjack.engine.model.elements.hinge import Hinge

#: what a loop may be → how many scalar constraints, before redundant ones are dropped (None: by the hinge)
LOOP_TYPES: dict[str, int | None] = {
    "hinge": None,
    "point": 3,
    "weld": 6,
    "distance": 1,
    "rolling": 3,
    "coupling": 1,
    "lock": None,
}
#: types that join two frames; the others constrain coordinates
JOINING = ("hinge", "point", "weld", "distance", "rolling")
#: type of ``Loop.hinge`` for those that leave no choice
JOINED_AS = {"point": "spherical", "weld": "fixed", "distance": "free", "rolling": "free"}
METHODS = ("embed", "force")


@dataclass(frozen=True)
class Term:
    """One coordinate's share in a coupling: ``factors[0] q + factors[1] q² + …`` (at most four factors)."""

    coordinate: str
    factors: tuple[float, ...]


_LENGTH = "of a distance, between the origins of its frames"
_METHOD = "`embed`: minimal coordinates (constraint embedding); `force`: constraint forces"
_INDEPENDENT = "velocities that stay independent, else chosen by conditioning; the loop is then embedded"
_SWITCHABLE = "may be closed and released while the model runs, by the command *name*`.closed`; it then acts by force"
_REACH = "a switchable loop that joins frames closes only while their origins are nearer than this"
_DRIVEN = (
    "of a distance or coupling: takes the commands *name*`.position`, `.velocity`, `.acceleration`, which are added to "
    "its length or offset"
)
_PROJECTION = "a loop by force is brought back onto its constraint after each step"
#: wheels that roll without slip: a thin disc about an axle, and a ball
WHEELS = ("disc", "ball")


@dataclass(frozen=True, eq=False)
class Wheel:
    """What rolls: ``shape``, one of WHEELS, ``radius``, m, and a disc's unit ``axis`` in the frame at its centre."""

    shape: str
    radius: float
    axis: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class Loop:
    """One constraint on the tree of bodies.

    type : a key of LOOP_TYPES
        "hinge"     the frames move to each other as across ``hinge`` (any hinge type), a hinge that the tree cuts
        "point"     the frames' origins coincide (``hinge`` spherical);  "weld": the frames coincide (``hinge`` fixed)
        "distance"  the frames' origins keep the distance ``length``, m (``hinge`` free): a rigid rod
        "rolling"   ``wheel``, its centre at the second frame, rolls without slip on the x, y plane of the first one, on
                    the side of its z (``hinge`` free): one row for positions, two for velocities alone
        "coupling"  Σ terms = ``offset``: gears, differentials, belts
        "lock"      the hinge named ``locked`` does not move
    hinge : for types that join two frames; its ``parent`` and ``inboard`` are the first frame, its ``outboard`` is
        the second, on ``body``. Its name is the loop's, its dofs, q0 and v0 are empty
    body : the body of the second frame, None for the inertial frame
    length : NaN means as the initial coordinates have it, which `validate` fills in
    closed, switchable : it is closed with the first command ``closed``, and always acts by force. It holds the frames,
        length, offset or coordinates as they are when it closes
    initial : of a driven loop, the first position, velocity and acceleration, at which it is assembled
    """

    name: Annotated[Name, Fact("unique among loops")]
    type: str
    hinge: Hinge | None = None
    body: str | None = None
    length: Annotated[Positive, Fact(_LENGTH, "m", "as the initial positions in the file have it")] = math.nan
    wheel: Wheel | None = None
    terms: tuple[Term, ...] = ()
    offset: Annotated[Number, Fact("what the terms add up to", "rad, m")] = 0.0
    locked: str = ""
    method: Annotated[str | None, Fact(_METHOD, "", "chosen from the graph", given=Literal["embed", "force"])] = None
    independent: Annotated[tuple[str, ...], Fact(_INDEPENDENT, given=Listed[Name])] = ()
    closed: Annotated[bool, Fact("whether it starts closed; false only if it is switchable")] = True
    switchable: Annotated[bool, Fact(_SWITCHABLE)] = False
    reach: Annotated[Positive, Fact(_REACH, "m", "no limit")] = math.inf
    driven: Annotated[bool, Fact(_DRIVEN)] = False
    initial: tuple[float, ...] = (0.0, 0.0, 0.0)
    stabilisation: Annotated[NonNegative, Fact("rate at which errors of a loop by force fade; 0: none", "1/s")] = 0.0
    projection: Annotated[bool, Fact(_PROJECTION)] = True
    where: str = field(default="", compare=False)

    @property
    def joins(self) -> bool:
        """Whether it joins two frames."""
        return self.type in JOINING

    @property
    def command_names(self) -> tuple[str, ...]:
        """The commands this loop takes: whether it is closed (1 or 0), and the prescribed motion."""
        switch = (f"{self.name}.closed",) if self.switchable else ()
        drive = tuple(f"{self.name}.{word}" for word in ("position", "velocity", "acceleration")) if self.driven else ()
        return switch + drive

    @property
    def first_commands(self) -> tuple[float, ...]:
        """Initial values of the commands."""
        return (float(self.closed),) * self.switchable + self.initial * self.driven
