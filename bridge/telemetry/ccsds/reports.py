"""Packets of the gateway besides telemetry: acknowledgements of telecommands, and events."""

from __future__ import annotations

import struct

from limberjack.bridge.telemetry.ccsds.packets import (
    ACCEPTED,
    ACK_ACCEPTED,
    ACK_DONE,
    DONE,
    EVENT,
    FAILED,
    I_AM_ALIVE,
    REFUSED,
    TEST,
    VERIFICATION,
    Packer,
    Telecommand,
)
from limberjack.bridge.telemetry.orders import OrderRefused
from limberjack.bridge.telemetry.sample import Notice

#: why a telecommand was refused or failed: first the gateway's reasons, then the engine's (docs/reference/protocol.md)
CODES = dict(
    enumerate((
        "other", "wrong_apid", "unknown_service", "malformed", "other_description", "unknown_source", "not_authentic",
        "replayed", "busy", "role", "not_allowed", "unknown", "non_finite", "range", "lost", "lease", "argument",
        "simulation", "stopping", "internal", "mode",
    ))
)  # fmt: skip
_NUMBERS = {name: number for number, name in CODES.items()}

#: kinds of notices in events
KINDS = {0: "other", 1: "engine", 2: "alarm", 3: "command", 4: "refused", 5: "link", 6: "gap"}
_KIND_NUMBERS = {name: number for number, name in KINDS.items()}
_EVENT_SUBTYPES = (1, 2, 4)  # information, low and high severity

_REASON = struct.Struct(">HH")
_MOST_TEXT = 1000


class Reporter:
    """Packs acknowledgements and events of one gateway."""

    def __init__(self, packer: Packer, apid: int) -> None:
        self._packer, self._apid = packer, apid

    def accepted(self, order: Telecommand, unix_ns: int) -> bytes | None:
        """TM(1,1), or None when the telecommand does not ask for it."""
        return self._answer(order, ACCEPTED, unix_ns) if order.acks & ACK_ACCEPTED else None

    def done(self, order: Telecommand, unix_ns: int) -> bytes | None:
        """TM(1,7), or None when the telecommand does not ask for it."""
        return self._answer(order, DONE, unix_ns) if order.acks & ACK_DONE else None

    def refused(self, order: Telecommand, unix_ns: int, refusal: OrderRefused) -> bytes:
        """TM(1,2): it was refused before it began."""
        return self._answer(order, REFUSED, unix_ns, _reason(_NUMBERS.get(refusal.code, 0), str(refusal)))

    def failed(self, order: Telecommand, unix_ns: int, refusal: OrderRefused) -> bytes:
        """TM(1,8): the engine refused it."""
        return self._answer(order, FAILED, unix_ns, _reason(_NUMBERS.get(refusal.code, 0), str(refusal)))

    def alive(self, order: Telecommand, unix_ns: int) -> bytes:
        """TM(17,2), the answer to a connection test."""
        return self._packer.telemetry(self._apid, TEST, I_AM_ALIVE, unix_ns, b"", order.source)

    def event(self, notice: Notice, unix_ns: int) -> bytes:
        """TM(5,1), (5,2) or (5,4)."""
        data = _reason(_KIND_NUMBERS.get(notice.kind, 0), notice.text)
        subtype = _EVENT_SUBTYPES[max(0, min(notice.severity, 2))]
        return self._packer.telemetry(self._apid, EVENT, subtype, unix_ns, data)

    def _answer(self, order: Telecommand, subtype: int, unix_ns: int, reason: bytes = b"") -> bytes:
        return self._packer.telemetry(self._apid, VERIFICATION, subtype, unix_ns, order.request + reason, order.source)


def _reason(number: int, text: str) -> bytes:
    """A number and a text of at most 1000 bytes, cut between characters."""
    encoded = text.encode()[:_MOST_TEXT].decode(errors="ignore").encode()
    return _REASON.pack(number, len(encoded)) + encoded
