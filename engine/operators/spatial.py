"""Spatial algebra of the workbench in plain numpy: 6-vectors [angular; linear], 6 × 6 transforms and inertias.

Every function also takes complex numbers and is analytic in them, so that a complex step differentiates through it.
"""

from __future__ import annotations

import numpy as np

from limberjack.engine.model.system import Inertia, Pose


def skew(a: np.ndarray) -> np.ndarray:
    """a~ (3, 3), the matrix of a ×."""
    x, y, z = a
    return np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]])


def phi(pose: Pose) -> np.ndarray:
    """φ(A, B) (6, 6) for X_AB: forces at B in B's axes to forces at A in A's axes; φ* carries motion from A to B."""
    R, p = pose.rotation, pose.position
    return np.block([[R, skew(p) @ R], [np.zeros((3, 3)), R]])


def motion_cross(V: np.ndarray) -> np.ndarray:
    """V~ (6, 6) = [ω~, 0; v~, ω~]: rate of a motion carried along with V; V~ V = 0."""
    w, v = skew(V[:3]), skew(V[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def force_cross(V: np.ndarray) -> np.ndarray:
    """-V~* (6, 6) = [ω~, v~; 0, ω~]: rate of a force or momentum carried along with V."""
    return -motion_cross(V).T


def spatial_inertia(inertia: Inertia, pose: Pose) -> np.ndarray:
    """M (6, 6) = [I, m c~; -m c~, m] about the origin of frame O, in its axes; `pose` is X_BO, O seen from the body."""
    R, m = pose.rotation, inertia.mass
    c = skew(R.T @ (inertia.com - pose.position))
    return np.block([[R.T @ inertia.about_com @ R - m * c @ c, m * c], [-m * c, m * np.eye(3)]])
