"""Reaction and momentum wheels: what they are, and the body, hinge and drive that they become.

A wheel is an ordinary body on a revolute hinge with a drive, exact and without a special case in the dynamics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from limberjack.engine.files.schema_values import Frame, Name, NonNegative, Number, Positive, Vector3
from limberjack.engine.model.checks.inertia import MOMENT_TOLERANCE
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
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.system import Body, Inertia, Pose

_TRANSVERSE = "inertia across the axis, about the centre of mass; at least half of `spin_inertia`"
_FASTEST = "speed at which the motor stops accelerating the wheel; it still brakes. Or give `max_momentum`"
_INITIAL = "initial speed relative to the body; with `mode: speed` also the initial command. Or give `momentum`"
_MODE = (
    "`torque`: the command is the motor's torque on the wheel, N·m; the body gets the opposite torque. `speed`: the "
    "command is the speed, rad/s; the torque is `gain` (command − speed) + *name*`.torque`"
)


class EitherSpec(Frame):
    """A device's frame in a file, with fields of which one may be given."""

    EITHER: ClassVar[tuple[tuple[str, str], ...]] = (("max_speed", "max_momentum"), ("speed", "momentum"))

    @model_validator(mode="after")
    def _one_of_each(self) -> EitherSpec:
        for one, other in self.EITHER:
            if getattr(self, one) is not None and getattr(self, other) is not None:
                raise PydanticCustomError("given_twice", "{one} and {other}", {"one": one, "other": other})
        return self


@dataclass(frozen=True, eq=False)
class Wheel(Device):
    """A reaction or momentum wheel: a balanced, round rotor on a body.

    The names of its body, hinge, velocity (rad/s) and drive are its own. pose : of its frame on the body; its origin is
    the centre of mass.
    """

    SAID = "wheel"
    name: Annotated[Name, Fact("name of the wheel, its body, hinge, velocity, drive and main command")]
    body: Annotated[Name, Fact(CARRIER)]
    axis: Annotated[np.ndarray, Fact("spin axis in the wheel's frame; its length does not matter", given=Vector3)]
    mass: Annotated[Positive, Fact("rotor mass", "kg")]
    spin_inertia: Annotated[Positive, Fact("inertia about the spin axis", "kg·m²")]
    transverse_inertia: Annotated[Positive | None, Fact(_TRANSVERSE, "kg·m²", "half of `spin_inertia`")] = None
    pose: Pose = field(default_factory=Pose)
    max_torque: Annotated[Positive, Fact("largest motor torque; larger commands are clipped", "N·m", "no limit")] = (
        math.inf
    )
    max_speed: Annotated[Positive, Fact(_FASTEST, "rad/s", "no limit")] = math.inf
    damping: Annotated[NonNegative, Fact("viscous damping of the bearing", "N·m·s/rad")] = 0.0
    friction: Annotated[NonNegative, Fact("Coulomb friction of the bearing", "N·m")] = 0.0
    friction_rate: Annotated[Positive, Fact(FRICTION_RATE, "rad/s")] = 0.01
    speed: Annotated[Number, Fact(_INITIAL, "rad/s", "0")] = 0.0
    mode: Annotated[str, Fact(_MODE, given=Literal["torque", "speed"])] = "torque"
    gain: Annotated[NonNegative, Fact("> 0 with `mode: speed`, not allowed with `mode: torque`", "N·m·s/rad")] = 0.0
    where: str = ""

    @classmethod
    def given(cls, spec: Any) -> dict[str, Any]:
        """What a file gives, with speeds from momenta."""
        momenta = {"max_speed": spec.max_momentum, "speed": spec.momentum}
        speeds = {name: value / spec.spin_inertia for name, value in momenta.items() if value is not None}
        return super().given(spec) | speeds

    def parts(self, locate: Locate = plain_locate) -> Parts:
        """The body on its hinge and the drive."""
        drives = {"torque": "torque", "speed": "velocity"}
        check_mode(self, drives, "speed", locate)
        axis = unit(self, "axis", self.axis, locate)
        half = 0.5 * self.spin_inertia
        across = half if self.transverse_inertia is None else self.transverse_inertia
        if across < (1.0 - MOMENT_TOLERANCE) * half:
            what = f"the transverse_inertia of '{self.name}' is {across:g}, less than half of its spin_inertia"
            remedy = f"Give {half:g} kg·m² (a flat rotor) or more, or leave it out"
            refuse_device(self, "transverse_inertia", what, remedy, locate)
        inertia = across * np.eye(3) + (self.spin_inertia - across) * np.outer(axis, axis)
        hinge, drive = driven(self, axis, 0.0, self.speed, drives[self.mode], self.max_speed)
        return Parts(Body(self.name, Inertia(self.mass, np.zeros(3), inertia), hinge, self.where), (drive,))


@dataclass(frozen=True)
class WheelMore:
    """Fields of a wheel that only files have: both as momentum instead of speed."""

    max_momentum: Annotated[
        Positive | None, Fact("spin momentum at which acceleration stops, instead of `max_speed`", "N·m·s", "no limit")
    ] = None
    momentum: Annotated[Number | None, Fact("initial spin momentum, instead of `speed`", "N·m·s", "0")] = None
