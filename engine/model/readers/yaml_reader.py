"""YAML model file to System: schema errors with lines, then the parts as arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.yaml_document import Document, read_document
from limberjack.engine.model.elements.alarm import Alarm
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import facts_of, values
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.readers.schema import BodySpec, FileSpec, ModelSpec
from limberjack.engine.model.readers.schema_elements import DEVICES
from limberjack.engine.model.readers.schema_errors import validated
from limberjack.engine.model.readers.yaml_elements import make_elements
from limberjack.engine.model.readers.yaml_frames import WORLD, Carriers
from limberjack.engine.model.readers.yaml_hinges import given_initials, make_hinge
from limberjack.engine.model.readers.yaml_loops import make_loop
from limberjack.engine.model.readers.yaml_modes import read_modes
from limberjack.engine.model.readers.yaml_sensors import make_sensors
from limberjack.engine.model.readers.yaml_shapes import make_shapes
from limberjack.engine.model.system import Body, Inertia, Node, System, element_kinds
from limberjack.engine.modes.modal import Integrals

#: files that begin with limberjack_KIND, and the command that reads them
_OTHER_KINDS = {"scenario": "hil", "campaign": "campaign", "modes": "modes", "gateway": "gateway --config"}
#: fields of the System that have another name in the file
_FIELDS = {"inboard": "position", "q0": "initial", "v0": "initial"}
#: fields of the file that have the numbers of a field of the System: the first one that is given there
_ONE_OF = {"axes": ("axis", "axes"), "size": ("size", "radius", "scale")}
_GROUPS = ("nodes", "actuators", "sensors", "loops", "thrusters", "shapes", "alarms")
_LOOP_FIELDS = {"inboard": "from", "parent": "from", "outboard": "to", "body": "to", "locked": "hinge"}


def read_yaml(path: Path) -> tuple[System, bool | None, Locate]:
    """The System of a file, not yet validated, its `strict`, and the finder of lines for later errors."""
    document = read_document(path)
    if not isinstance(document.root.content, dict):
        remedy = "Begin with 'limberjack: 1'; see docs/reference/model-format.md"
        raise ModelError("the file is not a mapping of fields", where=document.place(()), remedy=remedy)
    _check_kind(document)
    spec: ModelSpec = validated(FileSpec, document)
    return _system(spec, document), spec.strict, _locator(document, spec)


def _check_kind(document: Document) -> None:
    """ModelError for a file of another kind."""
    fields = document.root.content
    for kind, command in _OTHER_KINDS.items():
        field = f"limberjack_{kind}"
        if field in fields and "limberjack" not in fields:
            remedy = f"Pass it to 'limberjack {command}', or give a model; see docs/reference/model-format.md"
            raise ModelError(f"this is a {kind} file, not a model", where=document.place((field,)), remedy=remedy)


def _system(spec: ModelSpec, document: Document) -> System:
    carriers = Carriers(spec, document)
    found = {i: read_modes(i, body, document) for i, body in enumerate(spec.bodies) if body.flexible is not None}
    modes = {i: made for i, (made, _) in found.items()}
    for i, made in modes.items():
        for attachment in made.attachments:
            carriers.add(f"{spec.bodies[i].name}.{attachment.name}")
    rigid = [_body(i, body, carriers, document) for i, body in enumerate(spec.bodies)]
    given = [given_initials(body.hinge, body.name, made.hinge.nv) for body, made in zip(spec.bodies, rigid)]
    elements = make_elements(spec, carriers, document)
    bodies = [body for i, made in enumerate(rigid) for body in _with_modes(made, modes.get(i))]
    return System(
        name=spec.name,
        bodies=(*bodies, *elements.bodies),
        nodes=tuple(
            Node(
                node.name,
                None if node.body == WORLD else node.body,
                node.pose(),
                document.place(("nodes", i)),
            )
            for i, node in enumerate(spec.nodes)
        ),
        actuators=(
            *(
                Actuator(**values(Actuator, actuator), where=document.place(("actuators", i)))
                for i, actuator in enumerate(spec.actuators)
            ),
            *elements.actuators,
        ),
        sensors=make_sensors(spec, document),
        loops=tuple(make_loop(i, loop, carriers, document) for i, loop in enumerate(spec.loops)),
        shapes=make_shapes(spec, carriers, document),
        alarms=tuple(
            Alarm(**values(Alarm, alarm), where=document.place(("alarms", i))) for i, alarm in enumerate(spec.alarms)
        ),
        thrusters=elements.thrusters,
        rotors=tuple(elements.rotors),
        **elements.listed,  # type: ignore[arg-type]
        gravity=elements.gravity,
        central=elements.central,
        sun=np.array(spec.sun, dtype=float),
        seed=spec.seed,
        dt=spec.simulation.dt,
        integrator=spec.simulation.integrator,
        source=document.file,
        interface=spec.fmu.interface(),
        held=tuple(name for positions, _ in given for name in positions),
        held_rates=tuple(name for _, velocities in given for name in velocities),
        warnings=tuple(text for _, findings in found.values() for text in findings),
    )


def _with_modes(body: Body, modes: Integrals | None) -> list[Body]:
    return [body] if modes is None else modal_bodies(body.name, body.hinge, modes, where=body.where)


def _body(index: int, spec: BodySpec, carriers: Carriers, document: Document) -> Body:
    path = ("bodies", index)
    carrier = carriers.find(spec.hinge.parent, f"body '{spec.name}' hangs on", (*path, "hinge", "parent"))
    hinge = make_hinge(spec.hinge, spec.name, carrier, document, path)
    return Body(spec.name, _inertia(spec, document, path), hinge, document.place(path))


def _inertia(spec: BodySpec, document: Document, path: tuple[str, int]) -> Inertia:
    if spec.inertia is None and spec.mass > 0:
        what = f"body '{spec.name}' has mass but no inertia"
        remedy = "Give inertia: {xx: …, yy: …, zz: …} about the centre of mass; zeros for a point mass"
        raise ModelError(what, where=document.place((*path, "inertia")), remedy=remedy)
    if spec.inertia is None:
        about_com = np.zeros((3, 3))
    elif isinstance(spec.inertia, list):
        about_com = np.array(spec.inertia, dtype=float)
    else:
        about_com = spec.inertia.matrix()
    return Inertia(spec.mass, np.array(spec.com, dtype=float), about_com)


def _locator(document: Document, spec: ModelSpec) -> Locate:
    """Turns "arm.yaml:12, bodies[1]" and a field into the line of that field."""
    paths: dict[str, tuple[str | int, ...]] = {}
    for group in (*_GROUPS, *DEVICES, *element_kinds()):
        paths |= {document.place((group, i)): (group, i) for i in range(len(getattr(spec, group)))}
    for i in range(len(spec.bodies)):
        paths |= {document.place(path): path for path in (("bodies", i), ("bodies", i, "hinge"))}

    def locate(where: str, field: str) -> str:
        if where not in paths:
            return plain_locate(where, field)
        path = paths[where]
        renamed = _LOOP_FIELDS if path[0] == "loops" else _FIELDS
        if path[0] in element_kinds():
            renamed = {known.name: known.key for known in facts_of(element_kinds()[str(path[0])])}
        if field.startswith("terms."):
            return document.place((*path, "terms", field.removeprefix("terms.")))
        given = (name for name in _ONE_OF.get(field, ()) if document.has((*path, name)))
        return document.place((*path, next(given, renamed.get(field, field))))

    return locate
