"""A target for OpenC3 COSMOS: definitions of the CCSDS packets and telecommands, and how to reach the gateway.

The export has the files of a COSMOS plugin: ``plugin.txt`` and ``targets/NAME/…``; docs/how-to/telemetry.md says
how to install it. Items are called as `identifiers.upper_names` spells the identifiers: "q.elbow" is Q_ELBOW.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from limberjack.bridge.telemetry.ccsds import packets as ccsds
from limberjack.bridge.telemetry.ccsds.reports import CODES, KINDS
from limberjack.bridge.telemetry.ccsds.schema import DEFAULT, read_packets
from limberjack.bridge.telemetry.ccsds.sets import Packet, Plan, plan_of
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.ccsds.xtce import DATA, PRIMARY, REQUEST, SECONDARY
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.exports.cosmos_commands import PROTOCOL, PROTOCOL_FILE, commands
from limberjack.bridge.telemetry.exports.cosmos_text import quoted
from limberjack.bridge.telemetry.exports.registry import Subject
from limberjack.bridge.telemetry.identifiers import upper_names

#: fields of the headers that distinguish packets
_KEYS = ("packet_apid", "packet_service", "packet_subtype")
#: limits of COSMOS that are never reached
_LOWEST, _HIGHEST = -1.7976931348623157e308, 1.7976931348623157e308

_CHECK = "  APPEND_ITEM PACKET_CRC 16 UINT"

_PLUGIN = """\
# Limberjack, model {model}: telemetry and telecommands of
#   limberjack gateway ENGINE --ccsds 'tcp://127.0.0.1:10015?commands=yes'
VARIABLE target_name {target}
VARIABLE gateway_host host.docker.internal
VARIABLE gateway_port 10015

TARGET {target} <%= target_name %>
INTERFACE <%= target_name %>_INT openc3/interfaces/tcpip_client_interface.py <%= gateway_host %> <%= gateway_port %> \
<%= gateway_port %> 10.0 nil LENGTH 32 16 7 1 BIG_ENDIAN
  MAP_TARGET <%= target_name %>
  PROTOCOL WRITE {protocol}
"""


def export(subject: Subject) -> Mapping[str, str]:
    """The files of a plugin by their path in it. ArgumentError for packets that do not fit the model."""
    vocabulary = vocabulary_of(subject.simulation, subject.dictionary)
    spec = DEFAULT if subject.packets is None else read_packets(subject.packets)
    plan = plan_of(subject.dictionary, vocabulary, spec)
    target = upper_names([plan.model or "model"])[0]
    folder = f"targets/{target}"
    return {
        "plugin.txt": _PLUGIN.format(model=quoted(plan.model), target=target, protocol=PROTOCOL_FILE),
        f"{folder}/target.txt": f"LANGUAGE python\nREQUIRE {PROTOCOL_FILE}\n",
        f"{folder}/lib/{PROTOCOL_FILE}": PROTOCOL,
        f"{folder}/cmd_tlm/tlm.txt": telemetry(plan, subject.dictionary, target),
        f"{folder}/cmd_tlm/cmd.txt": commands(plan, target),
    }


def item_names(dictionary: Dictionary) -> dict[str, str]:
    """Identifier → name of the item."""
    ids = [quantity.id for quantity in dictionary]
    return dict(zip(ids, upper_names(ids), strict=True))


def telemetry(plan: Plan, dictionary: Dictionary, target: str) -> str:
    """The definitions of all packets that a gateway sends."""
    names = item_names(dictionary)
    lines: list[str] = []
    for packet in plan.packets:
        lines += [*_packet(packet, names, target), ""]
    for name, service, subtype, items in _services():
        keys = {"packet_apid": plan.apid, "packet_service": service, "packet_subtype": subtype}
        lines += [f"TELEMETRY {target} {name} BIG_ENDIAN", *_headers(keys), *items, ""]
    return "\n".join(lines)


def _packet(packet: Packet, names: Mapping[str, str], target: str) -> Iterator[str]:
    yield f"TELEMETRY {target} {packet.name.upper()} BIG_ENDIAN {quoted(packet.description)}"
    keys = {"packet_apid": packet.apid, "packet_service": ccsds.HOUSEKEEPING, "packet_subtype": ccsds.REPORT}
    yield from _headers(keys)
    yield from _unsigned(DATA)
    yield f"  APPEND_ITEM {names['time']} 64 FLOAT {quoted('simulated time')}"
    yield "    UNITS s s"
    for quantity in packet.quantities:
        yield from _item(quantity, names[quantity.id], packet.bits)
    yield _CHECK


def _headers(keys: Mapping[str, int]) -> Iterator[str]:
    """Primary and secondary header, and the time of the packet from its CUC time."""
    for name, bits in (*PRIMARY, *SECONDARY):
        if name in keys:
            yield f"  APPEND_ID_ITEM {name.upper()} {bits} UINT {keys[name]}"
        else:
            yield from _unsigned([(name, bits)])
    yield "  APPEND_ITEM PACKET_SECONDS 32 UINT"
    yield "  APPEND_ITEM PACKET_MICROSECONDS 24 UINT"
    yield f"    POLY_READ_CONVERSION 0.0 {1e6 / 2**24!r}"
    yield "  ITEM PACKET_TIME 0 0 DERIVED"
    conversion = "openc3/conversions/unix_time_conversion.py"
    yield f"    READ_CONVERSION {conversion} PACKET_SECONDS PACKET_MICROSECONDS RAW CONVERTED"


def _unsigned(fields: Iterable[tuple[str, int]]) -> Iterator[str]:
    for name, bits in fields:
        yield f"  APPEND_ITEM {name.upper()} {bits} UINT"


def _item(quantity: Quantity, name: str, bits: int) -> Iterator[str]:
    """One quantity with unit and limits; beyond COSMOS' limits is at them, beyond ours is outside."""
    yield f"  APPEND_ITEM {name} {bits} FLOAT {quoted(f'{quantity.id}: {quantity.description}')}"
    yield "    FORMAT_STRING %.9g"
    if quantity.unit:
        yield f"    UNITS {quoted(quantity.unit)} {quoted(quantity.unit)}"
    (low, high), (red_low, red_high) = quantity.warning, quantity.critical
    if any(map(math.isfinite, (low, high, red_low, red_high))):
        lows = [math.nextafter(max(bound, _LOWEST), -math.inf) for bound in (red_low, max(low, red_low))]
        highs = [math.nextafter(min(bound, _HIGHEST), math.inf) for bound in (min(high, red_high), red_high)]
        bounds = [min(max(bound, _LOWEST), _HIGHEST) for bound in (*lows, *highs)]
        yield f"    LIMITS DEFAULT 1 ENABLED {' '.join(map(repr, bounds))}"


def _services() -> Iterator[tuple[str, int, int, tuple[str, ...]]]:
    """Acknowledgements, the answer to a connection test, events: name, service, message type, items."""
    request = tuple(_unsigned(REQUEST))
    codes = (
        "  APPEND_ITEM FAILURE_CODE 16 UINT",
        *(f"    STATE {name.upper()} {code}" for code, name in CODES.items()),
    )
    # a text of any length, up to the CRC at the end
    text = ("  APPEND_ITEM TEXT_LENGTH 16 UINT", "  APPEND_ITEM TEXT -16 STRING", "  ITEM PACKET_CRC -16 16 UINT")
    yield "TELECOMMAND_ACCEPTED", ccsds.VERIFICATION, ccsds.ACCEPTED, (*request, _CHECK)
    yield "TELECOMMAND_REFUSED", ccsds.VERIFICATION, ccsds.REFUSED, (*request, *codes, *text)
    yield "TELECOMMAND_DONE", ccsds.VERIFICATION, ccsds.DONE, (*request, _CHECK)
    yield "TELECOMMAND_FAILED", ccsds.VERIFICATION, ccsds.FAILED, (*request, *codes, *text)
    yield "CONNECTION_TEST", ccsds.TEST, ccsds.I_AM_ALIVE, (_CHECK,)
    kinds = ("  APPEND_ITEM EVENT_KIND 16 UINT", *(f"    STATE {name.upper()} {kind}" for kind, name in KINDS.items()))
    for subtype, severity in ((1, "INFORMATION"), (2, "WARNING"), (4, "CRITICAL")):
        yield f"EVENT_{severity}", ccsds.EVENT, subtype, (*kinds, *text)
