"""Reaction and momentum wheels: what they are, and the body, hinge and drive that they become.

A wheel is an ordinary body on a revolute hinge with a drive, exact and without a case of its own in the dynamics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NoReturn

import numpy as np
from pydantic import model_validator
from pydantic_core import PydanticCustomError

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.schema_values import Frame, Name, NonNegative, Number, Positive, Vector3
from limberjack.engine.model.checks.inertia import MOMENT_TOLERANCE
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Fact
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Pose

_CARRIER = "the body or node that carries it; attachment nodes of flexible bodies as well"
_TRANSVERSE = "across the axis, about the centre of mass; half of `spin_inertia` at least"
_FASTEST = "where the motor no longer accelerates the wheel; it still brakes. `max_momentum` says the same"
_INITIAL = "initial, relative to the body; of `mode: speed` the first command too. `momentum` says the same"
_MODE = (
    "`torque`: the command is the motor's torque on the wheel, N·m; the body feels the opposite. `speed`: the command "
    "is the speed, rad/s, held by `gain` (command − speed); *name*`.torque` is added"
)
FRICTION_RATE = "of the smoothed sign: friction·tanh(v/friction_rate)"


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
class Wheel:
    """A reaction or momentum wheel: a balanced, round rotor on a body.

    The names of its body, hinge, velocity (rad/s) and drive are its own. pose : of its frame on the body; its origin is
    the centre of mass.
    """

    name: Annotated[Name, Fact("of its body, hinge, velocity and drive; name of the main command")]
    body: Annotated[Name, Fact(_CARRIER)]
    axis: Annotated[np.ndarray, Fact("spin axis in its frame; its length does not matter", given=Vector3)]
    mass: Annotated[Positive, Fact("", "kg")]
    spin_inertia: Annotated[Positive, Fact("about the axis", "kg·m²")]
    transverse_inertia: Annotated[Positive | None, Fact(_TRANSVERSE, "kg·m²", "half of `spin_inertia`")] = None
    pose: Pose = field(default_factory=Pose)
    max_torque: Annotated[Positive, Fact("of the motor; its torque is cut there", "N·m", "no limit")] = math.inf
    max_speed: Annotated[Positive, Fact(_FASTEST, "rad/s", "no limit")] = math.inf
    damping: Annotated[NonNegative, Fact("viscous, of the bearing", "N·m·s/rad")] = 0.0
    friction: Annotated[NonNegative, Fact("Coulomb friction of the bearing", "N·m")] = 0.0
    friction_rate: Annotated[Positive, Fact(FRICTION_RATE, "rad/s")] = 0.01
    speed: Annotated[Number, Fact(_INITIAL, "rad/s", "0")] = 0.0
    mode: Annotated[str, Fact(_MODE, given=Literal["torque", "speed"])] = "torque"
    gain: Annotated[NonNegative, Fact("> 0 in mode `speed`, refused in the other", "N·m·s/rad")] = 0.0
    where: str = ""

    def parts(self, locate: Locate = plain_locate) -> tuple[Body, Actuator, tuple[Rotor, ...]]:
        """The body on its hinge and the drive that it becomes."""
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
        return Body(self.name, Inertia(self.mass, np.zeros(3), inertia), hinge, self.where), drive, ()


@dataclass(frozen=True)
class WheelMore:
    """Fields of a wheel that only files have: both as momentum instead of speed."""

    max_momentum: Annotated[Positive | None, Fact("instead of `max_speed`", "N·m·s", "no limit")] = None
    momentum: Annotated[Number | None, Fact("instead of `speed`", "N·m·s", "0")] = None

    @staticmethod
    def speeds(spec: Any) -> dict[str, float]:
        """Speeds of a wheel from its momenta in a file."""
        given = {"max_speed": spec.max_momentum, "speed": spec.momentum}
        return {name: value / spec.spin_inertia for name, value in given.items() if value is not None}


def driven(
    device: Any, axis: np.ndarray, angle: float, rate: float, mode: str, max_rate: float
) -> tuple[Hinge, Actuator]:
    """The hinge of a device about an axis (3,) of unit length, and its drive, which holds the initial rate if it holds
    one."""
    name, where = device.name, device.where
    bearing = Dof(damping=device.damping, friction=device.friction, friction_rate=device.friction_rate)
    hinge = Hinge(
        name,
        "revolute",
        device.body,
        inboard=device.pose,
        axes=axis[None, :],
        dofs=(bearing,),
        q0=np.array([float(angle)]),
        v0=np.array([float(rate)]),
        where=where,
    )
    first = rate if mode == "velocity" else 0.0
    drive = Actuator(
        name, name, mode, kd=device.gain, limit=device.max_torque, initial=first, max_rate=max_rate, where=where
    )
    return hinge, drive


def unit(device: Any, field: str, axis: np.ndarray, locate: Locate) -> np.ndarray:
    """An axis of a device with length 1."""
    vector = np.asarray(axis, dtype=float)
    length = float(np.linalg.norm(vector))
    if vector.shape != (3,) or not 0.0 < length < math.inf:
        what = f"the {field} of '{device.name}' is no direction"
        refuse_device(device, field, what, "Give x, y, z, not all zero", locate)
    return np.asarray(vector / length)


def check_mode(device: Any, modes: Mapping[str, str], held: str, locate: Locate) -> None:
    """The mode is known, and has a gain if it holds something, and only then."""
    name, mode = device.name, device.mode
    if mode not in modes:
        refuse_device(device, "mode", f"'{name}' has the unknown mode '{mode}'", f"Use {', '.join(modes)}", locate)
    if mode == held and not device.gain > 0:
        refuse_device(device, "gain", f"'{name}' of mode {held} has no gain", "Give gain > 0, N·m·s/rad", locate)
    if mode != held and device.gain:
        what = f"'{name}' has a gain, which mode {mode} does not use"
        refuse_device(device, "gain", what, "Remove gain or change the mode", locate)


def refuse_device(device: Any, field: str, what: str, remedy: str, locate: Locate) -> NoReturn:
    """Raise the ModelError about one field of a device."""
    where = device.where or f"{type(device).__name__.lower()} '{device.name}'"
    raise ModelError(what, where=locate(where, field), mend=remedy)
