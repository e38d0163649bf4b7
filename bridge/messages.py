"""The wire format: one msgpack array a message, ``[version, type, sequence, time, client, body]``.

docs/reference/protocol.md is the description for people who write clients in other languages.
"""

from __future__ import annotations

import math
import struct
from typing import Any, NamedTuple

import msgpack  # type: ignore[import-untyped]
import numpy as np

from limberjack.bridge.errors import Code

PROTOCOL_VERSION = 1
MAX_UINT64 = 2**64 - 1
#: bytes of the largest message that a client takes; a larger one closes its connection
REPLY_MAX = 64 * 1024 * 1024

#: The type of vectors on the wire. A dtype made once and passed by position costs half of one given by name.
FLOAT64 = np.dtype("<f8")

#: Parts of the state vector, in the order in which they are sent.
VECTOR_PARTS = ("q", "v", "tau", "outputs", "command")


class Message(NamedTuple):
    """One decoded message: the envelope's fields and the body, whose form depends on ``type``."""

    version: int
    type: str
    sequence: int
    time: float
    client: int
    body: Any


class Refusal(Exception):
    """A message that is answered with an error; contains the readable part of its envelope."""

    def __init__(self, code: Code, text: str, sequence: int = 0, client: int = 0) -> None:
        super().__init__(text)
        self.code, self.text, self.sequence, self.client = code, text, sequence, client


def encode(kind: str, sequence: int, time: float, client: int, body: Any) -> bytes:
    """Pack one message."""
    packed: bytes = msgpack.packb([PROTOCOL_VERSION, kind, sequence, time, client, body])
    return packed


class Encoder:
    """`encode` for one thread at a time: its packer is made once, which takes longer than to pack a short message."""

    def __init__(self) -> None:
        self._packer = msgpack.Packer()

    def __call__(self, kind: str, sequence: int, time: float, client: int, body: Any) -> bytes:
        """Pack one message."""
        packed: bytes = self._packer.pack([PROTOCOL_VERSION, kind, sequence, time, client, body])
        return packed


def decode(payload: bytes) -> Message:
    """Unpack and check one message's envelope. Raises Refusal; never anything else, whatever the bytes."""
    try:
        fields = msgpack.unpackb(payload, max_ext_len=0)
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.UnpackException) as error:
        raise Refusal(Code.MALFORMED, f"not one msgpack value: {type(error).__name__} {error}.") from None
    if type(fields) is list and len(fields) == 6:
        version, kind, sequence, time, client, _ = fields
        if (
            type(version) is int
            and version == PROTOCOL_VERSION
            and type(kind) is str
            and type(sequence) is int
            and type(time) is float
            and type(client) is int
            and sequence >= 0
            and client >= 0
            and math.isfinite(time)
        ):
            return tuple.__new__(Message, fields)  # as `_make`, which counts them again
    raise _explain(fields)


def _explain(fields: Any) -> Refusal:
    """Why the unpacked value is not a message."""
    if type(fields) is not list or not fields:
        return Refusal(Code.MALFORMED, "a message is the msgpack array [version, type, sequence, time, client, body].")
    if type(fields[0]) is not int or fields[0] != PROTOCOL_VERSION:
        return _envelope_refusal(fields, Code.VERSION, f"protocol version {fields[0]!r:.40} is not {PROTOCOL_VERSION}.")
    if len(fields) != 6:
        return _envelope_refusal(fields, Code.MALFORMED, f"the envelope has 6 fields; this one has {len(fields)}.")
    return _explain_envelope(fields)


def _explain_envelope(fields: list) -> Refusal:
    """Why an envelope of six fields was refused, field by field."""
    _, kind, sequence, time, client, _ = fields
    if type(time) is float and not math.isfinite(time):
        return _envelope_refusal(fields, Code.NON_FINITE, f"the envelope's time is {time}; it must be finite.")
    for name, value, wanted in (
        ("type", kind, str),
        ("sequence", sequence, int),
        ("time", time, float),
        ("client", client, int),
    ):
        if type(value) is not wanted:
            text = f"the envelope's {name} is a {type(value).__name__}; it must be {wanted.__name__}."
            return _envelope_refusal(fields, Code.MALFORMED, text)
    return _envelope_refusal(fields, Code.MALFORMED, "the envelope's sequence and client must not be negative.")


def _envelope_refusal(fields: list, code: Code, text: str) -> Refusal:
    """A refusal addressed to its sender as far as the fields at the places of version 1 allow."""

    def unsigned(index: int) -> int:
        value = fields[index] if len(fields) > index else 0
        return value if type(value) is int and 0 <= value <= MAX_UINT64 else 0

    return Refusal(code, text, unsigned(2), unsigned(4))


def all_finite(values: np.ndarray) -> bool:
    """Whether the numbers of a vector are finite; for short ones much faster than numpy's own question."""
    listed = values.tolist()
    return math.isfinite(sum(listed)) or all(map(math.isfinite, listed))  # a sum of finite numbers may overflow


def read_vector(data: Any, count: int, what: str) -> np.ndarray:
    """A float64 (count,) view of wire bytes, checked for type, length and finiteness. Raises Refusal."""
    if type(data) is not bytes:
        raise Refusal(Code.MALFORMED, f"{what} must be binary float64 values, not {type(data).__name__}.")
    if len(data) != 8 * count:
        text = f"{what} must be {count} float64 values, {8 * count} bytes, not {len(data)} bytes."
        raise Refusal(Code.WRONG_LENGTH, text)
    values = np.frombuffer(data, FLOAT64)
    if not all_finite(values):
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise Refusal(Code.NON_FINITE, f"{what} has {values[bad]} at index {bad}; values must be finite.")
    return values


class StateFrame:
    """A state message in one preallocated buffer of fixed layout, rewritten in place for every reply.

    All numbers are at full width, so their offsets never move (docs/reference/protocol.md, "State"):
    8 sequence, 17 time, 26 client, 36 step count, 50 the vector.
    """

    _HEADER = struct.Struct(">2B6sBQBdBQ2BQBI")  # big-endian, as msgpack has it; 50 bytes
    _STAMP, _AT = struct.Struct(">QBdBQ2BQ"), 9  # its part that changes

    def __init__(self, sizes: dict[str, int]) -> None:
        """``sizes``: length of each of VECTOR_PARTS."""
        self.count = sum(sizes.values())
        offset = self._HEADER.size
        lead = -offset % 8  # bytes before the message, so that its vector is aligned
        store = np.zeros(lead + offset + 8 * self.count, dtype=np.uint8)
        self.message = store[lead:].data
        self.vector = store[lead + offset :].view(FLOAT64)
        self.parts: dict[str, np.ndarray] = {}
        start = 0
        for name in VECTOR_PARTS:
            self.parts[name] = self.vector[start : start + sizes[name]]
            start += sizes[name]
        header = (
            0x96,
            PROTOCOL_VERSION,
            b"\xa5state",
            0xCF,
            0,
            0xCB,
            0.0,
            0xCF,
            0,
            0x92,
            0xCF,
            0,
            0xC6,
            8 * self.count,
        )
        self._HEADER.pack_into(self.message, 0, *header)

    def stamp(self, sequence: int, time: float, client: int, step_count: int) -> memoryview:
        """Write the envelope; returns the whole message, valid until the next call."""
        self._STAMP.pack_into(self.message, self._AT, sequence, 0xCB, time, 0xCF, client, 0x92, 0xCF, step_count)
        return self.message
