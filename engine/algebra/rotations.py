"""Rotation matrices from the orientations in files. In numpy, only for reading and checking."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

#: files contain rounded numbers: a quaternion or matrix this close to unit is normalised, others are refused
UNIT_TOLERANCE = 1e-3
_UNTURNED = np.eye(3).tobytes()


def from_rpy(rpy: Sequence[float] | np.ndarray) -> np.ndarray:
    """R_AB (3, 3) of B turned by roll, pitch, yaw (rad) about A's x, y, z, in that order (URDF)."""
    (sr, sp, sy), (cr, cp, cy) = [[f(float(a)) for a in rpy] for f in (math.sin, math.cos)]
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def from_quaternion(quaternion: Sequence[float] | np.ndarray) -> np.ndarray:
    """R_AB (3, 3) from the quaternion w x y z of B in A, which is normalised."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def from_axis_angle(axis: np.ndarray, angle: float) -> np.ndarray:
    """R (3, 3) of a turn by ``angle`` (rad) about the unit vector ``axis`` (3,)."""
    half = 0.5 * angle
    return from_quaternion([math.cos(half), *(math.sin(half) * np.asarray(axis))])


def to_quaternion(rotation: np.ndarray) -> np.ndarray:
    """Unit quaternion w x y z (4,), w ≥ 0, of a rotation matrix; largest component first (Shepperd)."""
    R = rotation
    squares = np.array([np.trace(R), R[0, 0], R[1, 1], R[2, 2]])
    i = int(np.argmax(squares))
    if i == 0:
        q = [1 + np.trace(R), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    else:
        a, b, c = i - 1, i % 3, (i + 1) % 3
        q = [R[c, b] - R[b, c], 0.0, 0.0, 0.0]
        q[1 + a] = 1 + R[a, a] - R[b, b] - R[c, c]
        q[1 + b] = R[a, b] + R[b, a]
        q[1 + c] = R[a, c] + R[c, a]
    unit = np.array(q, dtype=float) / np.linalg.norm(q)
    return np.asarray(-unit if unit[0] < 0 else unit)


def nearest(matrix: np.ndarray) -> np.ndarray:
    """The rotation matrix closest to ``matrix`` (3, 3) in the Frobenius norm."""
    U, _, Vt = np.linalg.svd(matrix)
    return np.asarray(U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt)


def is_rotation(matrix: np.ndarray, tolerance: float) -> bool:
    """Whether ``matrix`` (3, 3) is orthonormal and right-handed within ``tolerance``."""
    if matrix.tobytes() == _UNTURNED:  # most are
        return True
    return bool(np.abs(matrix @ matrix.T - np.eye(3)).max() <= tolerance and np.linalg.det(matrix) > 0)
