"""Units of FMU variables: exponents of the SI base units, display units; the measures as declared types."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from limberjack.engine.tables.measures import MEASURES, Measure

_DEGREES = 180.0 / math.pi


_LETTERS = str.maketrans({"·": ".", "²": "2", "Ω": "Ohm"})


def spelled(symbol: str) -> str:
    """An SI symbol in ASCII: "N.m" of "N·m"."""
    return symbol.translate(_LETTERS)


@dataclass(frozen=True)
class DisplayUnit:
    """Another unit for showing a value: shown = factor · value."""

    name: str
    factor: float


@dataclass(frozen=True)
class Unit:
    """A unit as powers of SI base units and the radian. All are coherent: `factor` is 1, there is no offset."""

    name: str
    kg: int = 0
    m: int = 0
    s: int = 0
    rad: int = 0
    A: int = 0
    factor: float = 1.0
    display: tuple[DisplayUnit, ...] = ()

    @property
    def exponents(self) -> dict[str, int]:
        """Base unit → exponent, those that are not 0."""
        return {base: power for base in ("kg", "m", "s", "rad", "A") if (power := getattr(self, base))}


def _shown(**factors: float) -> tuple[DisplayUnit, ...]:
    return tuple(DisplayUnit(name, factor) for name, factor in factors.items())


_LISTED = (
    Unit("1"),
    Unit("1/s", s=-1),
    Unit("s", s=1, display=_shown(ms=1e3)),
    Unit("rad", rad=1, display=_shown(deg=_DEGREES)),
    Unit("rad/s", rad=1, s=-1, display=(DisplayUnit("deg/s", _DEGREES), DisplayUnit("rpm", 30.0 / math.pi))),
    Unit("rad/s2", rad=1, s=-2, display=(DisplayUnit("deg/s2", _DEGREES),)),
    Unit("m", m=1, display=_shown(mm=1e3)),
    Unit("m/s", m=1, s=-1, display=(DisplayUnit("mm/s", 1e3),)),
    Unit("m/s2", m=1, s=-2),
    Unit("kg", kg=1),
    Unit("kg.m2", kg=1, m=2),
    Unit("N", kg=1, m=1, s=-2),
    Unit("N.m", kg=1, m=2, s=-2),
    Unit("N.m/rad", kg=1, m=2, s=-2, rad=-1, display=(DisplayUnit("N.m/deg", math.pi / 180.0),)),
    Unit("N.m.s/rad", kg=1, m=2, s=-1, rad=-1, display=(DisplayUnit("N.m.s/deg", math.pi / 180.0),)),
    Unit("N/m", kg=1, s=-2),
    Unit("s/m", s=1, m=-1),
    Unit("N.s/m", kg=1, s=-1),
    Unit("A", A=1),
    Unit("V", kg=1, m=2, s=-3, A=-1),
    Unit("Ohm", kg=1, m=2, s=-3, A=-2),
    Unit("T", kg=1, s=-2, A=-1),
    Unit("J", kg=1, m=2, s=-2),
    Unit("N.s", kg=1, m=1, s=-1),
    Unit("N.m.s", kg=1, m=2, s=-1),
)
#: name → unit
UNITS: dict[str, Unit] = {unit.name: unit for unit in _LISTED}


#: name → measure with the units as FMI spells them; they are the declared types of an FMU
TYPES: dict[str, Measure] = {
    name: replace(each, unit=spelled(each.unit), display_unit=spelled(each.display_unit))
    for name, each in MEASURES.items()
}
