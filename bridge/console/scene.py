"""What the 3-D view receives: the drawing once, then every state.

The browser receives numbers only: poses as [x, y, z, qw, qx, qy, qz], places in lists, vectors of float32 or uint32 in
base64, little-endian.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.bridge.scene.drawing import Drawing, Mesh, Painted
from limberjack.bridge.scene.poses import Posed
from limberjack.engine.algebra.rotations import to_quaternion
from limberjack.engine.model.system import System


def scene_of(drawing: Drawing) -> tuple[dict[str, Any], list[Path]]:
    """The scene as JSON, and the mesh files that it names by their places in the list."""
    system, files = drawing.system, list(dict.fromkeys(mesh.file for mesh in drawing.meshes))
    content = {
        "model": system.name,
        "bodies": _bodies(system),
        "surfaces": [_surface(painted) for painted in drawing.surfaces],
        "meshes": [_mesh(mesh, files) for mesh in drawing.meshes],
        "rods": [
            {"radius": rod.radius, "colour": rod.colour, "ends": [[body, place.tolist()] for body, place in rod.ends]}
            for rod in drawing.rods
        ],
        "jets": [
            {"body": jet.body, "position": jet.position.tolist(), "direction": jet.direction.tolist()}
            for jet in drawing.jets
        ],
        "ground": bool(np.any(system.gravity)),
        "warnings": drawing.warnings,
    }
    return content, files


def poses_of(posed: Posed) -> dict[str, Any]:
    """One state in the order of the scene. Empty lists where a number is not finite."""
    if not posed.finite():
        return {"poses": [], "modes": [], "jets": [], "pushes": []}
    parts = {"poses": posed.bodies, "modes": posed.modes, "jets": posed.jets, "pushes": posed.pushes}
    return {name: values.ravel().tolist() for name, values in parts.items()}


def _bodies(system: System) -> list[dict[str, Any]]:
    """Name, place of the parent, and of an attachment node its pose on its undeformed body."""
    places = {name: i for i, name in enumerate(system.body_names)}
    made = []
    for body in system.bodies:
        hinge = body.hinge
        entry: dict[str, Any] = {"name": body.name, "parent": places.get(hinge.parent or "", -1)}
        if hinge.attachment is not None:
            entry["rest"] = _pose(hinge.attachment.p0, hinge.attachment.R0)
        entry["inner"] = hinge.modes is not None or hinge.attachment is not None
        made.append(entry)
    return made


def _surface(painted: Painted) -> dict[str, Any]:
    made = {
        "body": painted.body,
        "colour": painted.colour,
        "opacity": painted.opacity,
        "points": _packed(painted.surface.points, "<f4"),
        "triangles": _packed(painted.surface.triangles, "<u4"),
    }
    if painted.moved is not None:
        made |= {"modes": [painted.start, len(painted.moved)], "moved": _packed(painted.moved, "<f4")}
    return made


def _mesh(mesh: Mesh, files: list[Path]) -> dict[str, Any]:
    return {
        "body": mesh.body,
        "file": files.index(mesh.file),
        "format": mesh.file.suffix.lower().removeprefix("."),
        "pose": _pose(mesh.shape.position, mesh.shape.rotation),
        "scale": mesh.shape.size.tolist(),
        "colour": mesh.shape.colour,
        "opacity": mesh.shape.opacity,
    }


def _pose(position: np.ndarray, rotation: np.ndarray) -> list[float]:
    return [*position.tolist(), *to_quaternion(rotation).tolist()]


def _packed(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
