"""The telecommand half of an XTCE document: one command for each actuator, loop switches, parameters, tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from limberjack.bridge.telemetry.ccsds.functions import NAME_BYTES, Function
from limberjack.bridge.telemetry.ccsds.packets import (
    ACK_ACCEPTED,
    ACK_DONE,
    ARE_YOU_ALIVE,
    FUNCTION,
    PARAMETERS,
    PERFORM,
    PUS_VERSION,
    SET_VALUES,
    TEST,
)
from limberjack.bridge.telemetry.ccsds.sets import Plan
from limberjack.bridge.telemetry.ccsds.xtce_parts import Element, add, enumeration, unsigned_types
from limberjack.bridge.telemetry.ccsds.xtce_verifiers import add_verifiers
from limberjack.bridge.telemetry.dictionary import Quantity
from limberjack.bridge.telemetry.identifiers import safe_name

#: entry of a container: (name, bits, value) is fixed, a text the argument of that name
Entry = tuple[str, int, int] | str


def command_meta_data(root: Element, plan: Plan, yamcs: bool) -> None:
    """Add CommandMetaData; yamcs: with verifiers that only Yamcs understands."""
    meta = add(root, "CommandMetaData")
    types, commands = add(meta, "ArgumentTypeSet"), add(meta, "MetaCommandSet")
    unsigned_types(types, "Argument", (4, 8, 16))
    _number_type(types, "number", Quantity("number", "command", "", ""))
    base = _base(commands, plan)
    if yamcs:
        add_verifiers(base)
    _joint_commands(types, commands, plan)
    _switches(types, commands, plan)
    if plan.vocabulary.parameters:
        enumeration(types, "Argument", "parameter_type", 16, dict(enumerate(plan.vocabulary.parameters)))
        arguments = {"parameter": "parameter_type", "value": "number"}
        entries = (_signature(plan), ("count", 16, 1), "parameter", "value")
        _command(
            commands,
            "set_parameter",
            "a parameter of the model, also its faults",
            PARAMETERS,
            SET_VALUES,
            arguments,
            entries,
        )
    _command(commands, "connection_test", "answered by connection_test", TEST, ARE_YOU_ALIVE, {}, ())


def _signature(plan: Plan) -> Entry:
    return "signature", 32, plan.signature


def _base(commands: Element, plan: Plan) -> Element:
    """The headers that all telecommands inherit; length, sequence count and CRC are for the sender to fill in."""
    base = add(commands, "MetaCommand", name="telecommand", abstract="true")
    arguments = add(base, "ArgumentList")
    acks = ACK_ACCEPTED | ACK_DONE
    for name, kind, initial in (("acks", "u4", acks), ("service", "u8", None), ("subtype", "u8", None)):
        _argument(arguments, name, kind, initial)
    _argument(arguments, "source", "u16", 0)
    entries: tuple[Entry, ...] = (
        ("version", 3, 0), ("type", 1, 1), ("secondary_header", 1, 1), ("apid", 11, plan.apid),
        ("sequence_flags", 2, 3), ("sequence_count", 14, 0), ("length", 16, 0), ("pus_version", 4, PUS_VERSION),
        "acks", "service", "subtype", "source",
    )  # fmt: skip
    _entries(add(base, "CommandContainer", name="telecommand"), entries)
    return base


def _joint_commands(types: Element, commands: Element, plan: Plan) -> None:
    """A telecommand for each command of the model, and one that sets all of them at once."""
    names = {quantity.id: safe_name(quantity.id) for quantity in plan.vocabulary.commands}
    head: tuple[Entry, ...] = (_signature(plan), ("function", 8, Function.COMMAND))
    every: list[Entry] = [*head, ("count", 16, len(names))]
    for place, quantity in enumerate(plan.vocabulary.commands):
        name = names[quantity.id]
        _number_type(types, f"{name}_type", quantity)
        at = ("place", 16, place)
        entries: tuple[Entry, ...] = (*head, ("count", 16, 1), at, "value")
        _command(commands, name, quantity.description, FUNCTION, PERFORM, {"value": f"{name}_type"}, entries)
        every += [(f"place_{place}", 16, place), name]
    if len(names) > 1:
        arguments = {name: f"{name}_type" for name in names.values()}
        _command(commands, "command_all", "all commands at once", FUNCTION, PERFORM, arguments, every)


def _switches(types: Element, commands: Element, plan: Plan) -> None:
    """Telecommands without numbers: loops, locks of hinges, reset, the command lease, faults."""
    for what, names in (("loop", plan.vocabulary.loops), ("hinge", plan.vocabulary.hinges)):
        if names:
            enumeration(types, "Argument", f"{what}_type", 16, dict(enumerate(names)))
    encoding = add(add(types, "StringArgumentType", name="fault_type"), "StringDataEncoding", encoding="UTF-8")
    add(add(add(encoding, "SizeInBits"), "Fixed"), "FixedValue", str(8 * NAME_BYTES))
    for function in Function:
        if function is Function.COMMAND or (function.names and not getattr(plan.vocabulary, f"{function.names}s")):
            continue
        entries: tuple[Entry, ...] = (_signature(plan), ("function", 8, function))
        what = "fault" if function.takes_fault else function.names
        arguments = {what: f"{what}_type"} if what else {}
        _command(commands, function.name.lower(), function.about, FUNCTION, PERFORM, arguments, (*entries, *arguments))


def _command(
    commands: Element,
    name: str,
    about: str,
    service: int,
    subtype: int,
    arguments: Mapping[str, str],
    entries: Iterable[Entry],
) -> None:
    command = add(commands, "MetaCommand", name=name, shortDescription=about)
    assigned = add(add(command, "BaseMetaCommand", metaCommandRef="telecommand"), "ArgumentAssignmentList")
    for key, value in (("service", service), ("subtype", subtype)):
        add(assigned, "ArgumentAssignment", argumentName=key, argumentValue=str(value))
    if arguments:
        listed = add(command, "ArgumentList")
        for argument, kind in arguments.items():
            _argument(listed, argument, kind, None)
    container = add(command, "CommandContainer", name=name)
    _entries(container, entries)
    add(container, "BaseContainer", containerRef="telecommand")


def _argument(parent: Element, name: str, kind: str, initial: int | None) -> None:
    preset = {} if initial is None else {"initialValue": str(initial)}
    add(parent, "Argument", name=name, argumentTypeRef=kind, **preset)


def _entries(container: Element, entries: Iterable[Entry]) -> None:
    listed = add(container, "EntryList")
    for entry in entries:
        if isinstance(entry, str):
            add(listed, "ArgumentRefEntry", argumentRef=entry)
        else:
            name, bits, value = entry
            digits = value.to_bytes((bits + 7) // 8, "big").hex().upper()
            add(listed, "FixedValueEntry", name=name, binaryValue=digits, sizeInBits=str(bits))


def _number_type(types: Element, name: str, quantity: Quantity) -> None:
    kind = add(types, "FloatArgumentType", name=name, sizeInBits="64")
    units = add(kind, "UnitSet")
    if quantity.unit:
        add(units, "Unit", text=quantity.unit)
    add(kind, "FloatDataEncoding", sizeInBits="64", encoding="IEEE754_1985")
    bounds = {"minInclusive": quantity.low, "maxInclusive": quantity.high}
    finite = {key: repr(float(bound)) for key, bound in bounds.items() if math.isfinite(bound)}
    if finite:
        add(add(kind, "ValidRangeSet"), "ValidRange", **finite)
