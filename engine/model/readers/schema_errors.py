"""pydantic's findings as one ModelError with the file's lines and plain words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.nearest import nearest
from limberjack.engine.files.patterns import PATTERN_REMEDY
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.shape import SIZES
from limberjack.engine.model.system import LOOP_TYPES
from limberjack.engine.tables.hinge_types import HINGE_TYPES

MAX_SHOWN = 5
#: letters of a name that messages show
MAX_LETTERS = 60
#: a number with a unit behind it, or none
_MEASURE = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*(?P<unit>[^\W\d_][^\s]{0,11}|[°%])?\s*\Z")
Path = tuple[str | int, ...]
Spec = TypeVar("Spec", bound=BaseModel)

_TYPES = {
    "float_type": "a number",
    "int_type": "an integer",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_RANGES = {"greater_than": "above", "greater_than_equal": "of at least", "less_than_equal": "of at most"}


@dataclass(frozen=True)
class Dialect:
    """Another format of the same kind as model files: its root and the page that explains it."""

    root: type[BaseModel]
    page: str

    def fields(self) -> list[str]:
        """Names of all fields, to guess what a misspelt one means."""
        return _fields_of(self.root)


def validated(spec: type[Spec], document: Document, dialect: Dialect | None = None) -> Spec:
    """The content of a document as what its format says. ModelError with the lines of what does not fit."""
    try:
        return spec.model_validate(document.root.plain())
    except ValidationError as error:
        raise model_error(error, document, dialect) from None


def model_error(error: ValidationError, document: Document, dialect: Dialect | None = None) -> ModelError:
    """One ModelError about the first finding; up to four more are listed behind it. dialect: None for model files.

    A misspelt field explains a missing one, so misspelt ones come first. Only what is listed is put into words.
    """
    details = sorted(error.errors(include_url=False), key=lambda detail: detail["type"] != "extra_forbidden")
    (where, what, remedy), *rest = (_finding(detail, document, dialect) for detail in details[:MAX_SHOWN])
    more = "".join(f"; also {place}: {text}" for place, text, _ in rest)
    left = len(details) - MAX_SHOWN
    more += f"; and {left} more" if left > 0 else ""
    return ModelError(what + more, where=where, remedy=remedy)


def _finding(detail: ErrorDetails, document: Document, dialect: Dialect | None) -> tuple[str, str, str]:
    """Place, what is wrong and remedy of one finding."""
    path = _path(detail, document)
    what, remedy = (_words if dialect is None else _foreign_words(dialect))(detail, path, document)
    return document.place(path), what, remedy


def _path(detail: ErrorDetails, document: Document) -> Path:
    """The path in the file: pydantic's location without the names of the union branches it tried."""
    path: Path = ()
    parts = detail["loc"]
    for i, part in enumerate(parts):
        absent_is_the_finding = i == len(parts) - 1 and detail["type"] == "missing"
        if absent_is_the_finding or document.has((*path, part)):
            path = (*path, part)
    if detail["type"] in ("mass_missing", "mass_twice"):
        return (*path, "mass")
    return (*path, _discriminator(detail)) if detail["type"].startswith("union_tag") else path


def _discriminator(detail: ErrorDetails) -> str:
    """The field that says which branch of a union is meant: "hinge" of cut hinges, else "type"."""
    given = str(detail.get("ctx", {}).get("discriminator", "")).strip("'")
    return given if given.isidentifier() else "type"


def _words(detail: ErrorDetails, path: Path, document: Document) -> tuple[str, str]:
    kind, context = detail["type"], detail.get("ctx", {})
    field = str(path[-1]) if path else ""
    if kind == "mass_twice":
        return "a flexible body has its mass from its modes", "Remove mass, com and inertia"
    if kind == "given_twice":
        return f"{context['one']} and {context['other']} are both given", f"Give {context['one']} or {context['other']}"
    if kind == "given_neither":
        return (
            f"neither {context['one']} nor {context['other']} is given",
            f"Give {context['one']} or {context['other']}",
        )
    if kind == "half_given":
        return f"'{context['absent']}' is missing", f"Give {context['both']}"
    if kind == "ragged":
        return f"the rows have {' or '.join(map(str, context['lengths'][:3]))} heights", "Give rows of one length"
    if kind == "no_length":
        return "from and to are the same point", "Give two points"
    if field == "colour":
        return f"the colour is {_shown(detail['input'])}", 'Give "#rrggbb", in quotes: a bare # begins a comment'
    if kind in ("missing", "mass_missing"):
        return f"'{field}' is missing", f"Add {field}; nothing is assumed for it"
    if kind == "extra_forbidden":
        return _unknown_field(field, path, document)
    if kind in _TYPES:
        return f"{_shown(detail['input'])} is not {_TYPES[kind]}", f"Give {_TYPES[kind]}" + _quote(detail)
    if kind == "literal_error":
        known = context["expected"].replace(" or ", ", ")
        return f"unknown {field} {_shown(detail['input'])}", _one_of(detail["input"], known)
    if kind.startswith("union_tag"):
        return _unknown_branch(context.get("tag"), path)
    if kind in ("too_short", "too_long"):
        return f"{context.get('actual_length')} entries", _length(context)
    if kind in _RANGES:
        bound = _RANGES[kind]
        limit = context.get("gt", context.get("ge", context.get("le")))
        name = f"{path[-2]}[{field}]" if len(path) > 1 and isinstance(path[-1], int) else field
        return f"{name} is {_shown(detail['input'])}", f"Give a number {bound} {limit:g}"
    if kind == "finite_number":
        return f"{_shown(detail['input'])} is not a finite number", "Give a finite number"
    if kind == "name_pattern":
        return str(context["fault"]), PATTERN_REMEDY
    if kind == "value_error":
        return str(context["error"]), "Correct the orientation"
    return f"{_shown(detail['input'])}: {detail['msg'][:1].lower()}{detail['msg'][1:]}", "Correct the value"


def _foreign_words(dialect: Dialect) -> Callable[[ErrorDetails, Path, Document], tuple[str, str]]:
    """`_words` for a format without hinges and loops."""

    def words(detail: ErrorDetails, path: Path, document: Document) -> tuple[str, str]:
        kind, context, field = detail["type"], detail.get("ctx", {}), str(path[-1]) if path else ""
        if kind == "extra_forbidden":
            close = nearest(field, dialect.fields(), 1)
            return f"unknown field '{field[:MAX_LETTERS]}'", _meant(field, close, dialect.page)
        if kind == "union_tag_invalid":
            return f"unknown {field} {_shown(context['tag'])}", _one_of(context["tag"], context["expected_tags"])
        if kind == "union_tag_not_found":
            return f"'{field}' is missing", f"Add {field}; nothing is assumed for it"
        if kind == "value_error":
            return str(context["error"]), f"See {dialect.page}"
        return _words(detail, path, document)

    return words


def _unknown_branch(tag: Any, path: Path) -> tuple[str, str]:
    """About a type that does not exist or is not given."""
    field = str(path[-1])
    group = path[0] if field == "type" else ""
    subject, known = {
        "loops": ("loop type", list(LOOP_TYPES)),
        "shapes": ("shape type", list(SIZES)),
    }.get(str(group), ("hinge type", list(HINGE_TYPES)))
    if path[0] == "loops" and field == "hinge":
        known.remove("free")
        if tag == "free":
            return "a free hinge forbids nothing, so that this loop constrains nothing", f"Use one of: {_list(known)}"
    if tag is None:
        return f"'{field}' is missing", f"Give the {subject}, one of: {_list(known)}"
    remedy = _one_of(tag, _list(known))
    if subject == "loop type" and isinstance(tag, str) and tag in HINGE_TYPES and tag != "free":
        remedy += f"; '{tag}' is a hinge type: write type: hinge, hinge: {tag}"
    return f"unknown {subject} {_shown(tag)}", remedy


def _one_of(given: Any, known: str) -> str:
    """What there is, quoted and with commas, and the nearest of it to what was given."""
    close = nearest(str(given), [name.strip(" '") for name in known.split(",")], 1)
    return f"Use one of: {known}" + (f"; did you mean '{close[0]}'?" if close else "")


def _list(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _unknown_field(field: str, path: Path, document: Document) -> tuple[str, str]:
    found = document.find(path[:-1])
    given = found.content if found is not None else None
    owner = {key: value.content for key, value in given.items()} if isinstance(given, dict) else {}
    field = field[:MAX_LETTERS]
    hinge_type = str(owner.get("type")) if "hinge" in path else ""
    if field in ("stiffness", "rest", "limits") and hinge_type in HINGE_TYPES and HINGE_TYPES[hinge_type].quasi:
        what = f"a {hinge_type} hinge has quasi-velocities, not rates of coordinates, so it has no '{field}'"
        return what, f"Remove {field}; damping, friction and armature are possible"
    close = nearest(field, _all_fields(), 1)
    if path[0] == "loops" and len(path) == 3:
        kind = f"{owner.get('hinge')} hinge loop" if owner.get("type") == "hinge" else f"{owner.get('type')} loop"
        return f"'{field}' is not a field of a {kind}", _meant(field, close)
    if path[0] == "shapes" and len(path) == 3:
        return f"'{field}' is not a field of a {owner.get('type')}", _meant(field, close)
    if hinge_type in HINGE_TYPES and field in ("lower", "upper"):
        return f"'{field}' is not a field of a {hinge_type} hinge", "Write limits: {lower: …, upper: …}"
    if hinge_type in HINGE_TYPES:
        return f"'{field}' is not a field of a {hinge_type} hinge", _meant(field, close)
    return f"unknown field '{field}'", _meant(field, close)


def _meant(field: str, close: list[str], page: str = "docs/reference/model-format.md") -> str:
    meant = f"; did you mean '{close[0]}'?" if close and close[0] != field else ""
    return f"Remove it or see {page}{meant}"


def _all_fields() -> list[str]:
    from limberjack.engine.model.readers.schema import FileSpec

    return _fields_of(FileSpec)


@cache
def _fields_of(root: type[BaseModel]) -> list[str]:
    schema = root.model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    return sorted({name for part in parts for name in part.get("properties", {})})


def _length(context: dict[str, Any]) -> str:
    least, most = context.get("min_length"), context.get("max_length")
    return f"Give at least {least}" if most is None else f"Give at most {most}" if least is None else f"Give {least}"


def _shown(value: Any) -> str:
    text = repr(value[:60] if isinstance(value, (str, list)) else value)
    return text if len(text) <= 60 else text[:57] + "…"


def _quote(detail: ErrorDetails) -> str:
    """More on a value of the wrong type: text that looks like a number, a number with its unit or in quotes."""
    given, kind = detail["input"], detail["type"]
    if kind == "string_type" and isinstance(given, (int, float)):
        return ', in quotes ("…")'
    number = _MEASURE.match(given) if kind in ("float_type", "int_type") and isinstance(given, str) else None
    if number is None:
        return ""
    return " without its unit; units are SI (m, kg, s, rad)" if number["unit"] else " without quotes"
