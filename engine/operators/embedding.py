"""Constraint embedding of one aggregated node: θ̇ = X θ̇_R and dX/dt by dense local algebra (001 §8).

The rows Y of the node's loops over its velocities are split, Y θ̇ = Y1 θ̇_u + Y2 θ̇_R = 0 with Y1 square (001 eq. 58, 59):

    X = [-Y1⁻¹ Y2; 1],    dX/dt = [-Y1⁻¹ dY/dt X; 0].    (60), (61)

Rows that others imply are left out, and the dependent velocities are those that the model was built with, as long as Y1
stays clear of singular; else complete pivoting chooses both, and a singular configuration leaves more velocities free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from limberjack.engine.operators.closure import Closure
from limberjack.engine.operators.graph import SubGraph

#: a pivot below this share of the first one is zero: the row depends on the others here
RANK = 1e-9
#: pivots of the velocities chosen beforehand stay above this share of the first one, or others are chosen
CLEAR = 1e-2


@dataclass(frozen=True, eq=False)
class Elimination:
    """Which rows are used, which velocities depend and which stay free; indices into Y. They pair off in this order."""

    rows: list[int]
    dependent: list[int]
    independent: list[int]


class Embedding:
    """The velocities of one aggregated node.

    closure : of the node's loops over its bodies alone, whose carrier stands still
    scale : typical sizes of the velocities; preferred : indices of those that depend unless Y1 comes near singular
    chosen : the elimination to use, None to find it
    """

    def __init__(
        self, closure: Closure, scale: np.ndarray, preferred: list[int], chosen: Elimination | None = None
    ) -> None:
        self.closure = closure
        self.Y = np.asarray(closure.Y.to_array())
        self.chosen = chosen or eliminate(self.Y.real * scale, preferred)
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


def eliminate(Y: np.ndarray, preferred: list[int]) -> Elimination:
    """Rows to use and columns to make dependent, for Y with columns of like size."""
    sizes = np.abs(Y).max(axis=1, initial=0.0)
    Y = Y / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    rows, columns, pivots = complete_pivoting(Y)
    own_rows, own_columns, own_pivots = complete_pivoting(Y[:, preferred])
    if len(own_rows) == len(rows) and min(own_pivots, default=1.0) > CLEAR * max(pivots, default=1.0):
        rows, columns = own_rows, [preferred[j] for j in own_columns]
    return Elimination(rows, columns, [j for j in range(Y.shape[1]) if j not in columns])


def complete_pivoting(A: np.ndarray) -> tuple[list[int], list[int], list[float]]:
    """Rows, columns and sizes of the pivots of Gaussian elimination that takes the largest entry left."""
    A, rows, columns, pivots = A.copy(), list[int](), list[int](), list[float]()
    for _ in range(min(A.shape)):
        i, j = np.unravel_index(int(np.argmax(np.abs(A))), A.shape)
        size = abs(float(A[i, j]))
        if size <= RANK * max([size, *pivots]) * (len(pivots) > 0) or size == 0.0:
            break
        rows.append(int(i))
        columns.append(int(j))
        pivots.append(size)
        A -= np.outer(A[:, j] / A[i, j], A[i])
        A[i], A[:, j] = 0.0, 0.0
    return rows, columns, pivots
