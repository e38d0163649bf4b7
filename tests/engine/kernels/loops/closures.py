"""What a loop forbids, written from the description of the loop types in `model/system.py`, in the axes a user writes.

R turns components in frame b to frame a, d is the position of b's origin in a, and [w; u] is the velocity of b
relative to a in the axes of a: w the relative angular velocity, u = dd/dt. A joining loop forbids A [w; u] = 0; the
rows of A are orthonormal wherever they do not depend on the configuration, so that least-norm forces are unambiguous.
Nothing here is shared with the engine: no canonical axes, no tables.
"""

from __future__ import annotations

import math

import numpy as np

from limberjack.engine.model.system import Hinge, Loop, Wheel


def across(a: np.ndarray) -> np.ndarray:
    """Two unit vectors (2, 3) normal to the unit vector a and to each other."""
    return np.linalg.svd(a[None, :])[2][1:]


def log(R: np.ndarray) -> np.ndarray:
    """Rotation vector of R, |angle| < π."""
    half = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    s, c = float(np.linalg.norm(half)), 0.5 * (np.trace(R) - 1.0)
    return half if s < 1e-12 else half * math.atan2(s, c) / s


def turned(axis: np.ndarray, R: np.ndarray) -> float:
    """Angle in (-π, π] by which R turns about its axis."""
    x = across(axis)[0]
    return math.atan2(np.cross(axis, x) @ R @ x, x @ R @ x)


def wound(axis: np.ndarray, R: np.ndarray, near: float) -> float:
    """The same with the whole turns that bring it next to `near`."""
    angle = turned(axis, R)
    return angle + 2.0 * math.pi * round((near - angle) / (2.0 * math.pi))


def _rows(turning: np.ndarray, sliding: np.ndarray) -> np.ndarray:
    zeros = np.zeros_like
    return np.block([[turning, zeros(turning)], [zeros(sliding), sliding]])


def forbidden(hinge: Hinge, R: np.ndarray) -> np.ndarray:
    """A (m, 6) of a cut hinge. Custom and universal ones depend on R."""
    I, none = np.eye(3), np.zeros((0, 3))
    a = hinge.axes
    match hinge.type:
        case "fixed":
            return _rows(I, I)
        case "revolute":
            return _rows(across(a[0]), I)
        case "prismatic":
            return _rows(I, across(a[0]))
        case "cylindrical":
            return _rows(across(a[0]), across(a[0]))
        case "helical":
            travel = np.concatenate([-hinge.pitch * a[0], a[0]])[None]
            return np.vstack([_rows(across(a[0]), across(a[0])), travel / np.linalg.norm(travel)])
        case "spherical" | "gimbal":
            return _rows(none, I)
        case "universal":
            return np.vstack([_rows(none, I), [*np.cross(R @ a[1], a[0]), 0.0, 0.0, 0.0]])
        case "planar":
            return _rows(across(a[0]), a[:1])
        case "rolling":
            travel = np.concatenate([-hinge.radius * a[0], a[1]])[None]
            sides = np.vstack([a[0], np.cross(a[0], a[1])])
            return np.vstack([_rows(across(a[0]), sides), travel / np.linalg.norm(travel)])
        case "free":
            return np.zeros((0, 6))
    return _complement(hinge.map) @ np.kron(np.eye(2), R.T)  # custom: the map holds in the axes of b


def _complement(H: np.ndarray) -> np.ndarray:
    U, s, _ = np.linalg.svd(H)
    return U[:, int(np.sum(s > 1e-12 * s[0])) :].T


def turning_rows(hinge: Hinge, R: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(dA/dt) (m, 6) where b turns in a with w."""
    if hinge.type == "universal":
        rate = np.zeros((4, 6))
        rate[3, :3] = np.cross(np.cross(w, R @ hinge.axes[1]), hinge.axes[0])
        return rate
    if hinge.type == "custom":
        W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return forbidden(hinge, R) @ np.kron(np.eye(2), W.T)
    return np.zeros_like(forbidden(hinge, R))


def contact(wheel: Wheel, R: np.ndarray) -> np.ndarray:
    """From a wheel's centre to the point that touches the plane below, axes of a."""
    down = np.array([0.0, 0.0, -1.0])
    if wheel.shape == "disc":
        n = R @ wheel.axis
        down = down - (n @ down) * n
    return wheel.radius * down / np.linalg.norm(down)


def _holding(p: np.ndarray) -> np.ndarray:
    """Rows of e · (u + w × p), e up first, then along x and y."""
    return np.array([[*np.cross(p, e), *e] for e in np.eye(3)[[2, 0, 1]]])


def touching(wheel: Wheel, R: np.ndarray) -> np.ndarray:
    """A (3, 6) of a wheel: the point that touches the plane moves neither along nor across it."""
    return _holding(contact(wheel, R))


def touching_rate(wheel: Wheel, R: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(dA/dt) (3, 6) of a wheel that turns in a with w."""
    rate = np.zeros((3, 6))
    if wheel.shape == "disc":
        n = R @ wheel.axis
        turned, across = np.cross(w, n), np.array([0.0, 0.0, -1.0]) - n * -n[2]
        rise = turned[2] * n + n[2] * turned
        length = float(np.linalg.norm(across))
        p = wheel.radius * (rise / length - across * (across @ rise) / length**3)
        rate[:, :3] = [np.cross(p, e) for e in np.eye(3)[[2, 0, 1]]]
    return rate


def gap(loop: Loop, R: np.ndarray, d: np.ndarray) -> np.ndarray:
    """How far a cut hinge is from closed: as many numbers as `forbidden` has rows, none for custom (not integrable).

    Of a wheel the height of the point that touches, which belongs to its first row.
    """
    hinge = loop.hinge
    assert hinge is not None
    if loop.wheel is not None:
        return np.array([d[2] + contact(loop.wheel, R)[2]])
    if hinge.type in ("custom", "free"):
        return np.zeros(0)
    if hinge.type == "universal":
        return np.concatenate([d, [hinge.axes[0] @ R @ hinge.axes[1]]])
    A = forbidden(hinge, R)
    if hinge.type in ("helical", "rolling"):
        a = hinge.axes
        slope, along = (hinge.pitch, d @ a[0]) if hinge.type == "helical" else (hinge.radius, d @ a[1])
        e = across(a[0]).T @ across(a[0]) @ np.cross(a[0], R @ a[0])
        e = e + a[0] * wound(a[0], R, along / slope if slope else 0.0)
    elif hinge.type in ("fixed", "prismatic", "spherical", "gimbal"):
        e = log(R)
    else:
        e = np.cross(hinge.axes[0], R @ hinge.axes[0])
    return A @ np.concatenate([e, d])
