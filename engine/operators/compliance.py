"""The operational-space compliance Ω = ψ* H* D⁻¹ H ψ of a tree, from its diagonal Υ."""

from __future__ import annotations

import numpy as np

from limberjack.engine.operators.algebra import Operator
from limberjack.engine.operators.blocks import BlockOperator, PropagationOperator


class ComplianceOperator(Operator):
    """Ω = ψ* X ψ for a block-diagonal X = H* D⁻¹ H; Λ = B* Ω B is the inverse operational-space inertia.

    Products with vectors are two sweeps. Its blocks follow from Υ, the solution of the backward Lyapunov recursion:

        Ω(i, j) = ψ*(c, i) Υ(c) ψ(c, j),   c the last body common to the paths from the base to i and to j,

    and 0 where the paths meet only in the ground. On one path c is i or j, which is (35); between branches that
    leave the same body c is that body, where rule (.43) of the tree paper holds it to be zero.

    psi, X, upsilon : ψ, H* D⁻¹ H and Υ;  name : for messages
    """

    def __init__(self, psi: PropagationOperator, X: BlockOperator, upsilon: BlockOperator, name: str = "Omega") -> None:
        self.psi, self.X, self.upsilon, self.name = psi, X, upsilon, name
        self.rows = self.columns = psi.rows

    def apply(self, x: np.ndarray) -> np.ndarray:
        return self.psi.apply_transposed(self.X.apply(self.psi.apply(x)))

    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        return self.apply(y)

    def to_array(self) -> np.ndarray:
        """O(N²): body after body, Ω(k, m) = Ω(k, parent of m) ψ(parent of m, m) for every k before m."""
        dtype = np.result_type(self.upsilon.dtype, self.psi.kernel.dtype)
        slices, array = self.rows.slices, np.zeros((self.rows.size, self.rows.size), dtype=dtype)
        inward = {m: (p, E) for p, m, E in self.psi.kernel.sweep}
        for m, s in enumerate(slices):
            if m in inward:
                p, E = inward[m]
                array[: s.start, s] = array[: s.start, slices[p]] @ E
                array[s, : s.start] = array[: s.start, s].T
            array[s, s] = self.upsilon.block(m, m)
        return array

    def block(self, i: int, j: int) -> np.ndarray:
        shared = set(self._path(i)) & set(self._path(j))
        if not shared:
            return np.zeros((self.rows.sizes[i], self.rows.sizes[j]))
        c = max(shared)
        return np.asarray(self.psi.block(c, i).T @ self.upsilon.block(c, c) @ self.psi.block(c, j))

    def _path(self, k: int) -> list[int]:
        inward = {m: p for p, m, _ in self.psi.kernel.sweep}
        path = [k]
        while path[-1] in inward:
            path.append(inward[path[-1]])
        return path

    @property
    def T(self) -> Operator:
        return self
