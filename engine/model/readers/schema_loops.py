"""The YAML schema of loops, from LOOP_TYPES and the declared fields of a Loop."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, Tag, create_model

from limberjack.engine.files.schema_values import Frame, Name
from limberjack.engine.model.elements.facts import facts_of_type, spec_of
from limberjack.engine.model.elements.loop import LOOP_TYPES, Loop, Wheel
from limberjack.engine.model.readers.schema_hinges import cut_spec
from limberjack.engine.tables.hinge_types import HINGE_TYPES


class EndFrame(Frame):
    """One of the two frames that a loop joins."""

    body: Name = Field(description="the body or node it is fixed on, or 'world'; the pose is given there")


def _end_kind(value: Any) -> str:
    return "frame" if isinstance(value, (dict, list, EndFrame)) else "text"


End = Annotated[
    Annotated[Name, Tag("text")] | Annotated[EndFrame, Tag("frame")],
    Discriminator(_end_kind),
]


LoopBase: Any = spec_of(Loop)


class Joining(LoopBase):  # type: ignore[misc]
    """A loop that joins two frames."""

    from_: End = Field(alias="from", description="first frame: a body, a node, 'world', or a body with a pose on it")
    to: End = Field(description="second frame")


def _spec(name: str) -> Any:
    """The schema of the loops of one type; of those that cut a hinge, one for each type of hinge."""
    own = facts_of_type(Loop, name) + facts_of_type(Wheel, name)
    fields = {"type": (Literal[name], ...), **{known.key: known.in_file() for known in own}}  # type: ignore[valid-type]
    base = LoopBase if LOOP_TYPES[name].joined is None else Joining
    made: Any = create_model(f"{name.capitalize()}Loop", __base__=base, __doc__=LOOP_TYPES[name].text, **fields)
    if name != "hinge":
        return Annotated[made, Tag(name)]
    cut = tuple(cut_spec(kind, made) for kind in HINGE_TYPES if kind != "free")
    return Annotated[Annotated[Union[cut], Discriminator("hinge")], Tag("cut hinge")]  # noqa: UP007


def _loop_kind(value: Any) -> str | None:
    """The tag of a loop. That of cut hinges is not the name of a field: error messages take tags out of their paths."""
    if not isinstance(value, (dict, LoopBase)):
        return "point"  # whose error says that this is not a mapping
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "cut hinge" if kind == "hinge" else kind if kind is None else str(kind)


LoopSpec: Any = Annotated[Union[tuple(map(_spec, LOOP_TYPES))], Discriminator(_loop_kind)]  # noqa: UP007
