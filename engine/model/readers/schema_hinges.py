"""The YAML schema of every hinge type. The table HINGE_TYPES says what each type's coordinates are."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from limberjack.engine.files.schema_values import (
    Frame,
    Listed,
    Model,
    Name,
    Number,
    Oriented,
    PerDofNumber,
    Positive,
    Vector3,
    shape_of,
)
from limberjack.engine.model.elements.facts import Known, model_of
from limberjack.engine.model.elements.hinge import ACTING, LIMITS, OF_COORDINATES


class Limits(model_of("Limits", Model, LIMITS, "")):  # type: ignore[misc]
    """One-sided springs beyond the range of one coordinate."""


PerDofLimits = Annotated[
    Annotated[Listed[Limits | None], Tag("list")] | Annotated[dict[str, Limits], Tag("mapping")],
    Discriminator(shape_of),
]


class HingeBase(Frame):
    """Fields of every hinge. Its own position and orientation are those of the hinge frame in the parent."""

    name: Name | None = Field(default=None, description="name of the hinge (default: the name of its body)")
    parent: Name = Field(description="the body or node that carries this hinge, or 'world'")
    outboard: Frame = Field(
        default=Frame(), description="pose of the hinge frame in this body (default: they coincide)"
    )


class InitialOne(Model):
    """Start of a hinge with one coordinate."""

    position: Number = Field(default=0.0, description="rad or m (default 0)")
    velocity: Number = Field(default=0.0, description="rad/s or m/s (default 0)")


class InitialSeveral(Model):
    """Start of a hinge with several coordinates."""

    position: PerDofNumber = Field(default=0.0, description="number, list or mapping by coordinate (default 0)")
    velocity: PerDofNumber = Field(default=0.0, description="number, list or mapping by coordinate (default 0)")


class InitialSpherical(Oriented):
    """Start of a spherical hinge."""

    velocity: PerDofNumber = Field(default=0.0, description="ω in body axes: list or mapping wx, wy, wz (default 0)")


class InitialFree(Frame):
    """Start of a free or custom hinge: pose of the hinge frame on the body in the one on the parent."""

    velocity: PerDofNumber = Field(
        default=0.0, description="free: list or mapping wx…vz in body axes; custom: list (default 0)"
    )


def _each(coordinates: bool) -> list[Known]:
    """The facts of a Dof for several: of coordinates alone, or of all velocities."""
    chosen = (known for known in ACTING if (known.name in OF_COORDINATES) == coordinates)
    return [replace(known, type=PerDofNumber) for known in chosen]


class OneDof(model_of("OneDof", HingeBase, ACTING, "")):  # type: ignore[misc]
    """What acts along the one coordinate of a hinge."""

    limits: Limits | None = Field(default=None, description="range of the coordinate (default: none)")
    initial: InitialOne = Field(default=InitialOne(), description="start (default: zero, at rest)")


class QuasiDof(model_of("QuasiDof", HingeBase, _each(coordinates=False), "")):  # type: ignore[misc]
    """What acts along each quasi-velocity of a hinge: no spring and no limits."""


class SeveralDofs(model_of("SeveralDofs", QuasiDof, _each(coordinates=True), "")):  # type: ignore[misc]
    """What acts along each of several coordinates: a list, a mapping, or one number for like units."""

    limits: PerDofLimits | None = Field(default=None, description="list or mapping by coordinate (default: none)")
    initial: InitialSeveral = Field(default=InitialSeveral(), description="start (default: zero, at rest)")


Axis = Annotated[Vector3, Field(description="direction in the hinge frame; its length does not matter")]


def axes_field(count: int, meaning: str) -> Any:
    """A field of so many axes."""
    return Field(min_length=count, max_length=count, description=meaning)


MapRows = Annotated[
    list[Annotated[list[Number], Field(min_length=1, max_length=6)]],
    axes_field(6, "6 rows [angular; linear] of r numbers: the body's velocity in hinge-frame axes for each velocity"),
]


class Fixed(HingeBase):
    type: Literal["fixed"]
    merge: bool = Field(
        default=True,
        description="fold the body into its parent; false keeps it, with its reaction (default true)",
    )


class Revolute(OneDof):
    type: Literal["revolute"]
    axis: Axis


class Prismatic(OneDof):
    type: Literal["prismatic"]
    axis: Axis


class Helical(OneDof):
    type: Literal["helical"]
    axis: Axis
    pitch: Number = Field(description="travel along the axis per radian, m/rad")


class Rolling(OneDof):
    type: Literal["rolling"]
    axes: list[Vector3] = axes_field(2, "spin axis; direction of travel for positive rotation, orthogonal to it")
    radius: Positive = Field(description="m")


class Cylindrical(SeveralDofs):
    type: Literal["cylindrical"]
    axis: Axis


class Universal(SeveralDofs):
    type: Literal["universal"]
    axes: list[Vector3] = axes_field(2, "first axis (on the parent), second axis, orthogonal")


class Gimbal(SeveralDofs):
    type: Literal["gimbal"]
    axes: list[Vector3] = axes_field(3, "three successive turning axes, mutually orthogonal")


class Planar(SeveralDofs):
    type: Literal["planar"]
    axes: list[Vector3] = axes_field(2, "normal of the plane; x direction in the plane")


class Spherical(QuasiDof):
    type: Literal["spherical"]
    initial: InitialSpherical = Field(default=InitialSpherical(), description="start (default: zero, at rest)")


class Free(QuasiDof):
    type: Literal["free"]
    initial: InitialFree = Field(default=InitialFree(), description="start (default: zero, at rest)")


class Custom(QuasiDof):
    type: Literal["custom"]
    map: MapRows
    initial: InitialFree = Field(default=InitialFree(), description="start (default: zero, at rest)")


HingeSpec = Annotated[
    Fixed
    | Revolute
    | Prismatic
    | Helical
    | Cylindrical
    | Universal
    | Gimbal
    | Spherical
    | Planar
    | Rolling
    | Free
    | Custom,
    Discriminator("type"),
]
