"""The tunable parameters that a model can offer: those of the catalogue under structured names, with unit and bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from limberjack.engine.model.catalogue.motion import Freedom
from limberjack.engine.model.catalogue.parameters import Parameter
from limberjack.engine.model.catalogue.parameters import parameters as known
from limberjack.engine.model.elements.drive import MODES, Actuator
from limberjack.engine.native.plant_file import Region
from limberjack.fmu.variables.candidates import Candidates, spread, typed
from limberjack.fmu.variables.naming import place
from limberjack.fmu.variables.selection import Candidate
from limberjack.fmu.variables.variable import Variable

#: smallest mass that can be set, kg: 0 would leave a hinge without inertia, and bounds are inclusive
LEAST_MASS = 1e-300
#: tables of the Plant in the order of an FMU's parameters; those of elements are between valves and surroundings
_ORDER = ("part", "dof", "actuator", "gravity", "instrument", "motor", "valve")


def parameters(offers: Candidates) -> Iterator[Candidate]:
    """Candidates for every tunable number that has an effect and a finite value."""
    listed = [each for each in known(offers.system) if each.name in offers.plant.parameters]
    for _, vector in groupby(sorted(listed, key=_rank), key=lambda each: each.path):
        yield from _offered(offers, tuple(vector))


def _rank(each: Parameter) -> int:
    section = "dof" if each.section == "armature" else each.section
    if section in _ORDER:
        return _ORDER.index(section)
    return len(_ORDER) + (section == "surroundings") + each.name.startswith("sun.")


def _offered(offers: Candidates, vector: tuple[Parameter, ...]) -> list[Candidate]:
    """Candidates for the numbers of one vector; none where one is infinite."""
    first, size = vector[0], len(vector)
    index = offers.plant.parameters[first.name]
    start = tuple(float(x) for x in offers.plant.floats[index : index + size])
    if not _acts(first) or not all(map(math.isfinite, start)):
        return []
    least = LEAST_MASS if first.section == "part" else first.low
    whole = Variable(
        place(*first.path) if any(first.path[1:]) else first.path[0],
        first.text,
        Region.PARAMETER,
        index,
        size,
        causality="parameter",
        variability="tunable",
        start=start,
        **typed(first.measure) | {"minimum": least},
    )
    if first.most is not None:
        whole = replace(whole, maximum=first.most)
    shown = _is_shown(offers, first, any(start))
    return [Candidate(whole, default=shown)] if size == 1 else spread(whole, offers.arrays, shown)


def _acts(each: Parameter) -> bool:
    """Whether it has an effect: gains of other modes have none, nor the stiffness and play of a stiff gear."""
    if not isinstance(each.element, Actuator) or each.field is None:
        return True
    if each.section == "motor":
        motor = each.element.motor
        return each.field.name not in ("stiffness", "backlash") or (motor is not None and motor.stiffness != 0.0)
    return each.field.name in (*MODES[each.element.mode], "limit")


def _is_shown(offers: Candidates, each: Parameter, given: bool) -> bool:
    """Whether it is present without a selection: numbers that are not zero, gains, gravity and the seed."""
    if each.section in ("actuator", "gravity") or each.whole:
        return True
    if isinstance(each.element, Freedom) and each.field is not None:
        if each.field.name == "rest":
            spring = offers.plant.parameters.get(f"hinge.{each.element.name}.stiffness")
            return spring is not None and bool(offers.plant.floats[spring] != 0.0)
        return given and each.field.name not in ("lower", "upper")
    return given
