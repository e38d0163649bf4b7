"""Devices that become a body on a hinge: what wheels, control-moment gyros and pendulums share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import values
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.system import Body, Dof, Hinge

CARRIER = "body or node that carries it; may be an attachment node of a flexible body"
FRICTION_RATE = "rate that smooths the friction: friction·tanh(v/friction_rate)"


@dataclass(frozen=True)
class Parts:
    """What a device becomes."""

    body: Body
    drives: tuple[Actuator, ...] = ()
    rotors: tuple[Rotor, ...] = ()


class Device:
    """Base of the kinds that become a body. SAID : the kind in messages; name, body, pose, where : fields of all."""

    SAID: ClassVar[str]

    @classmethod
    def given(cls, spec: Any) -> dict[str, Any]:
        """What a file gives for its fields, but for body and pose."""
        return values(cls, spec)

    def parts(self, locate: Locate = plain_locate) -> Parts:
        """Body and drives that it becomes. Raises ModelError for what cannot be."""
        raise NotImplementedError


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
        what = f"the {field} of '{device.name}' is not a direction"
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
    raise ModelError(what, where=locate(where, field), remedy=remedy)
