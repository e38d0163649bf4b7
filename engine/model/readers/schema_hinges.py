"""The YAML schema of every hinge type, from HINGE_TYPES and the declared fields of a Hinge."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, Tag, create_model

from limberjack.engine.files.schema_values import (
    Frame,
    Listed,
    Model,
    Name,
    Number,
    Oriented,
    PerDofNumber,
    Vector3,
    shape_of,
)
from limberjack.engine.model.elements.facts import Known, facts_of_type, model_of
from limberjack.engine.model.elements.hinge import ACTING, LIMITS, OF_COORDINATES, Hinge
from limberjack.engine.tables.hinge_types import HINGE_TYPES


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


def _geometry(name: str, listed: list[Known]) -> dict[str, Any]:
    """The fields of a type of hinge that say how it moves: its axes and numbers, as (type, field)."""
    said = [text for _, text in HINGE_TYPES[name].directions]
    fields: dict[str, Any] = {}
    if len(said) == 1:
        fields["axis"] = Vector3, Field(description=said[0])
    elif said:
        about = "; ".join(filter(None, said))
        fields["axes"] = list[Vector3], Field(min_length=len(said), max_length=len(said), description=about)
    return fields | {known.key: known.in_file() for known in listed}


def _spec(name: str) -> Any:
    """The schema of the hinges of one type."""
    kind = HINGE_TYPES[name]
    fields = {"type": (Literal[name], ...), **_geometry(name, facts_of_type(Hinge, name))}  # type: ignore[valid-type]
    base: Any = HingeBase
    if kind.quasi:
        base, start = QuasiDof, InitialFree if kind.nq > 4 else InitialSpherical
        fields["initial"] = start, Field(default=start(), description="start (default: zero, at rest)")
    elif kind.nv:
        base = OneDof if kind.nv == 1 else SeveralDofs
    return create_model(name.capitalize(), __base__=base, **fields)


def cut_spec(name: str, base: type[Model]) -> Any:
    """The schema of a loop that cuts a hinge of this type."""
    listed = [known for known in facts_of_type(Hinge, name) if known.fact.needed]
    fields: dict[str, Any] = {"hinge": (Literal[name], ...), **_geometry(name, listed)}  # type: ignore[valid-type]
    return create_model(f"Cut{name.capitalize()}", __base__=base, **fields)


HingeSpec: Any = Annotated[Union[tuple(map(_spec, HINGE_TYPES))], Discriminator("type")]  # noqa: UP007
