"""XTCE 1.2 (OMG formal/18-10-04) of the packets: what a ground system must know to read and command a model."""

from __future__ import annotations

import math
import xml.etree.ElementTree as tree
from collections.abc import Iterable

from limberjack.bridge.telemetry.ccsds.packets import (
    ACCEPTED,
    DONE,
    EVENT,
    FAILED,
    HOUSEKEEPING,
    I_AM_ALIVE,
    REFUSED,
    REPORT,
    TEST,
    VERIFICATION,
)
from limberjack.bridge.telemetry.ccsds.reports import CODES, KINDS
from limberjack.bridge.telemetry.ccsds.schema import DEFAULT, read_packets
from limberjack.bridge.telemetry.ccsds.sets import Packet, Plan, plan_of
from limberjack.bridge.telemetry.ccsds.vocabulary import vocabulary_of
from limberjack.bridge.telemetry.ccsds.xtce_commands import command_meta_data
from limberjack.bridge.telemetry.ccsds.xtce_parts import SCHEMA, Element, add, enumeration, unsigned_types
from limberjack.bridge.telemetry.dictionary import Quantity
from limberjack.bridge.telemetry.exports.registry import Subject
from limberjack.bridge.telemetry.identifiers import safe_name
from limberjack.version import __version__

PRIMARY = (
    ("packet_version", 3), ("packet_type", 1), ("packet_secondary_header", 1), ("packet_apid", 11),
    ("packet_sequence_flags", 2), ("packet_sequence_count", 14), ("packet_length", 16),
)  # fmt: skip
SECONDARY = (
    ("packet_pus_version", 4), ("packet_time_status", 4), ("packet_service", 8), ("packet_subtype", 8),
    ("packet_message_count", 16), ("packet_destination", 16), ("packet_time_field", 8),
)  # fmt: skip
DATA = (("packet_structure", 16), ("packet_signature", 32), ("packet_publication", 32), ("packet_lost", 32))
REQUEST = (
    ("request_version", 3), ("request_type", 1), ("request_secondary_header", 1), ("request_apid", 11),
    ("request_sequence_flags", 2), ("request_sequence_count", 14),
)  # fmt: skip
_CHECK = ("packet_crc", 16)
_DESCRIPTIONS = {
    "packet_publication": "number of the engine's publication",
    "packet_lost": "publications of the engine that were lost on the way to the gateway, in all",
    "packet_signature": "of the description that this packet was made by; another one means another file",
    "packet_structure": "number of the packet in the description",
}


def xtce(plan: Plan, yamcs: bool = False) -> str:
    """The XTCE document of a model's packets and telecommands.

    yamcs : also how telecommands are verified, in parameters that only Yamcs has
    """
    tree.register_namespace("xsi", "http://www.w3.org/2001/XMLSchema-instance")
    name = safe_name(plan.model) or "model"
    root = add(None, "SpaceSystem", name=name, shortDescription=f"Limberjack model {plan.model}"[:200])
    root.set("xmlns", SCHEMA)
    location = f"{SCHEMA} https://www.omg.org/spec/XTCE/20180204/SpaceSystem.xsd"
    root.set("{http://www.w3.org/2001/XMLSchema-instance}schemaLocation", location)
    add(root, "Header", version=__version__, validationStatus="Released")
    _telemetry(root, plan)
    command_meta_data(root, plan, yamcs)
    tree.indent(root, " ")
    return tree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def export(subject: Subject) -> str:
    """The XTCE of a model for `limberjack dictionary`. Raises ArgumentError for packets that do not fit it."""
    vocabulary = vocabulary_of(subject.simulation, subject.dictionary)
    spec = DEFAULT if subject.packets is None else read_packets(subject.packets)
    return xtce(plan_of(subject.dictionary, vocabulary, spec))


def parameter_names(plan: Plan) -> dict[tuple[str, int], str]:
    """(identifier, bits) → parameter, "q__elbow"; a quantity that goes out in both widths is "f32_q__elbow" too."""
    wide = {quantity.id for packet in plan.packets if packet.bits == 64 for quantity in packet.quantities}
    names = {("time", 64): "time"}
    for packet in plan.packets:
        for quantity in packet.quantities:
            both = packet.bits == 32 and quantity.id in wide
            names[quantity.id, packet.bits] = f"{'f32_' * both}{safe_name(quantity.id)}"
    return names


def _telemetry(root: Element, plan: Plan) -> None:
    meta = add(root, "TelemetryMetaData")
    types, parameters, containers = (add(meta, f"{part}Set") for part in ("ParameterType", "Parameter", "Container"))
    names = parameter_names(plan)
    _header_types(types)
    for name, bits in (*PRIMARY, *SECONDARY, *DATA, *REQUEST, _CHECK, ("text_length", 16)):
        _parameter(parameters, name, f"u{bits}", _DESCRIPTIONS.get(name, ""))
    for name in ("packet_time", "text", "failure_code", "event_kind"):
        _parameter(parameters, name, f"{name}_type", "")
    quantities = {(q.id, packet.bits): q for packet in plan.packets for q in packet.quantities}
    quantities["time", 64] = Quantity("time", "time", "s", "simulated time")
    for key, quantity in quantities.items():
        _float_type(types, f"{names[key]}_type", quantity, key[1])
        parameter = _parameter(parameters, names[key], f"{names[key]}_type", quantity.description)
        add(add(parameter, "AliasSet"), "Alias", nameSpace="limberjack", alias=quantity.id)
    _headers(containers)
    for packet in plan.packets:
        _packet(containers, packet, names)
    _services(containers, plan)


def _parameter(parent: Element, name: str, kind: str, description: str) -> Element:
    about = {"shortDescription": description} if description else {}
    return add(parent, "Parameter", name=name, parameterTypeRef=kind, **about)


def _header_types(types: Element) -> None:
    unsigned_types(types, "Parameter", (1, 2, 3, 4, 8, 11, 14, 16, 32))
    time = add(types, "AbsoluteTimeParameterType", name="packet_time_type")
    encoding = add(time, "Encoding", units="seconds", scale=repr(2.0**-24))
    add(encoding, "IntegerDataEncoding", sizeInBits="56", encoding="unsigned")
    add(add(time, "ReferenceTime"), "Epoch", text="UNIX")
    enumeration(types, "Parameter", "failure_code_type", 16, CODES)
    enumeration(types, "Parameter", "event_kind_type", 16, KINDS)
    text = add(types, "StringParameterType", name="text_type")
    variable = add(add(text, "StringDataEncoding", encoding="UTF-8"), "Variable", maxSizeInBits="524288")
    dynamic = add(variable, "DynamicValue")
    add(dynamic, "ParameterInstanceRef", parameterRef="text_length")
    add(dynamic, "LinearAdjustment", slope="8", intercept="0")


def _float_type(types: Element, name: str, quantity: Quantity, bits: int) -> None:
    """The type of one quantity: unit, encoding and alarm limits.

    Its range is not a ValidRange: a ground system takes values outside one as invalid and no longer judges them, but
    stops of hinges are springs, and a coordinate beyond one is what an operator must see.
    """
    kind = add(types, "FloatParameterType", name=name, sizeInBits=str(bits))
    units = add(kind, "UnitSet")
    if quantity.unit:
        add(units, "Unit", text=quantity.unit)
    add(kind, "FloatDataEncoding", sizeInBits=str(bits), encoding="IEEE754_1985")
    limits = {"WarningRange": quantity.warning, "CriticalRange": quantity.critical}
    if any(math.isfinite(bound) for pair in limits.values() for bound in pair):
        ranges = add(add(kind, "DefaultAlarm"), "StaticAlarmRanges")
        for element, pair in limits.items():
            _range(ranges, element, pair)


def _range(parent: Element, element: str, pair: tuple[float, float]) -> None:
    bounds = {"minInclusive": pair[0], "maxInclusive": pair[1]}
    finite = {key: repr(float(bound)) for key, bound in bounds.items() if math.isfinite(bound)}
    if finite:
        add(parent, element, **finite)


def _headers(containers: Element) -> None:
    """The containers that all packets inherit from."""
    _container(containers, "CCSDSPacket", (name for name, _ in PRIMARY), "", {}, abstract=True)
    entries = (*(name for name, _ in SECONDARY), "packet_time")
    criteria = {"packet_type": 0, "packet_secondary_header": 1}
    _container(containers, "telemetry", entries, "CCSDSPacket", criteria, abstract=True)


def _packet(containers: Element, packet: Packet, names: dict[tuple[str, int], str]) -> None:
    numbers = (names[quantity.id, packet.bits] for quantity in packet.quantities)
    entries = (*(name for name, _ in DATA), "time", *numbers, "packet_crc")
    criteria = {"packet_apid": packet.apid, "packet_service": HOUSEKEEPING, "packet_subtype": REPORT}
    container = _container(containers, f"packet_{packet.name}", entries, "telemetry", criteria)
    rate = "one for each sample" if packet.rate_hz is None else f"{packet.rate_hz:g} Hz of simulated time"
    container.set("shortDescription", f"{packet.description}; {rate}")


def _services(containers: Element, plan: Plan) -> None:
    """Acknowledgements of telecommands, events and the answer to a connection test."""
    own = {"packet_apid": plan.apid}
    request = tuple(name for name, _ in REQUEST)
    reason = ("failure_code", "text_length", "text")
    reports = {"accepted": (ACCEPTED, ()), "refused": (REFUSED, reason), "done": (DONE, ()), "failed": (FAILED, reason)}
    for name, (subtype, entries) in reports.items():
        criteria = own | {"packet_service": VERIFICATION, "packet_subtype": subtype}
        _container(containers, f"telecommand_{name}", (*request, *entries, "packet_crc"), "telemetry", criteria)
    entries = ("event_kind", "text_length", "text", "packet_crc")
    _container(containers, "event", entries, "telemetry", own | {"packet_service": EVENT})
    criteria = own | {"packet_service": TEST, "packet_subtype": I_AM_ALIVE}
    _container(containers, "connection_test", ("packet_crc",), "telemetry", criteria)


def _container(
    containers: Element, name: str, entries: Iterable[str], base: str, criteria: dict[str, int], abstract: bool = False
) -> Element:
    container = add(containers, "SequenceContainer", name=name, abstract=str(abstract).lower())
    listed = add(container, "EntryList")
    for entry in entries:
        add(listed, "ParameterRefEntry", parameterRef=entry)
    if base:
        comparisons = add(
            add(add(container, "BaseContainer", containerRef=base), "RestrictionCriteria"), "ComparisonList"
        )
        for parameter, value in criteria.items():
            add(comparisons, "Comparison", parameterRef=parameter, value=str(value), useCalibratedValue="false")
    return container
