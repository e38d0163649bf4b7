"""Wheels and control-moment gyros: what they are, and the body, hinge, drive and rotor that they become.

A wheel is an ordinary body on a revolute hinge with a drive, exact and without a case of its own in the dynamics. The
rotor of a control-moment gyro has a drive that keeps its speed, so that its momentum relative to the gimbal is
constant: a gyrostat, which needs neither a coordinate nor the drive's gains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.alarms import Alarm
from limberjack.engine.model.checks.inertia import MOMENT_TOLERANCE
from limberjack.engine.model.devices import Actuator
from limberjack.engine.model.elements import CentralGravity, Rotor, Thruster
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Pose, System
from limberjack.engine.model.validate import validate

#: largest cosine between the gimbal axis and the rotor axis of a control-moment gyro
SQUARE = 1e-6


@dataclass(frozen=True, eq=False)
class Wheel:
    """A reaction or momentum wheel: a balanced, round rotor on a body.

    The names of its body, hinge, velocity (rad/s) and drive are its own.

    body : that carries it, of a flexible body an attachment node as well;  pose : of the wheel's frame there
    axis : (3,) spin axis in the wheel's frame, through its origin, where the centre of mass is
    mass : kg;  spin_inertia, transverse_inertia : about the centre of mass, kg·m²; None: half of spin_inertia
    max_torque : N·m of its motor;  max_speed : rad/s, at which the motor no longer accelerates it
    damping, friction, friction_rate : of its bearing, as of every hinge
    speed : initial, rad/s relative to the body
    mode : "torque": the command is the motor's torque, N·m; "speed": it is the speed, rad/s, which the motor holds with
        gain × (command - speed), and <name>.torque is added
    gain : N·m·s/rad, mode "speed" only
    """

    name: str
    body: str
    axis: np.ndarray
    mass: float
    spin_inertia: float
    transverse_inertia: float | None = None
    pose: Pose = field(default_factory=Pose)
    max_torque: float = math.inf
    max_speed: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    friction_rate: float = 0.01
    speed: float = 0.0
    mode: str = "torque"
    gain: float = 0.0
    where: str = ""


@dataclass(frozen=True, eq=False)
class Cmg:
    """A single-gimbal control-moment gyro: a gimbal on a hinge, in it a rotor of constant momentum.

    The names of its body (the gimbal), hinge, coordinate (the gimbal angle), drive and rotor are its own.

    body : that carries it;  pose : of its frame there, on which the gimbal turns
    gimbal_axis, rotor_axis : (3,) at right angles, in its frame; of the rotor at gimbal angle 0
    momentum : N·m·s of the rotor relative to the gimbal, along rotor_axis
    mass, inertia : of gimbal and rotor together, centre of mass at the frame's origin, (3, 3) in its axes
    mode : "rate": the command is the gimbal rate, rad/s, held with gain × (command - rate), and <name>.torque is added;
        "torque": the command is the torque of the gimbal's motor, N·m
    gain : N·m·s/rad, mode "rate" only
    max_torque : N·m;  max_rate : rad/s, at which the motor no longer accelerates the gimbal
    angle, rate : initial, rad, rad/s
    """

    name: str
    body: str
    gimbal_axis: np.ndarray
    rotor_axis: np.ndarray
    momentum: float
    mass: float
    inertia: np.ndarray
    pose: Pose = field(default_factory=Pose)
    mode: str = "rate"
    gain: float = 0.0
    max_torque: float = math.inf
    max_rate: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    friction_rate: float = 0.01
    angle: float = 0.0
    rate: float = 0.0
    where: str = ""


def wheel_parts(wheel: Wheel, locate: Locate = plain_locate) -> tuple[Body, Actuator]:
    """The body on its hinge, and the drive, that a wheel becomes."""
    drives = {"torque": "torque", "speed": "velocity"}
    _check_mode(wheel, drives, "speed", locate)
    axis = _unit(wheel, "axis", wheel.axis, locate)
    half = 0.5 * wheel.spin_inertia
    across = half if wheel.transverse_inertia is None else wheel.transverse_inertia
    if across < (1.0 - MOMENT_TOLERANCE) * half:
        what = f"the transverse_inertia of '{wheel.name}' is {across:g}, less than half of its spin_inertia"
        _fail(wheel, "transverse_inertia", what, f"Give {half:g} kg·m² (a flat rotor) or more, or leave it out", locate)
    inertia = across * np.eye(3) + (wheel.spin_inertia - across) * np.outer(axis, axis)
    hinge, drive = _driven(wheel, axis, 0.0, wheel.speed, drives[wheel.mode], wheel.max_speed)
    return Body(wheel.name, Inertia(wheel.mass, np.zeros(3), inertia), hinge, wheel.where), drive


def cmg_parts(cmg: Cmg, locate: Locate = plain_locate) -> tuple[Body, Actuator, Rotor]:
    """The gimbal on its hinge, its drive and the rotor that a control-moment gyro becomes."""
    drives = {"torque": "torque", "rate": "velocity"}
    _check_mode(cmg, drives, "rate", locate)
    gimbal = _unit(cmg, "gimbal_axis", cmg.gimbal_axis, locate)
    spin = _unit(cmg, "rotor_axis", cmg.rotor_axis, locate)
    if abs(gimbal @ spin) > SQUARE:
        what = f"the axes of gimbal and rotor of '{cmg.name}' are not at right angles"
        _fail(cmg, "rotor_axis", what, "Give the rotor's axis at gimbal angle 0, across the gimbal axis", locate)
    hinge, drive = _driven(cmg, gimbal, cmg.angle, cmg.rate, drives[cmg.mode], cmg.max_rate)
    body = Body(cmg.name, Inertia(cmg.mass, np.zeros(3), np.asarray(cmg.inertia, dtype=float)), hinge, cmg.where)
    return body, drive, Rotor(cmg.name, cmg.name, cmg.momentum * spin, cmg.where)


def _driven(
    device: Wheel | Cmg, axis: np.ndarray, angle: float, rate: float, mode: str, max_rate: float
) -> tuple[Hinge, Actuator]:
    """The hinge about an axis (3,) of unit length, and its drive, which holds the initial rate if it holds one."""
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


def equip(system: System, *elements: Wheel | Cmg | Thruster | Rotor | CentralGravity | Alarm) -> System:
    """A checked copy of a System with these elements and alarms as well.

    A CentralGravity takes the place of the uniform gravity. Raises ModelError for an element that does not fit.
    """
    for element in elements:
        system = _with(system, element)
    return validate(system)


def _with(system: System, element: Wheel | Cmg | Thruster | Rotor | CentralGravity | Alarm) -> System:
    if isinstance(element, CentralGravity):
        return replace(system, central=element, gravity=np.zeros(3))
    if isinstance(element, Thruster):
        return replace(system, thrusters=(*system.thrusters, element))
    if isinstance(element, Alarm):
        return replace(system, alarms=(*system.alarms, element))
    if isinstance(element, Rotor):
        return replace(system, rotors=(*system.rotors, element))
    body, drive, *rotors = wheel_parts(element) if isinstance(element, Wheel) else cmg_parts(element)
    bodies, actuators = (*system.bodies, body), (*system.actuators, drive)
    return replace(system, bodies=bodies, actuators=actuators, rotors=(*system.rotors, *rotors))


def _unit(device: Wheel | Cmg, field: str, axis: np.ndarray, locate: Locate) -> np.ndarray:
    vector = np.asarray(axis, dtype=float)
    length = float(np.linalg.norm(vector))
    if vector.shape != (3,) or not 0.0 < length < math.inf:
        _fail(device, field, f"the {field} of '{device.name}' is no direction", "Give x, y, z, not all zero", locate)
    return np.asarray(vector / length)


def _check_mode(device: Wheel | Cmg, modes: dict[str, str], held: str, locate: Locate) -> None:
    """The mode is known, and has a gain if it holds something, and only then."""
    if device.mode not in modes:
        what = f"'{device.name}' has the unknown mode '{device.mode}'"
        _fail(device, "mode", what, f"Use {', '.join(modes)}", locate)
    if device.mode == held and not device.gain > 0:
        _fail(device, "gain", f"'{device.name}' of mode {held} has no gain", "Give gain > 0, N·m·s/rad", locate)
    if device.mode != held and device.gain:
        what = f"'{device.name}' has a gain, which mode {device.mode} does not use"
        _fail(device, "gain", what, "Remove gain or change the mode", locate)


def _fail(device: Wheel | Cmg, field: str, what: str, mend: str, locate: Locate) -> None:
    where = device.where or f"{type(device).__name__.lower()} '{device.name}'"
    raise ModelError(what, where=locate(where, field), mend=mend)
