"""The numbers that sensors and instruments give."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from limberjack.engine.model.catalogue.commands import commands
from limberjack.engine.model.catalogue.motion import coordinates, forces, turning, velocities
from limberjack.engine.model.catalogue.number import NO_LIMITS, TRUTH, Limits, Number
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import System
from limberjack.engine.tables.measures import of_motion
from limberjack.engine.tables.sensor_types import SENSOR_TYPES, Part

_SHOWN: dict[str, Callable[[System], Iterator[Number]]] = {
    "q": coordinates,
    "v": velocities,
    "tau": forces,
    "command": commands,
}


def outputs(system: System) -> Iterator[Number]:
    """The ny outputs, in the order of `System.output_names`."""
    groups = {part.shows for sensor in system.sensors for part in SENSOR_TYPES[sensor.type].parts if part.shows}
    shown = {(group, number.name): number for group in groups for number in _SHOWN[group](system)}
    place = 0
    for sensor in system.sensors:
        first = place
        for part in SENSOR_TYPES[sensor.type].parts:
            target = shown.get((part.shows, sensor.target))
            measure, ideal = _measured(part, sensor, system, target)
            kind = "instrument" if sensor.errors is not None else "sensor"
            text = f"{kind} '{sensor.name}': {part.text} of '{sensor.target}'"
            for component in part.components:
                name = f"{sensor.name}.{component}" if component else sensor.name
                yield Number(
                    "output", name, ("sensor", sensor.name, part.leaf), text, "output", place, measure, component,
                    *_range(sensor, part, place - first, ideal), truth=part.truth,
                    sampled=sensor.errors is not None, element=sensor,
                )  # fmt: skip
                place += 1


def _measured(part: Part, sensor: Sensor, system: System, target: Number | None) -> tuple[str, Limits]:
    """Measure and range of what a sensor measures. target : the number that it shows, if it shows one."""
    if target is not None:
        return target.measure, target.limits
    if part.truth:
        return "", TRUTH
    limits = (part.low, math.inf)
    if isinstance(part.measure, str):
        return part.measure, limits
    (loop,) = (loop for loop in system.loops if loop.name == sensor.target)
    # the force of a loop that joins bodies is the size of the one between them
    turns = False if sensor.type == "loop_force" and loop.joins else turning(loop, system)
    return of_motion(part.measure, turns), limits


def _range(sensor: Sensor, part: Part, i: int, ideal: Limits) -> Limits:
    """What the i-th number of a sensor can show. ideal : without the errors of an instrument, which exceed it."""
    errors = sensor.errors
    if errors is None or part.truth:
        return ideal
    if ".valid" in SENSOR_TYPES[sensor.type].suffixes:  # errors of an attitude or direction are small angles
        return ideal
    if errors.wrap > 0.0:
        return 0.0, errors.wrap
    if not len(errors.saturation):
        return NO_LIMITS
    most = float(errors.saturation[min(i, len(errors.saturation) - 1)])
    return -most, most
