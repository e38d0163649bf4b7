"""Force elements of the YAML schema: thrusters, wheels, control-moment gyros and gravity."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.devices import Actuator
from limberjack.engine.model.elements import CentralGravity, Rotor, Thruster
from limberjack.engine.model.places import Locate
from limberjack.engine.model.readers.schema import ModelSpec
from limberjack.engine.model.readers.schema_elements import CmgSpec, GravitySpec, Spinning, ThrusterSpec, WheelSpec
from limberjack.engine.model.readers.yaml_frames import Carriers
from limberjack.engine.model.system import Body, Pose
from limberjack.engine.model.wheels import Cmg, Wheel, cmg_parts, wheel_parts


@dataclass
class Elements:
    """What the force elements of a file become."""

    gravity: np.ndarray
    central: CentralGravity | None
    thrusters: tuple[Thruster, ...] = ()
    rotors: list[Rotor] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)


def make_elements(spec: ModelSpec, carriers: Carriers, document: Document) -> Elements:
    """All of them. Raises ModelError with the line for what does not fit."""
    made = Elements(*_gravity(spec))
    made.thrusters = tuple(_thruster(i, each, carriers, document) for i, each in enumerate(spec.thrusters))
    for i, wheel in enumerate(spec.wheels):
        body, drive = wheel_parts(_wheel(i, wheel, carriers, document), _lines(document, "wheels", i))
        made.bodies.append(body)
        made.actuators.append(drive)
    for i, cmg in enumerate(spec.cmgs):
        gimbal, drive, rotor = cmg_parts(_cmg(i, cmg, carriers, document), _lines(document, "cmgs", i))
        made.bodies.append(gimbal)
        made.actuators.append(drive)
        made.rotors.append(rotor)
    return made


def _lines(document: Document, group: str, i: int) -> Locate:
    """The finder of the lines of one entry's fields."""
    return lambda where, field: document.place((group, i, field))


def _gravity(spec: ModelSpec) -> tuple[np.ndarray, CentralGravity | None]:
    if not isinstance(spec.gravity, GravitySpec):
        return np.array(spec.gravity, dtype=float), None
    central = spec.gravity.central
    return np.zeros(3), CentralGravity(central.mu, np.array(central.position, dtype=float), central.gradient)


def _carrier(
    kind: str, group: str, i: int, spec: Spinning | ThrusterSpec, carriers: Carriers, document: Document
) -> tuple[str, Pose]:
    """The body that carries an element, and the pose of the named frame on it."""
    path = (group, i, "body")
    body, pose = carriers.find(spec.body, f"{kind} '{spec.name}' sits on", path)
    if body is None:
        what = f"{kind} '{spec.name}' sits on '{spec.body}', which does not move"
        raise ModelError(what, where=document.place(path), mend="Name a body, or a node on one")
    return body, pose


def _thruster(i: int, spec: ThrusterSpec, carriers: Carriers, document: Document) -> Thruster:
    body, frame = _carrier("thruster", "thrusters", i, spec, carriers, document)
    return Thruster(
        name=spec.name,
        body=body,
        direction=frame.rotation @ np.array(spec.direction, dtype=float),
        thrust=spec.thrust,
        position=frame.position + frame.rotation @ np.array(spec.position, dtype=float),
        minimum=spec.minimum,
        initial=spec.initial,
        delay=spec.delay,
        minimum_pulse=spec.minimum_pulse,
        where=document.place(("thrusters", i)),
    )


def _or_none(value: float | None) -> float:
    return math.inf if value is None else value


def _wheel(i: int, spec: WheelSpec, carriers: Carriers, document: Document) -> Wheel:
    body, frame = _carrier("wheel", "wheels", i, spec, carriers, document)
    fastest = _or_none(spec.max_speed if spec.max_momentum is None else spec.max_momentum / spec.spin_inertia)
    speed = (spec.speed or 0.0) if spec.momentum is None else spec.momentum / spec.spin_inertia
    return Wheel(
        name=spec.name,
        body=body,
        axis=np.array(spec.axis, dtype=float),
        mass=spec.mass,
        spin_inertia=spec.spin_inertia,
        transverse_inertia=spec.transverse_inertia,
        pose=frame @ spec.pose(),
        max_torque=_or_none(spec.max_torque),
        max_speed=fastest,
        damping=spec.damping,
        friction=spec.friction,
        friction_rate=spec.friction_rate,
        speed=speed,
        mode=spec.mode,
        gain=spec.gain,
        where=document.place(("wheels", i)),
    )


def _cmg(i: int, spec: CmgSpec, carriers: Carriers, document: Document) -> Cmg:
    body, frame = _carrier("CMG", "cmgs", i, spec, carriers, document)
    inertia = spec.inertia if isinstance(spec.inertia, list) else spec.inertia.matrix()
    return Cmg(
        name=spec.name,
        body=body,
        gimbal_axis=np.array(spec.gimbal_axis, dtype=float),
        rotor_axis=np.array(spec.rotor_axis, dtype=float),
        momentum=spec.momentum,
        mass=spec.mass,
        inertia=np.array(inertia, dtype=float),
        pose=frame @ spec.pose(),
        mode=spec.mode,
        gain=spec.gain,
        max_torque=_or_none(spec.max_torque),
        max_rate=_or_none(spec.max_rate),
        damping=spec.damping,
        friction=spec.friction,
        friction_rate=spec.friction_rate,
        angle=spec.angle,
        rate=spec.rate,
        where=document.place(("cmgs", i)),
    )
