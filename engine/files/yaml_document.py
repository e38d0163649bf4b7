"""YAML text to plain values that remember their lines; hostile YAML is refused before anything is built.

The core schema of YAML 1.2 is used: `1e-3` is a number, `on`, `no` and `1:30` are text. Tags are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes

MAX_DEPTH = 32
#: keys and values in the file, with every alias counted as often as it is used
MAX_VALUES = 150_000
#: letters of a key that messages show
_MOST_SHOWN = 60

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: what newer versions of libyaml say of brackets in brackets, before we see them
_PARSERS_DEPTH = "maximum nesting depth"
_INTEGER = re.compile(r"[-+]?[0-9]+\Z|0x[0-9a-fA-F]+\Z|0o[0-7]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_WORDS |= {sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")}
_WORDS |= dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan)
_SMALLER = "Give a smaller file; large models are made in Python and kept as .ljm"
#: a directive for tags; the parser compares each with all before it
_TAGS = re.compile(r"^%TAG", re.MULTILINE)


@dataclass(slots=True)
class Value:
    """A value with the line it begins at: a scalar, a list of Values or a mapping of keys to Values.

    height : levels of lists and mappings in it
    """

    content: Any
    line: int
    height: int = 0

    def plain(self) -> Any:
        """The value without lines."""
        if isinstance(self.content, dict):
            return {key: value.plain() for key, value in self.content.items()}
        if isinstance(self.content, list):
            return [value.plain() for value in self.content]
        return self.content


@dataclass
class Document:
    """A YAML file: its name and its value."""

    file: str
    root: Value

    def place(self, path: tuple[str | int, ...]) -> str:
        """The place of a path, "arm.yaml:12, bodies[2].mass"; its owner's line for what the file lacks."""
        value, text = self.root, ""
        for part in path:
            shown = part if isinstance(part, int) else part[:_MOST_SHOWN]
            text += f"[{shown}]" if isinstance(part, int) else f".{shown}" if text else str(shown)
            value = _child(value, part) or value
        return f"{self.file}:{value.line}, {text}" if text else f"{self.file}:{value.line}"

    def find(self, path: tuple[str | int, ...]) -> Value | None:
        """The value at this path, if the file has one."""
        value: Value | None = self.root
        for part in path:
            value = _child(value, part) if value is not None else None
        return value

    def has(self, path: tuple[str | int, ...]) -> bool:
        """Whether the file has a value at this path."""
        return self.find(path) is not None


def _child(value: Value, part: str | int) -> Value | None:
    content = value.content
    if isinstance(content, dict):
        found = content.get(part)
        return found if isinstance(found, Value) else None
    if isinstance(content, list) and isinstance(part, int) and 0 <= part < len(content):
        return content[part]  # type: ignore[no-any-return]
    return None


def read_document(path: Path) -> Document:
    """One YAML document; ModelError for what is not YAML, too large, too deep, tagged or has a key twice."""
    file = str(path)
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"the file is not UTF-8 text: {error.reason} at byte {error.start}"
        raise ModelError(what, where=file, remedy="Save it as UTF-8") from None
    return parse_document(text, file)


def parse_document(text: str, file: str) -> Document:
    """The document of a text, as `read_document`; file: what messages call it."""
    directive = _TAGS.search(text)
    if directive is not None:
        where = f"{file}:{text.count(chr(10), 0, directive.start()) + 1}"
        raise ModelError("tags are not allowed", where=where, remedy="Remove the %TAG directive")
    try:
        root = _Builder(file).document(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}" if mark else file
        if _PARSERS_DEPTH in (error.problem or ""):
            raise _too_deep(where) from None
        what = f"not valid YAML: {error.problem or error.context}"
        raise ModelError(what, where=where, remedy=_syntax_remedy(text, mark)) from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        what = f"not valid YAML: {str(error).splitlines()[0]}"
        raise ModelError(what, where=file, remedy="Remove characters that are not text") from None
    return Document(file, root)


def _too_deep(where: str) -> ModelError:
    remedy = "Write the model as docs/reference/model-format.md says"
    return ModelError(f"nested deeper than {MAX_DEPTH} levels", where=where, remedy=remedy)


def _syntax_remedy(text: str, mark: Any) -> str:
    """How to put a line right at which the parser stopped."""
    lines = text.splitlines()
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "Indent with spaces: the line begins with a tab"
    return "Correct this line or the one before it: indentation, brackets, quotes, a space after each colon"


class _Builder:
    """Makes Values from the parser's events. Recursion is bounded by MAX_DEPTH, size by MAX_VALUES, as they come."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = 0
        #: anchor → its value, and keys and values in it
        self._anchors: dict[str, tuple[Value, int]] = {}

    def document(self, events: Iterator[Any]) -> Value:
        root: Value | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    self._fail(
                        event,
                        "the file has a second YAML document",
                        "Keep one document, without '---' inside",
                    )
                root = self._value(next(events), events, 0)
        if root is None:
            remedy = "Write a model; see docs/reference/model-format.md"
            raise ModelError("the file is empty", where=self._file, remedy=remedy)
        return root

    def _value(self, event: Any, events: Iterator[Any], depth: int) -> Value:
        kind = type(event)
        if kind is yaml.AliasEvent:
            return self._alias(event, depth)
        if depth > MAX_DEPTH:
            raise _too_deep(self._place(event))
        if event.tag:
            self._fail(event, f"the tag {event.tag[:_MOST_SHOWN]!r} is not allowed", "Remove the tag")
        before = self._count
        self._add(1, event)
        value = Value(None, event.start_mark.line + 1)
        if kind is yaml.ScalarEvent:
            value.content = self._scalar(event)
        elif kind is yaml.SequenceStartEvent:
            self._sequence(value, events, depth)
        else:
            self._mapping(value, events, depth)
        if event.anchor:
            self._anchors[event.anchor] = value, self._count - before
        return value

    def _add(self, count: int, event: Any) -> None:
        """Count keys and values; ModelError beyond MAX_VALUES."""
        self._count += count
        if self._count > MAX_VALUES:
            what = "aliases expand to" if count > 1 else "the file has"
            remedy = "Use fewer aliases" if count > 1 else _SMALLER
            self._fail(event, f"{what} more than {MAX_VALUES} keys and values", remedy)

    def _alias(self, event: Any, depth: int) -> Value:
        if event.anchor not in self._anchors:
            name = event.anchor[:_MOST_SHOWN]
            self._fail(event, f"alias '*{name}' has no finished anchor before it", "Set the anchor first")
        value, size = self._anchors[event.anchor]
        if depth + value.height > MAX_DEPTH:
            raise _too_deep(self._place(event))
        self._add(size, event)
        return value

    def _scalar(self, event: Any) -> Any:
        text = event.value
        if not event.implicit[0]:  # quoted or block text
            return text
        if text in _WORDS:
            return _WORDS[text]
        if len(text) <= 400 and _INTEGER.match(text):
            return int(text, 0) if text[:2] in ("0x", "0o") else int(text)
        return float(text) if len(text) <= 400 and _FLOAT.match(text) else text

    def _sequence(self, value: Value, events: Iterator[Any], depth: int) -> None:
        content: list[Value] = []
        for event in events:
            if type(event) is yaml.SequenceEndEvent:
                break
            content.append(self._value(event, events, depth + 1))
        value.content = content
        value.height = 1 + max((item.height for item in content), default=0)

    def _mapping(self, value: Value, events: Iterator[Any], depth: int) -> None:
        content: dict[str, Value] = {}
        lines: dict[str, int] = {}
        for event in events:
            if type(event) is yaml.MappingEndEvent:
                break
            key = self._key(event)
            if key in lines:
                what = f"the key '{key[:_MOST_SHOWN]}' is given twice, first in line {lines[key]}"
                self._fail(event, what, "Keep one of them")
            lines[key] = event.start_mark.line + 1
            content[key] = self._value(next(events), events, depth + 1)
        value.content = content
        value.height = 1 + max((item.height for item in content.values()), default=0)

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent) or event.tag or event.anchor:
            self._fail(event, "a key is not plain text", "Write keys as plain words")
        if event.value == "<<":
            self._fail(event, "merge keys (<<) are not supported", "Repeat the fields, or alias whole values (*name)")
        self._add(1, event)
        return str(event.value)

    def _place(self, event: Any) -> str:
        return f"{self._file}:{event.start_mark.line + 1}"

    def _fail(self, event: Any, what: str, remedy: str) -> NoReturn:
        raise ModelError(what, where=self._place(event), remedy=remedy)
