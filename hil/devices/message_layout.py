"""Binary messages described in YAML: which numbers, in which order, types, byte order, scale, sequence and check.

A layout describes two messages: `signals`, what the bench sends, and `commands`, what it takes. See
docs/reference/devices.md for the fields.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.files.schema_values import Model, Name, Number
from limberjack.engine.files.yaml_document import Document, read_document
from limberjack.hil.devices.device import Wiring

#: struct codes of the types
CODES = {
    **{"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i"},
    **{"u64": "Q", "i64": "q", "f32": "f", "f64": "d"},
}
MOST_FIELDS = 2000
_ONCE = ("sequence", "answer", "session", "time")


def integer_range(kind: str) -> tuple[int, int]:
    """Least and greatest value of an integer type."""
    bits = int(kind[1:])
    return (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


class FieldSpec(Model):
    """One number of a message."""

    type: Literal["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64"]
    use: Literal["value", "constant", "sequence", "answer", "session", "time", "unused"] = Field(
        default="value", description="content of the field (default: a signal or command)"
    )
    name: Name | None = Field(default=None, description="the signal or command; only of use: value")
    value: int | None = Field(default=None, description="only of use: constant")
    scale: Number = Field(default=1.0, description="value = number · scale + offset (default 1)")
    offset: Number = Field(default=0.0, description="(default 0)")


class MessageSpec(Model):
    """The fields of a message in their order, without gaps, and what is appended to check it."""

    fields: Annotated[list[FieldSpec], Field(min_length=1, max_length=MOST_FIELDS)]
    check: Literal["none", "crc16_ccitt", "crc32"] = Field(default="crc32", description="(default crc32)")


class LayoutSpec(Model):
    """Both messages of a device."""

    limberjack_layout: Literal[1]
    byte_order: Literal["little", "big"] = Field(default="little", description="(default little)")
    framing: Literal["cobs", "sync"] = Field(
        default="cobs", description="how messages are separated on TCP and serial lines (default cobs)"
    )
    authenticate: Literal["none", "hmac_sha256"] = Field(default="none", description="(default none)")
    signals: MessageSpec
    commands: MessageSpec | None = None


def default_layout(wiring: Wiring, authenticated: bool = False) -> LayoutSpec:
    """u32 0x4C4A0001, u64 session, u32 sequence, f64 time, all signals as f64, crc32; commands alike (0x4C4A0002)."""

    def message(number: int, extra: str, kind: str, names: tuple[str, ...]) -> MessageSpec:
        head = [
            FieldSpec(use="constant", type="u32", value=0x4C4A0000 + number),
            FieldSpec(use="session", type="u64"),
            FieldSpec(use="sequence", type="u32"),
            FieldSpec.model_validate({"use": extra, "type": kind}),
        ]
        return MessageSpec(fields=head + [FieldSpec(type="f64", name=name) for name in names])

    return LayoutSpec(
        limberjack_layout=1,
        authenticate="hmac_sha256" if authenticated else "none",
        signals=message(1, "time", "f64", wiring.signals),
        commands=message(2, "answer", "u32", wiring.commands) if wiring.commands else None,
    )


def read_layout(source: Path | Mapping[str, Any]) -> LayoutSpec:
    """A layout from a YAML file or a mapping, checked. ArgumentError or ModelError with the place of a mistake."""
    document = read_document(source) if isinstance(source, Path) else None
    content = document.root.plain() if document is not None else dict(source)  # type: ignore[arg-type]
    try:
        layout = LayoutSpec.model_validate(content)
    except ValidationError as error:
        raise _fault(error, document) from None
    _check(layout, str(source) if isinstance(source, Path) else "layout")
    return layout


def _fault(error: ValidationError, document: Document | None) -> ArgumentError:
    """The first finding in words, with line or path."""
    first = error.errors(include_url=False)[0]
    path = tuple(first["loc"])
    if document is not None:
        where = document.place(path)
    else:
        where = "layout" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    if first["type"] == "extra_forbidden":
        return ArgumentError(f"{where}: no layout has this field; remove it, see docs/reference/devices.md.")
    if first["type"] == "missing":
        return ArgumentError(f"{where}: is missing; add it, see docs/reference/devices.md.")
    return ArgumentError(f"{where}: {first['input']!r:.60}: {first['msg']}; see docs/reference/devices.md.")


def _check(layout: LayoutSpec, where: str) -> None:
    """Check rules that the schema cannot express."""
    for part in ("signals", "commands"):
        message: MessageSpec | None = getattr(layout, part)
        if message is None:
            continue
        for i, field in enumerate(message.fields):
            fault = _field_fault(field)
            if fault:
                raise ArgumentError(f"{where}, {part}.fields[{i}]: {fault}")
        uses: Counter[str] = Counter(field.use for field in message.fields)
        names = Counter(field.name for field in message.fields if field.use == "value")
        twice = [f"use: {use}" for use in _ONCE if uses[use] > 1] + [f"name: {n}" for n, c in names.items() if c > 1]
        if twice:
            raise ArgumentError(f"{where}, {part}: {twice[0]} appears twice; keep one.")
        if layout.authenticate != "none" and not (uses["session"] and uses["sequence"]):
            raise ArgumentError(
                f"{where}, {part}: authenticate needs a field of use: session and one of use: sequence, or recorded "
                "messages could be played again; add them."
            )
        if layout.framing == "sync" and message.fields[0].use != "constant":
            raise ArgumentError(
                f"{where}, {part}.fields[0]: framing: sync finds a message by its first field; make it use: constant."
            )
    if any(field.use == "answer" for field in layout.signals.fields):
        raise ArgumentError(f"{where}, signals: use: answer belongs to commands; remove it.")


def _field_fault(field: FieldSpec) -> str:
    """What is wrong with one field, or ""."""
    whole = field.type[0] in "ui"
    if (field.use == "value") != (field.name is not None):
        return "name and use: value belong together; give the name of a signal or command, or another use."
    if (field.use == "constant") != (field.value is not None):
        return "value and use: constant belong together; give both or neither."
    if field.use in ("constant", "sequence", "answer", "session") and not whole:
        return f"use: {field.use} needs an integer type, not {field.type}; use for example u32."
    if field.use in ("sequence", "answer") and (field.type[0] != "u" or field.type == "u8"):
        return f"use: {field.use} counts messages; use u16, u32 or u64."
    if field.use == "session" and field.type != "u64":
        return "use: session is a random number; use u64."
    if field.value is not None and not integer_range(field.type)[0] <= field.value <= integer_range(field.type)[1]:
        return f"value {field.value} does not fit into {field.type}; use a wider type."
    if field.scale == 0.0 or not math.isfinite(1.0 / field.scale):
        return "scale is 0; give another."
    if field.use not in ("value", "time") and (field.scale != 1.0 or field.offset != 0.0):
        return f"use: {field.use} is not scaled; remove scale and offset."
    return ""
