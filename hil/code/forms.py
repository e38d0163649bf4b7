"""The position of each number in a device's two messages, and its name in programs."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.devices.device import Wiring
from limberjack.hil.devices.message_layout import CODES, FieldSpec, LayoutSpec, MessageSpec

#: bytes of the checks
CHECKS = {"none": 0, "crc16_ccitt": 2, "crc32": 4}
#: reserved words of C and MATLAB, and names that the messages use themselves
_TAKEN = frozenset(
    """auto break case catch char classdef const continue default do double else elseif end enum extern float for
    function global goto if inline int long otherwise parfor persistent register restrict return short signed sizeof
    spmd static struct switch try typedef union unsigned void volatile while session sequence answer time""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Place:
    """One number: its first byte, its field, its name in programs, the unit of its value."""

    offset: int
    field: FieldSpec
    label: str
    unit: str

    @property
    def about(self) -> str:
        """The content of the field, for a comment in any language."""
        return comment(f"{self.field.name or self.field.use}, {self.unit or '-'}")


@dataclass(frozen=True)
class Form:
    """One of the two messages.

    part : "signals" or "commands";  body : bytes before the check;  size : bytes with it
    """

    part: str
    places: tuple[Place, ...]
    check: str
    body: int

    @property
    def size(self) -> int:
        """Bytes of the message."""
        return self.body + CHECKS[self.check]

    @property
    def shown(self) -> tuple[Place, ...]:
        """The fields that a program reads or sets: all but constants and unused ones."""
        return tuple(place for place in self.places if place.field.use not in ("constant", "unused"))

    def has(self, use: str) -> bool:
        """Whether there is a field of this use."""
        return any(place.field.use == use for place in self.places)


@dataclass(frozen=True)
class Forms:
    """Both messages of a device.

    name : the device's, as programs write it;  origin : of which device, for people
    carrier : "datagrams", "stream" or "memory";  memory : name of the shared memory
    """

    name: str
    origin: str
    layout: LayoutSpec
    signals: Form
    commands: Form
    carrier: str
    memory: str


def forms_of(
    name: str, origin: str, layout: LayoutSpec, wiring: Wiring, command_units: Sequence[str], uri: str
) -> Forms:
    """The messages of a device with this wiring. Raises ArgumentError if it sets no commands, or signs its messages."""
    if layout.commands is None:
        raise ArgumentError(f"device '{name}' sets no commands: there is nothing to answer; wire some to it.")
    if layout.authenticate != "none":
        raise ArgumentError(
            f"device '{name}' signs its messages; make the code of the same device without key_file, and add the 32 "
            "bytes of HMAC-SHA-256 to its messages (docs/reference/devices.md, 'Who may command')."
        )
    scheme, _, rest = uri.partition("://")
    carrier = {"udp": "datagrams", "shm": "memory"}.get(scheme, "stream")
    signals = form_of("signals", layout.signals, dict(zip(wiring.signals, wiring.signal_units)))
    commands = form_of("commands", layout.commands, dict(zip(wiring.commands, command_units)))
    memory = rest.partition("?")[0] if carrier == "memory" else ""
    return Forms(identifier(name), origin, layout, signals, commands, carrier, memory)


def comment(text: str) -> str:
    """The text without the characters that end a comment in C."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def identifier(text: str) -> str:
    """A name of C and MATLAB for a name of the model: q.joint1 → q_joint1."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", text)
    word = word if word[:1].isalpha() else f"x{word}"
    return f"{word}_" if word in _TAKEN else word


def form_of(part: str, spec: MessageSpec, units: dict[str, str]) -> Form:
    """A message with the units of its values by name."""
    places, offset = [], 0
    labels = _labels(spec)
    for field in spec.fields:
        unit = "s" if field.use == "time" else units.get(field.name or "", "")
        places.append(Place(offset, field, next(labels), unit))
        offset += struct.calcsize("<" + CODES[field.type])
    return Form(part, tuple(places), spec.check, offset)


def _labels(spec: MessageSpec) -> Iterator[str]:
    """A unique name for each field."""
    seen: set[str] = set()
    for field in spec.fields:
        label = identifier(field.name) if field.name is not None else field.use
        while label in seen:
            label = f"{label}_"
        seen.add(label)
        yield label
