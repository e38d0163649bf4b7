"""Shapes: what a body looks like, and where it touches others. Views draw them; those named by contacts can touch."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, Discriminator, Tag
from pydantic import Field as Bounds
from pydantic_core import PydanticCustomError

from limberjack.engine.files.mesh_file import MESHES as MESHES
from limberjack.engine.files.schema_values import Listed, Name, NonNegative, Number, Positive, Vector3, shape_of
from limberjack.engine.model.elements.facts import Fact

#: type → how many numbers its size has, and which
SIZES: dict[str, tuple[int, str]] = {
    "box": (3, "the edges along x, y, z"),
    "sphere": (1, "the radius"),
    "ellipsoid": (3, "the half axes along x, y, z"),
    "cylinder": (3, "the radii at -z and at +z, and the length along z"),
    "capsule": (2, "the radius, and the length between the centres of the ends, along z"),
    "mesh": (3, "the factors along x, y, z that make metres"),
    "funnel": (3, "the radii at -z and at +z, and the length along z"),
    "plane": (2, "the edges along x, y of what views draw"),
    "height_field": (2, "the edges along x, y"),
    "ring": (2, "the radius of the circle about z, and that of the tube, which is smaller"),
}

COLOUR = re.compile("#[0-9a-fA-F]{6}")


def _checked_colour(colour: str) -> str:
    if not COLOUR.fullmatch(colour):
        raise PydanticCustomError("colour", "no colour")
    return colour


_Edges = Annotated[list[Positive], Bounds(min_length=3, max_length=3)]
_Sides = Annotated[list[Positive], Bounds(min_length=2, max_length=2)]
_Radius = Annotated[
    Annotated[Positive, Tag("number")] | Annotated[list[NonNegative], Bounds(min_length=2, max_length=2), Tag("list")],
    Discriminator(shape_of),
]
_Scale = Annotated[Annotated[Number, Tag("number")] | Annotated[Vector3, Tag("list")], Discriminator(shape_of)]
_Corners = Annotated[Listed[Vector3], Bounds(min_length=4)]
_Faces = Annotated[Listed[Annotated[list[Annotated[int, Bounds(ge=0)]], Bounds(min_length=3)]], Bounds(min_length=4)]
_Heights = Annotated[Listed[Annotated[list[Number], Bounds(min_length=2)]], Bounds(min_length=2)]
_Opacity = Annotated[float, Bounds(gt=0, le=1)]
_Colour = Annotated[str, AfterValidator(_checked_colour)]
_ROUND = ("cylinder", "capsule")
_ENDS = "[radius at the -z end, radius at the +z end] for a cone, or one radius"
_LENGTH = "along z, about the centre; of a capsule between the centres of its half spheres; or give from and to"
_FILE = ".stl, .obj or .dae, beside the model file, absolute or `package://…`; or give `vertices` and `faces`"
_CORNERS = "[x, y, z] of each corner"
_FACES = "vertex numbers of each face, from 0, counter-clockwise seen from outside"
_BALL = "radius of the sphere, or of the capsule and its half spheres"
_DRAWN = "edge lengths along x, y of the part that views draw; the plane itself is unbounded, and solid on its -z side"
_GROUND = "edge lengths along x, y; the field is solid below its surface"
_HEIGHTS = "heights along z: rows from -y to +y, each from -x to +x; or give `file`"
_TABLE = ".npy, .csv or .txt with the heights, beside the model file or absolute; or give `heights`"
_CIRCLE = "radius of the circle about z along the middle of the tube"
_TUBE = "radius of the tube, smaller than `radius`"
_UNIT = "factor from the heights to metres"
_HULL = "let the convex hull of the mesh touch; the mesh itself may then have any form"
_SCALE = "factor from the mesh's unit to metres, or one each for x, y, z"


@dataclass(frozen=True)
class ShapeFields:
    """What files say of a shape beside its body and pose."""

    name: Annotated[str, Fact("unique among shapes; contacts refer to it", otherwise="none", given=Name)] = ""
    colour: Annotated[str, Fact('`"#rrggbb"`, in quotes; none: views choose one per body', given=_Colour)] = ""
    opacity: Annotated[float, Fact("1 is opaque", given=_Opacity)] = 1.0
    size: Annotated[Any, Fact("edge lengths along x, y, z", "m", given=_Edges, only=("box",), needed=True)] = None
    ball: Annotated[Any, Fact(_BALL, "m", key="radius", given=Positive, only=("sphere", "capsule"), needed=True)] = None
    radius: Annotated[Any, Fact(_ENDS, "m", given=_Radius, only=("cylinder", "funnel"), needed=True)] = None
    circle: Annotated[Any, Fact(_CIRCLE, "m", key="radius", given=Positive, only=("ring",), needed=True)] = None
    tube: Annotated[Any, Fact(_TUBE, "m", given=Positive, only=("ring",), needed=True)] = None
    edges: Annotated[Any, Fact(_DRAWN, "m", key="size", given=_Sides, only=("plane",))] = (10.0, 10.0)
    radii: Annotated[Any, Fact("half axes along x, y, z", "m", given=_Edges, only=("ellipsoid",), needed=True)] = None
    file: Annotated[Any, Fact(_FILE, otherwise="none", given=Name, only=("mesh",))] = ""
    vertices: Annotated[Any, Fact(_CORNERS, "m", otherwise="none", given=_Corners, only=("mesh",))] = ()
    faces: Annotated[Any, Fact(_FACES, otherwise="none", given=_Faces, only=("mesh",))] = ()
    scale: Annotated[Any, Fact(_SCALE, given=_Scale, only=("mesh",))] = 1.0
    hull: Annotated[bool, Fact(_HULL, only=("mesh",))] = False
    ground: Annotated[Any, Fact(_GROUND, "m", key="size", given=_Sides, only=("height_field",), needed=True)] = None
    heights: Annotated[Any, Fact(_HEIGHTS, "m", otherwise="none", given=_Heights, only=("height_field",))] = ()
    table: Annotated[Any, Fact(_TABLE, otherwise="none", key="file", given=Name, only=("height_field",))] = ""
    unit: Annotated[Any, Fact(_UNIT, key="scale", given=Positive, only=("height_field",))] = 1.0


@dataclass(frozen=True, eq=False)
class Shape:
    """A body's surface, or a part of it, in the body's frame.

    body : that it belongs to, of a flexible body an attachment node as well; None: fixed in the inertial frame. On a
        flexible body itself it follows the deformation
    type, size : kind and its numbers, m: "box" (3,) edges along x, y, z; "sphere" (1,) radius; "ellipsoid" (3,) half
        axes along x, y, z; "cylinder", "funnel" (3,) radii at -z and at +z, length along z; "capsule" (2,) radius,
        length between the centres of its ends; "plane" (2,) edges along x, y of what views draw; "height_field" (2,)
        edges along x, y; "mesh" (3,) factors along x, y, z that make metres; "ring" (2,) radius of the circle about z,
        radius of the tube
    file : of a mesh that is drawn;  vertices, faces : of a mesh (V, 3) corners and (T, 3) which of them each triangle
        has, counter-clockwise from outside; of one that touches they are read from the file where they are not given
    hull : whether the convex hull of a mesh touches, in place of a surface that has to be convex
    heights : of a height field (R, C), m, along z, rows from -y to +y, each from -x to +x; read from the file if any
    unit : ratio, what makes metres of them
    position : (3,) of its centre, m;  rotation : (3, 3) matrix that takes its axes to the body's
    colour : "#rrggbb", "" for one of each body
    opacity : ratio, 1 for a shape that hides what is behind it
    name : by which contacts know it, "" for one that is only drawn

    `limberjack.equip` raises ModelError for an impossible shape.
    """

    body: str | None
    type: str
    size: np.ndarray
    file: str = ""
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    colour: str = ""
    opacity: float = 1.0
    name: str = ""
    vertices: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    faces: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    hull: bool = False
    heights: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    unit: float = 1.0
    where: str = field(default="", compare=False)
