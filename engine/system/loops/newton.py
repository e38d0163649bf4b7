"""Closing loops: the nearest coordinates at which all residuals vanish.

Levenberg's method on the manifold of coordinates, with velocities and rows brought to the same size. The damping
μ = c |r|² lets it converge fast where rows are redundant or singular too (least-norm steps); every loop is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.system.loops.mechanism import Mechanism

#: a closed loop's scaled residual; what rounding allows is reached by a few more steps
CLOSED = 1e-11
STEPS, FINISH = 80, 3
#: the longest step of any velocity, in units of `Sizes`
LONGEST = 0.4


@dataclass(frozen=True, eq=False)
class Sizes:
    """What is of order one: `velocity` (velocities,) of the mechanism, `row` (rows,) factors of its rows.

    Angles count in radians, lengths in the mechanism's own; a row between coordinates by its largest factor.
    """

    velocity: np.ndarray
    row: np.ndarray
    length: float

    def scaled(self, Y: np.ndarray) -> np.ndarray:
        """Rows with numbers of order one."""
        return self.row[:, None] * Y * self.velocity


def sizes(mechanism: Mechanism, q: np.ndarray) -> Sizes:
    """Sizes of a mechanism near the coordinates q: its length is the largest lever of a turning hinge."""
    _, Y = mechanism.evaluate(q)
    turning = np.array([mechanism.turning(v) for v in mechanism.dofs], dtype=bool)
    angular = np.array([angular for loop in mechanism.loops for angular in loop.angular], dtype=bool)
    joins = np.array([loop.joins for loop in mechanism.loops for _ in loop.names], dtype=bool)
    levers = np.abs(Y[np.ix_(joins & ~angular, turning)])
    length = float(levers.max(initial=0.0)) or mechanism.extent(q) or 1.0
    velocity = np.where(turning, 1.0, length)
    largest = np.abs(Y * velocity).max(axis=1, initial=0.0)
    between = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), 1.0)
    row = np.where(joins, np.where(angular, 1.0, 1.0 / length), between)
    return Sizes(velocity, row, length)


def close(
    mechanism: Mechanism, q: np.ndarray, size: Sizes, free: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates near q with small residuals, and these residuals (rows,), unscaled.

    free : (velocities,) which of the mechanism's velocities may move, None for all.
    """
    moving = size.velocity if free is None else np.where(free, size.velocity, 0.0)
    damping, finishing = 1e-2, FINISH
    r, Y = mechanism.evaluate(q)
    for _ in range(STEPS):
        error = size.row * r
        norm = float(np.linalg.norm(error))
        if norm == 0.0 or (np.abs(error).max() <= CLOSED and finishing == 0):
            break
        finishing -= np.abs(error).max() <= CLOSED
        step = _damped_step(size.row[:, None] * Y * moving, error, damping)
        there = mechanism.moved(q, moving * step)
        r_there, Y_there = mechanism.evaluate(there)
        if np.linalg.norm(size.row * r_there) < norm:
            q, r, Y, damping = there, r_there, Y_there, max(0.2 * damping, 1e-8)
        elif damping > 1e12:
            break
        else:
            damping *= 8.0
    return q, r


def _damped_step(A: np.ndarray, error: np.ndarray, damping: float) -> np.ndarray:
    """The step that minimises |A x + error|² + μ |x|², no longer than LONGEST."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    mu = damping * float(error @ error) + 1e-30
    step = -Vt.T @ (s / (s * s + mu) * (U.T @ error))
    longest = float(np.abs(step).max(initial=0.0))
    return np.asarray(step * min(1.0, LONGEST / longest) if longest else step)
