"""The quantities of a compiled model: the catalogue of the model, then its parameters, as rows of a plant file."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

from limberjack.engine.model.catalogue.catalogue import GROUPS, catalogue
from limberjack.engine.model.catalogue.number import Number
from limberjack.engine.model.catalogue.parameters import parameters
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import FLAG_ENDLESS, FLAG_TUNABLE, FLAG_WHOLE, Region, Row
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.measures import MEASURES

#: prefix of the names of parameters
PARAMETER = "parameter."
#: vector of the catalogue → the region that holds it; observed vectors follow each other there
_REGIONS = {"time": Region.TIME, "q": Region.Q, "v": Region.V, "command": Region.COMMAND, "survey": Region.SURVEYED}
_OBSERVED = ("tau", "vdot", "output")
#: regions that callers may set, besides parameters
_SETTABLE = (Region.Q, Region.V, Region.COMMAND)
#: the smallest number above zero
_LEAST = math.ulp(0.0)


def quantities(system: System, plant: Plant) -> list[Row]:
    """All numbers of a model that C can read or set, under unique names: `Number.id`, and those of parameters."""
    groups = (group for group in GROUPS if group != "qdot")  # only FMUs show these
    numbers = catalogue(system, *groups)
    return [*_shown(numbers, system.nv, plant), *_tuned(system, plant)]


def _shown(numbers: tuple[Number, ...], nv: int, plant: Plant) -> Iterator[Row]:
    observed = dict(zip(_OBSERVED, (0, nv, 2 * nv)))
    places, at = {}, 0
    for name, rows, columns in layout.state_sections(plant.ints):
        places[name], at = at, at + rows * columns
    for number in numbers:
        if number.vector in observed:
            region, first = Region.OBSERVED, observed[number.vector]
        elif number.vector in _REGIONS:
            region, first = _REGIONS[number.vector], 0
        else:
            region, first = Region.STATE, places[number.vector]
        settable = region in _SETTABLE
        nominal = 1.0 if settable else 0.0
        flags = FLAG_TUNABLE if settable else 0
        yield Row(number.id, region, first + number.place, flags=flags, unit=number.unit, start=nominal)


def _tuned(system: System, plant: Plant) -> Iterator[Row]:
    known = {each.name: each for each in parameters(system)}
    for name, place in plant.parameters.items():
        each, flags = known[name], FLAG_TUNABLE if _has_effect(plant, name, place) else 0
        low, high = _LEAST if each.positive else each.low, math.inf
        if each.most is not None:
            high, flags = each.most, flags | FLAG_WHOLE * each.whole
        if each.endless is not None:  # on this side only
            flags |= FLAG_ENDLESS
            low = max(low, -sys.float_info.max) if each.endless > 0.0 else low
            high = sys.float_info.max if each.endless < 0.0 else high
        unit = MEASURES[each.measure].unit if each.measure else ""
        yield Row(PARAMETER + name, Region.PARAMETER, place, flags=flags, unit=unit, minimum=low, maximum=high)


def _has_effect(plant: Plant, name: str, place: int) -> bool:
    """Whether setting a parameter has an effect: a stop that the model does not have has no stiffness."""
    column = {"lower": layout.D_LOWER, "upper": layout.D_UPPER}.get(name.rpartition(".")[2])
    return column is None or bool(plant.floats[place - column + layout.D_LIMIT_K] != 0.0)
