"""Sensors of the YAML schema: those with errors become instruments, an imu becomes two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.facts import facts_of, values
from limberjack.engine.model.elements.sensor import ALWAYS, OF_FILES, Sensor, SensorErrors, SensorMore
from limberjack.engine.model.readers.schema import ModelSpec

#: fields that only some types have, and these
_ONLY = {
    known.name: known.fact.only for kind in (SensorErrors, SensorMore) for known in facts_of(kind) if known.fact.only
}


def make_sensors(spec: ModelSpec, document: Document) -> tuple[Sensor, ...]:
    """All sensors of a file. Raises ModelError with the line of a field that the type does not have."""
    return tuple(sensor for i, each in enumerate(spec.sensors) for sensor in _sensors(i, each, document))


def _sensors(i: int, spec: Any, document: Document) -> list[Sensor]:
    where, means = document.place(("sensors", i)), OF_FILES.get(spec.type, (spec.type,))
    for field in spec.model_fields_set:
        if field in _ONLY and spec.type not in _ONLY[field]:
            what = f"sensor '{spec.name}' of type {spec.type} has no {field}"
            remedy = f"Remove it; it belongs to {' and '.join(_ONLY[field])}"
            raise ModelError(what, where=document.place(("sensors", i, field)), remedy=remedy)
    given = spec.model_fields_set - {"name", "type", "target", *means}
    if len(means) > 1:
        return [_part(i, part, spec, sorted(given), document) for part in means]
    errors = _errors(spec) if given or spec.type in ALWAYS else None
    return [Sensor(spec.name, means[0], spec.target, errors, where)]


def _part(i: int, part: str, spec: Any, stray: list[str], document: Document) -> Sensor:
    """One of the sensors that a sensor of several is."""
    if stray:
        what = f"{spec.type} '{spec.name}' has {stray[0]} for both of its parts"
        remedy = f"Give it under gyro and under accelerometer: gyro: {{{stray[0]}: …}}"
        raise ModelError(what, where=document.place(("sensors", i, stray[0])), remedy=remedy)
    errors = getattr(spec, part)
    given = None if errors is None else SensorErrors(**values(SensorErrors, errors))
    return Sensor(f"{spec.name}.{part}", part, spec.target, given, document.place(("sensors", i)))


def _errors(spec: Any) -> SensorErrors:
    given = values(SensorErrors, spec)
    pairs = given.get("pole_pairs", 1 if spec.type == "resolver" else 0)
    turn = 2.0 * math.pi / max(pairs, 1)
    wrap = given.get("wrap", turn if pairs else 0.0)
    if spec.bits is not None:
        given["resolution"] = np.array([turn / 2**spec.bits])
    return SensorErrors(**given | {"pole_pairs": pairs, "wrap": wrap})
