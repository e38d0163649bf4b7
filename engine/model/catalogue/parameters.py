"""What the tunable parameters of a model measure."""

from __future__ import annotations

from collections.abc import Iterator

from limberjack.engine.model.catalogue.motion import freedoms
from limberjack.engine.model.catalogue.readings import outputs
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import tuned_of
from limberjack.engine.model.elements.hinge import Dof
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import Errors, Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import System
from limberjack.engine.tables.sensor_types import SENSOR_TYPES


def parameter_measures(system: System) -> dict[str, str]:
    """Name of a parameter → a key of `MEASURES`, "" where an angle and a distance are mixed.

    All of `Plant.parameters` are there; some others are too, which this model has no place for.
    """
    found = {f"gravity.{axis}": "Acceleration" for axis in "xyz"} | {
        f"sun.{axis}": "DirectionComponent" for axis in "xyz"
    }
    found |= {"noise.seed": "Fraction"} | {f"body.{body.name}.mass": "Mass" for body in system.bodies}
    turns = {freedom.name: freedom.turns for freedom in freedoms(system)}
    for name, turning in turns.items():
        found |= {f"hinge.{name}.{field.name}": field.tuned.of(turning) for field in tuned_of(Dof)}
    for actuator in system.actuators:
        turning, name = turns[actuator.coordinate], f"actuator.{actuator.name}"
        found |= {f"{name}.{field.name}": field.tuned.of(turning) for field in tuned_of(Actuator)}
        found |= {f"{name}.motor.{field.name}": field.tuned.of(turning) for field in tuned_of(Motor)}
    for thruster in system.thrusters:
        found |= {f"thruster.{thruster.name}.{field.name}": field.tuned.quantity for field in tuned_of(Thruster)}
    for item in system.elements:
        found |= {f"{item.TABLE}.{item.name}.{field.name}": field.tuned.quantity for field in tuned_of(type(item))}
    return found | dict(_of_instruments(system))


def _of_instruments(system: System) -> Iterator[tuple[str, str]]:
    """Bias, noise, scale and saturation of what each instrument measures."""
    measured: dict[str, list[str]] = {}
    for number in outputs(system):
        assert isinstance(number.element, Sensor)
        measured.setdefault(number.element.name, []).append(number.measure)
    for sensor in system.sensors:
        if sensor.errors is None:
            continue
        kinds = ["Angle"] * 3 if SENSOR_TYPES[sensor.type].optical else measured[sensor.name]
        for field in tuned_of(Errors):
            whole = "Fraction" if sensor.errors.pole_pairs > 0 and field.name == "noise" else field.tuned.quantity
            for suffix, kind in zip(sensor.erring, kinds):
                yield f"sensor.{sensor.name}.{field.name}{suffix}", whole or kind
