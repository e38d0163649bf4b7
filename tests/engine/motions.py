"""Curves on the coordinate manifold in numpy: q ⊕ δ, time derivatives along a motion, q̇ for scipy's integrators."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from limberjack.engine.model.system import Hinge, System
from tests.engine.dense import quaternion_matrix

#: eighth-order central difference: offset in steps → weight
_WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
_STEP = 4e-3


def hinges(system: System) -> Iterator[tuple[Hinge, slice, slice]]:
    """(hinge, its coordinates, its velocities)."""
    i = j = 0
    for body in system.bodies:
        hinge = body.hinge
        yield hinge, slice(i, i + hinge.kind.nq), slice(j, j + hinge.nv)
        i, j = i + hinge.kind.nq, j + hinge.nv


def quaternion_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, w x y z."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], vector])


def relative(hinge: Hinge, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ω and u of a quaternion hinge along its outboard axes."""
    if hinge.type == "spherical":
        return v, np.zeros(3)
    full = v if hinge.map is None else hinge.map @ v
    return full[:3], full[3:]


def move(system: System, q: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """q moved by `delta` (nv,) along the velocities; a smooth curve in the length of delta."""
    out = q.copy()
    for hinge, i, j in hinges(system):
        if not hinge.kind.quasi:
            out[i] += delta[j]
            continue
        w, u = relative(hinge, delta[j])
        angle = np.linalg.norm(w)
        half = np.concatenate([[np.cos(0.5 * angle)], 0.5 * np.sinc(0.5 * angle / np.pi) * w])
        out[i.start : i.start + 4] = quaternion_product(q[i][:4], half)
        if hinge.kind.nq == 7:
            out[i.start + 4 : i.stop] += quaternion_matrix(q[i][:4]) @ u
    return out


def along_start(system: System, v: np.ndarray, a: np.ndarray, h: float) -> np.ndarray:
    """v after a step of first order, along the axes of its start: v + h a; of free hinges v + h (a + ω × v)."""
    out = v + h * a
    for hinge, _, j in hinges(system):
        if hinge.type == "free":
            w, u = v[j][:3], v[j][3:]
            out[j.start + 3 : j.stop] += h * np.cross(w, u)
    return out


def euler(system: System, v: np.ndarray, a: np.ndarray, h: float) -> np.ndarray:
    """v after a step of first order; linear velocities of free hinges turn with their axes, by exp(-h ω⁺~)."""
    out = along_start(system, v, a, h)
    for hinge, _, j in hinges(system):
        if hinge.type == "free":
            u = slice(j.start + 3, j.stop)
            out[u] = Rotation.from_rotvec(-h * out[j][:3]).apply(out[u])
    return out


def rates(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dq/dt (nq,); quaternions by ½ q (0, ω), whatever their length."""
    out = np.zeros(system.nq)
    for hinge, i, j in hinges(system):
        if not hinge.kind.quasi:
            out[i] = v[j]
            continue
        w, u = relative(hinge, v[j])
        unit = q[i][:4] / np.linalg.norm(q[i][:4])
        out[i.start : i.start + 4] = 0.5 * quaternion_product(q[i][:4], np.concatenate([[0.0], w]))
        if hinge.kind.nq == 7:
            out[i.start + 4 : i.stop] = quaternion_matrix(unit) @ u
    return out


def derivative(
    system: System,
    q: np.ndarray,
    v: np.ndarray,
    vdot: np.ndarray,
    value: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Time derivative of value(q, v) where q moves with v and v with vdot; good to about 1e-12 of the value."""
    total = 0.0
    for steps, weight in _WEIGHTS.items():
        for sign in (1.0, -1.0):
            h = sign * steps * _STEP
            total = total + sign * weight / _STEP * value(move(system, q, h * v), v + h * vdot)
    return np.asarray(total)


def unit_quaternions(system: System, q: np.ndarray) -> np.ndarray:
    """q with its quaternions scaled to length one."""
    out = q.copy()
    for hinge, i, _ in hinges(system):
        if hinge.kind.quasi:
            out[i.start : i.start + 4] /= np.linalg.norm(q[i][:4])
    return out
