"""Checks of shapes: a view must be able to draw what the model holds."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from limberjack.engine.algebra.rotations import UNIT_TOLERANCE, is_rotation
from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.elements.shape import COLOUR, MESHES, SIZES, Shape
from limberjack.engine.model.places import Locate
from limberjack.engine.model.system import System

#: of a model: more no browser draws
MOST_SHAPES = 20_000


def check_shapes(system: System, locate: Locate) -> None:
    """Refuse shapes that belong to no body or cannot be drawn."""
    bodies = set(system.body_names)
    if len(system.shapes) > MOST_SHAPES:
        what = f"the model has {len(system.shapes)} shapes"
        remedy = f"Give at most {MOST_SHAPES}"
        raise ModelError(what, where=system.source or f"system '{system.name}'", remedy=remedy)
    _check_names(system, locate)
    for i, shape in enumerate(system.shapes):
        _Check(shape, i, locate).all(bodies)


def _check_names(system: System, locate: Locate) -> None:
    """Names are unique: contacts know shapes by them."""
    seen: set[str] = set()
    for i, shape in enumerate(system.shapes):
        if shape.name and shape.name in seen:
            where = locate(shape.where or f"shapes[{i}]", "name")
            raise ModelError(f"two shapes have the name '{shape.name}'", where=where, remedy="Rename one of them")
        seen.add(shape.name)


class _Check:
    def __init__(self, shape: Shape, index: int, locate: Locate) -> None:
        self._shape, self._where, self._locate = shape, shape.where or f"shapes[{index}]", locate

    def _fail(self, field: str, what: str, remedy: str) -> NoReturn:
        raise ModelError(what, where=self._locate(self._where, field), remedy=remedy)

    def all(self, bodies: set[str]) -> None:
        shape = self._shape
        if shape.body is not None and shape.body not in bodies:
            what = f"the shape belongs to '{shape.body}', which is not a body"
            self._fail("body", what, f"Name one of: {some_names(bodies)}, or None for the world")
        if shape.type not in SIZES:
            self._fail("type", f"unknown type of shape '{shape.type}'", f"Use one of: {', '.join(SIZES)}")
        self._size()
        if np.shape(shape.position) != (3,) or not usable(shape.position):
            self._fail("position", "the position is not 3 finite numbers", "Give metres along x, y, z")
        if np.shape(shape.rotation) != (3, 3) or not is_rotation(shape.rotation, UNIT_TOLERANCE):
            self._fail("rotation", "this is not a rotation matrix", "Give orthonormal, right-handed columns")
        if shape.colour and not COLOUR.fullmatch(shape.colour):
            self._fail("colour", f"the colour is '{shape.colour}'", "Give #rrggbb, hexadecimal")
        if not 0.0 < shape.opacity <= 1.0:
            self._fail("opacity", f"the opacity is {shape.opacity}", "Give a number above 0, to 1")

    def _size(self) -> None:
        shape = self._shape
        count, meaning = SIZES[shape.type]
        if np.shape(shape.size) != (count,) or not usable(shape.size):
            self._fail("size", f"the size of the {shape.type} is not {count} finite numbers", f"Give {meaning}")
        least = np.min(np.abs(shape.size) if shape.type == "mesh" else shape.size)
        if least < 0.0 or (
            least == 0.0 and (shape.type not in ("cylinder", "funnel") or not max(shape.size[:2]) * shape.size[2])
        ):
            self._fail("size", f"the {shape.type} has no volume", f"Give {meaning}, above 0")
        if shape.type == "ring" and not shape.size[1] < shape.size[0]:
            what = f"the tube of the ring has the radius {shape.size[1]:g} m, and its circle {shape.size[0]:g} m"
            self._fail("tube", what, "Give a tube that is smaller than the circle; a ball or a capsule has no hole")
        if not shape.file.isprintable() or len(shape.file) > 1000:
            self._fail("file", f"{shape.file[:60]!r} is not a file name", "Give the path of a file")
        if shape.type == "mesh":
            self._surface()

    def _surface(self) -> None:
        shape = self._shape
        if (shape.file or not len(shape.vertices)) and not shape.file.lower().endswith(MESHES):
            what = f"'{shape.file}' is not a mesh" if shape.file else "the mesh has neither a file nor vertices"
            self._fail("file", what, f"Give a file that ends with one of: {', '.join(MESHES)}")
        for field, values in (("vertices", shape.vertices), ("faces", shape.faces)):
            if np.ndim(values) != 2 or np.shape(values)[1] != 3 or not usable(values):
                self._fail(field, f"the {field} are not rows of 3 finite numbers", "Give an array of three columns")
        wrong = (shape.faces < 0) | (shape.faces >= len(shape.vertices)) | (shape.faces % 1 != 0)
        if wrong.any():
            what = f"a face names the corner {shape.faces[wrong][0]:g} of {len(shape.vertices)}"
            self._fail("faces", what, "Count corners from 0")
