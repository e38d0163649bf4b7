"""The shapes of the YAML schema to Shapes."""

from __future__ import annotations

import numpy as np

from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.readers.schema import ModelSpec
from limberjack.engine.model.readers.yaml_frames import Carriers


def make_shapes(spec: ModelSpec, carriers: Carriers, document: Document) -> tuple[Shape, ...]:
    """All of them. ModelError with the line for a body that does not exist."""
    made = []
    for i, given in enumerate(spec.shapes):
        body, frame = carriers.find(given.body, "a shape belongs to", ("shapes", i, "body"))
        pose = frame @ given.centre()
        shape = Shape(
            body=body,
            type=given.type,
            size=np.array(given.numbers, dtype=float),
            file=getattr(given, "file", "") or "",
            position=pose.position,
            rotation=pose.rotation,
            colour=given.colour,
            opacity=given.opacity,
            name=given.name or "",
            **given.surface(),
            where=document.place(("shapes", i)),
        )
        made.append(shape)
    return tuple(made)
