"""Meshes that touch: their surfaces are read from files when a model is checked. They have to be convex, or their
convex hulls take their place. Height fields are read there as well."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.mesh_file import READ, find_mesh, read_mesh
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.grounds import with_heights
from limberjack.engine.model.hulls import Hull, convex_hull, lacks_of
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.polytope import Fail, Polytope, polytope
from limberjack.engine.model.system import System


def with_surfaces(system: System, locate: Locate) -> System:
    """The System in which all meshes that a contact names have corners and faces, of a convex body, and height fields
    their heights. Hulls that lack a part of the mesh are among its warnings.

    Raises ModelError for a file that is missing or no mesh, and for a surface that is not closed or not convex.
    """
    named = {name for contact in system.contacts for name in (*contact.first, *contact.second)}
    lacks: dict[str, float] = {}

    def filled(shape: Shape, place: str) -> Shape:
        def find(where: str, field: str = "") -> str:
            return locate(where or place, field)

        if shape.type == "height_field":
            return with_heights(shape, system.source, find)
        if shape.type != "mesh" or shape.name not in named:
            return shape
        if shape.hull:
            made, lacks[find(shape.where, "file" if shape.file else "faces")] = _with_hull(shape, system.source, find)
            return made
        return _with_surface(shape, system.source, find)

    shapes = tuple(filled(shape, f"shapes[{i}]") for i, shape in enumerate(system.shapes))
    if all(a is b for a, b in zip(shapes, system.shapes)):
        return system
    return replace(system, shapes=shapes, warnings=(*system.warnings, *lacks_of(lacks)))


def body_of(shape: Shape, locate: Locate = plain_locate) -> Polytope:
    """The convex body of a mesh in the axes of its shape, m. Raises ModelError."""
    faces = [[int(i) for i in face] for face in shape.faces.tolist()]
    return polytope(shape.vertices * shape.size, faces, _refusal(shape, locate))


def _refusal(shape: Shape, locate: Locate) -> Fail:
    field = "file" if shape.file else "faces"
    called = f"the mesh '{shape.file}' cannot touch" if shape.file else "the mesh cannot touch"

    def fail(what: str, remedy: str) -> NoReturn:
        raise ModelError(f"{called}: {what}", where=locate(shape.where, field), remedy=remedy)

    return fail


def _with_surface(shape: Shape, source: str, locate: Locate) -> Shape:
    if len(shape.vertices):
        body_of(shape, locate)
        return shape
    fail = _refusal(shape, locate)
    corners, faces = _read(shape, source, fail)
    found = polytope(corners, faces, fail)
    triangles = [[face[0], face[i], face[i + 1]] for face in found.faces for i in range(1, len(face) - 1)]
    filled = replace(shape, vertices=found.corners, faces=np.array(triangles, dtype=float))
    body_of(filled, locate)
    return filled


def _with_hull(shape: Shape, source: str, locate: Locate) -> tuple[Shape, float]:
    """The mesh whose surface is that of its hull, and how far it stands out of that, m."""
    fail = _refusal(shape, locate)
    corners = shape.vertices if len(shape.vertices) else _read(shape, source, fail)[0]
    hull = convex_hull(corners * shape.size, fail)
    filled = with_hull(shape, hull)
    body_of(filled, locate)
    return filled, hull.lack


def with_hull(shape: Shape, hull: Hull) -> Shape:
    """The mesh with the surface of a hull in its axes, m."""
    inside_out = -1 if np.prod(shape.size) < 0.0 else 1  # in the mesh's own unit, when it is mirrored
    faces = hull.triangles[:, ::inside_out].astype(float)
    return replace(shape, vertices=hull.corners / shape.size, faces=faces, hull=False)


def _read(shape: Shape, source: str, fail: Fail) -> tuple[np.ndarray, list[list[int]]]:
    """Corners and faces of a mesh's file, in its unit."""
    if not shape.file.lower().endswith(READ):
        fail("it is of a type that is only drawn", f"Give one of: {', '.join(READ)}, or vertices and faces")
    path = find_mesh(shape.file, source)
    if path is None:
        fail("the file is not found", "Give its path from the model file's folder, or an absolute one")
    try:
        return read_mesh(path)
    except ModelError as error:
        fail(error.what, error.remedy)
