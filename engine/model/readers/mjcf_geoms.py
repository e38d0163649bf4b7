"""The geoms of a compiled MJCF model to Shapes: those that MuJoCo's own viewer shows at first, and those that touch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.model.elements.shape import MESHES, Shape
from limberjack.engine.model.grounds import MOST_HEIGHTS
from limberjack.engine.model.hulls import Hull
from limberjack.engine.model.meshes import with_hull
from limberjack.engine.model.readers.mjcf_names import Names, Place
from limberjack.engine.model.system import Pose

# mjtGeom, part of MuJoCo's file format
_PLANE, _HFIELD, _SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(8)
_TYPES = {
    _PLANE: "plane",
    _HFIELD: "height_field",
    _SPHERE: "sphere",
    _CAPSULE: "capsule",
    _ELLIPSOID: "ellipsoid",
    _CYLINDER: "cylinder",
    _BOX: "box",
    _MESH: "mesh",
}
#: groups from here on are hidden at first: collision geometry, by custom
_HIDDEN = 3
#: of geoms that touch and are not shown, so that they hide nothing; edges of a plane without end, m
_FAINT, _ENDLESS = 0.25, 10.0


def read_geoms(
    model: Any, folder: Path, names: Names, place: Place, touching: Collection[int], hulls: Mapping[int, Hull]
) -> dict[int, Shape]:
    """Geom → shape; those that neither touch nor are shown, and meshes without a hull and a file that can be drawn, are
    left out.

    folder : of the model's file;  touching : geoms whose shapes have names, for contacts;  hulls : of meshes that touch
    """
    made = {}
    for i in range(model.ngeom):
        hull = hulls.get(int(model.geom_dataid[i])) if model.geom_type[i] == _MESH and i in touching else None
        touches = i in touching and (hull is not None or model.geom_type[i] != _MESH)
        shape = _shape(model, i, folder, names, place, touches)
        if shape is not None:
            made[i] = shape if hull is None else with_hull(shape, hull)
    return made


def _shape(model: Any, i: int, folder: Path, names: Names, place: Place, touches: bool) -> Shape | None:
    kind, owner = int(model.geom_type[i]), int(model.geom_bodyid[i])
    file = _file(model, int(model.geom_dataid[i]), folder) if kind == _MESH else ""
    colour, opacity = _colour(model, i)
    shown = model.geom_group[i] < _HIDDEN and opacity > 0.0 and kind != _PLANE
    if kind not in _TYPES or not (shown or touches) or (file is None and not touches):
        return None
    heights = _heights(model, int(model.geom_dataid[i])) if kind == _HFIELD else np.zeros((0, 0))
    if heights.size > MOST_HEIGHTS:
        return None
    if not shown and kind != _PLANE:
        opacity = _FAINT
    pose = Pose(from_quaternion(model.geom_quat[i]), np.array(model.geom_pos[i]))
    if kind == _MESH:  # MuJoCo moves a mesh into its principal axes
        mesh = int(model.geom_dataid[i])
        pose = pose @ Pose(from_quaternion(model.mesh_quat[mesh]), np.array(model.mesh_pos[mesh])).inverse()
    return Shape(
        body=names.body(owner) if owner else None,
        type=_TYPES[kind],
        size=_size(model, i, kind),
        file=file or "",
        position=pose.position,
        rotation=pose.rotation,
        colour=colour,
        opacity=opacity or _FAINT,
        name=names.geom(i) if touches else "",
        heights=heights,
        where=place.of("geom", names.geom(i)),
    )


def _size(model: Any, i: int, kind: int) -> np.ndarray:
    """The Shape's size: MuJoCo gives half lengths."""
    a, b, c = (float(each) for each in model.geom_size[i])
    if kind == _MESH:
        return np.array(model.mesh_scale[int(model.geom_dataid[i])], dtype=float)
    if kind == _HFIELD:
        return np.array(2.0 * model.hfield_size[int(model.geom_dataid[i])][:2])
    if kind == _PLANE:
        return np.array([2.0 * each or _ENDLESS for each in (a, b)])
    sizes = {_SPHERE: [a], _CAPSULE: [a, 2.0 * b], _ELLIPSOID: [a, b, c], _CYLINDER: [a, a, 2.0 * b]}
    return np.array(sizes.get(kind, [2.0 * a, 2.0 * b, 2.0 * c]))


def _heights(model: Any, field: int) -> np.ndarray:
    """(rows, columns) heights of a height field, m; MuJoCo's data are shares of the greatest one."""
    rows, columns, start = (int(each[field]) for each in (model.hfield_nrow, model.hfield_ncol, model.hfield_adr))
    data = np.array(model.hfield_data[start : start + rows * columns], dtype=float)
    return np.asarray(model.hfield_size[field][2] * data.reshape(rows, columns))


def _file(model: Any, mesh: int, folder: Path) -> str | None:
    """The mesh's file; None for one that is written out in the model, or of a kind that is not drawn."""
    start = int(model.mesh_pathadr[mesh]) if mesh >= 0 else -1
    if start < 0:
        return None
    name = bytes(model.paths)[start:].split(b"\0", 1)[0].decode(errors="replace")
    return name if name.lower().endswith(MESHES) and (folder / name).is_file() else None


def _colour(model: Any, i: int) -> tuple[str, float]:
    """ "#rrggbb" and opacity, of the material if there is one."""
    material = int(model.geom_matid[i])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[i]
    red, green, blue, alpha = np.clip(rgba, 0.0, 1.0)
    return "#" + "".join(f"{round(255 * float(part)):02x}" for part in (red, green, blue)), float(alpha)
