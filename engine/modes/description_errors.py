"""pydantic's findings about a description of modes as one ModelError, with the file's lines and plain words."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.nearest import nearest
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.modes.description import DescriptionSpec

_MOST_COUNTED = 1000
PAGE = "see docs/how-to/modes.md"
_KINDS = {"float": "a number", "int": "a whole number", "string": "text", "list": "a list", "dict": "a mapping",
          "model": "a mapping", "bool": "true or false"}  # fmt: skip
_BOUNDS = {"greater_than": ("gt", "above"), "greater_than_equal": ("ge", "of at least"),
           "less_than": ("lt", "below"), "less_than_equal": ("le", "of at most")}  # fmt: skip

Path = tuple[str | int, ...]


def description_error(error: ValidationError, document: Document) -> ModelError:
    """One ModelError about the first finding; the message counts the others."""
    details = sorted(error.errors(include_url=False), key=lambda detail: detail["type"] != "extra_forbidden")
    path = _path(details[0], document)
    what, remedy = _words(details[0], path)
    others = {_path(detail, document) for detail in details[:_MOST_COUNTED]} - {path}
    what += f"; {len(others)} more places are wrong" if len(others) > 1 else "; another is wrong" if others else ""
    return ModelError(what, where=document.place(path), remedy=remedy)


def _path(detail: ErrorDetails, document: Document) -> Path:
    """The place in the file, without the branches of unions that pydantic tried."""
    path: Path = ()
    for i, part in enumerate(detail["loc"]):
        last = i == len(detail["loc"]) - 1
        if document.has((*path, part)) or (last and detail["type"] == "missing"):
            path = (*path, part)
    return path


def _words(detail: ErrorDetails, path: Path) -> tuple[str, str]:
    kind, context = detail["type"], detail.get("ctx", {})
    field = str(path[-1]) if path else "the file"
    shown = f"{detail['input']!r:.60}"
    if kind == "missing":
        return f"'{field}' is missing", f"Add {field}; {PAGE}"
    if kind == "extra_forbidden":
        close = nearest(field, _fields(), 1)
        return f"unknown field '{field}'", f"Remove it or {PAGE}" + (f"; did you mean '{close[0]}'?" if close else "")
    for stem, words in _KINDS.items():
        if kind in (f"{stem}_type", f"{stem}_attributes_type", f"{stem}_from_float"):
            return f"{shown} is not {words}", f"Give {words}"
    if kind == "literal_error":
        return f"unknown {field} {shown}", f"Use one of: {context['expected']}".replace(" or ", ", ")
    if kind == "union_tag_not_found":
        return "'type' is missing", f"Give the type; {PAGE}"
    if kind == "union_tag_invalid":
        close = nearest(context["tag"], context["expected_tags"].replace("'", "").split(", "), 1)
        meant = f"; did you mean '{close[0]}'?" if close else ""
        return f"unknown type {context['tag']!r:.60}", f"Use one of: {context['expected_tags']}{meant}"
    if kind in ("too_short", "too_long"):
        bound = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "too_short" else "at most"
        return f"{field} has {context.get('actual_length')} entries", f"Give {words} {bound}"
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        return f"{field} is {shown}", f"Give a number {words} {context[key]:g}"
    if kind == "value_error":
        return str(context["error"]), f"Correct it; {PAGE}"
    return f"{shown}: {detail['msg'][:1].lower()}{detail['msg'][1:]}", f"Correct the value; {PAGE}"


@cache
def _fields() -> list[str]:
    schema: dict[str, Any] = DescriptionSpec.model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    return sorted({name for part in parts for name in part.get("properties", {})})
