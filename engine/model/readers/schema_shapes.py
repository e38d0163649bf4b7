"""The YAML schema of shapes: what views of the model draw."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from limberjack.engine.files.schema_values import Frame, Name, NonNegative, Number, Positive, Vector3, shape_of
from limberjack.engine.model.checks.shapes import COLOUR
from limberjack.engine.model.frames import rotation_to_z
from limberjack.engine.model.system import Pose


def _checked_colour(colour: str) -> str:
    if not COLOUR.fullmatch(colour):
        raise PydanticCustomError("colour", "no colour")
    return colour


Opacity = Annotated[float, Field(gt=0, le=1)]
Colour = Annotated[str, AfterValidator(_checked_colour)]


class ShapeBase(Frame):
    """Fields of every shape. Position and orientation are those of its centre, in the body or node."""

    body: Name = Field(description="the body or node that it belongs to, or 'world'")
    colour: Colour = Field(default="", description='"#rrggbb" (default: one for each body)')
    opacity: Opacity = Field(default=1.0, description="above 0, to 1 (default 1)")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The Shape's size."""
        raise NotImplementedError

    def centre(self) -> Pose:
        """Pose of the Shape in the frame of the body or node."""
        return self.pose()


class BoxShape(ShapeBase):
    """A box."""

    type: Literal["box"]
    size: Annotated[list[Positive], Field(min_length=3, max_length=3)] = Field(description="along x, y, z, m")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The edges."""
        return tuple(self.size)


class SphereShape(ShapeBase):
    """A sphere."""

    type: Literal["sphere"]
    radius: Positive = Field(description="m")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The radius."""
        return (self.radius,)


class EllipsoidShape(ShapeBase):
    """An ellipsoid."""

    type: Literal["ellipsoid"]
    radii: Annotated[list[Positive], Field(min_length=3, max_length=3)] = Field(
        description="half axes along x, y, z, m"
    )

    @property
    def numbers(self) -> tuple[float, ...]:
        """The half axes."""
        return tuple(self.radii)


class Round(ShapeBase):
    """A shape along an axis: z with a length, or from a point to another, in the frame of the shape."""

    length: Positive | None = Field(default=None, description="along z, about the centre, m; or give from and to")
    from_: Vector3 | None = Field(default=None, alias="from", description="where its axis begins, m")
    to: Vector3 | None = Field(default=None, description="where its axis ends, m")

    @model_validator(mode="after")
    def _one_axis(self) -> Round:
        if (self.from_ is None) != (self.to is None):
            absent = "from" if self.from_ is None else "to"
            raise PydanticCustomError("half_given", "{absent}", {"absent": absent})
        if (self.length is None) == (self.from_ is None):
            kind = "given_neither" if self.length is None else "given_twice"
            raise PydanticCustomError(kind, "axis", {"one": "length", "other": "from with to"})
        if self.from_ is not None and self.from_ == self.to:
            raise PydanticCustomError("no_length", "no length")
        return self

    def along(self) -> np.ndarray:
        """(3,) from its beginning to its end."""
        if self.from_ is None or self.to is None:
            return np.array([0.0, 0.0, self.length or 0.0])
        return np.asarray(np.array(self.to, dtype=float) - np.array(self.from_, dtype=float))

    def centre(self) -> Pose:
        """The frame whose z is the axis, in the middle of it."""
        if self.from_ is None or self.to is None:
            return self.pose()
        along = self.along()
        middle = np.array(self.from_, dtype=float) + 0.5 * along
        return self.pose() @ Pose(rotation_to_z(along / np.linalg.norm(along)), middle)


class CylinderShape(Round):
    """A cylinder, or a cone with two radii."""

    type: Literal["cylinder"]
    radius: (
        Annotated[Positive, Tag("number")]
        | Annotated[list[NonNegative], Field(min_length=2, max_length=2), Tag("list")]
    ) = Field(discriminator=Discriminator(shape_of), description="m, or [at the beginning, at the end]")

    @property
    def numbers(self) -> tuple[float, ...]:
        """Both radii and the length."""
        radii = self.radius if isinstance(self.radius, list) else [self.radius, self.radius]
        return (*radii, float(np.linalg.norm(self.along())))


class CapsuleShape(Round):
    """A cylinder with half a sphere beyond each end."""

    type: Literal["capsule"]
    radius: Positive = Field(description="m")

    @property
    def numbers(self) -> tuple[float, ...]:
        """Radius and length between the centres."""
        return self.radius, float(np.linalg.norm(self.along()))


class MeshShape(ShapeBase):
    """A surface from a file."""

    type: Literal["mesh"]
    file: Name = Field(description=".stl, .obj or .dae, beside the model file unless the path is absolute")
    scale: Annotated[Number, Tag("number")] | Annotated[Vector3, Tag("list")] = Field(
        default=1.0,
        discriminator=Discriminator(shape_of),
        description="factor that makes metres, or one each for x, y, z (default 1)",
    )

    @property
    def numbers(self) -> tuple[float, ...]:
        """The three factors."""
        return tuple(self.scale) if isinstance(self.scale, list) else (self.scale,) * 3


ShapeSpec = Annotated[
    BoxShape | SphereShape | EllipsoidShape | CylinderShape | CapsuleShape | MeshShape, Discriminator("type")
]
