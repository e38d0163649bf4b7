"""Packing and unpacking the messages of a layout."""

from __future__ import annotations

import binascii
import hashlib
import hmac
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.devices.message_layout import CODES, LayoutSpec, MessageSpec, integer_range

_F32 = float(np.finfo(np.float32).max)
_TAG_BYTES = 32


@dataclass
class Head:
    """The fields of a message besides its values.

    sequence : its number;  answer : number of the signals that commands answer;  session : random number of the
    bench's run;  time : simulated time, s. 0 where the layout has no such field.
    """

    sequence: int = 0
    answer: int = 0
    session: int = 0
    time: float = 0.0


class Message:
    """One of the two messages of a layout, for numbers of given names.

    size : bytes;  values : (n,) of the last `unpack`;  head : of the last `unpack`
    """

    def __init__(self, layout: LayoutSpec, part: str, names: tuple[str, ...], key: bytes) -> None:
        """part : "signals" or "commands". ArgumentError if the layout has other numbers than these names."""
        spec: MessageSpec = getattr(layout, part)
        _same_names(spec, part, names)
        order = "<" if layout.byte_order == "little" else ">"
        self._body = struct.Struct(order + "".join(CODES[field.type] for field in spec.fields))
        self._template: list[float] = [field.value or 0 for field in spec.fields]
        self._slots: dict[str, int] = {
            field.use: i for i, field in enumerate(spec.fields) if field.use not in ("value", "unused")
        }
        self._wraps = {use: 1 << int(spec.fields[i].type[1:]) for use, i in self._slots.items()}
        self._constants = [(i, field.value) for i, field in enumerate(spec.fields) if field.use == "constant"]
        self._time = next((field for field in spec.fields if field.use == "time"), None)
        self._prepare_values(spec, names)
        self._crc = {"none": None, "crc16_ccitt": _crc16, "crc32": zlib.crc32}[spec.check]
        self._check = struct.Struct(order + {"none": "", "crc16_ccitt": "H", "crc32": "I"}[spec.check])
        self._key = key if layout.authenticate != "none" else b""
        self._part = part.encode()  # under the tag, so that signals cannot be sent back as commands
        self.sync = self._body.pack(*self._template)[: struct.calcsize(order + CODES[spec.fields[0].type])]
        self.size = self._body.size + self._check.size + (_TAG_BYTES if self._key else 0)
        self.values, self.head = np.zeros(len(names)), Head()

    def has(self, use: str) -> bool:
        """Whether the message has a field of this use."""
        return use in self._slots

    def modulus(self, use: str) -> int:
        """The number at which a counter wraps."""
        return self._wraps[use]

    def _prepare_values(self, spec: MessageSpec, names: tuple[str, ...]) -> None:
        place = {field.name: i for i, field in enumerate(spec.fields) if field.use == "value"}
        fields = [spec.fields[place[name]] for name in names]
        self._places = [place[name] for name in names]
        self._scale, self._offset = np.array([f.scale for f in fields]), np.array([f.offset for f in fields])
        limits = np.array([_limits(field.type) for field in fields]).reshape(-1, 2)
        self._low, self._high = limits.T
        self._whole = [i for i, field in enumerate(fields) if field.type[0] in "ui"]

    def pack(self, head: Head, values: np.ndarray) -> bytes:
        """The message with these values (n,); a value that does not fit its type becomes the nearest number."""
        raw = self._template.copy()
        for use, i in self._slots.items():
            if use == "time" and self._time is not None:
                number = (head.time - self._time.offset) / self._time.scale
                raw[i] = self._wrapped(round(number)) if self._time.type[0] in "ui" else number
            elif use != "constant":
                raw[i] = getattr(head, use) % self._wraps[use]
        numbers = np.clip((values - self._offset) / self._scale, self._low, self._high).tolist()
        for i in self._whole:
            numbers[i] = round(numbers[i]) if numbers[i] == numbers[i] else 0
        for i, number in zip(self._places, numbers):
            raw[i] = number
        data = self._body.pack(*raw)
        if self._crc is not None:
            data += self._check.pack(self._crc(data))
        return data + self._tag(data) if self._key else data

    def _wrapped(self, ticks: int) -> int:
        """Time in its integer type, in which it wraps; a signed type continues at its least number."""
        assert self._time is not None
        least, wraps = integer_range(self._time.type)[0], self._wraps["time"]
        return (ticks - least) % wraps + least

    def damage(self, data: bytes) -> str:
        """Why these bytes are not an intact message, or ""."""
        if len(data) != self.size:
            return "wrong size"
        if self._key:
            data, tag = data[:-_TAG_BYTES], data[-_TAG_BYTES:]
            if not hmac.compare_digest(tag, self._tag(data)):
                return "not authentic"
        size = self._body.size
        if self._crc is not None and self._check.unpack_from(data, size)[0] != self._crc(data[:size]):
            return "wrong check"
        return ""

    def unpack(self, data: bytes) -> str:
        """Read a message into `head` and `values`; returns "", or why it is not valid, and then both stay."""
        reason = self.damage(data)
        if reason:
            return reason
        raw = self._body.unpack_from(data)
        if any(raw[i] != value for i, value in self._constants):
            return "wrong constant"
        values = np.array([raw[i] for i in self._places], dtype=float) * self._scale + self._offset
        time = raw[self._slots["time"]] * self._time.scale + self._time.offset if self._time is not None else 0.0
        if not (np.isfinite(values).all() and np.isfinite(time)):
            return "not finite"
        numbers = {use: raw[self._slots[use]] for use in ("sequence", "answer", "session") if use in self._slots}
        self.head, self.values[:] = Head(time=time, **numbers), values
        return ""

    def _tag(self, data: bytes) -> bytes:
        return hmac.digest(self._key, self._part + data, hashlib.sha256)


def newer(number: int, last: int, modulus: int) -> bool:
    """Whether a wrapping counter is ahead of another by less than half its range."""
    return 0 < (number - last) % modulus < modulus // 2


def _crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, begins with 0xFFFF."""
    return binascii.crc_hqx(data, 0xFFFF)


def _limits(kind: str) -> tuple[float, float]:
    """The range of numbers of a type; for 64-bit integers that of exact doubles."""
    if kind[0] == "f":
        return (-_F32, _F32) if kind == "f32" else (-np.inf, np.inf)
    low, high = integer_range(kind)
    return float(low), float(high) if float(high) == high else float(np.nextafter(float(high), 0.0))


def _same_names(spec: MessageSpec, part: str, names: tuple[str, ...]) -> None:
    """Refuse names that are only in the layout or only in the wiring: nothing is dropped silently."""
    listed = [field.name for field in spec.fields if field.name is not None]
    for name in listed:
        if name not in names:
            arguments.index_of(f"{part[:-1]} wired to the device", name, names)
    for name in names:
        if name not in listed:
            raise ArgumentError(f"{part[:-1]} '{name}' is wired to the device, but its layout lacks it; add a field.")
