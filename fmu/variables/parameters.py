"""The tunable parameters that a model can offer: `Plant.parameters` under structured names, with unit and bound."""

from __future__ import annotations

import math
from dataclasses import replace

from limberjack.engine.model.catalogue.motion import Freedom
from limberjack.engine.model.elements.drive import MODES, Actuator
from limberjack.engine.model.elements.facts import tuned_of
from limberjack.engine.model.elements.hinge import Dof
from limberjack.engine.model.plant import Plant
from limberjack.engine.native.plant_file import Region
from limberjack.fmu.variables.candidates import Candidates, spread, typed
from limberjack.fmu.variables.device_parameters import device_parameters
from limberjack.fmu.variables.naming import place
from limberjack.fmu.variables.selection import Candidate
from limberjack.fmu.variables.variable import Variable

#: kg; what a mass may be tuned down to
LEAST_MASS = 1e-300


def parameters(offers: Candidates) -> list[Candidate]:
    """Candidates for every tunable number that has an effect and a finite value, in the Plant's order."""
    plant, system = offers.plant, offers.system
    along = offers.along
    actuators = {actuator.name: actuator for actuator in system.actuators}
    listed: list[Candidate] = []
    for name, index in plant.parameters.items():
        group, _, rest = name.partition(".")
        user_name, _, word = rest.rpartition(".")
        if group == "gravity":
            listed += _gravity(offers, index) if rest == "x" else []
        elif not math.isfinite(plant.floats[index]):
            continue
        elif group == "hinge":
            listed.append(_hinge(plant, index, word, user_name, along[user_name], offers.measures[name]))
        elif group == "actuator" and user_name in actuators:
            drive = actuators[user_name]
            if word in (*MODES[drive.mode], "limit"):
                listed.append(_actuator(plant, index, word, drive, along[drive.coordinate], offers.measures[name]))
        elif group == "body":
            listed.append(_body(plant, index, user_name, offers.measures[name]))
    return [*listed, *device_parameters(offers)]


def _parameter(plant: Plant, index: int, name: str, said: str, type_name: str, default: bool) -> Candidate:
    start = float(plant.floats[index])
    variable = Variable(
        name,
        said,
        Region.PARAMETER,
        index,
        causality="parameter",
        variability="tunable",
        start=(start,),
        **typed(type_name),
    )
    return Candidate(variable, default=default)


def _hinge(plant: Plant, index: int, word: str, name: str, along: Freedom, kind: str) -> Candidate:
    (field,) = (field for field in tuned_of(Dof) if field.name == word)
    spring = plant.parameters.get(f"hinge.{name}.stiffness")
    shown = word not in ("lower", "upper") and plant.floats[index] != 0.0
    if word == "rest" and spring is not None:
        shown = bool(plant.floats[spring] != 0.0)
    said = f"{field.tuned.text} {along.where}"
    found = _parameter(plant, index, place(*along.tuned(word)), said, kind, bool(shown))
    return replace(found, variable=replace(found.variable, minimum=field.lowest))


def _actuator(plant: Plant, index: int, word: str, drive: Actuator, along: Freedom, kind: str) -> Candidate:
    tuned = next(field.tuned for field in tuned_of(Actuator) if field.name == word)
    name, said = place("actuator", drive.name, word), f"{tuned.text} of drive '{drive.name}', {along.where}"
    found = _parameter(plant, index, name, said, kind, True)
    return replace(found, variable=replace(found.variable, minimum=0.0))


def _body(plant: Plant, index: int, body: str, kind: str) -> Candidate:
    said = f"mass of body '{body}'"
    found = _parameter(plant, index, place("body", body, "mass"), said, kind, bool(plant.floats[index] > 0.0))
    # 0 would leave a hinge without inertia, and bounds are inclusive
    return replace(found, variable=replace(found.variable, minimum=LEAST_MASS))


def _gravity(offers: Candidates, index: int) -> list[Candidate]:
    whole = Variable(
        "gravity",
        "acceleration of gravity, inertial frame",
        Region.PARAMETER,
        index,
        3,
        causality="parameter",
        variability="tunable",
        start=tuple(float(g) for g in offers.plant.floats[index : index + 3]),
        **typed(offers.measures["gravity.x"]),
    )
    return spread(whole, offers.arrays, True)
