"""What a hinge can hang on and a loop can join: the names of bodies and nodes, and where each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.readers.schema import ModelSpec
from limberjack.engine.model.readers.schema_elements import DEVICES
from limberjack.engine.model.system import Pose

WORLD = "world"
Path = tuple[str | int, ...]


class Carriers:
    """Frames by name: the body that carries each (None: the inertial frame) and its pose there."""

    def __init__(self, spec: ModelSpec, document: Document) -> None:
        named: tuple[tuple[str, Sequence[Any]], ...] = (
            ("bodies", spec.bodies),
            ("nodes", spec.nodes),
            *((group, getattr(spec, group)) for group in DEVICES),
        )
        for group, items in named:
            for i, item in enumerate(items):
                if item.name == WORLD:
                    where = document.place((group, i, "name"))
                    what = "the name 'world' is reserved for the inertial frame"
                    raise ModelError(what, where=where, remedy="Choose another name")
        self._document = document
        self._frames: dict[str, tuple[str | None, Pose]] = {WORLD: (None, Pose())}
        self._frames |= {node.name: (None if node.body == WORLD else node.body, node.pose()) for node in spec.nodes}
        bodies: Sequence[Any] = [*spec.bodies, *(device for group in DEVICES for device in getattr(spec, group))]
        self._frames |= {body.name: (body.name, Pose()) for body in bodies}

    def add(self, name: str) -> None:
        """Another frame that can carry: an attachment node of a flexible body."""
        self._frames[name] = name, Pose()

    def find(self, name: str, who: str, path: Path) -> tuple[str | None, Pose]:
        """The frame of this name; ModelError at ``path`` about ``who`` ("body 'arm' hangs on") if there is none."""
        if name not in self._frames:
            what = f"{who} '{name}', which is not a body or node of the model"
            remedy = f"Use 'world' or one of: {some_names(set(self._frames) - {WORLD})}"
            raise ModelError(what, where=self._document.place(path), remedy=remedy)
        return self._frames[name]
