"""Units and declared types of FMU variables: exponents of the SI base units, display units, quantities."""

from __future__ import annotations

import math
from dataclasses import dataclass

_DEGREES = 180.0 / math.pi


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
    Unit("N.s/m", kg=1, s=-1),
    Unit("A", A=1),
    Unit("V", kg=1, m=2, s=-3, A=-1),
    Unit("Ohm", kg=1, m=2, s=-3, A=-2),
    Unit("J", kg=1, m=2, s=-2),
    Unit("N.s", kg=1, m=1, s=-1),
    Unit("N.m.s", kg=1, m=2, s=-1),
)
#: name → unit
UNITS: dict[str, Unit] = {unit.name: unit for unit in _LISTED}


@dataclass(frozen=True)
class DeclaredType:
    """A type of variable: a physical quantity with its unit. `minimum` holds for every variable of the type."""

    name: str
    quantity: str
    unit: str
    display_unit: str = ""
    minimum: float = -math.inf
    description: str = ""


_DECLARED = (
    DeclaredType("Time", "Time", "s", description="time"),
    DeclaredType("Angle", "Angle", "rad", "deg", description="angle of a hinge"),
    DeclaredType("AngularVelocity", "AngularVelocity", "rad/s", "deg/s", description="rate of turning"),
    DeclaredType("AngularAcceleration", "AngularAcceleration", "rad/s2", "deg/s2", description="rate of a rate"),
    DeclaredType("Distance", "Length", "m", description="distance along an axis, or component of a position"),
    DeclaredType("Velocity", "Velocity", "m/s", description="speed along an axis, or component of a velocity"),
    DeclaredType("Acceleration", "Acceleration", "m/s2", description="component of an acceleration"),
    DeclaredType("QuaternionComponent", "", "1", description="component of a unit quaternion, order w x y z"),
    DeclaredType("DirectionComponent", "", "1", description="component of a unit vector"),
    DeclaredType("Fraction", "", "1", description="plain number"),
    DeclaredType("Current", "ElectricCurrent", "A", description="current"),
    DeclaredType("Voltage", "ElectricPotential", "V", description="voltage"),
    DeclaredType("Resistance", "Resistance", "Ohm", minimum=0.0, description="resistance"),
    DeclaredType("QuaternionRate", "", "1/s", description="time derivative of a component of a quaternion"),
    DeclaredType("Torque", "Torque", "N.m", description="torque about an axis, or component of a moment"),
    DeclaredType("Force", "Force", "N", description="force along an axis, or component of a force"),
    DeclaredType("Energy", "Energy", "J", description="energy"),
    DeclaredType("AngularMomentum", "AngularMomentum", "N.m.s", description="component of an angular momentum"),
    DeclaredType("Momentum", "Momentum", "N.s", description="component of a linear momentum"),
    DeclaredType("Mass", "Mass", "kg", minimum=0.0, description="mass"),
    DeclaredType("RotorInertia", "MomentOfInertia", "kg.m2", minimum=0.0, description="reflected rotor inertia"),
    DeclaredType("RotorMass", "Mass", "kg", minimum=0.0, description="reflected mass of a drive"),
    DeclaredType("AngularStiffness", "RotationalStiffness", "N.m/rad", minimum=0.0, description="stiffness of turning"),
    DeclaredType("AngularDamping", "RotationalDamping", "N.m.s/rad", minimum=0.0, description="damping of turning"),
    DeclaredType("LinearStiffness", "TranslationalStiffness", "N/m", minimum=0.0, description="stiffness of sliding"),
    DeclaredType("LinearDamping", "TranslationalDamping", "N.s/m", minimum=0.0, description="damping of sliding"),
    DeclaredType("TorqueBound", "Torque", "N.m", minimum=0.0, description="largest size of a torque"),
    DeclaredType("ForceBound", "Force", "N", minimum=0.0, description="largest size of a force"),
)
#: name → declared type
TYPES: dict[str, DeclaredType] = {declared.name: declared for declared in _DECLARED}
