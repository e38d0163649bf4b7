"""The YAML schema of loops. What each type constrains: `limberjack.engine.model.system.Loop`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from limberjack.engine.files.schema_values import (
    Frame,
    Model,
    Name,
    Number,
    Positive,
    Vector3,
)
from limberjack.engine.model.elements.facts import Known, facts_of, model_of
from limberjack.engine.model.elements.loop import Loop
from limberjack.engine.model.readers.schema_hinges import Axis, MapRows, axes_field


class EndFrame(Frame):
    """One of the two frames that a loop joins."""

    body: Name = Field(description="the body or node it is fixed on, or 'world'; the pose is given there")


def _end_kind(value: Any) -> str:
    return "frame" if isinstance(value, (dict, list, EndFrame)) else "text"


End = Annotated[
    Annotated[Name, Tag("text")] | Annotated[EndFrame, Tag("frame")],
    Discriminator(_end_kind),
]


def _of(*names: str) -> list[Known]:
    """Facts of a Loop."""
    known = {known.name: known for known in facts_of(Loop)}
    return [known[name] for name in names]


_REACH, _LENGTH, _OFFSET = _of("reach", "length", "offset")
_COMMON = _of("name", "method", "independent", "switchable", "closed", "stabilisation", "projection")


class LoopBase(model_of("LoopBase", Model, _COMMON, "")):  # type: ignore[misc]
    """Fields of every loop."""


class Joining(LoopBase):
    """A loop that joins two frames."""

    from_: End = Field(alias="from", description="first frame: a body, a node, 'world', or a body with a pose on it")
    to: End = Field(description="second frame")
    reach: _REACH.type | None = _REACH.in_file()[1]  # type: ignore[name-defined]


class FirstMotion(Model):
    """The first commands of a driven loop, in m or rad and their rates."""

    position: Number = Field(default=0.0, description="what the length or offset is longer by (default 0)")
    velocity: Number = Field(default=0.0, description="its rate (default 0)")
    acceleration: Number = Field(default=0.0, description="the rate of that (default 0)")


class Driven(model_of("Driven", LoopBase, _of("driven"), "")):  # type: ignore[misc]
    """A loop whose length or offset may follow a prescribed motion."""

    initial: FirstMotion | None = Field(
        default=None, description="of a driven loop: its first commands, with which it is assembled (default: at rest)"
    )


class CutHinge(Joining):
    """A hinge that the tree of bodies cuts: its frame is ``from`` on one side and ``to`` on the other."""

    type: Literal["hinge"]


class CutFixed(CutHinge):
    hinge: Literal["fixed"]


class CutRevolute(CutHinge):
    hinge: Literal["revolute"]
    axis: Axis


class CutPrismatic(CutHinge):
    hinge: Literal["prismatic"]
    axis: Axis


class CutHelical(CutHinge):
    hinge: Literal["helical"]
    axis: Axis
    pitch: Number = Field(description="travel along the axis per radian, m/rad")


class CutCylindrical(CutHinge):
    hinge: Literal["cylindrical"]
    axis: Axis


class CutUniversal(CutHinge):
    hinge: Literal["universal"]
    axes: list[Vector3] = axes_field(2, "first axis (on the first frame), second axis, orthogonal")


class CutGimbal(CutHinge):
    hinge: Literal["gimbal"]
    axes: list[Vector3] = axes_field(3, "three successive turning axes, mutually orthogonal")


class CutSpherical(CutHinge):
    hinge: Literal["spherical"]


class CutPlanar(CutHinge):
    hinge: Literal["planar"]
    axes: list[Vector3] = axes_field(2, "normal of the plane; x direction in the plane")


class CutRolling(CutHinge):
    hinge: Literal["rolling"]
    axes: list[Vector3] = axes_field(2, "spin axis; direction of travel for positive rotation, orthogonal to it")
    radius: Positive = Field(description="m")


class CutCustom(CutHinge):
    hinge: Literal["custom"]
    map: MapRows


CutHingeSpec = Annotated[
    CutFixed
    | CutRevolute
    | CutPrismatic
    | CutHelical
    | CutCylindrical
    | CutUniversal
    | CutGimbal
    | CutSpherical
    | CutPlanar
    | CutRolling
    | CutCustom,
    Discriminator("hinge"),
]


class PointLoop(Joining):
    """The origins of the frames coincide."""

    type: Literal["point"]


class WeldLoop(Joining):
    """The frames coincide."""

    type: Literal["weld"]


class DistanceLoop(Joining, Driven):
    """The origins of the frames keep a distance: a rigid rod with balls at its ends."""

    type: Literal["distance"]
    length: _LENGTH.type | None = _LENGTH.in_file()[1]  # type: ignore[name-defined]


class RollingLoop(Joining):
    """A wheel rolls without slip on the x, y plane of the first frame, on the side of its z."""

    type: Literal["rolling"]
    shape: Literal["disc", "ball"] = Field(
        description="a thin disc, or a ball; its centre is the second frame's origin"
    )
    radius: Positive = Field(description="m")
    axis: Axis | None = Field(default=None, description="of a disc: its axle, in the axes of the second frame")


def _share_kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "number"


Share = Annotated[
    Annotated[Number, Tag("number")] | Annotated[list[Number], Field(min_length=1, max_length=4), Tag("list")],
    Discriminator(_share_kind),
]


class CouplingLoop(Driven):
    """The shares of some coordinates add up to the offset: gears, differentials, belts."""

    type: Literal["coupling"]
    terms: dict[Name, Share] = Field(
        min_length=1,
        description="coordinate: factor, or coordinate: [factor of q, of q², of q³, of q⁴]",
    )
    offset: Number = _OFFSET.in_file()[1]


class LockLoop(LoopBase):
    """A hinge of the tree does not move."""

    type: Literal["lock"]
    hinge: Name = Field(description="name of the hinge")


def _loop_kind(value: Any) -> str | None:
    """The tag of a loop. That of cut hinges is no field's name: error messages take tags out of their paths."""
    if not isinstance(value, (dict, LoopBase)):
        return "point"  # whose error is that this is no mapping
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "cut hinge" if kind == "hinge" else kind if kind is None else str(kind)


LoopSpec = Annotated[
    Annotated[CutHingeSpec, Tag("cut hinge")]
    | Annotated[PointLoop, Tag("point")]
    | Annotated[WeldLoop, Tag("weld")]
    | Annotated[DistanceLoop, Tag("distance")]
    | Annotated[RollingLoop, Tag("rolling")]
    | Annotated[CouplingLoop, Tag("coupling")]
    | Annotated[LockLoop, Tag("lock")],
    Discriminator(_loop_kind),
]
