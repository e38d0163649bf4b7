"""The numbers of a model that may change between steps: name, unit, range, text and place of each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from limberjack.engine.model.catalogue.motion import Freedom, freedoms
from limberjack.engine.model.catalogue.readings import outputs
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Known, tuned_of
from limberjack.engine.model.elements.hinge import OF_COORDINATES, Dof
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import MOST_SEED, Sensor, SensorErrors
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import System
from limberjack.engine.tables import drives as dr
from limberjack.engine.tables import instruments as it
from limberjack.engine.tables.plant import P_MASS
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

#: what declares a parameter, beside what `Parameter.field` says
Owner = Freedom | Actuator | Thruster | Sensor


@dataclass(frozen=True)
class Parameter:
    """A number of the Plant that may change between steps.

    name : "hinge.elbow.damping";  path : of it and of the others of its vector, as `Number.path`;  text : for people
    measure : a key of `MEASURES`, "" where an angle and a distance are mixed
    section, row, column : where it is;  owner : of a mass the body, whose part a build gives a row
    low : the least it may be;  positive : it must be above that
    endless : the infinite number that means that there is no bound, None where there is always one
    most : the most it may be, None where it has no bound of its own;  whole : it must be a whole number
    field : that declares it, None of a body, of gravity, the sun and the noise
    """

    name: str
    path: tuple[str, str, str]
    text: str
    measure: str
    section: str
    row: int
    column: int
    low: float = -math.inf
    positive: bool = False
    endless: float | None = None
    most: float | None = None
    whole: bool = False
    field: Known | None = None
    owner: str = ""
    element: Owner | None = None


def _declared(
    known: Known,
    owner: str,
    path: tuple[str, str, str],
    said: str,
    measure: str,
    at: tuple[str, int, int],
    element: Owner | None = None,
) -> Parameter:
    """The parameter of a declared field. owner : what it is of, in its name; at : its section, row and column."""
    return Parameter(
        f"{owner}.{known.name}", path, f"{known.tuned.text} {said}", measure, *at, known.lowest,
        known.above == 0.0 and not known.tuned.vanishes, known.endless, known.highest, field=known, element=element,
    )  # fmt: skip


def parameters(system: System) -> Iterator[Parameter]:
    """All of them, in the order of `Plant.parameters`; some have no place there, as the Plant has none for them."""
    for body in system.own_bodies:
        yield Parameter(
            f"body.{body.name}.mass", ("body", body.name, "mass"), f"mass of body '{body.name}'", "Mass", "part",
            -1, P_MASS, 0.0, True, owner=body.name,
        )  # fmt: skip
    yield from _of_hinges(system)
    yield from _of_drives(system)
    yield from _of_elements(system)
    yield from _of_surroundings(system)
    yield from _of_instruments(system)
    yield from _of_motors(system)
    for row, thruster in enumerate(each for each in system.thrusters if each.has_valve):
        for known in tuned_of(Thruster):
            path, said = ("thruster", thruster.name, known.name), f"of thruster '{thruster.name}'"
            at = "valve", row, dr.VA_PULSE
            yield _declared(known, f"thruster.{thruster.name}", path, said, known.tuned.quantity, at, thruster)
    for i, axis in enumerate("xyz"):
        path, said = ("gravity", "", ""), "acceleration of gravity, inertial frame"
        yield Parameter(f"gravity.{axis}", path, said, "Acceleration", "gravity", 0, i)


def _of_hinges(system: System) -> Iterator[Parameter]:
    """Of modes stiffness and damping, as their masses are part of the integrals; of quasi-velocities no springs."""
    for v, along in enumerate(freedoms(system)):
        for known in tuned_of(Dof):
            of_modes = along.hinge.modes is None or known.name in ("damping", "stiffness")
            if of_modes and not (along.hinge.kind.quasi and known.name in OF_COORDINATES):
                path, measure = along.tuned(known.name), known.tuned.of(along.turns)
                at = ("dof", v, known.fact.column) if known.fact.column >= 0 else ("armature", v, 0)
                yield _declared(known, f"hinge.{along.name}", path, along.where, measure, at, along)


def _of_drives(system: System) -> Iterator[Parameter]:
    along = {freedom.name: freedom for freedom in freedoms(system)}
    for row, drive in enumerate(system.actuators):
        moves, name = along[drive.coordinate], drive.name
        for known in tuned_of(Actuator):
            path, measure = ("actuator", name, known.name), known.tuned.of(moves.turns)
            said, at = f"of drive '{name}', {moves.where}", ("actuator", row, known.fact.column)
            yield _declared(known, f"actuator.{name}", path, said, measure, at, drive)


def _of_motors(system: System) -> Iterator[Parameter]:
    """Winding and limits; of an elastic gear its stiffness and play."""
    turns = {freedom.name: freedom.turns for freedom in freedoms(system)}
    for row, drive in enumerate(each for each in system.actuators if each.motor is not None):
        for known in tuned_of(Motor):
            path, measure = ("actuator", drive.name, f"motor.{known.name}"), known.tuned.of(turns[drive.coordinate])
            said = f"of the motor of drive '{drive.name}'"
            at = "motor", row, known.fact.column
            yield _declared(known, f"actuator.{drive.name}.motor", path, said, measure, at, drive)


def _of_elements(system: System) -> Iterator[Parameter]:
    rows: dict[str, int] = {}
    for item in system.elements:
        table, name = item.TABLE, item.name
        row = rows[table] = rows.get(table, -1) + 1
        for known in tuned_of(type(item)):
            path, said = (table, name, known.name), f"of {table} '{name}'"
            at = table, row, known.fact.column
            yield _declared(known, f"{table}.{name}", path, said, known.tuned.quantity, at)


def _of_surroundings(system: System) -> Iterator[Parameter]:
    """The direction to the sun where somebody looks at it, the seed of noise where there is noise."""
    if any(SENSOR_TYPES[sensor.type].optical for sensor in system.sensors):
        for i, axis in enumerate("xyz"):
            path, said = ("sun", "", ""), "direction to the sun, of any length, inertial frame"
            yield Parameter(f"sun.{axis}", path, said, "DirectionComponent", "surroundings", it.SUN + i, 0)
    if any(sensor.errors is not None for sensor in system.sensors):
        path = ("noise", "seed", "")
        yield Parameter(
            "noise.seed", path, "seed of all noise", "Fraction", "surroundings", it.SEED, 0, 0.0,
            most=float(MOST_SEED), whole=True,
        )  # fmt: skip


def _of_instruments(system: System) -> Iterator[Parameter]:
    """Bias, noise, scale and saturation of each quantity that an instrument measures."""
    measured: dict[str, list[str]] = {}
    for number in outputs(system):
        assert isinstance(number.element, Sensor)
        measured.setdefault(number.element.name, []).append(number.measure)
    instruments = [(sensor, sensor.errors) for sensor in system.sensors if sensor.errors is not None]
    for row, (sensor, errors) in enumerate(instruments):
        kind, name = SENSOR_TYPES[sensor.type], sensor.name
        parts = [(part.leaf, part.text) for part in kind.parts for _ in part.components]
        if kind.optical:
            parts, measures = [("", "angles about its own axes")] * 3, ["Angle"] * 3
        else:
            measures = measured[name]
        several = len(kind.parts) > 1 or kind.optical
        for known in tuned_of(SensorErrors):
            whole = "Fraction" if errors.pole_pairs > 0 and known.name == "noise" else known.tuned.quantity
            for j, (suffix, (leaf, text), measure) in enumerate(zip(sensor.erring, parts, measures)):
                path = ("sensor", name, f"{known.name}.{leaf}" if leaf else known.name)
                said = f"of instrument '{name}'" + f", {text}" * several
                at = "instrument", row, known.fact.column + j
                found = _declared(known, f"sensor.{name}", path, said, whole or measure, at, sensor)
                yield replace(found, name=found.name + suffix)
