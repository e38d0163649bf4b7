"""Loops: constraints on the tree of bodies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Tag
from pydantic import Field as Bounds

from limberjack.engine.files.schema_values import Listed, Model, Name, NonNegative, Number, Positive, Vector3
from limberjack.engine.model.elements.facts import Fact
from limberjack.engine.model.elements.hinge import Hinge
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.hinge_types import HELICAL, REVOLUTE


@dataclass(frozen=True)
class LoopType:
    """One type of loops.

    text : what it does;  rows : how many scalar constraints, in words, before redundant ones are dropped
    joined : of those that join two frames the type of ``Loop.hinge``, "" where the loop names it; None of the others,
        which constrain coordinates
    slides : whether it is measured as a distance, whatever it joins
    code : for the kernels, by the shape of a wheel where there is one; none where the hinge has it
    forbids : as those of `HingeType`, where its hinge does not say; "length": the distance of the origins
    """

    text: str
    rows: str
    joined: str | None = None
    slides: bool = False
    code: tuple[tuple[str, int], ...] = ()
    forbids: str = ""


_WHEELS = ("disc", lp.DISC), ("ball", lp.BALL)
_DISTANCE, _COUPLING, _LOCK = ((("", code),) for code in (lp.DISTANCE, lp.COUPLING, lp.LOCK))
_ROLLS = "a disc or a ball rolls without slip on the x, y plane of `from`"
_SUM = "terms in some coordinates add up to an offset: gears, differentials, belts"
_ROD = "the frames' origins keep a distance: a rigid rod"
LOOP_TYPES: dict[str, LoopType] = {
    "hinge": LoopType(
        "the frames move relative to each other as across a hinge", "6 minus the degrees of freedom of the hinge", ""
    ),
    "point": LoopType("the frames' origins coincide", "3", "spherical", True),
    "weld": LoopType("the frames coincide", "6", "fixed"),
    "distance": LoopType(_ROD, "1", "free", True, _DISTANCE, "length"),
    "rolling": LoopType(_ROLLS, "3", "free", True, _WHEELS, "uz ux uy"),
    "coupling": LoopType(_SUM, "1", code=_COUPLING),
    "lock": LoopType("a hinge of the tree does not move", "its degrees of freedom", code=_LOCK),
}
#: types that join two frames; the others constrain coordinates
JOINING = tuple(name for name, kind in LOOP_TYPES.items() if kind.joined is not None)
#: type of ``Loop.hinge`` for those that leave no choice
JOINED_AS = {name: kind.joined for name, kind in LOOP_TYPES.items() if kind.joined}
METHODS = ("embed", "force")


@dataclass(frozen=True)
class Term:
    """One coordinate's share in a coupling: ``factors[0] q + factors[1] q² + …`` (at most four factors)."""

    coordinate: str
    factors: tuple[float, ...]


def _share_kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "number"


Share = Annotated[
    Annotated[Number, Tag("number")] | Annotated[list[Number], Bounds(min_length=1, max_length=4), Tag("list")],
    Discriminator(_share_kind),
]
#: in files
Terms = Annotated[dict[Name, Share], Bounds(min_length=1)]


class FirstMotion(Model):
    """The first commands of a driven loop, in m or rad and their rates."""

    position: Number = Bounds(default=0.0, description="added to the length or offset (default 0)")
    velocity: Number = Bounds(default=0.0, description="its rate (default 0)")
    acceleration: Number = Bounds(default=0.0, description="the rate of the velocity (default 0)")


_METHOD = "`embed`: minimal coordinates (constraint embedding); `force`: constraint forces"
_INDEPENDENT = (
    "names of the velocities that stay independent; the loop is then embedded. Without it, conditioning decides"
)
_SWITCHABLE = "the command *name*`.closed` can close and release it while the model runs; such a loop acts by force"
_REACH = "a switchable loop closes only while the origins of its frames are nearer than this"
_DRIVEN = (
    "the loop follows the commands *name*`.position`, `.velocity`, `.acceleration`, which are added to its length "
    "or offset"
)
_INITIAL = (
    "initial commands of a driven loop: `position`, `velocity` and `acceleration`. `load` assembles the loop with them"
)
_LENGTH, _AS_BUILT = "distance between the origins of its frames", "the distance at the initial positions in the file"
_TERMS = (
    "mapping from a coordinate to its factor, or to [factor of q, of q², of q³, of q⁴]; hinges with "
    "quasi-velocities have no such coordinates"
)
_SHAPE = "`disc` (thin) or `ball`; its centre is the origin of `to`, on the +z side of the plane"
_COUPLED, _SLID, _ROLLING = ("coupling",), ("distance", "coupling"), ("rolling",)
_AXLE = Fact("axle of a disc, in the axes of `to`; a ball has none", otherwise="none", given=Vector3, only=_ROLLING)
_PROJECTION = "project a loop by force back onto its constraint after each step"
#: wheels that roll without slip: a thin disc about an axle, and a ball
WHEELS = tuple(shape for shape, _ in _WHEELS)


@dataclass(frozen=True, eq=False)
class Wheel:
    """What rolls: ``shape``, one of WHEELS, ``radius``, m, and a disc's unit ``axis`` in the frame at its centre."""

    shape: Annotated[str, Fact(_SHAPE, given=Literal[WHEELS], only=_ROLLING)]  # type: ignore[valid-type]
    radius: Annotated[Positive, Fact("radius of the disc or ball", "m", only=_ROLLING)]
    axis: Annotated[np.ndarray, _AXLE] = field(default_factory=lambda: np.zeros(0))


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
    length: Annotated[Positive, Fact(_LENGTH, "m", _AS_BUILT, only=("distance",))] = math.nan
    wheel: Wheel | None = None
    terms: Annotated[tuple[Term, ...], Fact(_TERMS, given=Terms, only=_COUPLED, needed=True)] = ()
    offset: Annotated[Number, Fact("sum of the terms", "rad, m", only=_COUPLED)] = 0.0
    locked: Annotated[Name, Fact("name of the locked hinge", key="hinge", only=("lock",), needed=True)] = ""
    method: Annotated[str | None, Fact(_METHOD, "", "chosen from the graph", given=Literal["embed", "force"])] = None
    independent: Annotated[tuple[str, ...], Fact(_INDEPENDENT, given=Listed[Name])] = ()
    closed: Annotated[bool, Fact("whether it starts closed; `false` requires `switchable`")] = True
    switchable: Annotated[bool, Fact(_SWITCHABLE)] = False
    reach: Annotated[Positive, Fact(_REACH, "m", "no limit", only=JOINING)] = math.inf
    driven: Annotated[bool, Fact(_DRIVEN, only=_SLID)] = False
    initial: Annotated[
        tuple[float, ...], Fact(_INITIAL, "m or rad; per s; per s²", "at rest", given=FirstMotion, only=_SLID)
    ] = (0.0, 0.0, 0.0)
    stabilisation: Annotated[
        NonNegative, Fact("rate at which the gap of a loop by force decays; 0: no stabilisation", "1/s")
    ] = 0.0
    projection: Annotated[bool, Fact(_PROJECTION)] = True
    where: str = field(default="", compare=False)

    @property
    def joins(self) -> bool:
        """Whether it joins two frames."""
        return self.type in JOINING

    @property
    def code(self) -> int:
        """What the kernels know it by: the code of its type, its wheel or its hinge."""
        codes = dict(LOOP_TYPES[self.type].code)
        if codes or self.hinge is None:
            return codes[self.wheel.shape if self.wheel is not None else ""]
        kind = self.hinge.kind.code
        return REVOLUTE if kind == HELICAL and self.hinge.pitch == 0.0 else kind

    @property
    def parameter(self) -> float:
        """The number that its rows need: length, offset, radius of the wheel, or the parameter of its hinge."""
        if self.wheel is not None:
            return self.wheel.radius
        if self.hinge is None or LOOP_TYPES[self.type].code:
            return self.length if self.joins else self.offset
        return self.hinge.parameter

    @property
    def forbids(self) -> tuple[str, ...]:
        """What each of its rows forbids."""
        assert self.hinge is not None
        return tuple((LOOP_TYPES[self.type].forbids or self.hinge.kind.forbids).split())

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
