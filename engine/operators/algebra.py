"""The algebra of operators: `+ - * @ .T .inverse()`, blocks by name, arrays on demand.

An operator maps stacked vectors of its `columns` to stacked vectors of its `rows`. A product or sum is not carried
out: it keeps its factors or terms and hands a vector through them, so a product with a vector costs what its factors
cost, O(N) for all operators of the workbench. Only neighbours that are both stored as sparse blocks are multiplied or
added at once, which keeps D = H P H* block-diagonal and K = E_phi G as sparse as the tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from numbers import Number
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.operators.graph import Space
from limberjack.engine.operators.naming import bracketed, marked, sum_name
from limberjack.engine.operators.rounding import TOLERANCE, inverted, largest, ratio
from limberjack.engine.operators.vectors import Row, StackedVector, reciprocal


class Operator(ABC):
    """A linear map between stacked vectors.

    rows, columns : the spaces it maps to and from
    name : as it was typed, for messages
    """

    __array_ufunc__ = None  # numpy arrays leave `array * operator` to this class
    rows: Space
    columns: Space
    name: str
    #: c, for c times the identity, which fits every space of its sub-graph; None for every other operator
    multiple: Any = None
    #: whether the inverse is stored as sparse blocks, as 1 - E is for phi
    recursive = False
    #: how much larger the terms of the sums in it are than these sums, against which products are rounded
    cancellation = 1.0

    @abstractmethod
    def apply(self, x: np.ndarray) -> np.ndarray:
        """Product with x (columns.size, m): (rows.size, m)."""

    @abstractmethod
    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        """Product of the transpose with y (rows.size, m): (columns.size, m)."""

    @property
    def T(self) -> Operator:
        """The transpose, written * in the papers."""
        return Transposed(self)

    def to_array(self) -> np.ndarray:
        """The dense matrix (rows.size, columns.size), fresh."""
        return self.apply(np.eye(self.columns.size))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.to_array(), dtype=dtype)

    def inverse(self) -> Operator:
        """The inverse.

        Block-diagonal operators, 1 - E, phi, psi, 1 + H phi K and products of such have recursive ones; any other
        is inverted as a dense matrix, O(n³).
        """
        self.need_square("be inverted")
        array = inverted(self.to_array(), self.name)
        return DenseOperator(self.rows, self.columns, array, marked(self.name, "^-1"))

    def joined(self, right: Operator) -> Operator | None:
        """The product self right where both are stored as blocks, else None: it stays lazy."""
        return None

    def merged(self, right: Operator, sign: float) -> Operator | None:
        """The sum self + sign right where both are stored as blocks, else None: it stays lazy. sign : 1 or -1"""
        return None

    def like(self, partner: Operator) -> Operator:
        """This operator on the space of its partner in a sum; only the identity adapts."""
        return self

    def __getitem__(self, key: str | tuple[str, str]) -> np.ndarray:
        pair = (key, key) if isinstance(key, str) else key
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise ArgumentError(f"{self.name}[{key!r:.60}] is not a block; give the names of its row and its column.")
        (i, rows), (j, columns) = self.rows.locate(pair[0]), self.columns.locate(pair[1])
        return self.block(i, j)[rows, columns]

    def block(self, i: int, j: int) -> np.ndarray:
        """Block (i, j) by place, a fresh array."""
        unit = np.eye(self.columns.size)[:, self.columns.slices[j]]
        return self.apply(unit)[self.rows.slices[i]]

    @overload
    def __mul__(self, other: complex) -> Operator: ...
    @overload
    def __mul__(self, other: Operator) -> Operator: ...
    @overload
    def __mul__(self, other: StackedVector) -> StackedVector: ...
    @overload
    def __mul__(self, other: np.ndarray) -> Any: ...
    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Operator):
            return multiply(self, other)
        if isinstance(other, Number):
            return self.scaled(other)
        return self._times_vector(other)

    __matmul__ = __mul__

    @overload
    def __rmul__(self, other: complex) -> Operator: ...
    @overload
    def __rmul__(self, other: Row) -> Row: ...
    def __rmul__(self, other: Any) -> Any:
        if isinstance(other, Number):
            return self.scaled(other)
        if isinstance(other, Row):
            return Row(self.T * other.T)
        raise ArgumentError(f"an array cannot be the left factor of {self.name}; write {self.name}.T * x.")

    __rmatmul__ = __rmul__

    def __truediv__(self, factor: Any) -> Operator:
        return self.scaled(reciprocal(factor, self.name))

    def __neg__(self) -> Operator:
        return self.scaled(-1.0)

    def __add__(self, other: Operator) -> Operator:
        return add(self, other, 1.0)

    def __radd__(self, other: complex) -> Operator:
        if isinstance(other, Number) and complex(other) == 0:  # the start of sum()
            return self
        raise ArgumentError(f"{other!r:.60} and {self.name} cannot be added; give two operators, I for the identity.")

    __rsub__ = __radd__

    def __sub__(self, other: Operator) -> Operator:
        return add(self, other, -1.0)

    def scaled(self, factor: Any) -> Operator:
        """factor × this."""
        return Sum([(factor, self)])

    @cached_property
    def scale(self) -> float:
        """Size of the largest entry, of the terms for a sum: what its rounding is measured against."""
        return largest(self.to_array())

    def is_zero(self, tolerance: float = TOLERANCE) -> bool:
        """Whether every entry vanishes. tolerance : ratio to the largest entry, for a sum to that of its terms"""
        return largest(self.to_array()) <= tolerance * self.scale

    def is_identity(self, tolerance: float = TOLERANCE) -> bool:
        """Whether this is the identity. tolerance, 1: largest error of an entry"""
        self.need_square("be the identity")
        return largest(self.to_array() - np.eye(self.rows.size)) <= tolerance

    def equals(self, other: Operator, tolerance: float = TOLERANCE) -> bool:
        """Whether both have the same entries.

        other : an operator between the same spaces;  tolerance : ratio to the largest entry.
        ArgumentError if it is not an operator, or one between other spaces.
        """
        if not isinstance(other, Operator):
            raise ArgumentError(f"{self.name} cannot be compared with {other!r:.60}; give an operator.")
        _same_spaces(self, other, "be compared with")
        a, b = self.to_array(), other.to_array()
        return largest(a - b) <= tolerance * max(largest(a), largest(b))

    def _times_vector(self, x: StackedVector | ArrayLike) -> StackedVector | np.ndarray:
        """A stacked vector for a vector, a plain array (rows.size, m) for a matrix of m columns."""
        if isinstance(x, StackedVector):
            if x.space != self.columns:
                raise ArgumentError(f"{self.name} cannot act on {x.name}: it needs {self.columns}, got {x.space}.")
            return StackedVector(
                self.rows, self.apply(x.to_array()[:, None])[:, 0], f"{bracketed(self.name)} {bracketed(x.name)}"
            )
        array = self._plain(x)
        if array.ndim == 1:
            return StackedVector(self.rows, self.apply(array[:, None])[:, 0], f"{bracketed(self.name)} x")
        return self.apply(array)

    def _plain(self, x: ArrayLike) -> np.ndarray:
        try:
            array = np.asarray(x) + 0.0
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{self.name} cannot act on {x!r:.60}; give an operator, vector or number.") from error
        if array.ndim not in (1, 2) or array.shape[0] != self.columns.size:
            raise ArgumentError(
                f"{self.name} cannot act on an array of shape {array.shape}: it needs ({self.columns.size},) or "
                f"({self.columns.size}, m) over {self.columns}."
            )
        return array

    def need_square(self, verb: str) -> None:
        """ArgumentError, which says that it cannot `verb`, unless it maps a space to itself."""
        if self.rows != self.columns:
            raise ArgumentError(f"{self.name} cannot {verb}: it maps {self.columns} to {self.rows}.")

    def __repr__(self) -> str:
        return f"<{self.name}: {self.rows} × {self.columns}>"


class Transposed(Operator):
    """A* of an operator that has no cheaper transpose."""

    def __init__(self, original: Operator) -> None:
        self.original = original
        self.rows, self.columns = original.columns, original.rows
        self.name = marked(original.name, "*")
        self.recursive, self.cancellation = original.recursive, original.cancellation

    @property
    def T(self) -> Operator:
        return self.original

    def inverse(self) -> Operator:
        return self.original.inverse().T

    def apply(self, x: np.ndarray) -> np.ndarray:
        return self.original.apply_transposed(x)

    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        return self.original.apply(y)

    def to_array(self) -> np.ndarray:
        return self.original.to_array().T.copy()

    def block(self, i: int, j: int) -> np.ndarray:
        return self.original.block(j, i).T.copy()


class Product(Operator):
    """A lazy product of at least two factors."""

    def __init__(self, factors: list[Operator]) -> None:
        self.factors = factors
        self.rows, self.columns = factors[0].rows, factors[-1].columns
        self.name = " ".join(bracketed(factor.name) for factor in factors)

    @cached_property
    def cancellation(self) -> float:  # type: ignore[override]
        return math.prod(factor.cancellation for factor in self.factors)

    @cached_property
    def scale(self) -> float:
        """A factor whose terms cancel leaves their rounding, which the other factors carry on."""
        return largest(self.to_array()) * self.cancellation

    @property
    def T(self) -> Operator:
        return Product([factor.T for factor in reversed(self.factors)])

    def apply(self, x: np.ndarray) -> np.ndarray:
        for factor in reversed(self.factors):
            x = factor.apply(x)
        return x

    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        for factor in self.factors:
            y = factor.apply_transposed(y)
        return y

    def inverse(self) -> Operator:
        if any(factor.rows != factor.columns for factor in self.factors):
            return super().inverse()
        return Product([factor.inverse() for factor in reversed(self.factors)])

    def to_array(self) -> np.ndarray:
        x = self.factors[-1].to_array()
        for factor in reversed(self.factors[:-1]):
            x = factor.apply(x)
        return x


class Sum(Operator):
    """A lazy sum of scaled terms."""

    def __init__(self, terms: list[tuple[Any, Operator]]) -> None:
        self.terms = terms
        self.rows, self.columns = terms[0][1].rows, terms[0][1].columns
        self.name = sum_name([(factor, term.name) for factor, term in terms])

    @property
    def T(self) -> Operator:
        return Sum([(factor, term.T) for factor, term in self.terms])

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(sum(factor * term.apply(x) for factor, term in self.terms))

    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(sum(factor * term.apply_transposed(y) for factor, term in self.terms))

    def to_array(self) -> np.ndarray:
        return np.asarray(sum(factor * term.to_array() for factor, term in self.terms))

    def block(self, i: int, j: int) -> np.ndarray:
        return np.asarray(sum(factor * term.block(i, j) for factor, term in self.terms))

    def scaled(self, factor: Any) -> Operator:
        return Sum([(factor * f, term) for f, term in self.terms])

    def inverse(self) -> Operator:
        """For 1 + c A Φ C with a recursive Φ⁻¹ the identity 1 - c A (Φ⁻¹ + c C A)⁻¹ C, else dense."""
        if len(self.terms) == 2 and self.terms[0][1].multiple == self.terms[0][0] == 1:
            (_, one), (c, term) = self.terms
            if isinstance(term, Product) and len(term.factors) == 3:
                A, middle, C = term.factors
                if middle.recursive and C.joined(A) is not None:
                    inner = middle.inverse() + (C * A).scaled(c)
                    return one - (A * inner.inverse() * C).scaled(c)
        return super().inverse()

    @cached_property
    def scale(self) -> float:
        return float(max(abs(factor) * term.scale for factor, term in self.terms))

    @cached_property
    def cancellation(self) -> float:  # type: ignore[override]
        return ratio(self.scale, largest(self.to_array()))


class DenseOperator(Operator):
    """One dense matrix (rows.size, columns.size): an inverse that has no recursion."""

    def __init__(self, rows: Space, columns: Space, array: np.ndarray, name: str) -> None:
        self.rows, self.columns, self.array, self.name = rows, columns, array, name

    def apply(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.array @ x)

    def apply_transposed(self, y: np.ndarray) -> np.ndarray:
        return np.asarray(self.array.T @ y)

    def to_array(self) -> np.ndarray:
        return self.array.copy()


def multiply(left: Operator, right: Operator) -> Operator:
    """left right, lazily; the innermost neighbours are joined when both are stored as blocks."""
    _same_graph(left, right)
    if right.multiple is not None:
        return left.scaled(right.multiple)
    if left.multiple is not None:
        return right.scaled(left.multiple)
    if left.columns != right.rows:
        raise ArgumentError(
            f"{left.name} cannot multiply {right.name}: its columns are {left.columns}, "
            f"the rows of {right.name} are {right.rows}."
        )
    first, last = _factors(left), _factors(right)
    joined = first[-1].joined(last[0])
    factors = first + last if joined is None else [*first[:-1], joined, *last[1:]]
    return factors[0] if len(factors) == 1 else Product(factors)


def add(left: Operator, right: Any, sign: float) -> Operator:
    """left + sign right; an identity takes the space of its partner."""
    if not isinstance(right, Operator):
        raise ArgumentError(f"{left.name} and {right!r:.60} cannot be added; give two operators, I for the identity.")
    _same_graph(left, right)
    left, right = left.like(right), right.like(left)
    _same_spaces(left, right, "be added to")
    merged = left.merged(right, sign)
    if merged is not None:
        return merged
    return Sum(_terms(left) + [(sign * factor, term) for factor, term in _terms(right)])


def _factors(operator: Operator) -> list[Operator]:
    return list(operator.factors) if isinstance(operator, Product) else [operator]


def _terms(operator: Operator) -> list[tuple[Any, Operator]]:
    return list(operator.terms) if isinstance(operator, Sum) else [(1.0, operator)]


def _same_graph(left: Operator, right: Operator) -> None:
    if left.rows.graph != right.rows.graph:
        raise ArgumentError(
            f"{left.name} and {right.name} belong to different sub-graphs: {left.rows.graph}; {right.rows.graph}. "
            "Make both from one Operators, or from two with the same system and bodies."
        )


def _same_spaces(left: Operator, right: Operator, verb: str) -> None:
    _same_graph(left, right)
    if (left.rows, left.columns) != (right.rows, right.columns):
        raise ArgumentError(
            f"{right.name} cannot {verb} {left.name}: it maps {right.columns} to {right.rows}, "
            f"{left.name} maps {left.columns} to {left.rows}."
        )
