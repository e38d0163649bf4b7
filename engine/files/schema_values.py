"""Building blocks of the YAML schema: numbers, vectors, orientations, values for each dof."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from limberjack.engine.algebra.rigid import Pose
from limberjack.engine.algebra.rotations import UNIT_TOLERANCE, from_quaternion, from_rpy, is_rotation, nearest
from limberjack.engine.files.numbers import LARGEST
from limberjack.engine.files.patterns import pattern_fault

T = TypeVar("T")
#: entries of a list that are checked together
_PORTION = 200


class Model(BaseModel):
    """Base of all parts: unknown fields are errors, text is not taken for a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


def schema_text(format: type[Model], title: str) -> str:
    """The JSON Schema of a file format, as text."""
    schema = format.model_json_schema()
    schema |= {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _checked_pattern(pattern: str) -> str:
    fault = pattern_fault(pattern)
    if fault:
        raise PydanticCustomError("name_pattern", "{fault}", {"fault": fault})
    return pattern


def _in_portions(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """The checked entries of a list; after the portion with the first mistake no more mistakes are looked for.

    A long list of wrong entries would else make several findings for each.
    """
    if not isinstance(value, list) or len(value) <= _PORTION:
        return check(value)
    made: list[Any] = []
    for start in range(0, len(value), _PORTION):
        try:
            made += check(value[start : start + _PORTION])
        except ValidationError:
            return check(value[: start + _PORTION])  # fails again, with the places in the whole list
    return made


#: a list of any length
Listed = Annotated[list[T], WrapValidator(_in_portions)]
Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=LARGEST, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
NamePattern = Annotated[str, AfterValidator(_checked_pattern)]
Vector3 = Annotated[list[Number], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]
Matrix3 = Annotated[list[Vector3], Field(min_length=3, max_length=3)]


def shape_of(value: Any) -> str:
    """Which branch of a scalar-list-mapping union a value belongs to."""
    return "list" if isinstance(value, list) else "mapping" if isinstance(value, (dict, BaseModel)) else "number"


PerDofNumber = Annotated[
    Annotated[Number, Tag("number")]
    | Annotated[Listed[Number], Tag("list")]
    | Annotated[dict[str, Number], Tag("mapping")],
    Discriminator(shape_of),
]


class SymmetricMatrix(Model):
    """Moments and products of inertia."""

    xx: Number = Field(description="kg·m²")
    yy: Number = Field(description="kg·m²")
    zz: Number = Field(description="kg·m²")
    xy: Number = Field(default=0.0, description="element (0, 1) of the matrix, kg·m² (default 0)")
    xz: Number = Field(default=0.0, description="element (0, 2) of the matrix, kg·m² (default 0)")
    yz: Number = Field(default=0.0, description="element (1, 2) of the matrix, kg·m² (default 0)")

    def matrix(self) -> np.ndarray:
        """The matrix (3, 3)."""
        return np.array(
            [[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]],
            dtype=float,
        )


InertiaMatrix = Annotated[
    Annotated[Matrix3, Tag("list")] | Annotated[SymmetricMatrix, Tag("mapping")], Discriminator(shape_of)
]


class Oriented(Model):
    """At most one way to give an orientation; none means parallel axes."""

    rpy: Vector3 | None = Field(
        default=None,
        description="roll, pitch, yaw about the fixed x, y, z axes, in that order, rad (as URDF)",
    )
    quaternion: Quaternion | None = Field(default=None, description="w, x, y, z; made unit")

    @model_validator(mode="after")
    def _one_orientation(self) -> Oriented:
        given = [field for field in ("rpy", "quaternion", "rotation") if getattr(self, field, None) is not None]
        if len(given) > 1:
            raise ValueError(f"give only one of {', '.join(given)}")
        if self.quaternion is not None and abs(np.linalg.norm(self.quaternion) - 1.0) > UNIT_TOLERANCE:
            raise ValueError(f"the quaternion has the norm {np.linalg.norm(self.quaternion):.6g} instead of 1")
        matrix = getattr(self, "rotation", None)
        if matrix is not None and not is_rotation(np.array(matrix, dtype=float), UNIT_TOLERANCE):
            raise ValueError("the rotation matrix is not orthonormal and right-handed")
        return self

    def matrix(self) -> np.ndarray:
        """R_AB (3, 3) of this frame B in its reference A."""
        if self.rpy is not None:
            return from_rpy(self.rpy)
        if self.quaternion is not None:
            return from_quaternion(self.quaternion)
        given = getattr(self, "rotation", None)
        return np.eye(3) if given is None else nearest(np.array(given, dtype=float))


class Frame(Oriented):
    """Position and orientation of a frame in another."""

    position: Vector3 = Field(default=[0.0, 0.0, 0.0], description="m (default [0, 0, 0])")
    rotation: Matrix3 | None = Field(
        default=None,
        description="rotation matrix, rows; columns are this frame's axes in the reference frame",
    )

    def pose(self) -> Pose:
        """The pose as arrays."""
        return Pose(self.matrix(), np.array(self.position, dtype=float))
