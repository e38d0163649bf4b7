"""Tunable parameters of instruments, motors and valves, of their noise and of what they look at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from limberjack.engine.model.checks.devices import MOST_SEED
from limberjack.engine.model.device_tables import OPTICAL
from limberjack.engine.model.devices import Actuator, Motor, Sensor
from limberjack.engine.tables.measures import of_motion
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from limberjack.fmu.variables.naming import place
from limberjack.fmu.variables.offers import Offers, spread, typed
from limberjack.fmu.variables.selection import Candidate
from limberjack.fmu.variables.variable import Region, Variable

#: word of an instrument's parameter → what it is, declared type if not that of the reading, lowest value
_INSTRUMENT = {
    "bias": ("bias", "", -math.inf),
    "noise": ("standard deviation of a sample", "", 0.0),
    "scale": ("error of scale", "Fraction", -math.inf),
    "saturation": ("largest size of a reading", "", 0.0),
}
#: word of a motor's parameter → what it is, declared type of a joint that turns, of one that slides
_MOTOR = {
    "resistance": ("resistance of the winding", "Resistance", "Resistance"),
    "voltage": ("largest voltage", "Voltage", "Voltage"),
    "current": ("largest current", "Current", "Current"),
    "stiffness": ("stiffness of the gear", "AngularStiffness", "LinearStiffness"),
    "backlash": ("whole play of the gear", "Angle", "Distance"),
}


def device_parameters(offers: Offers) -> Iterator[Candidate]:
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
            index = known[f"thruster.{thruster.name}.minimum_pulse"]
            name = place("thruster", thruster.name, "minimum_pulse")
            yield from _offered(offers, name, f"shortest pulse of thruster '{thruster.name}'", index, 1, "Time", 0.0)
    if "noise.seed" in known:
        (seed,) = _offered(offers, "noise.seed", "seed of all noise", known["noise.seed"], 1, "Fraction", 0.0)
        yield replace(seed, variable=replace(seed.variable, maximum=float(MOST_SEED)), default=True)
    if "sun.x" in known:
        said = "direction to the sun, of any length, inertial frame"
        yield from _offered(offers, "sun", said, known["sun.x"], 3, "DirectionComponent", -math.inf)


def _offered(
    offers: Offers, name: str, said: str, index: int, size: int, type_name: str, lowest: float
) -> list[Candidate]:
    """Candidates for `size` numbers from an index on in the Plant's floats; none where one is infinite."""
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
        **typed(type_name) | {"minimum": lowest},
    )
    return [Candidate(whole, default=any(start))] if size == 1 else spread(whole, offers.arrays, any(start))


def _of_instrument(offers: Offers, sensor: Sensor) -> Iterator[Candidate]:
    """Bias, noise, scale and saturation of each quantity that it measures."""
    parts, suffix = offers.sensor_parts(sensor), SENSOR_TYPES[sensor.type].suffixes[0]
    if sensor.type in OPTICAL:
        parts, suffix = [("", "angles about its own axes", 3, "Angle")], ".x"
    windings = sensor.errors is not None and sensor.errors.pole_pairs > 0
    for word, (what, own, lowest) in _INSTRUMENT.items():
        index = offers.plant.parameters[f"sensor.{sensor.name}.{word}{suffix}"]
        for leaf, said, size, kind in parts:
            shown = "Fraction" if windings and word == "noise" else own or kind
            name = place("sensor", sensor.name, f"{word}.{leaf}" if leaf else word)
            text = (
                f"{what} of instrument '{sensor.name}'{f', {said}' if len(parts) > 1 or sensor.type in OPTICAL else ''}"
            )
            yield from _offered(offers, name, text, index, size, shown, lowest)
            index += size


def _of_motor(offers: Offers, actuator: Actuator, motor: Motor) -> Iterator[Candidate]:
    """Winding and limits; of an elastic gear its stiffness and play."""
    for word, (said, turning, sliding) in _MOTOR.items():
        if word in ("stiffness", "backlash") and motor.stiffness == 0.0:
            continue  # a stiff gear has neither
        kind = of_motion((turning, sliding), offers.along[actuator.coordinate].turns)
        index = offers.plant.parameters[f"actuator.{actuator.name}.motor.{word}"]
        name = place("actuator", actuator.name, f"motor.{word}")
        yield from _offered(offers, name, f"{said} of the motor of drive '{actuator.name}'", index, 1, kind, 0.0)
