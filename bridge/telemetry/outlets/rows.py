"""Samples and notices as JSON, in the form that the records of the bench have: Foxglove and MCAP files show it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.exports.registry import Subject
from limberjack.bridge.telemetry.sample import Notice

SIGNALS_TOPIC, EVENTS_TOPIC = "/signals", "/events"
SIGNALS_SCHEMA, EVENTS_SCHEMA = "limberjack.Signals", "foxglove.Log"
#: severity of a notice → level of Foxglove's Log: info, warning, error
_LEVELS = (2, 3, 4)


class RowText:
    """Writes vectors of a dictionary as JSON: "q.elbow" is the key "elbow" in the map "q"."""

    def __init__(self, dictionary: Dictionary) -> None:
        parts = []
        for group, keys in _grouped(dictionary).items():
            inner = ",".join(f"{_quoted(key)}:%s" for key in keys)
            parts.append(f"{_quoted(group)}:{{{inner}}}" if keys else f"{_quoted(group)}:%s")
        self._template = "{" + ",".join(parts) + "}"

    def __call__(self, vector: np.ndarray) -> bytes:
        """The JSON of one vector (n,), at full precision."""
        values = vector.tolist()
        return (self._template % tuple(each if math.isfinite(each) else _number(each) for each in values)).encode()


def signals_schema(dictionary: Dictionary) -> dict[str, Any]:
    """JSON Schema of what `RowText` writes, with description and unit of every number."""
    properties: dict[str, Any] = {}
    for group, keys in _grouped(dictionary).items():
        inner = {key: _schema_of(dictionary, f"{group}.{key}") for key in keys}
        properties[group] = {"type": "object", "properties": inner} if keys else _schema_of(dictionary, group)
    return {"type": "object", "title": SIGNALS_SCHEMA, "properties": properties}


def events_schema() -> dict[str, Any]:
    """JSON Schema of `event`: Foxglove's Log, and the parts of the notice beside it."""
    stamp = {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}
    texts = {name: {"type": "string"} for name in ("message", "name", "file", "kind", "text")}
    numbers = {
        "level": {"type": "integer"},
        "line": {"type": "integer"},
        "time": {"type": "number", "description": "simulated time, s"},
    }
    properties = {"timestamp": stamp, **texts, **numbers, "data": {"type": "object"}}
    return {"type": "object", "title": EVENTS_SCHEMA, "properties": properties}


def export(subject: Subject) -> str:
    """The JSON Schemas of both topics, for `limberjack dictionary`."""
    schemas = {SIGNALS_TOPIC: signals_schema(subject.dictionary), EVENTS_TOPIC: events_schema()}
    return json.dumps(schemas, indent=1, ensure_ascii=False) + "\n"


def event(notice: Notice, stamp_ns: int) -> bytes:
    """The JSON of a notice, logged at ``stamp_ns``."""
    sec, nsec = divmod(stamp_ns, 1_000_000_000)
    fields = {
        "timestamp": {"sec": sec, "nsec": nsec},
        "level": _LEVELS[notice.severity],
        "message": f"{notice.kind}: {notice.text}",
        "name": "gateway",
        "file": "",
        "line": 0,
        "time": notice.time if math.isfinite(notice.time) else 0.0,
        "kind": notice.kind,
        "text": notice.text,
        "data": {key: _json_value(value) for key, value in notice.data.items()},
    }
    return json.dumps(fields, default=str).encode()


def _json_value(value: Any) -> Any:
    """What JSON can hold of a notice's data: a number that is not finite becomes its text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _grouped(dictionary: Dictionary) -> dict[str, list[str]]:
    """Group → what follows its dot in the identifiers; a quantity without a dot has none."""
    groups: dict[str, list[str]] = {}
    for quantity in dictionary:
        group, dot, key = quantity.id.partition(".")
        keys = groups.setdefault(group, [])
        if dot:
            keys.append(key)
    return groups


def _schema_of(dictionary: Dictionary, id: str) -> dict[str, Any]:
    quantity = dictionary[id]
    unit = f", {quantity.unit}" if quantity.unit else ""
    return {"type": "number", "description": f"{quantity.description}{unit}"}


def _quoted(name: str) -> str:
    return json.dumps(name).replace("%", "%%")


def _number(value: float) -> str:
    """What is not finite; JSON has no infinity and no NaN: 1e999 is read as infinity, null as NaN."""
    if math.isnan(value):
        return "null"
    return "1e999" if value > 0.0 else "-1e999"
