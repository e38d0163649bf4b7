"""The dictionary as domain objects of Open MCT: a telemetry point for each quantity, in folders by group."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from limberjack.bridge.telemetry.dictionary import GROUPS, Dictionary, Quantity
from limberjack.bridge.telemetry.identifiers import safe_name
from limberjack.bridge.telemetry.spans import ROUNDING

NAMESPACE = "limberjack"
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
#: key of an object → the object, as Open MCT's object provider returns it
Objects = dict[str, dict[str, Any]]

_TIME = {"key": "utc", "source": "utc", "name": "Time", "format": "utc", "hints": {"domain": 1}}
_MOMENT = {**_TIME, "format": "limberjack.moment"}
_EVENT_VALUES = (
    ("severity", "Severity", "string"),
    ("what", "Kind", "string"),
    ("text", "Text", "string"),
    ("time", "Simulated", "number"),
)


def spelled(key: str) -> str:
    """The key in a form for addresses, whose parts Open MCT splits at `/`; a key in that form is unchanged.

    Keys of letters, digits, `.`, `_` and `-` are unchanged. Other keys become their safe name, which has no `.`, unlike
    all unchanged keys that contain a name of the model. No two results are therefore equal.
    """
    return key if _PLAIN.fullmatch(key) else safe_name(key)


def identifier(key: str) -> dict[str, str]:
    """Open MCT's reference to one of our objects."""
    return {"namespace": NAMESPACE, "key": spelled(key)}


def thing(key: str, type: str, name: str, members: Sequence[str] | None = None, **more: Any) -> dict[str, Any]:
    """An object. members : keys of the objects in it; None if it is not a folder"""
    made: dict[str, Any] = {"identifier": identifier(key), "type": type, "name": name, **more}
    return made if members is None else made | {"composition": [identifier(each) for each in members]}


def telemetry(dictionary: Dictionary) -> Objects:
    """All points, the folder of each group, the folder "telemetry" of them all, and the event log."""
    objects = {spelled(quantity.id): _point(quantity) for quantity in dictionary}
    for group, places in dictionary.groups.items():
        members = [quantity.id for quantity in dictionary.quantities[places]]
        name = GROUPS.get(group, group)
        objects[f"group.{group}"] = thing(f"group.{group}", "folder", name.capitalize(), members)
    objects["telemetry"] = thing("telemetry", "folder", "Telemetry", [f"group.{each}" for each in dictionary.groups])
    objects["events"] = thing("events", "limberjack.events", "Events", telemetry={"values": _event_values()})
    return objects


def _point(quantity: Quantity) -> dict[str, Any]:
    """A number with its unit, its bounds and its alarm limits; infinite bounds are left out."""
    value: dict[str, Any] = {
        "key": "value",
        "source": "value",
        "name": "Value",
        "unit": quantity.unit,
        "format": "limberjack.number",
        "hints": {"range": 1},
    }
    value |= _finite(min=quantity.low, max=quantity.high)
    alarms = {
        name: _finite(low=limits[0], high=limits[1])
        for name, limits in (("warning", quantity.warning), ("critical", quantity.critical))
    }
    return thing(
        quantity.id,
        "limberjack.point",
        quantity.id,
        quantity=quantity.id,
        description=quantity.description,
        span=quantity.span,
        rounding=ROUNDING,
        alarms={name: limits for name, limits in alarms.items() if limits},
        telemetry={"values": [value, _TIME]},
    )


def _finite(**values: float) -> dict[str, float]:
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _event_values() -> list[dict[str, Any]]:
    values = [
        {"key": key, "source": key, "name": name, "format": format, "hints": {"range": place}}
        for place, (key, name, format) in enumerate(_EVENT_VALUES, 1)
    ]
    return [_MOMENT, *values]
