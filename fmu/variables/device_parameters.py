"""Tunable parameters of instruments, motors and valves, of their noise and of what they look at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from limberjack.engine.model.checks.elements import MOST_SEED
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import tuned_of
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import Errors, Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.native.plant_file import Region
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from limberjack.fmu.variables.candidates import Candidates, spread, typed
from limberjack.fmu.variables.naming import place
from limberjack.fmu.variables.selection import Candidate
from limberjack.fmu.variables.variable import Variable


def device_parameters(offers: Candidates) -> Iterator[Candidate]:
    """Candidates for those that have an effect and a finite value; shown by default where they are not zero."""
    known, system = offers.plant.parameters, offers.system
    for sensor in system.sensors:
        if sensor.errors is not None:
            yield from _of_instrument(offers, sensor)
    for actuator in system.actuators:
        if actuator.motor is not None:
            yield from _of_motor(offers, actuator, actuator.motor)
    for thruster in system.thrusters:
        if thruster.has_valve:
            for field in tuned_of(Thruster):
                parameter = f"thruster.{thruster.name}.{field.name}"
                name = place("thruster", thruster.name, field.name)
                text = f"{field.tuned.text} of thruster '{thruster.name}'"
                yield from _offered(offers, name, text, parameter, 1, field.lowest)
    for element in system.elements:
        for field in tuned_of(type(element)):
            parameter = f"{element.TABLE}.{element.name}.{field.name}"
            text = f"{field.tuned.text} of {element.TABLE} '{element.name}'"
            name = place(element.TABLE, element.name, field.name)
            yield from _offered(offers, name, text, parameter, 1, field.lowest)
    if "noise.seed" in known:
        (seed,) = _offered(offers, "noise.seed", "seed of all noise", "noise.seed", 1, 0.0)
        yield replace(seed, variable=replace(seed.variable, maximum=float(MOST_SEED)), default=True)
    if "sun.x" in known:
        said = "direction to the sun, of any length, inertial frame"
        yield from _offered(offers, "sun", said, "sun.x", 3, -math.inf)


def _offered(offers: Candidates, name: str, said: str, parameter: str, size: int, lowest: float) -> list[Candidate]:
    """Candidates for `size` numbers, of which the first is this parameter; none where one is infinite."""
    index = offers.plant.parameters[parameter]
    start = tuple(float(x) for x in offers.plant.floats[index : index + size])
    if not all(map(math.isfinite, start)):
        return []
    whole = Variable(
        name,
        said,
        Region.PARAMETER,
        index,
        size,
        causality="parameter",
        variability="tunable",
        start=start,
        **typed(offers.measures[parameter]) | {"minimum": lowest},
    )
    return [Candidate(whole, default=any(start))] if size == 1 else spread(whole, offers.arrays, any(start))


def _of_instrument(offers: Candidates, sensor: Sensor) -> Iterator[Candidate]:
    """Bias, noise, scale and saturation of each quantity that it measures."""
    parts, optical = offers.sensor_parts(sensor), SENSOR_TYPES[sensor.type].optical
    if optical:
        parts = [("", "angles about its own axes", 3)]
    for field in tuned_of(Errors):
        first = 0
        for leaf, said, size in parts:
            name = place("sensor", sensor.name, f"{field.name}.{leaf}" if leaf else field.name)
            text = f"{field.tuned.text} of instrument '{sensor.name}'"
            text += f", {said}" if len(parts) > 1 or optical else ""
            parameter = f"sensor.{sensor.name}.{field.name}{sensor.erring[first]}"
            yield from _offered(offers, name, text, parameter, size, field.lowest)
            first += size


def _of_motor(offers: Candidates, actuator: Actuator, motor: Motor) -> Iterator[Candidate]:
    """Winding and limits; of an elastic gear its stiffness and play."""
    for field in tuned_of(Motor):
        if field.name in ("stiffness", "backlash") and motor.stiffness == 0.0:
            continue  # a stiff gear has neither
        parameter = f"actuator.{actuator.name}.motor.{field.name}"
        name = place("actuator", actuator.name, f"motor.{field.name}")
        text = f"{field.tuned.text} of the motor of drive '{actuator.name}'"
        yield from _offered(offers, name, text, parameter, 1, 0.0)
