"""Mass properties that a real body can have, and leaf bodies that a hinge could move against no inertia."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from limberjack.engine.files.numbers import usable
from limberjack.engine.model.places import Locate, refuse
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, Pose
from limberjack.engine.tables.hinge_types import HINGE_TYPES

#: rounding that the checks of principal moments forgive: relative to the largest; per mass (m²)
MOMENT_TOLERANCE = 1e-6
MOMENT_TOLERANCE_M2 = 1e-12


def check_inertia(body: Body, locate: Locate) -> None:
    """Refuse a negative mass, wrong shapes, numbers that are not finite, an inertia that is not symmetric."""
    inertia = body.inertia
    if not (usable(inertia.mass) and inertia.mass >= 0):
        what = f"the mass of body '{body.name}' is {inertia.mass} kg"
        refuse(body, "mass", what, "Give a mass of zero or more", locate)
    for field, value, shape in (("com", inertia.com, (3,)), ("inertia", inertia.about_com, (3, 3))):
        if np.shape(value) != shape or not usable(value):
            what = f"'{field}' of body '{body.name}' is not an array of {shape} finite numbers"
            refuse(body, field, what, f"Give {shape} finite numbers", locate)
    tensor = inertia.about_com
    if np.abs(tensor - tensor.T).max() > 1e-9 * np.abs(tensor).max():
        what = f"the inertia matrix of body '{body.name}' is not symmetric"
        refuse(body, "inertia", what, "Make I[i][j] equal to I[j][i]", locate)


def inertia_fault(inertia: Inertia) -> str | None:
    """Why no real body has this rotational inertia about its centre of mass, or None if one can."""
    moments = np.linalg.eigvalsh(inertia.about_com)
    slack = max(MOMENT_TOLERANCE * np.abs(moments).max(), MOMENT_TOLERANCE_M2 * inertia.mass)
    shown = ", ".join(f"{moment:.6g}" for moment in moments)
    if inertia.mass == 0.0 and np.any(inertia.about_com):
        return f"a body without mass has rotational inertia (principal moments {shown} kg·m²)"
    if moments[0] < -slack:
        return f"the inertia is not positive: principal moments {shown} kg·m²"
    if moments[0] + moments[1] < moments[2] - slack:
        return f"the principal moments {shown} kg·m² break the triangle inequality"
    return None


def check_leaves(bodies: Sequence[Body], loops: Sequence[Loop], locate: Locate) -> None:
    """Refuse a movable leaf (with all that is fixed on it) whose hinge meets no inertia in some direction.

    ``bodies`` are base to tip and otherwise checked. The leaf's generalized inertia is Hᵀ M H + armature at
    the zero position; for a leaf no other hinge can add to it. Where an embedded coupling that never opens ties it to a
    hinge that meets inertia, it needs none.
    """
    spatial = {body.name: spatial_inertia(body.inertia) for body in bodies}
    carries: set[str] = set()  # bodies that carry a movable one
    massless: list[Body] = []
    for body in reversed(bodies):
        hinge = body.hinge
        fixed = hinge.type == "fixed"
        if hinge.parent is not None and fixed:
            spatial[hinge.parent] += _seen_from(hinge.inboard @ hinge.outboard.inverse(), spatial[body.name])
        if hinge.parent is not None and (not fixed or body.name in carries):
            carries.add(hinge.parent)
        if not fixed and body.name not in carries and _is_massless(hinge, spatial[body.name]):
            massless.append(body)
    names = {body.hinge.name for body in massless}
    embedded = [loop for loop in loops if loop.method == "embed" and not loop.switchable]
    tied = [{term.coordinate for term in loop.terms} for loop in embedded]
    for body in massless:
        if not any(body.hinge.name in coordinates and coordinates - names for coordinates in tied):
            _refuse_leaf(body, locate)


def _is_massless(hinge: Hinge, spatial: np.ndarray) -> bool:
    if hinge.modes is not None or hinge.nv == 0:
        return False
    H = map_at_zero(hinge)
    D = H.T @ _seen_from(hinge.outboard.inverse(), spatial) @ H + np.diag([dof.armature for dof in hinge.dofs])
    return bool(np.linalg.eigvalsh(D)[0] <= 1e-12 * np.trace(spatial[3:, 3:]) / 3.0)


def _refuse_leaf(body: Body, locate: Locate) -> NoReturn:
    what = (
        f"hinge '{body.hinge.name}' can move body '{body.name}' (with all that is fixed on it) against no "
        "inertia: accelerations would be infinite"
    )
    remedy = "Give the body mass and inertia, the hinge armature, fix the hinge, or tie it to another by a coupling"
    refuse(body, "inertia", what, f"{remedy} with 'method: embed'", locate)


def spatial_inertia(inertia: Inertia) -> np.ndarray:
    """Spatial inertia M (6, 6) at the body's frame, [angular; linear]."""
    m, c = inertia.mass, _cross(inertia.com)
    return np.block([[inertia.about_com - m * c @ c, m * c], [-m * c, m * np.eye(3)]])


def map_at_zero(hinge: Hinge) -> np.ndarray:
    """H* (6, nv) of a hinge at its zero position, in the hinge frame, [angular; linear]."""
    axes, z = hinge.axes, np.zeros(3)
    columns: dict[str, Callable[[], Any]] = {
        "revolute": lambda: [[*axes[0], *z]],
        "prismatic": lambda: [[*z, *axes[0]]],
        "helical": lambda: [[*axes[0], *(hinge.pitch * axes[0])]],
        "cylindrical": lambda: [[*axes[0], *z], [*z, *axes[0]]],
        "universal": lambda: [[*axis, *z] for axis in axes],
        "gimbal": lambda: [[*axis, *z] for axis in axes],
        "spherical": lambda: np.eye(6)[:3],
        "planar": lambda: [[*axes[0], *z], [*z, *axes[1]], [*z, *np.cross(axes[0], axes[1])]],
        "rolling": lambda: [[*axes[0], *(hinge.radius * axes[1])]],
        "free": lambda: np.eye(6),
        "custom": lambda: np.zeros((0, 6)) if hinge.map is None else hinge.map.T,
    }
    assert set(columns) == set(HINGE_TYPES) - {"fixed"}
    return np.array(columns[hinge.type](), dtype=float).T


def _seen_from(pose: Pose, spatial: np.ndarray) -> np.ndarray:
    """Spatial inertia at frame A of what is ``spatial`` at frame B, with pose X_AB."""
    R, zero = pose.rotation, np.zeros((3, 3))
    X = np.block([[R, _cross(pose.position) @ R], [zero, R]])  # forces from B to A
    return np.asarray(X @ spatial @ X.T)


def _cross(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
