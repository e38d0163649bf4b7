"""The physical quantities of a model's numbers, each listed once, with its unit and lowest possible value."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A physical quantity.

    unit : SI symbol, "1" of a plain number;  display_unit : a unit that people read more easily, "" for none
    quantity : its name in standards that list quantities (FMI), "" if they do not have it
    minimum : lowest possible value
    """

    name: str
    quantity: str
    unit: str
    display_unit: str = ""
    minimum: float = -math.inf
    description: str = ""


_LISTED = (
    Measure("Time", "Time", "s", description="time"),
    Measure("Angle", "Angle", "rad", "deg", description="angle of a hinge"),
    Measure("AngularVelocity", "AngularVelocity", "rad/s", "deg/s", description="rate of turning"),
    Measure("AngularAcceleration", "AngularAcceleration", "rad/s²", "deg/s²", description="rate of a rate"),
    Measure("Distance", "Length", "m", description="distance along an axis, or component of a position"),
    Measure("Velocity", "Velocity", "m/s", description="speed along an axis, or component of a velocity"),
    Measure("Acceleration", "Acceleration", "m/s²", description="component of an acceleration"),
    Measure("QuaternionComponent", "", "1", description="component of a unit quaternion, order w x y z"),
    Measure("DirectionComponent", "", "1", description="component of a unit vector"),
    Measure("Fraction", "", "1", description="plain number"),
    Measure("Current", "ElectricCurrent", "A", description="current"),
    Measure("Voltage", "ElectricPotential", "V", description="voltage"),
    Measure("Resistance", "Resistance", "Ω", minimum=0.0, description="resistance"),
    Measure("QuaternionRate", "", "1/s", description="time derivative of a component of a quaternion"),
    Measure("Torque", "Torque", "N·m", description="torque about an axis, or component of a moment"),
    Measure("Force", "Force", "N", description="force along an axis, or component of a force"),
    Measure("Energy", "Energy", "J", description="energy"),
    Measure("AngularMomentum", "AngularMomentum", "N·m·s", description="component of an angular momentum"),
    Measure("Momentum", "Momentum", "N·s", description="component of a linear momentum"),
    Measure("Mass", "Mass", "kg", minimum=0.0, description="mass"),
    Measure("RotorInertia", "MomentOfInertia", "kg·m²", minimum=0.0, description="reflected rotor inertia"),
    Measure("RotorMass", "Mass", "kg", minimum=0.0, description="reflected mass of a drive"),
    Measure("AngularStiffness", "RotationalStiffness", "N·m/rad", minimum=0.0, description="stiffness of turning"),
    Measure("AngularDamping", "RotationalDamping", "N·m·s/rad", minimum=0.0, description="damping of turning"),
    Measure("LinearStiffness", "TranslationalStiffness", "N/m", minimum=0.0, description="stiffness of sliding"),
    Measure("LinearDamping", "TranslationalDamping", "N·s/m", minimum=0.0, description="damping of sliding"),
    Measure("ContactStiffness", "", "N/m", minimum=0.0, description="stiffness of a contact, over metres^p"),
    Measure("FrictionLength", "", "m", minimum=0.0, description="largest moment of friction over the normal force"),
    Measure("InverseVelocity", "", "s/m", minimum=0.0, description="dissipation of a contact"),
    Measure("FrictionCoefficient", "", "1", minimum=0.0, description="coefficient of friction"),
    Measure("MagneticFluxDensity", "MagneticFluxDensity", "T", description="component of a magnetic field"),
    Measure("TorqueBound", "Torque", "N·m", minimum=0.0, description="largest size of a torque"),
    Measure("ForceBound", "Force", "N", minimum=0.0, description="largest size of a force"),
)
#: name → measure
MEASURES: dict[str, Measure] = {measure.name: measure for measure in _LISTED}

#: the measures of rotation and of translation
Pair = tuple[str, str]
POSITION: Pair = ("Angle", "Distance")
RATE: Pair = ("AngularVelocity", "Velocity")
ACCELERATION: Pair = ("AngularAcceleration", "Acceleration")
FORCE: Pair = ("Torque", "Force")
#: measure → that of its time derivative
RATES = {
    "": "",
    "QuaternionComponent": "QuaternionRate",
    **dict(zip(POSITION, RATE, strict=True)),
    **dict(zip(RATE, ACCELERATION, strict=True)),
}


def of_motion(pair: Pair, turns: bool | None) -> str:
    """The measure for rotation (True) or translation (False); "" for a mixture (None)."""
    return "" if turns is None else pair[0] if turns else pair[1]
