"""A `System` as bytes, exactly: every number keeps its bits, whatever file the model was read from.

The file is a header (magic, version, length, SHA-256 of what follows) and one msgpack value: each dataclass an
array of its fields in order, each array its shape and its raw float64 numbers. What the fields may hold is read
from the dataclasses' own annotations, so a field that is added to them is carried without a change here; the
names of all fields and their types are in the file, and a file with other fields is refused. Which modules the types
are from does not matter: they may move.

A compiled model has a plant file (engine/native) between header and value, which C runs without reading the value.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
import struct
import types
import typing
from functools import cache
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.engine.model.places import plain_locate
from limberjack.engine.model.system import System
from limberjack.engine.model.validate import examine

SUFFIX = ".ljm"
VERSION, COMPILED = 1, 2
MOST_BYTES = 1 << 30  # a model of a million bodies; more is not read
_MOST_ITEMS = 1 << 21  # of one tuple
_MOST_DIMENSIONS = 8
_MOST_NAMES = 1 << 17  # bytes of the names of all fields
#: first bytes of msgpack's arrays and mappings
_ARRAYS = frozenset((*range(0x90, 0xA0), 0xDC, 0xDD))
_MAPPINGS = frozenset((*range(0x80, 0x90), 0xDE, 0xDF))
_MAGIC = b"LJMODEL\0"
_HEADER = struct.Struct("<8sIIQ32s")  # magic, version, length of the plant file, length of the rest, its SHA-256
_FLOAT64 = np.dtype("<f8")
#: what says in the text of a type which module it is from
_MODULE = re.compile(r"(?:\w+\.)+(?=\w)")
_AGAIN = "Write the file again from its model"


class _Misfit(Exception):
    """A value that its field cannot hold; the text says which field and why."""


#: what foreign content raises on its way to a checked model
_UNFIT = (_Misfit, msgpack.UnpackException, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def to_bytes(system: System, plant_file: bytes = b"") -> bytes:
    """The whole System, for `from_bytes`, compiled with a plant file.

    Raises ModelError for a field of the wrong type in a System made by hand.
    """
    try:
        content = _packed(System, system, "system")
    except _Misfit as misfit:
        where = system.source or f"system '{system.name}'"
        raise ModelError(str(misfit), where=where, remedy="Give the field a value of its type") from None
    body: bytes = plant_file + msgpack.packb([_catalogue(), content])
    version = COMPILED if plant_file else VERSION
    return _HEADER.pack(_MAGIC, version, len(plant_file), len(body), hashlib.sha256(body).digest()) + body


def from_bytes(data: bytes, where: str) -> System:
    """The System in what `to_bytes` made; building it gives the original's Plant bit for bit.

    ``where`` names the file in messages. Raises ModelError for bytes that are damaged, of another version or no
    model at all.
    """
    try:
        content = _opened(data, where)
        if not content.begins_with(_catalogue()):
            what = "the model was written by another version of Limberjack, whose models have other fields"
            raise ModelError(what, where=where, remedy=_AGAIN)
        system: System = _unpacked(System, content, "system")
        content.finish()
        examine(system, "warn", plain_locate)  # the checks alone: what they make again could differ in the last bit
    except ModelError:
        raise
    except _UNFIT as error:
        raise ModelError(f"the model cannot be used: {error}", where=where, remedy=_AGAIN) from None
    return system


def read_archive(path: Path) -> System:
    """The System in a file. Raises ModelError."""
    return from_bytes(read_bytes(path, MOST_BYTES, _AGAIN), str(path))


class _Content:
    """The msgpack value of a file, read piece by piece as the fields ask for it: nothing foreign is unpacked."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._unpacker = msgpack.Unpacker(max_buffer_size=len(body), max_ext_len=0)
        self._unpacker.feed(body)

    def begins_with(self, catalogue: dict[str, list[list[str]]]) -> bool:
        """Whether this is an array of the catalogue and something else; then the something comes next."""
        if self.length() != 2 or self._first() not in _MAPPINGS:
            return False
        first = int(self._unpacker.tell())
        self._unpacker.skip()
        names = self._body[first : int(self._unpacker.tell())]
        return len(names) < _MOST_NAMES and _MODULE.sub("", repr(msgpack.unpackb(names))) == repr(catalogue)

    def none(self) -> bool:
        """Whether the next value is none, which is then taken."""
        if self._first() != 0xC0:
            return False
        self._unpacker.skip()
        return True

    def length(self) -> int | None:
        """Number of values of the array that comes next; None for another value."""
        if self._first() not in _ARRAYS:
            return None
        count = int(self._unpacker.read_array_header())
        if count > _MOST_ITEMS:
            raise _Misfit(f"an array of {count} values is longer than {_MOST_ITEMS}")
        return count

    def plain(self) -> Any:
        """The next value, a number, text or bytes; an array or mapping is given back as its first byte."""
        first = self._first()
        return bytes([first]) if first in _ARRAYS or first in _MAPPINGS else self._unpacker.unpack()

    def finish(self) -> None:
        """Nothing is left. Raises _Misfit."""
        if self._unpacker.tell() != len(self._body):
            raise _Misfit("data follow after its end")

    def _first(self) -> int:
        place = int(self._unpacker.tell())
        if place >= len(self._body):
            raise _Misfit("it ends early")
        return self._body[place]


def _opened(data: bytes, where: str) -> _Content:
    """Catalogue and content of the file, header and checksum checked."""
    if len(data) < _HEADER.size or data[: len(_MAGIC)] != _MAGIC:
        remedy = "Give a file that Limberjack wrote"
        raise ModelError(f"this is not a {SUFFIX} model (other first bytes)", where=where, remedy=remedy)
    _, version, plant, length, digest = _HEADER.unpack_from(data)
    if version not in (VERSION, COMPILED):
        what = f"the model has format {version}; this version of Limberjack reads formats {VERSION} and {COMPILED}"
        raise ModelError(what, where=where, remedy="Use the version that wrote it, or write it again")
    body = data[_HEADER.size :]
    fits = plant <= length == len(body) and (plant > 0) == (version == COMPILED)
    if not fits or hashlib.sha256(body).digest() != digest:
        what = f"the model is damaged: {len(body)} of {length} bytes, or a wrong checksum"
        raise ModelError(what, where=where, remedy=_AGAIN)
    return _Content(body[plant:])


@cache
def _fields(kind: type) -> dict[str, Any]:
    """Field name → annotated type."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _catalogue() -> dict[str, list[list[str]]]:
    """Class name → names and types of its fields, of System and of all that it holds; types without modules."""
    found: dict[str, list[list[str]]] = {}

    def visit(kind: Any) -> None:
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__name__ not in found:
            found[kind.__name__] = [[name, _MODULE.sub("", str(hint))] for name, hint in _fields(kind).items()]
            for hint in _fields(kind).values():
                visit(hint)
        for argument in typing.get_args(kind):
            visit(argument)

    visit(System)
    return found


def _packed(kind: Any, value: Any, place: str) -> Any:
    """A value of an annotated type as msgpack has it. Raises _Misfit."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return None if value is None else _packed(_present(kind), value, place)
    if typing.get_origin(kind) is tuple:
        (item, _) = typing.get_args(kind)
        if not isinstance(value, (tuple, list)):
            raise _Misfit(f"{place} is {value!r:.60}, not a tuple")
        return [_packed(item, each, f"{place}[{i}]") for i, each in enumerate(value)]
    if dataclasses.is_dataclass(kind):
        if type(value) is not kind:
            raise _Misfit(f"{place} is {value!r:.60}, not a {getattr(kind, '__name__', kind)}")
        names = _fields(typing.cast(type, kind))
        return [_packed(hint, getattr(value, name), f"{place}.{name}") for name, hint in names.items()]
    if kind is np.ndarray:
        return _packed_array(value, place)
    return _plain(kind, value, place)


def _packed_array(value: Any, place: str) -> list[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise _Misfit(f"{place} is not an array of numbers")
    return [list(array.shape), array.astype(_FLOAT64).tobytes()]


def _plain(kind: Any, value: Any, place: str) -> Any:
    """A number, truth value or text of exactly this type; numpy's and whole numbers become what is asked for."""
    if kind is float and isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return float(value)
    if kind is int and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if (kind is bool and isinstance(value, (bool, np.bool_))) or (kind is str and isinstance(value, str)):
        return kind(value)
    raise _Misfit(f"{place} is {value!r:.60}, not a {getattr(kind, '__name__', kind)}")


def _unpacked(kind: Any, content: _Content, place: str) -> Any:
    """What `_packed` packed. Raises _Misfit."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return None if content.none() else _unpacked(_present(kind), content, place)
    if typing.get_origin(kind) is tuple:
        (item, _) = typing.get_args(kind)
        count = content.length()
        if count is None:
            raise _Misfit(f"{place} is not an array")
        return tuple(_unpacked(item, content, f"{place}[{i}]") for i in range(count))
    if dataclasses.is_dataclass(kind):
        fields = _fields(typing.cast(type, kind))
        if content.length() != len(fields):
            raise _Misfit(f"{place} does not have {len(fields)} fields")
        parts = {name: _unpacked(hint, content, f"{place}.{name}") for name, hint in fields.items()}
        return typing.cast(type, kind)(**parts)
    if kind is np.ndarray:
        return _unpacked_array(content, place)
    value = content.plain()
    if type(value) is not kind:
        raise _Misfit(f"{place} is {value!r:.60}, not a {getattr(kind, '__name__', kind)}")
    return value


def _unpacked_array(content: _Content, place: str) -> np.ndarray:
    dimensions = content.length() if content.length() == 2 else None
    if dimensions is None or dimensions > _MOST_DIMENSIONS:
        raise _Misfit(f"{place} is not an array of numbers")
    shape, data = [content.plain() for _ in range(dimensions)], content.plain()
    if type(data) is not bytes:
        raise _Misfit(f"{place} is not an array of numbers")
    if any(type(size) is not int or size < 0 for size in shape) or 8 * math.prod(shape) != len(data):
        raise _Misfit(f"{place} has {len(data)} bytes, which do not fit its shape")
    return np.frombuffer(data, _FLOAT64).reshape(shape).astype(np.float64)


def _present(union: Any) -> Any:
    """The type beside None in an optional field."""
    (kind,) = (each for each in typing.get_args(union) if each is not type(None))
    return kind
