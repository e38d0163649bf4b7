"""The convex hulls of meshes that touch, of a compiled MJCF model: MuJoCo collides meshes by them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.hulls import Hull, convex_hull, lacks_of
from limberjack.engine.model.polytope import polytope

_MESH = 7  # mjtGeom


def read_hulls(model: Any, mujoco: Any, geoms: Collection[int]) -> tuple[dict[int, Hull], list[str]]:
    """Mesh → its hull, m, in the axes of the mesh as the file has it, of meshes of these geoms that have one.

    Also returns what is not as in the file.
    """
    meshes = sorted({int(model.geom_dataid[i]) for i in geoms if int(model.geom_type[i]) == _MESH} - {-1})
    hulls: dict[int, Hull] = {}
    lacks: dict[str, float] = {}
    faults: list[str] = []
    for mesh in meshes:
        name = mujoco.mj_id2name(model, int(mujoco.mjtObj.mjOBJ_MESH), mesh) or f"mesh_{mesh}"
        try:
            hulls[mesh] = _hull(model, mesh)
        except ModelError as error:
            faults.append(f"mesh '{name}' does not touch: {error.what}. {error.remedy}")
        else:
            lacks[f"mesh '{name}'"] = hulls[mesh].lack
    return hulls, [*faults, *lacks_of(lacks)]


def _hull(model: Any, mesh: int) -> Hull:
    """Raises ModelError for a mesh that has none. MuJoCo moves meshes into their principal axes."""
    turn, shift = from_quaternion(model.mesh_quat[mesh]), np.array(model.mesh_pos[mesh])
    points = _corners(model, mesh) @ turn.T + shift
    hull = convex_hull(points, _fail)
    polytope(hull.corners, hull.triangles.tolist(), _fail)
    return hull


def _corners(model: Any, mesh: int) -> np.ndarray:
    """(n, 3) corners of MuJoCo's own hull, which may have fewer than the mesh's (maxhullvert), or of the mesh."""
    first, graph = int(model.mesh_vertadr[mesh]), int(model.mesh_graphadr[mesh])
    if graph < 0:
        return np.array(model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])], dtype=float)
    count = int(model.mesh_graph[graph])  # then the number of faces, the edges' places and the corners' numbers
    return np.array(model.mesh_vert[first + model.mesh_graph[graph + 2 + count : graph + 2 + 2 * count]], dtype=float)


def _fail(what: str, remedy: str) -> NoReturn:
    raise ModelError(what, remedy=remedy)
