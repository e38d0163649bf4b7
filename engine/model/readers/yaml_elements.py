"""Elements of the YAML schema: gravity, thrusters, wheels, control-moment gyros."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.central_gravity import CentralGravity
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Element, values
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.places import Locate
from limberjack.engine.model.readers.schema import ModelSpec
from limberjack.engine.model.readers.schema_elements import DEVICES, GravitySpec
from limberjack.engine.model.readers.yaml_frames import Carriers
from limberjack.engine.model.system import Body, Pose, element_kinds


@dataclass
class Elements:
    """What the force elements of a file become."""

    gravity: np.ndarray
    central: CentralGravity | None
    thrusters: tuple[Thruster, ...] = ()
    listed: dict[str, tuple[Element, ...]] = field(default_factory=dict)
    rotors: list[Rotor] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)


def make_elements(spec: ModelSpec, carriers: Carriers, document: Document) -> Elements:
    """All of them. Raises ModelError with the line for what does not fit."""
    made = Elements(*_gravity(spec))
    made.thrusters = tuple(_thruster(i, each, carriers, document) for i, each in enumerate(spec.thrusters))
    for group, listed in element_kinds().items():
        made.listed[group] = tuple(
            listed(**values(listed, each), where=document.place((group, i)))  # type: ignore[call-arg]
            for i, each in enumerate(getattr(spec, group))
        )
    for group, (kind, _) in DEVICES.items():
        for i, each in enumerate(getattr(spec, group)):
            body, frame = _carrier(kind.SAID, group, i, each, carriers, document)
            given = kind.given(each) | {"body": body, "pose": frame @ each.pose()}
            parts = kind(**given, where=document.place((group, i))).parts(_lines(document, group, i))
            made.bodies.append(parts.body)
            made.actuators += parts.drives
            made.rotors += parts.rotors
    return made


def _lines(document: Document, group: str, i: int) -> Locate:
    """The finder of the lines of one entry's fields."""
    return lambda where, field: document.place((group, i, field))


def _gravity(spec: ModelSpec) -> tuple[np.ndarray, CentralGravity | None]:
    if not isinstance(spec.gravity, GravitySpec):
        return np.array(spec.gravity, dtype=float), None
    return np.zeros(3), CentralGravity(**values(CentralGravity, spec.gravity.central))


def _carrier(kind: str, group: str, i: int, spec: Any, carriers: Carriers, document: Document) -> tuple[str, Pose]:
    """The body that carries an element, and the pose of the named frame on it."""
    path = (group, i, "body")
    body, pose = carriers.find(spec.body, f"{kind} '{spec.name}' sits on", path)
    if body is None:
        what = f"{kind} '{spec.name}' sits on '{spec.body}', which does not move"
        raise ModelError(what, where=document.place(path), remedy="Name a body, or a node on one")
    return body, pose


def _thruster(i: int, spec: Any, carriers: Carriers, document: Document) -> Thruster:
    body, frame = _carrier("thruster", "thrusters", i, spec, carriers, document)
    given = values(Thruster, spec)
    placed = {
        "body": body,
        "direction": frame.rotation @ given["direction"],
        "position": frame.position + frame.rotation @ given["position"],
    }
    return Thruster(**given | placed, where=document.place(("thrusters", i)))
