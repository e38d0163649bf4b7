"""The dictionary for the ground system of F Prime (JSON dictionary specification 1.0): channels, packets, commands.

Components are called as the model, channels and commands as `identifiers.safe_name` spells their identifiers:
"q.elbow" of the model "arm" is arm.q__elbow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from limberjack.bridge.telemetry.ccsds.vocabulary import Vocabulary, vocabulary_of
from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.exports.registry import Subject
from limberjack.bridge.telemetry.identifiers import safe_name
from limberjack.version import __version__

#: longest text of an event, bytes, and values in one packet: the ground system takes frames below 4096 bytes
TEXT_BYTES, VALUES = 256, 256
#: severity of a notice → its event: number, name, severity of F Prime
EVENTS = ((1, "information", "ACTIVITY_HI"), (2, "warning", "WARNING_LO"), (3, "critical", "WARNING_HI"))
SET_PARAMETER, FIRST_COMMAND = 16, 4096
#: opcode, action, list of names for its argument, description
_SWITCHES = (
    (1, "attach", "loop", "close a loop"),
    (2, "release", "loop", "open a loop"),
    (3, "lock", "hinge", "hold a hinge where it is"),
    (4, "unlock", "hinge", "let a hinge move again"),
    (5, "reset", "", "put the simulation back to its start"),
    (6, "give_up", "", "give the command lease to others"),
)
#: the same of what takes the name of a fault as text; which there are, only a running test bench knows
_FAULTS = (
    (7, "fault", "begin a fault of the scenario that a test bench runs"),
    (8, "clear", "end a fault of that scenario"),
)
FAULT_BYTES = 200
_F64 = {"name": "F64", "kind": "float", "size": 64}


@dataclass(frozen=True)
class Packet:
    """Quantities that travel together: number, name, places in the vector of a sample."""

    number: int
    name: str
    places: range


@dataclass(frozen=True)
class Command:
    """One command of F Prime.

    action : of `orders.ACTIONS`;  target : command that it sets;  names : of which its argument is one, by number
    takes_value : whether a number follows;  takes_text : whether its argument is text, which names the target
    """

    opcode: int
    name: str
    about: str
    action: str
    target: str = ""
    names: tuple[str, ...] = ()
    names_type: str = ""
    takes_value: bool = False
    takes_text: bool = False


def packets_of(dictionary: Dictionary) -> tuple[Packet, ...]:
    """A packet for each group, several for a large one."""
    found: list[Packet] = []
    for group, places in dictionary.groups.items():
        parts = range(places.start, places.stop, VALUES)
        for start in parts:
            name = group if len(parts) == 1 else f"{group}_{(start - places.start) // VALUES + 1}"
            found.append(Packet(len(found) + 1, name, range(start, min(start + VALUES, places.stop))))
    return tuple(found)


def commands_of(vocabulary: Vocabulary) -> tuple[Command, ...]:
    """The commands for the ground system."""
    named = {"loop": vocabulary.loops, "hinge": vocabulary.hinges}
    found = [
        Command(opcode, action, about, action, names=named.get(kind, ()), names_type=kind)
        for opcode, action, kind, about in _SWITCHES
        if not kind or named[kind]
    ]
    found += [Command(opcode, action, about, action, takes_text=True) for opcode, action, about in _FAULTS]
    if vocabulary.parameters:
        about = "set a parameter of the model; faults are parameters too"
        names = vocabulary.parameters
        found.append(Command(SET_PARAMETER, "set_parameter", about, "parameter", "", names, "parameter", True))
    for place, quantity in enumerate(vocabulary.commands):
        target, name = quantity.id.partition(".")[2], safe_name(quantity.id)
        about = f"{quantity.description}{_unit(quantity)}"
        found.append(Command(FIRST_COMMAND + place, name, about, "command", target, takes_value=True))
    return tuple(found)


def export(subject: Subject) -> str:
    """The JSON dictionary of a model."""
    dictionary, vocabulary = subject.dictionary, vocabulary_of(subject.simulation, subject.dictionary)
    component = safe_name(dictionary.model) or "model"
    commands = commands_of(vocabulary)
    tree = {
        "metadata": {
            "deploymentName": component,
            "projectVersion": dictionary.model_hash,
            "frameworkVersion": "v4.0.0",
            "libraryVersions": [f"limberjack {__version__}"],
            "dictionarySpecVersion": "1.0.0",
        },
        "typeDefinitions": [*_enumerations(component, commands)],
        "constants": [],
        "commands": [_command(component, command) for command in commands],
        "parameters": [],
        "events": [_event(component, *event) for event in EVENTS],
        "telemetryChannels": [_channel(component, place, each) for place, each in enumerate(dictionary)],
        "records": [],
        "containers": [],
        "telemetryPacketSets": [_packet_set(component, dictionary)],
    }
    return json.dumps(tree, indent=1, ensure_ascii=False) + "\n"


def _unit(quantity: Quantity) -> str:
    return f", {quantity.unit}" if quantity.unit else ""


def _channel(component: str, place: int, quantity: Quantity) -> dict[str, Any]:
    channel: dict[str, Any] = {
        "name": f"{component}.{safe_name(quantity.id)}",
        "type": _F64,
        "id": place,
        "telemetryUpdate": "always",
        "annotation": f"{quantity.id}: {quantity.description}{_unit(quantity)}",
        "format": "{g}",
    }
    bounds = {"yellow": quantity.warning, "red": quantity.critical}
    limits = {
        side: {color: pair[i] for color, pair in bounds.items() if math.isfinite(pair[i])}
        for i, side in enumerate(("low", "high"))
    }
    kept = {side: colors for side, colors in limits.items() if colors}
    return {**channel, "limits": kept} if kept else channel


def _packet_set(component: str, dictionary: Dictionary) -> dict[str, Any]:
    ids = [quantity.id for quantity in dictionary]
    members = [
        {
            "name": f"{component}.{packet.name}",
            "id": packet.number,
            "group": 1,
            "members": [f"{component}.{safe_name(ids[place])}" for place in packet.places],
        }
        for packet in packets_of(dictionary)
    ]
    return {"name": f"{component}.samples", "members": members, "omitted": []}


def _enumerations(component: str, commands: tuple[Command, ...]) -> Iterator[dict[str, Any]]:
    """Names that arguments can have, once each."""
    for kind, names in {each.names_type: each.names for each in commands if each.names_type}.items():
        constants = [{"name": safe_name(name), "value": i, "annotation": name} for i, name in enumerate(names)]
        yield {
            "kind": "enum",
            "qualifiedName": f"{component}.{kind}",
            "representationType": {"name": "U16", "kind": "integer", "size": 16, "signed": False},
            "enumeratedConstants": constants,
            "default": f"{component}.{kind}.{constants[0]['name']}",
        }


def _command(component: str, command: Command) -> dict[str, Any]:
    parameters = []
    if command.names_type:
        kind = {"name": f"{component}.{command.names_type}", "kind": "qualifiedIdentifier"}
        parameters.append({"name": command.names_type, "type": kind, "ref": False})
    if command.takes_text:
        parameters.append({"name": "fault", "type": _text_of(FAULT_BYTES), "ref": False})
    if command.takes_value:
        parameters.append({"name": "value", "type": _F64, "ref": False})
    return {
        "name": f"{component}.{command.name}",
        "commandKind": "async",
        "opcode": command.opcode,
        "annotation": command.about,
        "formalParams": parameters,
        "queueFullBehavior": "drop",
    }


def _event(component: str, number: int, name: str, severity: str) -> dict[str, Any]:
    text = {"name": "text", "type": _text_of(TEXT_BYTES), "ref": False}
    return {
        "name": f"{component}.{name}",
        "severity": severity,
        "formalParams": [text],
        "id": number,
        "format": "{}",
        "annotation": f"an event, alarm or refusal, {name}",
    }


def _text_of(size: int) -> dict[str, Any]:
    return {"name": "string", "kind": "string", "size": size}
