"""What tunable parameters may be set to, by their names."""

from __future__ import annotations

import math
from dataclasses import dataclass

_NOT_NEGATIVE = ("damping", "friction", "stiffness", "armature", "kp", "kd", "limit", "backlash", "minimum_pulse")
_POSITIVE = ("mass", "resistance", "voltage", "current")
_SIZES = (".noise", ".saturation")
#: parameters that may be infinite, which means that there is no such bound
_ENDLESS = {**dict.fromkeys(("limit", "saturation", "voltage", "current", "upper"), math.inf), "lower": -math.inf}
_OF_INSTRUMENTS = ("bias", "noise", "scale", "saturation")


@dataclass(frozen=True)
class ParameterRange:
    """What a parameter may be: finite numbers, and `endless`, if it is not None, which means no bound.

    not_negative, positive : bounds of it;  seed : whole numbers from 0 to MOST_SEED only
    """

    not_negative: bool
    positive: bool
    seed: bool
    endless: float | None


def parameter_range(name: str) -> ParameterRange:
    """The range of a parameter of `Plant.parameters`."""
    *_, owner, word = name.split(".")
    of_sensor = name.startswith("sensor.")
    known = owner if of_sensor and word not in _OF_INSTRUMENTS else word  # "sensor.gyro.saturation.x"
    return ParameterRange(
        word in _NOT_NEGATIVE or (of_sensor and any(size in name for size in _SIZES)),
        word in _POSITIVE,
        name == "noise.seed",
        _ENDLESS.get(known),
    )
