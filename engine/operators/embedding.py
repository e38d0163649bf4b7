"""Constraint embedding of one aggregated node: θ̇ = X θ̇_R and dX/dt by dense local algebra (001 §8).

The rows Y of the node's loops over its velocities are split, Y θ̇ = Y1 θ̇_u + Y2 θ̇_R = 0 with Y1 square (001 eq. 58, 59):

    X = [-Y1⁻¹ Y2; 1],    dX/dt = [-Y1⁻¹ dY/dt X; 0].    (60), (61)

Rows that others imply are left out, and the dependent velocities are those that the model was built with, as long as Y1
stays clear of singular; else complete pivoting chooses both, and a singular configuration leaves more velocities free.
What is decided is decided at the rows of `Mechanism`, by the rule of `ranks.py`; the numbers are the workbench's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from limberjack.engine.algebra.ranks import NOISE, first_largest
from limberjack.engine.operators.closure import Closure
from limberjack.engine.operators.graph import SubGraph
from limberjack.engine.tables.loops import KEEP


@dataclass(frozen=True, eq=False)
class Elimination:
    """Which rows are used, which velocities depend and which stay free; indices into Y. They pair off in this order."""

    rows: list[int]
    dependent: list[int]
    independent: list[int]


class Embedding:
    """The velocities of one aggregated node.

    closure : of the node's loops over its bodies alone, whose carrier stands still
    chosen : which rows and velocities are solved for which
    """

    def __init__(self, closure: Closure, chosen: Elimination) -> None:
        self.closure = closure
        self.Y = np.asarray(closure.Y.to_array())
        self.chosen = chosen
        names = self.graph.velocity_names
        self.independent = tuple(names[j] for j in self.chosen.independent)
        self.dependent = tuple(names[j] for j in self.chosen.dependent)

    @property
    def graph(self) -> SubGraph:
        """The node's bodies."""
        return self.closure.tree.graph

    @property
    def Y1(self) -> np.ndarray:
        """Rows over the dependent velocities, square. (59)"""
        return np.asarray(self.Y[np.ix_(self.chosen.rows, self.chosen.dependent)])

    @property
    def Y2(self) -> np.ndarray:
        """Rows over the independent velocities. (59)"""
        return np.asarray(self.Y[np.ix_(self.chosen.rows, self.chosen.independent)])

    @cached_property
    def X(self) -> np.ndarray:
        """(velocities, independent velocities). (60)"""
        X = np.zeros((self.Y.shape[1], len(self.chosen.independent)), dtype=self.Y.dtype)
        X[self.chosen.independent] = np.eye(X.shape[1])
        X[self.chosen.dependent] = np.linalg.solve(self.Y1, -self.Y2)
        return X

    def X_dot(self, v: np.ndarray) -> np.ndarray:
        """dX/dt along velocities v (nv of the system,), which must keep the loops closed. (61)"""
        rate = np.zeros_like(self.X)
        Y_dot = self.closure.rate(v)[self.chosen.rows]
        rate[self.chosen.dependent] = np.linalg.solve(self.Y1, -Y_dot @ self.X)
        return rate

    @cached_property
    def condition(self) -> float:
        """Condition number of Y1."""
        return float(np.linalg.cond(self.Y1)) if self.Y1.size else 1.0

    def __repr__(self) -> str:
        loops = ", ".join(loop.name for loop in self.closure.loops)
        return (
            f"<{'+'.join(self.graph.names)} closed by {loops}: {self.Y.shape[1]} velocities, "
            f"{len(self.independent)} independent ({', '.join(self.independent)})>"
        )


def eliminate(Y: np.ndarray, count: int, preferred: list[int]) -> Elimination:
    """Rows to use and columns to make dependent, for rows and columns brought to order one.

    As many as `count` rows, those that are independent in general, by the rule of `ranks.py`: the preferred columns
    one after the other, or where a pivot falls below KEEP those of complete pivoting; none whose pivot is rounding.
    """
    rows, columns, pivots = pivoted(Y, count, [[j] for j in preferred])
    if len(pivots) < count or min(pivots, default=1.0) < KEEP:
        rows, columns, _ = pivoted(Y, count, [list(range(Y.shape[1]))] * count)
    return Elimination(rows, columns, [j for j in range(Y.shape[1]) if j not in columns])


def pivoted(A: np.ndarray, count: int, candidates: list[list[int]]) -> tuple[list[int], list[int], list[float]]:
    """Rows, columns and sizes of at most `count` pivots of Gaussian elimination, each the largest entry left in its
    candidate columns."""
    A, rows, columns, pivots = A.copy(), list[int](), list[int](), list[float]()
    for own in candidates[:count]:
        at = first_largest(np.abs(A[:, own]).ravel())
        i, j = at // len(own), own[at % len(own)]
        if not abs(A[i, j]) > NOISE:
            break
        rows.append(i)
        columns.append(j)
        pivots.append(abs(float(A[i, j])))
        A -= np.outer(A[:, j] / A[i, j], A[i])
        A[i], A[:, j] = 0.0, 0.0
    return rows, columns, pivots
