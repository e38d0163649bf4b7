"""The YAML schema of shapes, from SIZES and the declared fields of `model/elements/shape.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Union

import numpy as np
from pydantic import Discriminator, Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from limberjack.engine.files.schema_values import Frame, Name, Positive, Vector3
from limberjack.engine.model.elements.facts import facts_of_type, spec_of
from limberjack.engine.model.elements.shape import SIZES, ShapeFields
from limberjack.engine.model.frames import rotation_to_z
from limberjack.engine.model.system import Pose

#: type → the size of its Shape
_NUMBERS: dict[str, Callable[[Any], list[float]]] = {
    "box": lambda spec: spec.size,
    "sphere": lambda spec: [spec.radius],
    "ellipsoid": lambda spec: spec.radii,
    "cylinder": lambda spec: [*_each(spec.radius, 2), float(np.linalg.norm(spec.along()))],
    "funnel": lambda spec: [*_each(spec.radius, 2), float(np.linalg.norm(spec.along()))],
    "capsule": lambda spec: [spec.radius, float(np.linalg.norm(spec.along()))],
    "ring": lambda spec: [spec.radius, spec.tube],
    "plane": lambda spec: spec.size,
    "height_field": lambda spec: spec.size,
    "mesh": lambda spec: _each(spec.scale, 3),
}


def _each(value: float | list[float], count: int) -> list[float]:
    return value if isinstance(value, list) else [value] * count


class ShapeBase(spec_of(ShapeFields, Frame)):  # type: ignore[misc]
    """Fields of every shape. Position and orientation are those of its centre, in the body or node."""

    body: Name = Field(description="the body or node that it belongs to, or 'world'")

    @property
    def numbers(self) -> list[float]:
        """The Shape's size."""
        return _NUMBERS[self.type](self)

    def surface(self) -> dict[str, Any]:
        """Fields of the Shape that say what its surface is beside its size."""
        return {}

    def centre(self) -> Pose:
        """Pose of the Shape in the frame of the body or node."""
        pose: Pose = self.pose()
        return pose


class Round(ShapeBase):
    """A shape along an axis: z with a length, or from a point to another, in the frame of the shape."""

    length: Positive | None = Field(default=None, description="along z, about the centre, m; or give from and to")
    from_: Vector3 | None = Field(default=None, alias="from", description="where its axis begins, m")
    to: Vector3 | None = Field(default=None, description="where its axis ends, m")

    @model_validator(mode="after")
    def _one_axis(self) -> Round:
        if (self.from_ is None) != (self.to is None):
            absent = "from" if self.from_ is None else "to"
            raise PydanticCustomError("half_given", "{absent}", {"absent": absent, "both": "from and to"})
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
        pose = super().centre()
        if self.from_ is None or self.to is None:
            return pose
        along = self.along()
        middle = np.array(self.from_, dtype=float) + 0.5 * along
        return pose @ Pose(rotation_to_z(along / np.linalg.norm(along)), middle)


class Solid(ShapeBase):
    """A mesh: of a file, or of corners and faces."""

    @model_validator(mode="after")
    def _one_surface(self) -> Solid:
        if bool(self.vertices) != bool(self.faces):
            absent = "faces" if self.vertices else "vertices"
            raise PydanticCustomError("half_given", "{absent}", {"absent": absent, "both": "vertices and faces"})
        if bool(self.file) == bool(self.vertices):
            kind = "given_twice" if self.file else "given_neither"
            raise PydanticCustomError(kind, "surface", {"one": "file", "other": "vertices with faces"})
        return self

    def surface(self) -> dict[str, Any]:
        """Corners and triangles of the Shape."""
        if not self.vertices:
            return {"hull": self.hull}
        triangles = [[face[0], face[i], face[i + 1]] for face in self.faces for i in range(1, len(face) - 1)]
        corners = np.array(self.vertices, dtype=float)
        return {"hull": self.hull, "vertices": corners, "faces": np.array(triangles, dtype=float)}


class Ground(ShapeBase):
    """A height field: of a file, or of heights."""

    @model_validator(mode="after")
    def _one_source(self) -> Ground:
        if bool(self.file) == bool(self.heights):
            kind = "given_twice" if self.file else "given_neither"
            raise PydanticCustomError(kind, "heights", {"one": "file", "other": "heights"})
        lengths = sorted({len(row) for row in self.heights or []})
        if len(lengths) > 1:
            raise PydanticCustomError("ragged", "ragged", {"lengths": lengths})
        return self

    def surface(self) -> dict[str, Any]:
        """Heights of the Shape, and their unit."""
        return {"unit": self.scale, **({"heights": np.array(self.heights, dtype=float)} if self.heights else {})}


#: type → its schema beside the declared fields, where that is not ShapeBase
_BASES = {"mesh": Solid, "height_field": Ground}


def _spec(name: str) -> Any:
    """The schema of the shapes of one type."""
    own = {known.key: known.in_file() for known in facts_of_type(ShapeFields, name)}
    base = Round if "length" in SIZES[name][1] else _BASES.get(name, ShapeBase)
    fields: dict[str, Any] = {"type": (Literal[name], ...), **own}  # type: ignore[valid-type]
    return create_model(f"{name.title().replace('_', '')}Shape", __base__=base, **fields)


ShapeSpec: Any = Annotated[Union[tuple(map(_spec, SIZES))], Discriminator("type")]  # noqa: UP007
