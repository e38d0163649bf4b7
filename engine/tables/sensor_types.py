"""The sensors as a table: the target of each, and the quantities that it gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from limberjack.engine.tables.instruments import ATTITUDE, DIRECTION, PLAIN
from limberjack.engine.tables.measures import FORCE, POSITION, Pair

_X, _W, _N, _F = ("x", "y", "z"), ("w", "x", "y", "z"), ("nx", "ny", "nz"), ("fx", "fy", "fz")


@dataclass(frozen=True)
class Part:
    """One quantity that a sensor gives: a number or a vector.

    text : description;  components : suffixes of the names of its numbers, ("",) for a single number
    measure : its measure, or a pair for rotational and translational targets, "" for a truth value
    shows : the target's own quantity that it equals, "q", "v", "tau" or "command", which gives its measure and range
    leaf : last word of its name if the sensor gives several quantities, "" for the first or only one
    low : lowest possible value;  truth : whether it is 1 or 0
    """

    text: str
    measure: str | Pair = ""
    components: tuple[str, ...] = ("",)
    leaf: str = ""
    shows: str = ""
    low: float = -math.inf
    truth: bool = False


@dataclass(frozen=True)
class SensorRow:
    """A row of the table. target : the kind of object that it measures; parts : its quantities, in order.

    forces : whether it needs accelerations or forces besides motion;  reading : kind of its reading as an instrument
    """

    target: str
    parts: tuple[Part, ...]
    forces: bool = False
    reading: int = PLAIN

    @property
    def optical(self) -> bool:
        """Whether its last number says whether the reading is valid, and its errors are three small angles."""
        return self.reading in (ATTITUDE, DIRECTION)

    @cached_property
    def suffixes(self) -> tuple[str, ...]:
        """Suffixes of the names of its numbers after the sensor's name: "" for a single number, else ".x", …."""
        return tuple(f".{each}" if each else "" for part in self.parts for each in part.components)


def _one(
    target: str, text: str, measure: str | Pair = "", components: tuple[str, ...] = ("",), forces: bool = False
) -> SensorRow:
    return SensorRow(target, (Part(text, measure, components),), forces)


def _shown(target: str, text: str, shows: str, forces: bool = False) -> SensorRow:
    return SensorRow(target, (Part(text, shows=shows),), forces)


def _wrench(target: str) -> SensorRow:
    return SensorRow(target, (Part("moment", FORCE[0], _N, "moment"), Part("force", FORCE[1], _F, "force")), True)


def _optical(text: str, measure: str, components: tuple[str, ...], valid: str, reading: int) -> SensorRow:
    seen = Part(text, measure, components), Part(valid, "", ("valid",), "valid", truth=True)
    return SensorRow("node", seen, reading=reading)


#: sensor type → row, in the order of the kernels' codes
SENSOR_TYPES: dict[str, SensorRow] = {
    "position": _shown("coordinate", "position", "q"),
    "rate": _shown("velocity", "rate", "v"),
    "effort": _shown("velocity", "effort", "tau", True),
    "reaction": _wrench("hinge"),
    "node_position": _one("node", "position", "Distance", _X),
    "node_orientation": _one("node", "orientation (quaternion w x y z)", "QuaternionComponent", _W),
    "node_angular_velocity": _one("node", "angular velocity", "AngularVelocity", _X),
    "node_linear_velocity": _one("node", "velocity", "Velocity", _X),
    "gyro": _one("node", "angular velocity in its own axes", "AngularVelocity", _X),
    "accelerometer": _one("node", "specific force in its own axes", "Acceleration", _X, True),
    "strain_energy": SensorRow("flexible body", (Part("strain energy", "Energy", low=0.0),)),
    "loop_wrench": _wrench("joining loop"),
    "loop_force": _one("loop", "constraint force", FORCE, forces=True),
    "loop_residual": SensorRow("loop", (Part("largest residual", POSITION, low=0.0),), True),
    "loop_closed": SensorRow("loop", (Part("whether it is closed,", truth=True),), True),
    "loop_energy_loss": _one("loop", "kinetic energy lost when it last closed,", "Energy", forces=True),
    "motor_current": _one("motor", "current", "Current"),
    "motor_position": _one("motor", "angle of the rotor", "Angle"),
    "motor_rate": _one("motor", "rate of the rotor", "AngularVelocity"),
    "thrust": _shown("thruster", "thrust", "command"),
    "star_tracker": _optical(
        "attitude seen (quaternion w x y z)", "QuaternionComponent", _W, "whether it sees stars,", ATTITUDE
    ),
    "sun_sensor": _optical(
        "direction to the sun in its own axes", "DirectionComponent", _X, "whether it sees the sun,", DIRECTION
    ),
    "magnetometer": _one("node", "magnetic field in its own axes", "MagneticFluxDensity", _X),
    "contact_force": _one("contact", "force on the second shapes in inertial axes", FORCE[1], _F),
    "contact_gap": _one("contact", "smallest gap, negative where the shapes penetrate,", "Distance"),
    "contact_slip": SensorRow("contact", (Part("fastest slip of shapes that touch", "Velocity", low=0.0),)),
    "contact_touching": SensorRow("contact", (Part("whether its shapes touch,", truth=True),)),
}

#: types whose derivatives have closed forms: those of coordinates and velocities in `api/linearize.py` and
#: `kernels/slopes/state.py`, others in `kernels/slopes/outputs.py`; magnetometers show zero without fields. For all
#: other types, and for models that have any of these, slopes are differences.
CLOSED_FORMS = frozenset({
    "position", "rate", "effort", "reaction", "node_position", "node_orientation", "node_angular_velocity",
    "node_linear_velocity", "gyro", "accelerometer", "star_tracker", "sun_sensor", "magnetometer",
})  # fmt: skip
