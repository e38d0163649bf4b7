"""YAML model file to System: schema errors with lines, then the parts as arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from limberjack.engine.errors import ModelError
from limberjack.engine.system.graph import some_names
from limberjack.engine.system.places import Locate, plain_locate
from limberjack.engine.system.readers.schema import ActuatorSpec, BodySpec, ModelSpec, NodeSpec
from limberjack.engine.system.readers.schema_errors import model_error
from limberjack.engine.system.readers.yaml_document import Document, read_document
from limberjack.engine.system.readers.yaml_hinges import make_hinge
from limberjack.engine.system.system import Actuator, Body, Inertia, Node, Pose, Sensor, System

WORLD = "world"
#: fields of the System that have another name in the file
_FIELDS = {"inboard": "position", "q0": "initial", "v0": "initial"}


def read_yaml(path: Path) -> tuple[System, Locate]:
    """The System of a file, not yet validated, and the finder of lines for later errors."""
    document = read_document(path)
    content = document.root.plain()
    if not isinstance(content, dict):
        mend = "Begin with 'limberjack: 1'; see docs/model-format.md"
        raise ModelError("the file is not a mapping of fields", where=document.place(()), mend=mend)
    try:
        spec = ModelSpec.model_validate(content)
    except ValidationError as error:
        raise model_error(error, document) from None
    return _system(spec, document), _locator(document, spec)


def _system(spec: ModelSpec, document: Document) -> System:
    frames = _frames(spec, document)
    return System(
        name=spec.name,
        bodies=tuple(_body(i, body, frames, document) for i, body in enumerate(spec.bodies)),
        nodes=tuple(
            Node(
                node.name,
                None if node.body == WORLD else node.body,
                node.pose(),
                document.place(("nodes", i)),
            )
            for i, node in enumerate(spec.nodes)
        ),
        actuators=tuple(
            _actuator(actuator, document.place(("actuators", i))) for i, actuator in enumerate(spec.actuators)
        ),
        sensors=tuple(
            Sensor(sensor.name, sensor.type, sensor.target, document.place(("sensors", i)))
            for i, sensor in enumerate(spec.sensors)
        ),
        gravity=np.array(spec.gravity, dtype=float),
        dt=spec.simulation.dt,
        integrator=spec.simulation.integrator,
        source=document.file,
        interface=spec.fmu.interface(),
    )


def _frames(spec: ModelSpec, document: Document) -> dict[str, tuple[str | None, Pose]]:
    """What a hinge can hang on: name → (body or None for the world, pose on it)."""
    named: tuple[tuple[str, Sequence[BodySpec | NodeSpec]], ...] = (
        ("bodies", spec.bodies),
        ("nodes", spec.nodes),
    )
    for group, items in named:
        for i, item in enumerate(items):
            if item.name == WORLD:
                where = document.place((group, i, "name"))
                raise ModelError("the name 'world' is the inertial frame's", where=where, mend="Choose another name")
    frames: dict[str, tuple[str | None, Pose]] = {WORLD: (None, Pose())}
    frames |= {node.name: (None if node.body == WORLD else node.body, node.pose()) for node in spec.nodes}
    return frames | {body.name: (body.name, Pose()) for body in spec.bodies}


def _body(index: int, spec: BodySpec, frames: dict[str, tuple[str | None, Pose]], document: Document) -> Body:
    path = ("bodies", index)
    if spec.hinge.parent not in frames:
        what = f"body '{spec.name}' hangs on '{spec.hinge.parent}', which is no body or node of the model"
        where = document.place((*path, "hinge", "parent"))
        raise ModelError(what, where=where, mend=f"Use 'world' or one of: {some_names(set(frames) - {WORLD})}")
    hinge = make_hinge(spec.hinge, spec.name, frames[spec.hinge.parent], document, path)
    return Body(spec.name, _inertia(spec, document, path), hinge, document.place(path))


def _inertia(spec: BodySpec, document: Document, path: tuple[str, int]) -> Inertia:
    if spec.inertia is None and spec.mass > 0:
        what = f"body '{spec.name}' has mass but no inertia"
        mend = "Give inertia: {xx: …, yy: …, zz: …} about the centre of mass; zeros for a point mass"
        raise ModelError(what, where=document.place((*path, "inertia")), mend=mend)
    if spec.inertia is None:
        about_com = np.zeros((3, 3))
    elif isinstance(spec.inertia, list):
        about_com = np.array(spec.inertia, dtype=float)
    else:
        about_com = spec.inertia.matrix()
    return Inertia(spec.mass, np.array(spec.com, dtype=float), about_com)


def _actuator(spec: ActuatorSpec, where: str) -> Actuator:
    limit = math.inf if spec.limit is None else spec.limit
    return Actuator(spec.name, spec.coordinate, spec.mode, spec.kp, spec.kd, limit, spec.initial, where)


def _locator(document: Document, spec: ModelSpec) -> Locate:
    """Turns "arm.yaml:12, bodies[1]" and a field into the line of that field."""
    paths: dict[str, tuple[str | int, ...]] = {}
    for group, items in (("nodes", spec.nodes), ("actuators", spec.actuators), ("sensors", spec.sensors)):
        paths |= {document.place((group, i)): (group, i) for i in range(len(items))}
    for i in range(len(spec.bodies)):
        paths |= {document.place(path): path for path in (("bodies", i), ("bodies", i, "hinge"))}

    def locate(where: str, field: str) -> str:
        if where not in paths:
            return plain_locate(where, field)
        path = paths[where]
        name = "axis" if field == "axes" and document.has((*path, "axis")) else _FIELDS.get(field, field)
        return document.place((*path, name))

    return locate
