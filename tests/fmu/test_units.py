"""Units and declared types: exponents from an independent reading of the names, factors from their meaning."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.build import build
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.units import TYPES, UNITS
from tests.engine.full_model import full_model
from tests.fmu.device_model import equipped

BASES = ("kg", "m", "s", "rad", "A")
#: unit symbol → exponents of these
SYMBOLS = {
    "1": (0, 0, 0, 0, 0),
    "kg": (1, 0, 0, 0, 0),
    "m": (0, 1, 0, 0, 0),
    "s": (0, 0, 1, 0, 0),
    "rad": (0, 0, 0, 1, 0),
    "A": (0, 0, 0, 0, 1),
    "N": (1, 1, -2, 0, 0),
    "J": (1, 2, -2, 0, 0),
    "V": (1, 2, -3, 0, -1),
    "T": (1, 0, -2, 0, -1),
    "Ohm": (1, 2, -3, 0, -2),
}
#: the size of what display units are made of, in SI
SIZES = {"deg": math.pi / 180, "rpm": 2 * math.pi / 60, "mm": 1e-3, "ms": 1e-3}


def parts(name: str) -> list[tuple[str, int]]:
    """Symbols and powers of a unit's name, "N.m.s/rad" or "kg.m2"."""
    above, _, below = name.partition("/")
    listed = [(symbol, 1) for symbol in above.split(".")] + [(symbol, -1) for symbol in below.split(".") if symbol]
    split = [(re.fullmatch(r"([A-Za-z]+|1)(\d?)", symbol), sign) for symbol, sign in listed]
    return [(found[1], sign * int(found[2] or 1)) for found, sign in split]


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_exponents_are_those_of_the_name(unit):
    expected = [sum(power * SYMBOLS[symbol][base] for symbol, power in parts(unit.name)) for base in range(5)]
    assert [unit.exponents.get(base, 0) for base in BASES] == expected
    assert unit.factor == 1.0


@pytest.mark.parametrize("unit", [unit for unit in UNITS.values() if unit.display], ids=lambda unit: unit.name)
def test_display_units_show_the_same_quantity(unit):
    for display in unit.display:
        size = math.prod(SIZES.get(symbol, 1.0) ** power for symbol, power in parts(display.name))
        assert display.factor * size == pytest.approx(1.0, rel=1e-15)


def test_newton_metre_is_what_importers_expect():
    assert UNITS["N.m"].exponents == {"kg": 1, "m": 2, "s": -2}


def test_names_are_plain():
    assert all(name.isascii() for name in [*UNITS, *TYPES])
    assert all(re.fullmatch("[A-Z][A-Za-z]*", name) for name in TYPES)


def test_types_name_their_units():
    for declared in TYPES.values():
        shown = {display.name for display in UNITS[declared.unit].display}
        assert declared.display_unit in shown | {""}
        assert declared.description


def touching() -> lj.System:
    """The model with devices above a plane that its bus may touch."""
    ball = lj.Shape("bus", "sphere", np.array([0.5]), name="ball")
    floor = lj.Shape(None, "plane", np.ones(2), position=np.array([0.0, 0.0, -9.0]), name="floor")
    law = lj.Contact("touch", ("floor",), ("ball",), stiffness=1e5, dissipation=0.1, friction=0.3)
    return lj.equip(equipped(), ball, floor, law)


def test_no_type_or_unit_is_there_for_nothing():
    used = [
        variable
        for system in (full_model(), equipped(), touching())
        for coupling in ("embedded", "process")
        for variable in variables_of(system, build(system), "scalar", coupling, ["*"], ["*"], ["*"])
    ]
    assert {variable.type_name for variable in used} - {""} == set(TYPES)
    assert {variable.unit for variable in used} - {""} == set(UNITS)
