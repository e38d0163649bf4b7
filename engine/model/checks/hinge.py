"""Checks of one hinge; the checked hinge has unit axes and complete dofs, positions and velocities."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np

from limberjack.engine.algebra.ranks import NOISE, rank
from limberjack.engine.algebra.rotations import UNIT_TOLERANCE, is_rotation
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.elements.hinge import NUMBERS
from limberjack.engine.model.places import Item, Locate, refuse
from limberjack.engine.model.system import Dof, Hinge, Pose
from limberjack.engine.tables.hinge_types import HINGE_TYPES

#: axes this far from a right angle (cosine) are made orthogonal; worse ones are refused
RIGHT_ANGLE_TOLERANCE = 1e-6
_PLAIN = Dof()


def check_hinge(hinge: Hinge, locate: Locate) -> Hinge:
    """The hinge with unit axes and filled-in defaults; ModelError for whatever the type cannot have."""
    if hinge.type not in (*HINGE_TYPES, "modal", "attached"):
        what = f"hinge '{hinge.name}' has the unknown type '{hinge.type}'"
        refuse(hinge, "type", what, f"Use one of: {', '.join(HINGE_TYPES)}", locate)
    for field, pose in (("inboard", hinge.inboard), ("outboard", hinge.outboard)):
        check_pose(hinge, field, pose, locate)
    _check_parameters(hinge, locate)
    axes = _unit_axes(hinge, locate)
    dofs = hinge.dofs or (Dof(),) * hinge.nv
    if len(dofs) != hinge.nv:
        what = f"hinge '{hinge.name}' has {len(dofs)} dof parameter sets"
        refuse(hinge, "dofs", what, f"Give {hinge.nv}, one for each of its velocities", locate)
    for i, dof in enumerate(dofs):
        if dof != _PLAIN:
            _check_dof(hinge, i, dof, locate)
    q0 = _initial_position(hinge, locate)
    v0 = _vector(hinge, "v0", hinge.v0, hinge.nv, locate)
    return replace(hinge, axes=axes, dofs=dofs, q0=q0, v0=v0)


def check_pose(item: Item, field: str, pose: Pose, locate: Locate) -> None:
    """Refuse a pose of the wrong shape, with numbers that are not finite or without a rotation matrix."""
    R, p = np.asarray(pose.rotation), np.asarray(pose.position)
    if R.shape != (3, 3) or p.shape != (3,) or not (usable(R) and usable(p)):
        refuse(
            item,
            field,
            "the pose is not a (3, 3) rotation and a (3,) position of finite numbers",
            "Give finite numbers",
            locate,
        )
    if not is_rotation(R, 1e-6):
        refuse(
            item,
            field,
            "the rotation matrix is not orthonormal and right-handed",
            "Give a rotation matrix with determinant 1",
            locate,
        )


def _check_parameters(hinge: Hinge, locate: Locate) -> None:
    for known in NUMBERS:
        field, value, only = known.name, getattr(hinge, known.name), known.fact.only
        if not usable(value):
            refuse(hinge, field, f"{field} of hinge '{hinge.name}' is not finite", "Give a finite number", locate)
        if hinge.type not in only and value != known.default:
            what = f"hinge '{hinge.name}' is {hinge.type}; only a {' or '.join(only)} hinge has a {field}"
            refuse(hinge, field, what, f"Remove {field}", locate)
        if hinge.type in only and value <= known.above:
            what = f"the {field} of hinge '{hinge.name}' is {value} {known.fact.unit}"
            refuse(hinge, field, what, f"Give one {known.bound}", locate)
    if (hinge.map is not None) != (hinge.type == "custom"):
        what = f"hinge '{hinge.name}' of type {hinge.type} has {'a' if hinge.map is not None else 'no'} map"
        refuse(hinge, "map", what, "Give a (6, r) map to custom hinges and to no others", locate)
    if hinge.map is not None:
        _check_map(hinge, np.asarray(hinge.map, dtype=float), locate)


def _check_map(hinge: Hinge, matrix: np.ndarray, locate: Locate) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != 6 or not 1 <= matrix.shape[1] <= 6 or not usable(matrix):
        what = f"the map of hinge '{hinge.name}' has shape {matrix.shape} or numbers that are not finite"
        refuse(hinge, "map", what, "Give 6 rows [angular; linear] of 1 to 6 finite numbers", locate)
    if rank(matrix / np.maximum(np.linalg.norm(matrix, axis=0), 1e-300), NOISE) < matrix.shape[1]:
        what = f"the columns of the map of hinge '{hinge.name}' are linearly dependent"
        refuse(hinge, "map", what, "Leave out the columns that repeat a motion", locate)


def _unit_axes(hinge: Hinge, locate: Locate) -> np.ndarray:
    axes = np.asarray(hinge.axes, dtype=float)
    count = hinge.kind.axes
    if axes.size == 0 == count:
        return np.zeros((0, 3))
    if axes.shape != (count, 3):
        what = f"hinge '{hinge.name}' of type {hinge.type} has axes of shape {axes.shape}"
        refuse(hinge, "axes", what, f"Give {count} axes of 3 numbers", locate)
    lengths = np.linalg.norm(axes, axis=1) if usable(axes) else np.zeros(1)
    if not np.all(lengths > 1e-12):
        what = f"an axis of hinge '{hinge.name}' has zero length or is not finite"
        refuse(hinge, "axes", what, "Give a direction such as [0, 0, 1]", locate)
    return _orthogonal(hinge, axes / lengths[:, None], locate)


def _orthogonal(hinge: Hinge, axes: np.ndarray, locate: Locate) -> np.ndarray:
    """Axes made exactly orthogonal one after the other (Gram-Schmidt); refused if they are far from it."""
    cosines = axes @ axes.T - np.eye(len(axes))
    if np.abs(cosines).max() > RIGHT_ANGLE_TOLERANCE and len(axes) > 1:
        what = f"the axes of hinge '{hinge.name}' of type {hinge.type} are not at right angles"
        refuse(hinge, "axes", what, "Give mutually orthogonal axes", locate)
    result = axes.copy()
    for i in range(1, len(axes)):
        result[i] -= result[:i].T @ (result[:i] @ result[i])
        result[i] /= np.linalg.norm(result[i])
    return result


def _check_dof(hinge: Hinge, index: int, dof: Dof, locate: Locate) -> None:
    name = hinge.velocity_names[index]
    for field in fields(Dof):
        value = getattr(dof, field.name)
        unbounded = (field.name == "lower" and value == -math.inf) or (field.name == "upper" and value == math.inf)
        if value is not None and not unbounded and not usable(value):
            refuse(hinge, field.name, f"{field.name} of '{name}' is {value}", "Give a finite number", locate)
        if value is not None and value < 0 and field.name not in ("rest", "lower", "upper"):
            refuse(hinge, field.name, f"{field.name} of '{name}' is {value}", "Give zero or more", locate)
    if dof.friction_rate <= 0:
        what = f"friction_rate of '{name}' is {dof.friction_rate}"
        refuse(hinge, "friction_rate", what, "Give the rate where friction is fully built up, > 0", locate)
    if dof.limit_stiffness == 0.0:
        remedy = "Give a stiffness > 0, or remove the limits"
        refuse(hinge, "limits", f"the limit stiffness of '{name}' is 0: the limit would not hold", remedy, locate)
    if not dof.lower < dof.upper:
        what = f"limits of '{name}': lower {dof.lower} is not below upper {dof.upper}"
        refuse(hinge, "limits", what, "Give lower < upper; a hinge that cannot move is fixed", locate)
    limited = dof.lower > -math.inf or dof.upper < math.inf
    if hinge.kind.quasi and (dof.stiffness or dof.rest or limited):
        what = (
            f"'{name}' is a quasi-velocity of a {hinge.type} hinge, not the rate of a coordinate: "
            "it can have damping, friction and armature, but no spring and no limits"
        )
        refuse(hinge, "stiffness" if dof.stiffness or dof.rest else "limits", what, "Remove it", locate)


def _vector(hinge: Hinge, field: str, value: np.ndarray, size: int, locate: Locate) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.size == 0:
        return np.zeros(size)
    if array.shape != (size,) or not usable(array):
        what = f"initial {field} of hinge '{hinge.name}' is {array.tolist()}"
        refuse(hinge, field, what, f"Give {size} finite numbers", locate)
    return array.copy()


def _initial_position(hinge: Hinge, locate: Locate) -> np.ndarray:
    """q0 (nq,): zero with a unit quaternion where none is given; quaternions made unit."""
    q0 = _vector(hinge, "q0", hinge.q0, hinge.kind.nq, locate)
    if hinge.kind.q[:1] != ("qw",):
        return q0
    if np.size(hinge.q0) == 0:
        q0[0] = 1.0
    norm = float(np.linalg.norm(q0[:4]))
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        what = f"the initial quaternion of hinge '{hinge.name}' has the norm {norm:.6g}"
        refuse(hinge, "q0", what, "Give a unit quaternion, w first", locate)
    q0[:4] /= norm
    return q0
