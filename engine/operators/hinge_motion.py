"""Kinematics of every hinge type as a product of exponentials of constant twists, and what it forbids in loops.

An Euler-angle, sliding or rolling hinge is a chain of elementary screws S_1 … S_m in the axes of O+, which coincides
with O at zero:

    X = exp(S_1 x_1) … exp(S_m x_m),    x = C q

The body-axes Jacobian of the chain has the columns J_j = Ad(exp(S_j+1 x_j+1) … exp(S_m x_m))⁻¹ S_j, and turning
a later screw k carries an earlier column along: ∂J_j/∂x_k = J_j~ J_k for j < k, else 0. So H* = J C. Spherical, free
and custom hinges have quasi-velocities along the axes of O, where H* is constant. Nothing here is shared with the
compiled kernels of `engine/kernels/nodes/hinges.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.algebra.ranks import complement
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.frames import canonical_rotation
from limberjack.engine.model.system import Hinge, Pose
from limberjack.engine.operators.spatial import motion_cross, phi, skew

#: directions, in canonical hinge axes [wx wy wz ux uy uz], that a hinge forbids whatever its configuration
_FORBIDDEN = {
    "fixed": (0, 1, 2, 3, 4, 5),
    "revolute": (0, 1, 3, 4, 5),
    "prismatic": (0, 1, 2, 3, 4),
    "helical": (0, 1, 3, 4),
    "cylindrical": (0, 1, 3, 4),
    "universal": (3, 4, 5),
    "gimbal": (3, 4, 5),
    "spherical": (3, 4, 5),
    "planar": (0, 1, 5),
    "rolling": (0, 1, 4, 5),
    "free": (),
}


@dataclass(frozen=True, eq=False)
class HingeMotion:
    """One hinge at given coordinates.

    pose : X of O in O+
    H_star : (6, r), relative velocity of O across the hinge, axes of O, for each generalized velocity
    dH_star : (r, 6, r), dH_star[i] is the derivative of the numbers H_star along generalized velocity i
    """

    pose: Pose
    H_star: np.ndarray
    dH_star: np.ndarray


def hinge_motion(hinge: Hinge, q: np.ndarray) -> HingeMotion:
    """Pose, H* and its derivatives at the coordinates q (nq,) of this hinge."""
    if hinge.kind.quasi:
        H_star = _quasi_map(hinge)
        r = H_star.shape[1]
        return HingeMotion(_quasi_pose(q), H_star, np.zeros((r, 6, r)))
    screws, C = _screws(hinge)
    return _chain(screws, C, C @ q)


def displaced(hinge: Hinge, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Coordinates (nq,) after a small motion `step` (nv,) along the generalized velocities, exact to first order."""
    if not hinge.kind.quasi:
        return np.asarray(q + step)
    w, u = np.split(_quasi_map(hinge) @ step, 2)
    a, b = q[0], q[1:4]
    turned = np.concatenate([[a - 0.5 * (b @ w)], b + 0.5 * (a * w + np.cross(b, w))])
    turned = turned / np.sqrt(1 + 0.25 * (w @ w))
    return np.concatenate([turned, q[4:] + _turn_of(q[:4]) @ u]) if len(q) == 7 else np.asarray(turned)


def _quasi_map(hinge: Hinge) -> np.ndarray:
    if hinge.map is not None:
        return hinge.map
    return np.eye(6)[:, : hinge.nv]


def _quasi_pose(q: np.ndarray) -> Pose:
    return Pose(_turn_of(q[:4]), q[4:] if len(q) == 7 else np.zeros(3))


def _turn_of(quaternion: np.ndarray) -> np.ndarray:
    """R = 1 + 2 w u~ + 2 u~ u~ of a unit quaternion w x y z."""
    U = skew(quaternion[1:])
    return np.asarray(np.eye(3) + 2 * quaternion[0] * U + 2 * U @ U)


def _screws(hinge: Hinge) -> tuple[np.ndarray, np.ndarray]:
    """Twists S (m, 6), one a row, and the mixing matrix C (m, nq) of a hinge whose velocities are rates."""
    a = hinge.axes
    match hinge.type:
        case "fixed":
            return np.zeros((0, 6)), np.zeros((0, 0))
        case "revolute":
            return np.stack([_turn(a[0])]), np.eye(1)
        case "prismatic":
            return np.stack([_slide(a[0])]), np.eye(1)
        case "helical":
            return np.stack([_turn(a[0]) + hinge.pitch * _slide(a[0])]), np.eye(1)
        case "cylindrical":
            return np.stack([_turn(a[0]), _slide(a[0])]), np.eye(2)
        case "universal" | "gimbal":
            return np.stack([_turn(axis) for axis in a]), np.eye(len(a))
        case "planar":
            slides = [_slide(a[1]), _slide(np.cross(a[0], a[1]))]
            return np.stack([*slides, _turn(a[0])]), np.roll(np.eye(3), 1, axis=1)
        case "rolling":
            return np.stack([_slide(a[1]), _turn(a[0])]), np.array([[hinge.radius], [1.0]])
    raise ArgumentError(f"hinge '{hinge.name}' is of type '{hinge.type}', which the workbench does not know.")


def _turn(axis: np.ndarray) -> np.ndarray:
    return np.concatenate([axis, np.zeros(3)])


def _slide(axis: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(3), axis])


def _chain(screws: np.ndarray, C: np.ndarray, x: np.ndarray) -> HingeMotion:
    """Compose the screws from the last to the first; `after` is the pose of O beyond the screw at hand."""
    m, after, J = len(screws), Pose(), np.zeros((6, len(screws)), dtype=np.result_type(x, float))
    for j in reversed(range(m)):
        J[:, j] = phi(after).T @ screws[j]
        after = _exponential(screws[j], x[j]) @ after
    dJ = np.zeros((m, 6, m), dtype=J.dtype)
    for k in range(m):
        for j in range(k):
            dJ[k, :, j] = motion_cross(J[:, j]) @ J[:, k]
    return HingeMotion(after, J @ C, np.einsum("ki,kaj,jr->iar", C, dJ, C))


def _exponential(screw: np.ndarray, x: complex) -> Pose:
    """exp(S x) of a unit turn with travel along its own axis, or of a pure slide."""
    K = skew(screw[:3])
    return Pose(np.eye(3) + np.sin(x) * K + (1 - np.cos(x)) * K @ K, x * screw[3:])


def forbidden(hinge: Hinge, R: np.ndarray) -> np.ndarray:
    """Directions of [w; u] (m, 6) that a cut hinge forbids, axes of frame a; R turns axes of b to those of a."""
    if hinge.map is not None:  # what is normal to the map, which holds in the axes of b
        return np.asarray(complement(np.asarray(hinge.map, dtype=float)).T @ np.kron(np.eye(2), R.T))
    rows = np.eye(6, dtype=R.dtype)[list(_FORBIDDEN[hinge.type])]
    canonical = canonical_rotation(hinge)
    if hinge.type == "helical":
        rows = np.vstack([rows, [0, 0, -hinge.pitch, 0, 0, 1]])
    elif hinge.type == "rolling":
        rows = np.vstack([rows, [0, 0, hinge.radius, 1, 0, 0]])
    elif hinge.type == "universal":  # b's y axis stays normal to a's z axis
        y = canonical.T @ R @ canonical[:, 1]
        rows = np.vstack([rows, [y[1], -y[0], 0, 0, 0, 0]])
    return np.asarray(rows @ np.kron(np.eye(2), canonical.T))
