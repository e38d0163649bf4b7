"""The telecommands of a model as commands of OpenC3 COSMOS."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from limberjack.bridge.telemetry.ccsds import packets as ccsds
from limberjack.bridge.telemetry.ccsds.functions import NAME_BYTES, Function
from limberjack.bridge.telemetry.ccsds.sets import Plan
from limberjack.bridge.telemetry.dictionary import Quantity
from limberjack.bridge.telemetry.exports.cosmos_text import quoted
from limberjack.bridge.telemetry.identifiers import upper_names

PROTOCOL_FILE = "telecommand_protocol.py"
#: runs in COSMOS: the last thing done to a telecommand before it leaves
PROTOCOL = '''\
"""Fills in the sequence count and the CRC-16-CCITT of telecommands for a Limberjack gateway."""

from openc3.interfaces.protocols.crc_protocol import CrcProtocol


class TelecommandProtocol(CrcProtocol):
    def __init__(self, allow_empty_data=None):
        super().__init__("CRC", False, "ERROR", -16, 16, "BIG_ENDIAN", 0x1021, 0xFFFF, False, False, allow_empty_data)
        self.sequence_count = 0

    def write_packet(self, packet):
        packet.write("SEQUENCE_COUNT", self.sequence_count)
        self.sequence_count = (self.sequence_count + 1) % 16384
        return super().write_packet(packet)
'''
#: what changes the mechanism, or loses the state, asks first
_HAZARDS = {
    Function.ATTACH: "closes a loop",
    Function.RELEASE: "opens a loop",
    Function.LOCK: "holds a hinge",
    Function.UNLOCK: "frees a hinge",
    Function.RESET: "the simulation begins again",
}
_F64_LIMITS = ("MIN", "MAX")

#: parameter of a command: its line, and what follows it
Lines = list[str]


def commands(plan: Plan, target: str) -> str:
    """The definitions of all telecommands that a gateway of this model takes."""
    lines: Lines = []
    for name, about, service, subtype, items, bits in _all(plan):
        length = ccsds.TELECOMMAND_HEADER_BYTES + bits // 8 + ccsds.CRC.size - ccsds.PRIMARY_BYTES - 1
        lines += [f"COMMAND {target} {name} BIG_ENDIAN {quoted(about)}", *_head(plan, service, subtype, length)]
        lines += [*items, "  APPEND_PARAMETER CRC 16 UINT 0 65535 0", ""]
    return "\n".join(lines)


def _all(plan: Plan) -> Iterator[tuple[str, str, int, int, Lines, int]]:
    """Name, description, service, message type, items and their bits, of each command."""
    quantities = plan.vocabulary.commands
    for place, (quantity, name) in enumerate(zip(quantities, upper_names(each.id for each in quantities), strict=True)):
        items = [*_signature(plan), _fixed("FUNCTION", 8, Function.COMMAND), _fixed("COUNT", 16, 1)]
        items += [_fixed("PLACE", 16, place), *_value(quantity)]
        yield name, quantity.description, ccsds.FUNCTION, ccsds.PERFORM, items, 32 + 8 + 16 + 16 + 64
    for function in Function:
        names: Sequence[str] = getattr(plan.vocabulary, f"{function.names}s") if function.names else ()
        if function is not Function.COMMAND and (names or not function.names):
            items = [*_hazard(function), *_signature(plan), _fixed("FUNCTION", 8, function)]
            items += _choice(function.names, names)
            bits = 32 + 8 + 16 * bool(names)
            if function.takes_fault:
                items.append(
                    f'  APPEND_PARAMETER FAULT {8 * NAME_BYTES} STRING "" {quoted("its name in the scenario")}'
                )
                bits += 8 * NAME_BYTES
            yield function.name, function.about, ccsds.FUNCTION, ccsds.PERFORM, items, bits
    if plan.vocabulary.parameters:
        items = [*_signature(plan), _fixed("COUNT", 16, 1), *_choice("parameter", plan.vocabulary.parameters)]
        items += _value(Quantity("value", "command", "", "what it is to be"))
        about = "a parameter of the model; faults are parameters too"
        yield "SET_PARAMETER", about, ccsds.PARAMETERS, ccsds.SET_VALUES, items, 32 + 16 + 16 + 64
    yield "CONNECTION_TEST", "answered by CONNECTION_TEST", ccsds.TEST, ccsds.ARE_YOU_ALIVE, [], 0


def _head(plan: Plan, service: int, subtype: int, length: int) -> Iterator[str]:
    yield from (_fixed("VERSION", 3, 0), _fixed("TYPE", 1, 1), _fixed("SECONDARY_HEADER", 1, 1))
    yield f"  APPEND_ID_PARAMETER APID 11 UINT {plan.apid} {plan.apid} {plan.apid}"
    yield _fixed("SEQUENCE_FLAGS", 2, 3)
    yield "  APPEND_PARAMETER SEQUENCE_COUNT 14 UINT 0 16383 0 " + quoted("filled in on the way out")
    yield from (_fixed("LENGTH", 16, length), _fixed("PUS_VERSION", 4, ccsds.PUS_VERSION))
    acks = ccsds.ACK_ACCEPTED | ccsds.ACK_DONE
    yield f"  APPEND_PARAMETER ACKS 4 UINT 0 15 {acks} " + quoted("1 when accepted, 8 when done")
    yield f"  APPEND_ID_PARAMETER SERVICE 8 UINT {service} {service} {service}"
    yield f"  APPEND_ID_PARAMETER SUBTYPE 8 UINT {subtype} {subtype} {subtype}"
    yield "  APPEND_PARAMETER SOURCE 16 UINT 0 65535 0 " + quoted("who sends it")


def _signature(plan: Plan) -> Iterator[str]:
    yield _fixed("SIGNATURE", 32, plan.signature)


def _fixed(name: str, bits: int, value: int) -> str:
    return f"  APPEND_PARAMETER {name} {bits} UINT {value} {value} {value}"


def _hazard(function: Function) -> Iterator[str]:
    if function in _HAZARDS:
        yield f"  HAZARDOUS {quoted(_HAZARDS[function])}"


def _value(quantity: Quantity) -> Iterator[str]:
    """The number of a command, within what the model allows."""
    low, high = (
        repr(bound) if math.isfinite(bound) else limit
        for bound, limit in zip((quantity.low, quantity.high), _F64_LIMITS, strict=True)
    )
    preset = min(max(0.0, quantity.low), quantity.high)
    yield f"  APPEND_PARAMETER VALUE 64 FLOAT {low} {high} {preset!r} {quoted(quantity.description)}"
    if quantity.unit:
        yield f"    UNITS {quoted(quantity.unit)} {quoted(quantity.unit)}"


def _choice(what: str, names: Sequence[str]) -> Iterator[str]:
    """One of several names, by its number."""
    if names:
        yield f"  APPEND_PARAMETER {what.upper()} 16 UINT 0 {len(names) - 1} 0"
        for number, name in enumerate(upper_names(names)):
            yield f"    STATE {name} {number}"
