"""Closing loops: the nearest coordinates at which all residuals vanish.

Levenberg's method on the manifold of coordinates, with velocities and rows brought to the same size. The damping
μ = c |r|² lets it converge fast where rows are redundant too (least-norm steps); every loop is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limberjack.engine.algebra.ranks import RANK_TOLERANCE
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.tables.hinge_types import MODAL

#: a closed loop's scaled residual, and what is as good as none
CLOSED, NOTHING = 1e-11, 1e-14
#: what rounding makes of positions, a share of the largest
NOISE = 1e-14
#: what redundant rows may stay open by: models write their numbers rounded
ROUNDING = 1e-5
#: steps at most
STEPS = 80
#: the longest step of any velocity, in units of `Sizes`
LONGEST = 0.4

#: what the modes of a body move a loop by at most beside hinges: a stiff body bends little
BENT = 0.1

#: coordinates → (velocities, free): scaled motions that may be made; None: all
Basis = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Sizes:
    """What is of order one: `velocity` (velocities,) of the mechanism, `row` (rows,) factors of its rows.

    Angles count in radians, lengths in the mechanism's own, `length` (m); a row between coordinates by its largest
    factor. closed : scaled residuals up to this are none, for bodies as far away as these are.
    """

    velocity: np.ndarray
    row: np.ndarray
    length: float
    closed: float

    def scaled(self, Y: np.ndarray) -> np.ndarray:
        """Rows with numbers of order one."""
        return np.asarray(self.row[:, None] * Y * self.velocity)


@dataclass(frozen=True, eq=False)
class Closing:
    """Residuals at coordinates q (nq,), and how they change.

    residual : (rows,), m, rad or the coupling's unit; error : the same scaled; Z : motions that may be made;
    rows : scaled (rows, velocities); U, s, Vt : their singular values over these motions, those that count;
    tolerance : scaled residuals up to this are none
    """

    q: np.ndarray
    residual: np.ndarray
    error: np.ndarray
    rows: np.ndarray
    Z: np.ndarray
    U: np.ndarray
    s: np.ndarray
    Vt: np.ndarray
    tolerance: float

    @property
    def total(self) -> float:
        """Length of the scaled residual."""
        return float(np.linalg.norm(self.error))

    @property
    def reachable(self) -> float:
        """Length of its part that the motions can lessen."""
        return float(np.linalg.norm(self.U.T @ self.error))

    @property
    def closed(self) -> bool:
        """Whether the loops are closed, up to what rounded numbers leave in redundant rows."""
        return self.reachable <= self.tolerance and self.total <= ROUNDING

    def better(self, other: Closing) -> bool:
        """Whether this is closer to closed."""
        return self.total < other.total or (self.total <= ROUNDING and self.reachable < other.reachable)

    def step(self, damping: float) -> np.ndarray:
        """The scaled motion Z x that minimises |A x + error|² + μ |x|², no longer than LONGEST."""
        mu = damping * self.total**2 + 1e-30
        motion = -self.Z @ (self.Vt.T @ (self.s / (self.s**2 + mu) * (self.U.T @ self.error)))
        longest = float(np.abs(motion).max(initial=0.0))
        return np.asarray(motion * min(1.0, LONGEST / longest) if longest else motion)


def sizes(mechanism: Mechanism, q: np.ndarray) -> Sizes:
    """Sizes of a mechanism near the coordinates q: its length is the largest lever of a turning hinge."""
    Y = mechanism.decision_rows(q)
    turning = np.array([mechanism.turning(v) for v in mechanism.dofs], dtype=bool)
    angular = np.array([angular for loop in mechanism.loops for angular in loop.angular], dtype=bool)
    joins = np.array([loop.joins for loop in mechanism.loops for _ in loop.names], dtype=bool)
    levers = np.abs(Y[np.ix_(joins & ~angular, turning)])
    extent = mechanism.extent(q)
    length = float(levers.max(initial=0.0)) or extent or 1.0
    velocity = np.where(turning, 1.0, length)
    coupled = np.abs(Y[~joins] * velocity)
    shares = (coupled / np.maximum(coupled.max(axis=1, initial=0.0), 1e-300)[:, None]).max(axis=0, initial=0.0)
    alone = (shares > 0.0) & ~np.any(Y[joins] != 0.0, axis=0)  # a motor turns as much faster as its gear says
    velocity = velocity / np.where(alone, np.maximum(shares, 1e-6), 1.0)
    velocity = _of_modes(mechanism, Y * np.where(angular, 1.0, 1.0 / length)[:, None], velocity)
    largest = np.abs(Y * velocity).max(axis=1, initial=0.0)
    between = 1.0 / np.where(largest > 0.0, largest, 1.0)
    row = np.where(joins, np.where(angular, 1.0, 1.0 / length), between)
    return Sizes(velocity, row, length, max(CLOSED, NOISE * extent / length))


def _of_modes(mechanism: Mechanism, Y: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The sizes with those of modes: alike for all modes of a body, of which one moves a row, or lengths, by BENT."""
    velocity = velocity.copy()
    for row, joint in zip(mechanism.rows, mechanism.joints):
        if joint.code == MODAL:
            own = mechanism.slices[row]
            largest = float(np.abs(Y[:, own]).max(initial=0.0))
            velocity[own] = BENT / largest if largest > 0.0 else BENT
    return velocity


def look(mechanism: Mechanism, q: np.ndarray, size: Sizes, basis: Basis | None = None) -> Closing:
    """Residuals at q and how the motions that `basis` spans change them. Rows of velocities alone ask nothing."""
    r, Y = mechanism.evaluate(q)
    Z = np.eye(len(mechanism.dofs)) if basis is None else basis(q)
    rows = size.scaled(Y)
    U, s, Vt = np.linalg.svd((rows * mechanism.holonomic[:, None]) @ Z, full_matrices=False)
    count = int(np.sum(s > RANK_TOLERANCE * s[0])) if s.size and s[0] > 0.0 else 0
    return Closing(q, r, size.row * r, rows, Z, U[:, :count], s[:count], Vt[:count], size.closed)


def close(mechanism: Mechanism, q: np.ndarray, size: Sizes, basis: Basis | None = None) -> Closing:
    """Coordinates near q at which the loops are closed, if any are found by motions that `basis` spans."""
    here, damping = look(mechanism, q, size, basis), 1e-2
    for _ in range(STEPS):
        if here.reachable <= NOTHING:
            break
        there = look(mechanism, mechanism.moved(here.q, size.velocity * here.step(damping)), size, basis)
        if there.better(here):
            stalled = there.closed and there.reachable > 0.5 * here.reachable
            here, damping = there, max(0.2 * damping, 1e-8)
        else:
            stalled = here.closed or damping > 1e12
            damping *= 8.0
        if stalled:
            break
    return here
