"""A `System` as bytes, exactly: every number keeps its bits, whatever file the model was read from.

The file is a header (magic, version, length, SHA-256 of what follows) and one msgpack value: each dataclass an
array of its fields in order, each array its shape and its raw float64 numbers. What the fields may hold is read
from the dataclasses' own annotations, so a field that is added to them is carried without a change here; the
names of all fields are in the file, and a file with other fields is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import struct
import types
import typing
from functools import cache
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]
import numpy as np

from limberjack.engine.errors import ModelError
from limberjack.engine.system.places import plain_locate
from limberjack.engine.system.system import System
from limberjack.engine.system.validate import examine

SUFFIX = ".ljm"
VERSION = 1
MOST_BYTES = 1 << 30  # a model of a million bodies; more is not read
_MAGIC = b"LJMODEL\0"
_HEADER = struct.Struct("<8sIIQ32s")  # magic, version, zero, length of the rest, its SHA-256
_FLOAT64 = np.dtype("<f8")
_AGAIN = "Write the file again from its model"


class _Misfit(Exception):
    """A value that its field cannot hold; the text says which field and why."""


def to_bytes(system: System) -> bytes:
    """The whole System, for `from_bytes`. Raises ModelError for a field of the wrong type in a System made by hand."""
    try:
        content = _packed(System, system, "system")
    except _Misfit as misfit:
        where = system.source or f"system '{system.name}'"
        raise ModelError(str(misfit), where=where, mend="Give the field a value of its type") from None
    body: bytes = msgpack.packb([_catalogue(), content])
    return _HEADER.pack(_MAGIC, VERSION, 0, len(body), hashlib.sha256(body).digest()) + body


def from_bytes(data: bytes, where: str) -> System:
    """The System in what `to_bytes` made; building it gives the original's Plant bit for bit.

    ``where`` names the file in messages. Raises ModelError for bytes that are damaged, of another version or no
    model at all.
    """
    try:
        catalogue, content = _opened(data, where)
        if catalogue != _catalogue():
            what = "the model was written by another version of Limberjack, whose models have other fields"
            raise ModelError(what, where=where, mend=_AGAIN)
        system: System = _unpacked(System, content, "system")
        examine(system, "warn", plain_locate)  # the checks alone: what they make anew could differ in the last bit
    except ModelError:
        raise
    except (_Misfit, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelError(f"the model cannot be used: {error}", where=where, mend=_AGAIN) from None
    return system


def read_archive(path: Path) -> System:
    """The System in a file. Raises ModelError."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ModelError(f"the file has {size} bytes, more than any model", where=str(path), mend=_AGAIN)
        data = path.read_bytes()
    except OSError as error:
        what = f"the file cannot be read ({error.strerror})"
        raise ModelError(what, where=str(path), mend="Check the path and the rights") from None
    return from_bytes(data, str(path))


def _opened(data: bytes, where: str) -> tuple[Any, Any]:
    """Catalogue and content of the file, header and checksum checked."""
    if len(data) < _HEADER.size or data[: len(_MAGIC)] != _MAGIC:
        mend = "Give a file that Limberjack wrote"
        raise ModelError(f"this is no {SUFFIX} model (other first bytes)", where=where, mend=mend)
    _, version, zero, length, digest = _HEADER.unpack_from(data)
    if version != VERSION:
        what = f"the model has format {version}; this version of Limberjack reads format {VERSION}"
        raise ModelError(what, where=where, mend="Use the version that wrote it, or write it again")
    body = data[_HEADER.size :]
    if zero or len(body) != length or hashlib.sha256(body).digest() != digest:
        what = f"the model is damaged: {len(body)} of {length} bytes, or a wrong checksum"
        raise ModelError(what, where=where, mend=_AGAIN)
    try:
        catalogue, content = msgpack.unpackb(body, max_ext_len=0)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise ModelError(f"the model is damaged: {type(error).__name__}", where=where, mend=_AGAIN) from None
    return catalogue, content


@cache
def _fields(kind: type) -> dict[str, Any]:
    """Field name → annotated type."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _catalogue() -> dict[str, list[list[str]]]:
    """Class name → names and types of its fields, of System and of all that it holds."""
    found: dict[str, list[list[str]]] = {}

    def visit(kind: Any) -> None:
        if dataclasses.is_dataclass(kind) and isinstance(kind, type) and kind.__name__ not in found:
            found[kind.__name__] = [[name, str(hint)] for name, hint in _fields(kind).items()]
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


def _unpacked(kind: Any, value: Any, place: str) -> Any:
    """What `_packed` packed. Raises _Misfit."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return None if value is None else _unpacked(_present(kind), value, place)
    if typing.get_origin(kind) is tuple:
        (item, _) = typing.get_args(kind)
        if type(value) is not list:
            raise _Misfit(f"{place} is not an array")
        return tuple(_unpacked(item, each, f"{place}[{i}]") for i, each in enumerate(value))
    if dataclasses.is_dataclass(kind):
        fields = _fields(typing.cast(type, kind))
        if type(value) is not list or len(value) != len(fields):
            raise _Misfit(f"{place} does not have {len(fields)} fields")
        parts = {name: _unpacked(fields[name], each, f"{place}.{name}") for name, each in zip(fields, value)}
        return typing.cast(type, kind)(**parts)
    if kind is np.ndarray:
        return _unpacked_array(value, place)
    if type(value) is not kind:
        raise _Misfit(f"{place} is {value!r:.60}, not a {getattr(kind, '__name__', kind)}")
    return value


def _unpacked_array(value: Any, place: str) -> np.ndarray:
    if type(value) is not list or len(value) != 2 or type(value[0]) is not list or type(value[1]) is not bytes:
        raise _Misfit(f"{place} is not an array of numbers")
    shape, data = value
    if any(type(size) is not int or size < 0 for size in shape) or 8 * math.prod(shape) != len(data):
        raise _Misfit(f"{place} has {len(data)} bytes, which are not its shape")
    return np.frombuffer(data, _FLOAT64).reshape(shape).astype(np.float64)


def _present(union: Any) -> Any:
    """The type beside None in an optional field."""
    (kind,) = (each for each in typing.get_args(union) if each is not type(None))
    return kind
