"""Sensors of the YAML schema: those with errors become instruments, an imu becomes two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.devices import VECTORS, Errors, Sensor
from limberjack.engine.model.readers.schema import ModelSpec
from limberjack.engine.model.readers.schema_sensors import ErrorsSpec, SensorSpec

#: types of the file → types of the System
_MEANS = {"encoder": "position", "resolver": "position", "joint_torque": "effort", "force_torque": "reaction"}
_IMU = ("gyro", "accelerometer")
#: they are instruments even without errors: while they see nothing, what they show stays
_ALWAYS = ("star_tracker", "sun_sensor", "encoder", "resolver")
#: fields that only some types have, and these
_ONLY = {
    "bits": ("encoder", "resolver"),
    "pole_pairs": ("resolver", "motor_position"),
    "amplitude_imbalance": ("resolver", "motor_position"),
    "quadrature": ("resolver", "motor_position"),
    "max_rate": ("star_tracker",),
    "sun_exclusion": ("star_tracker",),
    "field_of_view": ("sun_sensor",),
    "gyro": ("imu",),
    "accelerometer": ("imu",),
}
_PLAIN = ("name", "type", "target", *_IMU)


def make_sensors(spec: ModelSpec, document: Document) -> tuple[Sensor, ...]:
    """All sensors of a file. Raises ModelError with the line of a field that the type does not have."""
    return tuple(sensor for i, each in enumerate(spec.sensors) for sensor in _sensors(i, each, document))


def _sensors(i: int, spec: SensorSpec, document: Document) -> list[Sensor]:
    where = document.place(("sensors", i))
    for field in spec.model_fields_set:
        if field in _ONLY and spec.type not in _ONLY[field]:
            what = f"sensor '{spec.name}' of type {spec.type} has no {field}"
            mend = f"Remove it; it belongs to {' and '.join(_ONLY[field])}"
            raise ModelError(what, where=document.place(("sensors", i, field)), mend=mend)
    if spec.type == "imu":
        return [_part_of_imu(i, part, spec, document) for part in _IMU]
    given = spec.model_fields_set - set(_PLAIN)
    errors = _errors(spec) if given or spec.type in _ALWAYS else None
    return [Sensor(spec.name, _MEANS.get(spec.type, spec.type), spec.target, errors, where)]


def _part_of_imu(i: int, part: str, spec: SensorSpec, document: Document) -> Sensor:
    stray = sorted(spec.model_fields_set - set(_PLAIN))
    if stray:
        what = f"imu '{spec.name}' has {stray[0]} for both of its parts"
        mend = f"Give it under gyro and under accelerometer: gyro: {{{stray[0]}: …}}"
        raise ModelError(what, where=document.place(("sensors", i, stray[0])), mend=mend)
    errors = getattr(spec, part)
    given = None if errors is None else _plain_errors(errors)
    return Sensor(f"{spec.name}.{part}", part, spec.target, given, document.place(("sensors", i)))


def _vector(value: float | list[float] | None) -> np.ndarray:
    return np.zeros(0) if value is None else np.atleast_1d(np.array(value, dtype=float))


def _plain_errors(spec: ErrorsSpec) -> Errors:
    vectors: dict[str, Any] = {name: _vector(getattr(spec, name)) for name in VECTORS}
    return Errors(
        rate=spec.rate or 0.0,
        delay=spec.delay,
        bias_time=spec.bias_time,
        misalignment=np.zeros(3) if spec.misalignment is None else np.array(spec.misalignment, dtype=float),
        wrap=spec.wrap or 0.0,
        **vectors,
    )


def _errors(spec: SensorSpec) -> Errors:
    plain = _plain_errors(spec)
    pairs = spec.pole_pairs or (1 if spec.type == "resolver" else 0)
    turn = 2.0 * math.pi / max(pairs, 1)
    fields = {name: getattr(plain, name) for name in Errors.__dataclass_fields__}
    if spec.bits is not None:
        fields["resolution"] = np.array([turn / 2**spec.bits])
    return Errors(
        **fields
        | {
            "wrap": plain.wrap or (turn if pairs else 0.0),
            "max_rate": math.inf if spec.max_rate is None else spec.max_rate,
            "sun_exclusion": spec.sun_exclusion,
            "field_of_view": 2.0 * math.pi if spec.field_of_view is None else spec.field_of_view,
            "pole_pairs": pairs,
            "amplitude_imbalance": spec.amplitude_imbalance,
            "quadrature": spec.quadrature,
        }
    )
