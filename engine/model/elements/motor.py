"""The motor behind a drive: winding, current loop, gear."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from limberjack.engine.files.schema_values import NonNegative, Positive
from limberjack.engine.model.elements.facts import Fact, Fail, Tuned, check_numbers, fill_row
from limberjack.engine.tables import drives as at

_RESISTANCE = Tuned("resistance of the winding", "Resistance", "Resistance")
_VOLTAGE, _CURRENT = Tuned("largest voltage", "Voltage", "Voltage"), Tuned("largest current", "Current", "Current")
_STIFFNESS = Tuned("stiffness of the gear", "AngularStiffness", "LinearStiffness")
_PLAY = Tuned("whole play of the gear", "Angle", "Distance")
_LOOP = "bandwidth f of the current loop: k_p = 2π f L, k_i = 2π f R; its zero cancels the winding's pole"
_LARGEST = "largest voltage; while the current loop is at this limit, its integrator stops"
_GEAR = "gear stiffness at the joint; 0: rigid gear. An elastic gear needs a rotor with `inertia`"


@dataclass(frozen=True)
class Motor:
    """The motor behind a drive. Inertia, friction and rates are the rotor's.

    The force that the drive asks for becomes a current, which the loop brings about with the voltage there is.
    """

    torque_constant: Annotated[Positive, Fact("torque per current; also the back-emf constant, V·s/rad", "N·m/A")]
    resistance: Annotated[Positive, Fact("winding resistance", "Ω", "", at.MO_R, _RESISTANCE)]
    inductance: Annotated[Positive, Fact("winding inductance", "H", "", at.MO_L)]
    bandwidth: Annotated[Positive, Fact(_LOOP, "Hz")]
    voltage: Annotated[
        Positive,
        Fact(_LARGEST, "V", "no limit", at.MO_VOLTAGE, _VOLTAGE, "the largest voltage"),
    ] = math.inf
    current: Annotated[
        Positive, Fact("largest demanded current", "A", "no limit", at.MO_CURRENT, _CURRENT, "the largest current")
    ] = math.inf
    gear: Annotated[
        Positive,
        Fact(
            "gear ratio: turns of the rotor per turn of the joint; for a sliding hinge, rad of the rotor per metre",
            column=at.MO_RATIO,
        ),
    ] = 1.0
    inertia: Annotated[
        NonNegative, Fact("rotor inertia; with a rigid gear it is added to the hinge's `armature`", "kg·m²")
    ] = 0.0
    friction: Annotated[NonNegative, Fact("Coulomb friction of rotor and bearings, at the rotor", "N·m")] = 0.0
    friction_rate: Annotated[
        Positive, Fact("rate that smooths the friction: friction·tanh(rate/friction_rate)", "rad/s")
    ] = 0.1
    damping: Annotated[NonNegative, Fact("viscous damping at the rotor", "N·m·s/rad")] = 0.0
    stiffness: Annotated[NonNegative, Fact(_GEAR, "N·m/rad", "", at.MO_STIFFNESS, _STIFFNESS)] = 0.0
    gear_damping: Annotated[NonNegative, Fact("gear damping at the joint", "N·m·s/rad", "", at.MO_GEAR_DAMPING)] = 0.0
    backlash: Annotated[
        NonNegative,
        Fact(
            "total play at the joint; needs `stiffness`. Tooth flanks push but do not pull",
            "rad",
            "",
            at.MO_PLAY,
            _PLAY,
        ),
    ] = 0.0

    def check(self, drive: str, fail: Fail) -> None:
        """Refuse a motor that cannot be; drive: the name of its drive."""
        check_numbers(self, f"{{field}} of the motor of '{drive}' is {{value}}", fail)
        if (self.backlash or self.gear_damping) and not self.stiffness:
            what = f"the gear of the motor of '{drive}' has backlash or damping, but no stiffness"
            fail("motor", what, "Give stiffness, N·m/rad at the joint")
        if self.stiffness and not self.inertia:
            what = f"the motor of '{drive}' turns behind an elastic gear, but its rotor has no inertia"
            fail("motor", what, "Give inertia, kg·m²")

    def fill(self, row: np.ndarray) -> None:
        """Its row in `tables/drives.py`: numbers as they are seen at the joint."""
        fill_row(row, self)
        n, loop = self.gear, 2.0 * math.pi * self.bandwidth
        row[at.MO_K] = n * self.torque_constant
        row[at.MO_KP], row[at.MO_KI] = loop * self.inductance, loop * self.resistance
        row[at.MO_INERTIA], row[at.MO_DAMPING] = n * n * self.inertia, n * n * self.damping
        row[at.MO_FRICTION], row[at.MO_FRICTION_RATE] = n * self.friction, self.friction_rate / n
