"""Operators stored as sparse blocks, and the recursions that their pattern allows.

Bodies are numbered base to tip, so E_phi has its blocks (parent, child) above the diagonal; the papers number tip to
base and see it below. A pattern with at most one block a column above the diagonal (or, transposed, one a row below) is
that of a tree: a spatial kernel operator. Its 1-resolvent (1 - E)⁻¹, its Lyapunov and its Riccati equations are
solved by one sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeGuard, overload

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.operators.algebra import Operator
from limberjack.engine.operators.graph import Space
from limberjack.engine.operators.naming import bracketed, marked, scaled_name, sum_name
from limberjack.engine.operators.rounding import inverted, largest, ratio
from limberjack.engine.operators.vectors import StackedVector

Blocks = dict[tuple[int, int], np.ndarray]


class BlockOperator(Operator):
    """Blocks by (row, column) place; what is not stored is zero.

    rows, columns : the spaces it maps to and from;  blocks : (row, column) → its numbers;  name : for messages
    scale : 1 times the size of the terms that were added to make it, where larger than its entries
    """

    def __init__(
        self, rows: Space, columns: Space, blocks: Mapping[tuple[int, int], np.ndarray], name: str, scale: float = 0.0
    ) -> None:
        self.rows, self.columns, self.name = rows, columns, name
        self.blocks: Blocks = dict(blocks)
        self._scale = scale

    @classmethod
    def diagonal(cls, rows: Space, columns: Space, blocks: list[np.ndarray], name: str) -> BlockOperator:
        """Block-diagonal from one block a body.

        rows, columns : spaces;  blocks : in their order;  name : for messages
        """
        return cls(rows, columns, {(k, k): block for k, block in enumerate(blocks)}, name)

    @cached_property
    def _plan(self) -> list[tuple[slice, slice, np.ndarray]]:
        rows, columns = self.rows.slices, self.columns.slices
        return [(rows[i], columns[j], block) for (i, j), block in self.blocks.items()]

    @cached_property
    def dtype(self) -> np.dtype:
        return np.result_type(float, *self.blocks.values())

    def apply(self, x: np.ndarray) -> np.ndarray:
        y = np.zeros((self.rows.size, x.shape[1]), dtype=np.result_type(self.dtype, x))
        for row, column, block in self._plan:
            y[row] += block @ x[column]
        return y

    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        x = np.zeros((self.columns.size, y.shape[1]), dtype=np.result_type(self.dtype, y))
        for row, column, block in self._plan:
            x[column] += block.T @ y[row]
        return x

    def to_array(self) -> np.ndarray:
        array = np.zeros((self.rows.size, self.columns.size), dtype=self.dtype)
        for row, column, block in self._plan:
            array[row, column] = block
        return array

    def block(self, i: int, j: int) -> np.ndarray:
        shape = (self.rows.sizes[i], self.columns.sizes[j])
        return np.array(self.blocks.get((i, j), np.zeros(shape)))

    @property
    def T(self) -> BlockOperator:
        blocks = {(j, i): block.T for (i, j), block in self.blocks.items()}
        return BlockOperator(self.columns, self.rows, blocks, marked(self.name, "*"), self._scale)

    @overload  # type: ignore[override]  # two operators stored as blocks stay so
    def __mul__(self, other: complex) -> BlockOperator: ...
    @overload
    def __mul__(self, other: BlockOperator) -> BlockOperator: ...
    @overload
    def __mul__(self, other: Operator) -> Operator: ...
    @overload
    def __mul__(self, other: StackedVector) -> StackedVector: ...
    @overload
    def __mul__(self, other: np.ndarray) -> Any: ...
    def __mul__(self, other: Any) -> Any:
        return super().__mul__(other)

    @overload
    def __add__(self, other: BlockOperator) -> BlockOperator: ...
    @overload
    def __add__(self, other: Operator) -> Operator: ...
    def __add__(self, other: Operator) -> Operator:
        return super().__add__(other)

    @overload
    def __sub__(self, other: BlockOperator) -> BlockOperator: ...
    @overload
    def __sub__(self, other: Operator) -> Operator: ...
    def __sub__(self, other: Operator) -> Operator:
        return super().__sub__(other)

    def __neg__(self) -> BlockOperator:
        return self.scaled(-1)

    @cached_property
    def scale(self) -> float:
        return max(self._scale, self._size)

    @cached_property
    def _size(self) -> float:
        """Of the largest entry."""
        return max([0.0, *(largest(block) for block in self.blocks.values())])

    @cached_property
    def cancellation(self) -> float:  # type: ignore[override]
        return ratio(self.scale, self._size)

    def scaled(self, factor: Any) -> BlockOperator:
        if factor == 1:
            return self
        blocks = {place: factor * block for place, block in self.blocks.items()}
        name = scaled_name(factor, self.name)
        return BlockOperator(self.rows, self.columns, blocks, name, abs(factor) * self._scale)

    def joined(self, right: Operator) -> BlockOperator | None:
        """The product self right, block by block, where right is stored as blocks too, else None."""
        if not isinstance(right, BlockOperator):
            return None
        by_row: dict[int, list[tuple[int, np.ndarray]]] = {}
        for (j, k), block in right.blocks.items():
            by_row.setdefault(j, []).append((k, block))
        out: Blocks = {}
        for (i, j), block in self.blocks.items():
            for k, other in by_row.get(j, []):
                _accumulate(out, (i, k), block @ other)
        product = BlockOperator(self.rows, right.columns, out, f"{bracketed(self.name)} {bracketed(right.name)}")
        if self._scale or right._scale:  # one of them is a sum, whose terms may cancel
            product._scale = product._size * self.cancellation * right.cancellation
        return product

    def merged(self, right: Operator, sign: float) -> BlockOperator | None:
        """self + sign right of two operators stored as blocks; remembers how large the terms were. sign : 1 or -1"""
        if not isinstance(right, BlockOperator):
            return None
        out = dict(self.blocks)
        for place, block in right.blocks.items():
            _accumulate(out, place, sign * block)
        name = sum_name([(1, self.name), (sign, right.name)])
        return BlockOperator(self.rows, self.columns, out, name, max(self.scale, right.scale))

    def inverse(self) -> Operator:
        """Block by block for a block-diagonal operator, the propagation operator for 1 - E, otherwise dense."""
        self.need_square("be inverted")
        if _is_diagonal(self):
            names, blocks = self.rows.names, [self.block(k, k) for k in range(len(self.rows.names))]
            inverses = [inverted(block, f"{self.name}['{name}']") for name, block in zip(names, blocks)]
            return BlockOperator.diagonal(self.rows, self.columns, inverses, marked(self.name, "^-1"))
        kernel = self._kernel_of_resolvent()
        if kernel is None:
            return super().inverse()
        if kernel.leads_inward:
            return PropagationOperator(kernel, marked(self.name, "^-1"))
        return PropagationOperator(kernel.T, marked(self.T.name, "^-1")).T

    def _kernel_of_resolvent(self) -> BlockOperator | None:
        """E, if this is 1 - E with the pattern of a tree."""
        n = len(self.rows.names)
        if not all(np.array_equal(self.block(k, k), np.eye(self.rows.sizes[k])) for k in range(n)):
            return None
        blocks = {(i, j): -block for (i, j), block in self.blocks.items() if i != j}
        kernel = BlockOperator(self.rows, self.columns, blocks, f"I - ({self.name})")
        return kernel if kernel.leads_inward or kernel.leads_outward else None

    @cached_property
    def leads_inward(self) -> bool:
        """Whether each column has at most one block, above the diagonal: from a body to its parent."""
        columns = [j for _, j in self.blocks]
        return all(i < j for i, j in self.blocks) and len(set(columns)) == len(columns)

    @cached_property
    def leads_outward(self) -> bool:
        """Whether each row has at most one block, below the diagonal: from a body to its children."""
        rows = [i for i, _ in self.blocks]
        return all(i > j for i, j in self.blocks) and len(set(rows)) == len(rows)

    @cached_property
    def sweep(self) -> list[tuple[int, int, np.ndarray]]:
        """(to, from, block) in the order in which a recursion passes them on; ArgumentError if this is not a tree's."""
        self.need_square("drive a recursion")
        if self.leads_inward:
            return sorted(((i, j, b) for (i, j), b in self.blocks.items()), key=lambda step: -step[1])
        if self.leads_outward:
            return sorted(((i, j, b) for (i, j), b in self.blocks.items()), key=lambda step: step[0])
        raise ArgumentError(
            f"{self.name} cannot drive a recursion: a body may pass on to its parent only (or, transposed, to its "
            "children); use E_phi, E_psi or their transposes."
        )

    def lyapunov(self, X: Operator) -> BlockOperator:
        """Block-diagonal L with L = X + E L E*, by one sweep, for a block-diagonal X.

        On E_phi or E_psi this is the forward (tip to base) equation (21), on their transposes the backward (base to
        tip) one (37). There E* L E also has blocks between the branches that meet at a body; the recursion keeps the
        diagonal, which is what Υ is (see `ComplianceOperator` for the rest).
        """
        L = [block.astype(np.result_type(block, self.dtype)) for block in self._diagonal_of(X)]
        for to, start, E in self.sweep:
            L[to] = L[to] + E @ L[start] @ E.T
        return BlockOperator.diagonal(self.rows, self.columns, L, f"lyapunov({self.name}, {X.name})")

    def riccati(self, M: Operator, H: Operator, J: Operator | None = None) -> BlockOperator:
        """Block-diagonal P with P = M + E (P - P H* D⁻¹ H P) E*, D = H P H* + J, by one sweep: equation (25).

        M : spatial inertias; H : joint map; J : armature, block-diagonal over the velocities (None: zero).
        """
        P = [block.astype(np.result_type(block, self.dtype)) for block in self._diagonal_of(M)]
        if not _is_diagonal(H) or H.columns != self.rows:
            raise ArgumentError(f"{_called(H)} cannot be the joint map of a recursion over {self.rows}; use H.")
        if J is not None and (not _is_diagonal(J) or (J.rows, J.columns) != (H.rows, H.rows)):
            raise ArgumentError(
                f"{_called(J)} cannot be the armature: it must map {H.rows} to themselves, block by block; use J."
            )
        after = _after_hinge(H, J)
        for to, start, E in self.sweep:
            P[to] = P[to] + E @ after(start, P[start]) @ E.T
        return BlockOperator.diagonal(self.rows, self.columns, P, "P")

    def _diagonal_of(self, X: Operator) -> list[np.ndarray]:
        if not isinstance(X, BlockOperator) or (X.rows, X.columns) != (self.rows, self.columns):
            raise ArgumentError(
                f"{_called(X)} cannot enter a recursion of {self.name}: it must be block-diagonal over its rows."
            )
        if not _is_diagonal(X):
            raise ArgumentError(f"{X.name} cannot enter a recursion of {self.name}: it is not block-diagonal.")
        return [X.block(k, k) for k in range(len(self.rows.names))]


class Identity(BlockOperator):
    """c times the identity on the bodies; in a sum it takes the space of its partner, as in I - H psi K."""

    def __init__(self, space: Space, multiple: Any = 1) -> None:
        blocks = {(k, k): multiple * np.eye(size) for k, size in enumerate(space.sizes)}
        super().__init__(space, space, blocks, "I" if multiple == 1 else f"{multiple:g} I")
        self.multiple = multiple

    @property
    def T(self) -> BlockOperator:
        return self

    def scaled(self, factor: Any) -> Identity:
        return Identity(self.rows, factor * self.multiple)

    def like(self, partner: Operator) -> Identity:
        """c times the identity on the space of a square operator."""
        if partner.multiple is not None:
            return self
        if partner.rows != partner.columns:
            raise ArgumentError(f"I cannot be added to {partner.name}: it maps {partner.columns} to {partner.rows}.")
        return Identity(partner.rows, self.multiple)


class PropagationOperator(Operator):
    """(1 - E)⁻¹ of a tree's E: φ of E_phi, ψ of E_psi. Products with vectors are sweeps, it is never formed.

    kernel : E;  name : for messages
    """

    recursive = True

    def __init__(self, kernel: BlockOperator, name: str) -> None:
        self.kernel, self.name = kernel, name
        self.rows = self.columns = kernel.rows
        slices = self.rows.slices
        self._steps = [(slices[i], slices[j], block) for i, j, block in kernel.sweep]
        self._parent = {j: (i, block) for i, j, block in kernel.sweep}

    def apply(self, x: np.ndarray) -> np.ndarray:
        """Gather, tip to base: y = x + E y."""
        y = np.array(x, dtype=np.result_type(self.kernel.dtype, x))
        for parent, child, E in self._steps:
            y[parent] += E @ y[child]
        return y

    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        """Scatter, base to tip: x = y + E* x."""
        x = np.array(y, dtype=np.result_type(self.kernel.dtype, y))
        for parent, child, E in reversed(self._steps):
            x[child] += E.T @ x[parent]
        return x

    def inverse(self) -> Operator:
        """1 - E."""
        return Identity(self.rows) - self.kernel

    def block(self, i: int, j: int) -> np.ndarray:
        """The product of the blocks of E along the path from body j in to body i; zero where there is none."""
        out = np.eye(self.rows.sizes[j])
        while j > i and j in self._parent:
            j, E = self._parent[j]
            out = E @ out
        return out if i == j else np.zeros((self.rows.sizes[i], out.shape[1]))


def renamed(operator: Operator, name: str) -> BlockOperator:
    """A block operator under the name that the papers give it."""
    assert isinstance(operator, BlockOperator)
    return BlockOperator(operator.rows, operator.columns, operator.blocks, name, operator.scale)


def _accumulate(blocks: Blocks, place: tuple[int, int], block: np.ndarray) -> None:
    blocks[place] = blocks[place] + block if place in blocks else block


def _is_diagonal(X: object) -> TypeGuard[BlockOperator]:
    return isinstance(X, BlockOperator) and all(i == j for i, j in X.blocks)


def _called(X: object) -> str:
    """The name of an operator; what was given in its place."""
    return X.name if isinstance(X, Operator) else f"{X!r:.60}"


def _after_hinge(H: BlockOperator, J: Operator | None) -> Callable[[int, np.ndarray], np.ndarray]:
    """P⁺ = P - P H* D⁻¹ H P of one body, made symmetric: an antisymmetric rounding grows along chains of modes."""

    def after(k: int, P: np.ndarray) -> np.ndarray:
        h = H.block(k, k)
        D = h @ P @ h.T + (0.0 if J is None else J.block(k, k))
        U = P @ h.T
        passed = P - U @ inverted(D, f"D['{H.rows.names[k]}']") @ U.T
        return np.asarray(0.5 * (passed + passed.T))

    return after
