"""Dense null-space reference of closed chains, independent of what the engine does with loops.

The tree without its loops gives M, bias, Jacobians J_a, J_b of the loops' frames and their rates (all proven against a
dense oracle and two other engines in tests/engine). Relative motion of frame b in frame a, axes of a:

    w = R_a* (ω_b - ω_a)                 u = R_a* (v_b - v_a - ω_a × r),  r = p_b - p_a
    dw/dt = R_a* (α_b - α_a - ω_a × (ω_b - ω_a))
    du/dt = R_a* (y' - ω_a × y),         y' = a_b - a_a - α_a × r - ω_a × (v_b - v_a)

so that the constraints read C dv/dt = c. With N the null space of C from its singular values,

    dv/dt = C⁺ c + N z,   N* M N z = N* (τ - bias - M C⁺ c),   C* λ = M dv/dt + bias - τ with least norm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.integrate import solve_ivp

import limberjack as lj
from limberjack.engine.model.system import Loop, Node
from tests.engine.kernels.loops.closures import forbidden, gap, touching, touching_rate, turning_rows
from tests.engine.motions import move, rates, unit_quaternions

#: singular values of C below this fraction of the largest are zero
RANK = 1e-9


@dataclass
class Rows:
    """Constraints of one state: C (m, nv), rate (m,) that C v shall be, c (m,); which rows are whose."""

    C: np.ndarray
    rate: np.ndarray
    c: np.ndarray
    of: dict[str, slice]
    A: dict[str, np.ndarray]


@dataclass
class Solution:
    """Accelerations, multipliers of least norm, generalized constraint forces C* λ, and each loop's wrench or force."""

    vdot: np.ndarray
    multipliers: np.ndarray
    force: np.ndarray
    loop: dict[str, np.ndarray] = field(default_factory=dict)


class Oracle:
    """Reference for one System with loops; `closed` names the loops that hold (None: as the System says)."""

    def __init__(self, system: lj.System, closed: Sequence[str] | None = None) -> None:
        names = [loop.name for loop in system.loops if loop.closed] if closed is None else closed
        self.loops = [loop for loop in system.loops if loop.name in names]
        nodes = [node for loop in system.loops if loop.joins for node in _frames(loop)]
        self.system = system
        self.tree = replace(system, loops=(), sensors=(), actuators=(), nodes=(*system.nodes, *nodes))
        self.dynamics = lj.Dynamics(self.tree)
        self.coordinates = {name: i for i, name in enumerate(system.coordinate_names)}
        self.velocities = {name: i for i, name in enumerate(system.velocity_names)}

    def _relative(self, loop: Loop, q: np.ndarray, v: np.ndarray):
        """R, d, J (6, nv) with [w; u] = J v, and its rate (dJ/dt) v."""
        dyn, (na, nb) = self.dynamics, (node.name for node in _frames(loop))
        (Ra, pa), (Rb, pb) = dyn.pose(na, q), dyn.pose(nb, q)
        Ja, Jb = dyn.jacobian(na, q), dyn.jacobian(nb, q)
        (alpha_a, aa), (alpha_b, ab) = (np.split(dyn.jacobian_rate(n, q, v), 2) for n in (na, nb))
        (wa, va), (wb, vb) = np.split(Ja @ v, 2), np.split(Jb @ v, 2)
        r = pb - pa
        J = np.vstack([Ra.T @ (Jb[:3] - Ja[:3]), Ra.T @ (Jb[3:] - Ja[3:] + _times(r) @ Ja[:3])])
        turning = alpha_b - alpha_a - _times(wa) @ (wb - wa)
        y = vb - va - _times(wa) @ r
        sliding = ab - aa - _times(alpha_a) @ r - _times(wa) @ (vb - va + y)
        return Ra.T @ Rb, Ra.T @ r, J, np.concatenate([Ra.T @ turning, Ra.T @ sliding])

    def _joining(self, loop: Loop, q, v, drive):
        R, d, J, rate = self._relative(loop, q, v)
        _, speed, acceleration = drive
        w, u = np.split(J @ v, 2)
        if loop.type == "distance":
            length = float(np.linalg.norm(d))
            A = np.concatenate([np.zeros(3), d / length])[None]
            drift = A @ rate + (u @ u) / length - (d @ u) ** 2 / length**3
            return A, A @ J, np.array([speed]), acceleration - drift
        if loop.wheel is not None:
            A, turning = touching(loop.wheel, R), touching_rate(loop.wheel, R, w)
        else:
            A, turning = forbidden(loop.hinge, R), turning_rows(loop.hinge, R, w)
        drift = A @ rate + turning @ (J @ v)
        return A, A @ J, np.zeros(len(A)), -drift

    def _coupling(self, loop: Loop, q, v, drive):
        row, drift = np.zeros((1, self.system.nv)), 0.0
        for term in loop.terms:
            i, j = self.coordinates[term.coordinate], self.velocities[term.coordinate]
            poly = np.polynomial.Polynomial([0.0, *term.factors])
            row[0, j] += poly.deriv()(q[i])
            drift += poly.deriv(2)(q[i]) * v[j] ** 2
        return np.eye(1), row, np.array([drive[1]]), np.array([drive[2] - drift])

    def _lock(self, loop: Loop):
        start = 0
        for body in self.system.bodies:
            if body.hinge.name == loop.locked:
                break
            start += body.hinge.nv
        n = body.hinge.nv
        return np.eye(n), np.eye(self.system.nv)[start : start + n], np.zeros(n), np.zeros(n)

    def rows(self, q, v, drives: Mapping[str, Sequence[float]] | None = None) -> Rows:
        """All rows; drives: {loop: (position, velocity, acceleration)}."""
        parts, of, A, at = [], {}, {}, 0
        for loop in self.loops:
            drive = tuple((drives or {}).get(loop.name, (0.0, 0.0, 0.0)))
            if loop.joins:
                part = self._joining(loop, q, v, drive)
            else:
                part = self._coupling(loop, q, v, drive) if loop.type == "coupling" else self._lock(loop)
            A[loop.name], of[loop.name] = part[0], slice(at, at + len(part[1]))
            at += len(part[1])
            parts.append(part)
        join = [np.concatenate([part[i] for part in parts]) if parts else np.zeros(0) for i in (1, 2, 3)]
        return Rows(join[0].reshape(-1, self.system.nv), join[1], join[2], of, A)

    def gaps(self, q, drives: Mapping[str, Sequence[float]] | None = None, held: np.ndarray | None = None):
        """Position residuals of all loops that have some, m or rad; `held`: coordinates that locks keep."""
        out = [np.zeros(0)]
        for loop in self.loops:
            shift = float((drives or {}).get(loop.name, (0.0,))[0])
            if loop.joins:
                R, d, _, _ = self._relative(loop, q, np.zeros(self.system.nv))
                distance = np.array([np.linalg.norm(d) - loop.length - shift])
                out.append(distance if loop.type == "distance" else gap(loop, R, d))
            elif loop.type == "coupling":
                polys = [
                    np.polynomial.Polynomial([0.0, *t.factors])(q[self.coordinates[t.coordinate]]) for t in loop.terms
                ]
                out.append(np.array([sum(polys) - loop.offset - shift]))
        return np.concatenate(out)

    def solve(self, q, v, tau, external=None, drives=None, rank: int | None = None) -> Solution:
        """Constrained accelerations and forces; `rank` of the rows where it is known better than from q."""
        M, rows = self.dynamics.mass_matrix(q), self.rows(q, v, drives)
        free = tau - self.dynamics.bias(q, v) + self._applied(q, external)
        pseudo, N = split(rows.C, rank)
        particular = pseudo @ rows.c
        vdot = particular + N @ np.linalg.solve(N.T @ M @ N, N.T @ (free - M @ particular))
        force = M @ vdot - free
        multipliers = pseudo.T @ force
        loop = {name: rows.A[name].T @ multipliers[part] for name, part in rows.of.items()}
        return Solution(vdot, multipliers, force, loop)

    def _applied(self, q, external) -> np.ndarray:
        terms = [self.dynamics.jacobian(node, q).T @ wrench for node, wrench in (external or {}).items()]
        return np.sum([np.zeros(self.system.nv), *terms], axis=0)

    def rank(self, q) -> int:
        """Number of independent rows."""
        return self.system.nv - self.null_space(q).shape[1]

    def null_space(self, q) -> np.ndarray:
        """N (nv, n): orthonormal; every possible velocity is N z where nothing is driven."""
        return split(self.rows(q, np.zeros(self.system.nv)).C)[1]

    def impulse(self, q, v, drives=None) -> tuple[np.ndarray, float]:
        """v+ that the constraints' impulses leave, and the kinetic energy lost: min (v+ - v)* M (v+ - v) / 2."""
        M, rows = self.dynamics.mass_matrix(q), self.rows(q, v, drives)
        pseudo, N = split(rows.C)
        particular = pseudo @ rows.rate
        after = particular + N @ np.linalg.solve(N.T @ M @ N, N.T @ M @ (v - particular))
        return after, 0.5 * (v @ M @ v - after @ M @ after)

    def close(self, q, drives=None, steps: int = 30) -> np.ndarray:
        """The coordinates next to q, by Gauss and Newton, at which the loops are closed to rounding."""
        for _ in range(steps):
            r, rows = self.gaps(q, drives), self.rows(q, np.zeros(self.system.nv))
            if np.max(np.abs(r), initial=0.0) < 1e-14:
                break
            C = np.concatenate([np.zeros((0, self.system.nv)), *(self.placing(rows, k) for k in self._placed())])
            q = unit_quaternions(self.tree, move(self.tree, q, -split(C)[0] @ r))
        return q

    def placing(self, rows: Rows, loop: Loop) -> np.ndarray:
        """A loop's rows that belong to its numbers in `gaps`."""
        own = rows.C[rows.of[loop.name]]
        return own[:1] if loop.wheel is not None else own

    def _placed(self) -> list[Loop]:
        """Loops with a position residual."""
        bare = ("custom", "free")
        joining = [k for k in self.loops if k.joins and (k.type in ("distance", "rolling") or k.hinge.type not in bare)]
        return [k for k in self.loops if k in joining or k.type == "coupling"]

    def motion(self, q, v, until: float, tau=None, at: Sequence[float] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """q, v (times, …) of an integration of the null-space equations, eighth order, relative tolerance 1e-12.

        `tau` (q, v) → (nv,) are the forces at the hinges. The loops are not closed again: what they open is the error.
        The rank stays as at the start: redundant rows of a linkage in space are so only where it is exactly closed.
        """
        nq, rank = self.system.nq, self.rank(q)

        def slope(_t: float, y: np.ndarray) -> np.ndarray:
            q, v = unit_quaternions(self.tree, y[:nq]), y[nq:]
            forces = np.zeros(self.system.nv) if tau is None else tau(q, v)
            return np.concatenate([rates(self.tree, y[:nq], v), self.solve(q, v, forces, rank=rank).vdot])

        times = [until] if at is None else at
        y0, options = np.concatenate([q, v]), {"rtol": 1e-12, "atol": 1e-12, "t_eval": times}
        y = solve_ivp(slope, (0.0, until), y0, method="DOP853", **options).y.T
        return y[:, :nq], y[:, nq:]


def _times(a: np.ndarray) -> np.ndarray:
    """The matrix of a ×."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def split(C: np.ndarray, rank: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Pseudo-inverse (nv, m) and null space (nv, nv - rank) of C (m, nv)."""
    U, s, Vt = np.linalg.svd(C)
    if rank is None:
        rank = int(np.sum(s > RANK * s[0])) if len(s) else 0
    return (Vt[:rank].T / s[:rank]) @ U[:, :rank].T, Vt[rank:].T


def _frames(loop: Loop) -> tuple[Node, Node]:
    hinge = loop.hinge
    assert hinge is not None
    return (
        Node(f"frame a of {loop.name}", hinge.parent, hinge.inboard),
        Node(f"frame b of {loop.name}", loop.body, hinge.outboard),
    )
