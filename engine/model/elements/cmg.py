"""Single-gimbal control-moment gyros: what they are, and the body, hinge, drive and rotor that they become.

The rotor has a drive that keeps its speed, so that its momentum relative to the gimbal is constant: a gyrostat, which
needs neither a coordinate nor the drive's gains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np

from limberjack.engine.files.schema_values import InertiaMatrix, Name, NonNegative, Number, Positive, Vector3
from limberjack.engine.model.elements.device import (
    CARRIER,
    FRICTION_RATE,
    Device,
    Parts,
    check_mode,
    driven,
    refuse_device,
    unit,
)
from limberjack.engine.model.elements.facts import Fact
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.system import Body, Inertia, Pose

#: largest cosine between the gimbal axis and the rotor axis
SQUARE = 1e-6
_ROTOR = "rotor axis at gimbal angle 0, in the same frame, at right angles to the gimbal axis (cosine within 1e-6)"
_INERTIA = (
    "inertia of gimbal and rotor together, in the frame's axes about its origin, which is their centre of mass: "
    "matrix or xx, yy, zz, xy, xz, yz"
)
_MODE = (
    "`rate`: the command is the gimbal rate, rad/s; the torque is `gain` (command − rate) + *name*`.torque`. "
    "`torque`: the command is the torque on the gimbal, N·m"
)


@dataclass(frozen=True, eq=False)
class Cmg(Device):
    """A single-gimbal control-moment gyro: a gimbal on a hinge, in it a rotor of constant momentum.

    The names of its body (the gimbal), hinge, coordinate (the gimbal angle), drive and rotor are its own.
    pose : of its frame on the body, on which the gimbal turns;  inertia : (3, 3)
    """

    SAID = "CMG"
    name: Annotated[Name, Fact("name of the CMG, its body, hinge, coordinate, drive, rotor and main command")]
    body: Annotated[Name, Fact(CARRIER)]
    gimbal_axis: Annotated[
        np.ndarray, Fact("gimbal axis in the CMG's frame; its length does not matter", given=Vector3)
    ]
    rotor_axis: Annotated[np.ndarray, Fact(_ROTOR, given=Vector3)]
    momentum: Annotated[Number, Fact("rotor momentum along `rotor_axis`; may be negative", "N·m·s")]
    mass: Annotated[Positive, Fact("mass of gimbal and rotor together", "kg")]
    inertia: Annotated[np.ndarray, Fact(_INERTIA, "kg·m²", given=InertiaMatrix)]
    pose: Pose = field(default_factory=Pose)
    mode: Annotated[str, Fact(_MODE, given=Literal["rate", "torque"])] = "rate"
    gain: Annotated[NonNegative, Fact("> 0 with `mode: rate`, not allowed with `mode: torque`", "N·m·s/rad")] = 0.0
    max_torque: Annotated[
        Positive, Fact("largest torque of the gimbal motor; larger commands are clipped", "N·m", "no limit")
    ] = math.inf
    max_rate: Annotated[
        Positive, Fact("rate at which the motor stops accelerating the gimbal", "rad/s", "no limit")
    ] = math.inf
    damping: Annotated[NonNegative, Fact("viscous damping of the gimbal's bearing", "N·m·s/rad")] = 0.0
    friction: Annotated[NonNegative, Fact("Coulomb friction of the gimbal's bearing", "N·m")] = 0.0
    friction_rate: Annotated[Positive, Fact(FRICTION_RATE, "rad/s")] = 0.01
    angle: Annotated[Number, Fact("initial gimbal angle", "rad")] = 0.0
    rate: Annotated[Number, Fact("initial gimbal rate; with `mode: rate` also the initial command", "rad/s")] = 0.0
    where: str = ""

    def parts(self, locate: Locate = plain_locate) -> Parts:
        """The gimbal on its hinge, its drive and the rotor."""
        drives = {"torque": "torque", "rate": "velocity"}
        check_mode(self, drives, "rate", locate)
        gimbal = unit(self, "gimbal_axis", self.gimbal_axis, locate)
        spin = unit(self, "rotor_axis", self.rotor_axis, locate)
        if abs(gimbal @ spin) > SQUARE:
            what = f"the axes of gimbal and rotor of '{self.name}' are not at right angles"
            remedy = "Give the rotor's axis at gimbal angle 0, across the gimbal axis"
            refuse_device(self, "rotor_axis", what, remedy, locate)
        hinge, drive = driven(self, gimbal, self.angle, self.rate, drives[self.mode], self.max_rate)
        body = Body(
            self.name, Inertia(self.mass, np.zeros(3), np.asarray(self.inertia, dtype=float)), hinge, self.where
        )
        return Parts(body, (drive,), (Rotor(self.name, self.name, self.momentum * spin, self.where),))
