"""Shapes: what a body looks like. They have no part in the dynamics; views of a model draw them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

#: type → how many numbers its size has, and which
SIZES: dict[str, tuple[int, str]] = {
    "box": (3, "the edges along x, y, z"),
    "sphere": (1, "the radius"),
    "ellipsoid": (3, "the half axes along x, y, z"),
    "cylinder": (3, "the radii at -z and at +z, and the length along z"),
    "capsule": (2, "the radius, and the length between the centres of the ends, along z"),
    "mesh": (3, "the factors along x, y, z that make metres"),
}
#: files of meshes, by suffix
MESHES = (".stl", ".obj", ".dae")


@dataclass(frozen=True, eq=False)
class Shape:
    """A body's surface, or a part of it, in the body's frame.

    body : that it belongs to, of a flexible body an attachment node as well; None: fixed in the inertial frame. On a
        flexible body itself it follows the deformation
    type : a key of SIZES;  size : its numbers, m;  file : of a mesh, beside the model file or package://…
    position : (3,) of its centre, m;  rotation : (3, 3) from its axes to the body's
    colour : "#rrggbb", "" for one that the view chooses;  opacity : above 0, to 1
    """

    body: str | None
    type: str
    size: np.ndarray
    file: str = ""
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    colour: str = ""
    opacity: float = 1.0
    where: str = field(default="", compare=False)
