"""Closed chains the dense way, with numpy: states on the constraint manifold and accelerations in its null space.

With J the rows of all loops, J v = 0, and the tree's M, bias h:
    J dv/dt = -(dJ/dt) v,   N* (M dv/dt + h - tau) = 0,   N a basis of the null space of J.
All rows are kept, redundant ones too. Slow and plain: what every engine is checked against before it is timed.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from benchmarks.ours import driven_velocities
from benchmarks.states import COUNT, States
from limberjack.engine.algebra.rotations import from_axis_angle, from_quaternion, to_quaternion
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.common.errors import LimberjackError, ModelWarning
from limberjack.engine.model.frames import canonical_rotation
from limberjack.engine.model.system import Loop, Node, Pose, System
from limberjack.engine.model.validate import validate

#: rows of [w; u] that a hinge forbids, in its canonical axes
FORBIDDEN = {"fixed": (0, 1, 2, 3, 4, 5), "revolute": (0, 1, 3, 4, 5), "spherical": (3, 4, 5)}
NEWTON_STEPS, TRIES = 60, 40
CLOSED = 1e-12
#: singular values of J below this fraction of the largest belong to redundant rows
RANK = 1e-8


class Reference:
    """The tree of a System without its loops, and the rows of the loops."""

    def __init__(self, system: System) -> None:
        nodes = [node for loop in system.loops for node in _frames(loop)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            tree = validate(replace(system, loops=(), nodes=tuple(nodes), sensors=()))
        self.system, self._loops = system, [(loop.name, _forbidden(loop)) for loop in system.loops]
        self.tree = Dynamics(tree)

    def residual(self, q: np.ndarray) -> np.ndarray:
        """Errors of the loops' positions, rad and m; small turns as vectors."""
        found = []
        for name, rows in self._loops:
            R_a, R_b, d = self._pose(name, q)
            turn = to_quaternion(R_a.T @ R_b)
            tilt = 2.0 * turn[1:]
            if 2 not in rows:
                tilt = np.cross([0.0, 0.0, 1.0], R_a.T @ R_b[:, 2])
            found.append(np.concatenate([tilt, R_a.T @ d])[list(rows)])
        return np.concatenate(found)

    def _pose(self, name: str, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        R_a, p_a = self.tree.pose(f"{name}:a", q)
        R_b, p_b = self.tree.pose(f"{name}:b", q)
        return R_a, R_b, p_b - p_a

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """J (rows, nv)."""
        found = []
        for name, rows in self._loops:
            R, _, d = self._pose(name, q)
            a, b = self.tree.jacobian(f"{name}:a", q), self.tree.jacobian(f"{name}:b", q)
            w, u = b[:3] - a[:3], b[3:] - a[3:] - np.cross(a[:3], d, axis=0)
            found.append(np.vstack([R.T @ w, R.T @ u])[list(rows)])
        return np.vstack(found)

    def rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(dJ/dt) v (rows,)."""
        return self.acceleration(q, v, np.zeros(len(v)))

    def acceleration(self, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> np.ndarray:
        """J dv/dt + (dJ/dt) v: what the accelerations vdot leave open in each row."""
        found = []
        for name, rows in self._loops:
            R, _, d = self._pose(name, q)
            a, b = (self.tree.velocity(f"{name}:{end}", q, v) for end in "ab")
            da, db = (self.tree.acceleration(f"{name}:{end}", q, v, vdot) for end in "ab")
            w_a, u = a[:3], b[3:] - a[3:] - np.cross(a[:3], d)
            wdot = db[:3] - da[:3] - np.cross(w_a, b[:3] - w_a)
            udot = db[3:] - da[3:] - np.cross(da[:3], d) - np.cross(w_a, b[3:] - a[3:]) - np.cross(w_a, u)
            found.append(np.concatenate([R.T @ wdot, R.T @ udot])[list(rows)])
        return np.concatenate(found)

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations (nv,) in the null space of J."""
        J = self.jacobian(q)
        particular = -np.linalg.lstsq(J, self.rate(q, v), rcond=RANK)[0]
        N = null_space(J)
        M, push = self.tree.mass_matrix(q), tau - self.tree.bias(q, v)
        return np.asarray(particular + N @ np.linalg.solve(N.T @ M @ N, N.T @ (push - M @ particular)))

    def assembled(self) -> System:
        """The System with closed loops at its initial coordinates, near those given."""
        q, bodies, i = self._closed(np.random.default_rng(0), 0.0), [], 0
        for body in self.system.bodies:
            here = q[i : i + body.hinge.kind.nq]
            bodies.append(replace(body, hinge=replace(body.hinge, q0=here)))
            i += len(here)
        return validate(replace(self.system, bodies=tuple(bodies)))

    def states(self, spread: float = 0.35, seed: int = 7) -> States:
        """COUNT states with closed loops around the initial one; forces act where drives are."""
        rng, system = np.random.default_rng(seed), self.system
        driven = driven_velocities(system)
        q = np.array([self._closed(rng, spread) for _ in range(COUNT)])
        v, tau = np.empty((COUNT, system.nv)), np.zeros((COUNT, system.nv))
        for k in range(COUNT):
            N = null_space(self.jacobian(q[k]))
            v[k] = N @ (N.T @ rng.normal(size=system.nv))
            tau[k, driven] = rng.normal(size=len(driven))
        vdot = np.array([self.forward(*state) for state in zip(q, v, tau)])
        return States(q, v, tau, vdot)

    def _closed(self, rng: np.random.Generator, spread: float) -> np.ndarray:
        """Random coordinates brought onto the loops by steps of least norm."""
        for _ in range(TRIES):
            q = moved(self.system, self.system.q0, spread * rng.uniform(-1.0, 1.0, self.system.nv))
            for _ in range(NEWTON_STEPS):
                error = self.residual(q)
                if np.abs(error).max() < CLOSED:
                    return q
                step = -np.linalg.lstsq(self.jacobian(q), error, rcond=RANK)[0]
                q = moved(self.system, q, step * min(1.0, 0.5 / np.abs(step).max()))
        raise LimberjackError(f"{self.system.name}: no state with closed loops found near the initial one.")


def null_space(J: np.ndarray) -> np.ndarray:
    """Orthonormal basis (nv, free) of the null space of J."""
    _, sizes, Vt = np.linalg.svd(J)
    return np.asarray(Vt[int((sizes > RANK * sizes[0]).sum()) :].T)


def moved(system: System, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """q after the motion `step` (nv,) at constant velocity for a unit of time."""
    out, i, j = q.copy(), 0, 0
    for body in system.bodies:
        hinge = body.hinge
        if hinge.type in ("spherical", "free"):
            R = from_quaternion(q[i : i + 4])
            out[i : i + 4] = to_quaternion(R @ _turn(step[j : j + 3]))
            out[i + 4 : i + hinge.kind.nq] += R @ step[j + 3 : j + 6] if hinge.type == "free" else 0.0
        else:
            out[i : i + hinge.nv] += step[j : j + hinge.nv]
        i, j = i + hinge.kind.nq, j + hinge.nv
    return out


def _turn(w: np.ndarray) -> np.ndarray:
    angle = float(np.linalg.norm(w))
    return from_axis_angle(w / angle, angle) if angle > 0.0 else np.eye(3)


def _frames(loop: Loop) -> list[Node]:
    """The two frames of a loop, in its hinge's canonical axes, as nodes."""
    if loop.hinge is None:
        raise ValueError(f"loop '{loop.name}' joins no frames")
    turned = Pose(rotation=canonical_rotation(loop.hinge))
    ends = (("a", loop.hinge.parent, loop.hinge.inboard), ("b", loop.body, loop.hinge.outboard))
    return [Node(f"{loop.name}:{end}", body, pose @ turned) for end, body, pose in ends]


def _forbidden(loop: Loop) -> tuple[int, ...]:
    if loop.hinge is None or loop.hinge.type not in FORBIDDEN:
        raise ValueError(f"the reference knows no loop like '{loop.name}'")
    return FORBIDDEN[loop.hinge.type]
