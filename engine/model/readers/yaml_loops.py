"""A loop of the YAML schema to a Loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.facts import values
from limberjack.engine.model.readers.schema_loops import (
    CouplingLoop,
    CutCustom,
    CutHinge,
    Driven,
    EndFrame,
    Joining,
    LockLoop,
    LoopBase,
    RollingLoop,
)
from limberjack.engine.model.readers.yaml_frames import Carriers
from limberjack.engine.model.readers.yaml_hinges import map_matrix
from limberjack.engine.model.system import JOINED_AS, Hinge, Loop, Pose, Term, Wheel


def make_loop(index: int, spec: LoopBase, carriers: Carriers, document: Document) -> Loop:
    """The Loop of one entry of ``loops``."""
    path = ("loops", index)
    where = document.place(path)
    fields: dict[str, Any] = values(Loop, spec)
    if isinstance(spec, Joining):
        inboard, outboard = (_end(spec, name, carriers, path) for name in ("from", "to"))
        fields |= {"hinge": _cut_hinge(spec, inboard, outboard[1], document, path), "body": outboard[0]}
    if isinstance(spec, RollingLoop):
        axis = np.zeros(0) if spec.axis is None else np.array(spec.axis, dtype=float)
        fields["wheel"] = Wheel(spec.shape, spec.radius, axis)
    if isinstance(spec, CouplingLoop):
        shares = ((name, share if isinstance(share, list) else [share]) for name, share in spec.terms.items())
        fields["terms"] = tuple(Term(name, tuple(float(factor) for factor in share)) for name, share in shares)
    if isinstance(spec, Driven) and spec.initial is not None:
        fields["initial"] = (spec.initial.position, spec.initial.velocity, spec.initial.acceleration)
    if isinstance(spec, LockLoop):
        fields["locked"] = spec.hinge
    return Loop(type=_type(spec), where=where, **fields)


def _type(spec: Any) -> str:
    return str(spec.type)


def _end(spec: Joining, field: str, carriers: Carriers, path: tuple[str, int]) -> tuple[str | None, Pose]:
    """Body and pose on it of one of the two frames."""
    given = spec.from_ if field == "from" else spec.to
    who = f"loop '{spec.name}' joins"
    if isinstance(given, EndFrame):
        body, pose = carriers.find(given.body, who, (*path, field, "body"))
        return body, pose @ given.pose()
    return carriers.find(given, who, (*path, field))


def _cut_hinge(
    spec: Joining, first: tuple[str | None, Pose], second: Pose, document: Document, path: tuple[str, int]
) -> Hinge:
    """The hinge between the frames; loops without a hinge of their own have that of JOINED_AS."""
    given: Any = spec
    axes = getattr(given, "axes", None) or (
        [given.axis] if isinstance(given, CutHinge) and hasattr(given, "axis") else []
    )
    return Hinge(
        name=spec.name,
        type=given.hinge if isinstance(spec, CutHinge) else JOINED_AS[_type(spec)],
        parent=first[0],
        inboard=first[1],
        outboard=second,
        axes=np.array(axes, dtype=float).reshape(-1, 3),
        pitch=getattr(given, "pitch", 0.0),
        radius=getattr(given, "radius", 0.0) if isinstance(given, CutHinge) else 0.0,
        map=map_matrix(given.map, document, (*path, "map")) if isinstance(spec, CutCustom) else None,
        where=document.place(path),
    )
