"""A loop of the YAML schema to a Loop."""

from __future__ import annotations

from typing import Any

from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.facts import values
from limberjack.engine.model.readers.schema_loops import EndFrame, Joining
from limberjack.engine.model.readers.yaml_frames import Carriers
from limberjack.engine.model.readers.yaml_hinges import geometry
from limberjack.engine.model.system import JOINED_AS, Hinge, Loop, Pose, Term, Wheel


def make_loop(index: int, spec: Any, carriers: Carriers, document: Document) -> Loop:
    """The Loop of one entry of ``loops``."""
    path = ("loops", index)
    fields = values(Loop, spec, spec.type)
    if isinstance(spec, Joining):
        inboard, outboard = (_end(spec, name, carriers, path) for name in ("from", "to"))
        fields |= {"hinge": _cut_hinge(spec, inboard, outboard[1], document, path), "body": outboard[0]}
    if spec.type == "rolling":
        fields["wheel"] = Wheel(**values(Wheel, spec))
    if spec.type == "coupling":
        shares = ((name, share if isinstance(share, list) else [share]) for name, share in spec.terms.items())
        fields["terms"] = tuple(Term(name, tuple(float(factor) for factor in share)) for name, share in shares)
    return Loop(type=spec.type, where=document.place(path), **fields)


def _end(spec: Any, field: str, carriers: Carriers, path: tuple[str, int]) -> tuple[str | None, Pose]:
    """Body and pose on it of one of the two frames."""
    given = spec.from_ if field == "from" else spec.to
    who = f"loop '{spec.name}' joins"
    if isinstance(given, EndFrame):
        body, pose = carriers.find(given.body, who, (*path, field, "body"))
        return body, pose @ given.pose()
    return carriers.find(given, who, (*path, field))


def _cut_hinge(
    spec: Any, first: tuple[str | None, Pose], second: Pose, document: Document, path: tuple[str, int]
) -> Hinge:
    """The hinge between the frames; loops that name no hinge have that of JOINED_AS."""
    given = geometry(spec, spec.hinge, document, path) if spec.type == "hinge" else {}
    kind = spec.hinge if spec.type == "hinge" else JOINED_AS[spec.type]
    return Hinge(spec.name, kind, *first, outboard=second, where=document.place(path), **given)
