"""Stacked vectors: one block for each body (or hinge, or node), in one array."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.operators.graph import Space
from limberjack.engine.operators.naming import scaled_name, sum_name


class StackedVector:
    """A vector over a `Space`: ``V["hand"]`` is the block of that body, ``V.T * f`` the inner product.

    Adds to vectors of the same space and to plain arrays of the same length; numpy functions take it as an array.

    space : its blocks;  array : its numbers (size,), else ArgumentError;  name : for messages
    """

    __array_priority__ = 1000.0  # `array - vector` comes to this class, while numpy functions still take the numbers

    def __init__(self, space: Space, array: ArrayLike, name: str = "x") -> None:
        self.space, self.name = space, name
        self._array = np.asarray(array)
        if self._array.shape != (space.size,):
            raise ArgumentError(f"{name} has shape {self._array.shape}, but {space} needs ({space.size},).")

    def to_array(self) -> np.ndarray:
        """The numbers, a fresh array (size,)."""
        return self._array.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._array, dtype=dtype)

    def __len__(self) -> int:
        return self.space.size

    def __getitem__(self, name: str) -> np.ndarray:
        block, part = self.space.locate(name)
        return self._array[self.space.slices[block]][part].copy()

    @property
    def T(self) -> Row:
        """The row vector."""
        return Row(self)

    def __add__(self, other: StackedVector | ArrayLike) -> StackedVector:
        return self._combined(other, np.add, "+")

    __radd__ = __add__

    def __sub__(self, other: StackedVector | ArrayLike) -> StackedVector:
        return self._combined(other, np.subtract, "-")

    def __rsub__(self, other: ArrayLike) -> StackedVector:
        return StackedVector(self.space, other, "the array")._combined(self, np.subtract, "-")

    def __neg__(self) -> StackedVector:
        return StackedVector(self.space, -self._array, scaled_name(-1, self.name))

    def __mul__(self, factor: Any) -> StackedVector:
        if not isinstance(factor, Number):
            raise ArgumentError(f"{self.name} is a column; write {self.name}.T on the left of an operator or vector.")
        return StackedVector(self.space, self._array * factor, scaled_name(factor, self.name))

    __rmul__ = __mul__

    def __truediv__(self, factor: Any) -> StackedVector:
        return self.__mul__(reciprocal(factor, self.name))

    def _combined(self, other: Any, ufunc: Callable[..., np.ndarray], sign: str) -> StackedVector:
        if not isinstance(other, StackedVector):
            other = StackedVector(self.space, other, "the array")
        if other.space != self.space:
            raise ArgumentError(f"{self.name} {sign} {other.name} does not fit: {self.space}; {other.space}.")
        name = sum_name([(1, self.name), (1 if sign == "+" else -1, other.name)])
        return StackedVector(self.space, ufunc(self._array, other._array), name)

    def __repr__(self) -> str:
        lines = [f"  {name}: {self._array[s]}" for name, s in zip(self.space.names, self.space.slices)]
        return "\n".join([f"<{self.name}: {self.space}>", *lines])


class Row:
    """The transpose x* of a stacked vector: ``x.T * A`` is a row again, ``x.T * y`` a number."""

    __array_ufunc__ = None

    def __init__(self, column: StackedVector) -> None:
        self.T = column

    def to_array(self) -> np.ndarray:
        """The numbers, a fresh array (size,)."""
        return self.T.to_array()

    def __repr__(self) -> str:
        return f"transpose of {self.T!r}"

    def __add__(self, other: Row) -> Row:
        return Row(self.T + _column(other, self))

    def __sub__(self, other: Row) -> Row:
        return Row(self.T - _column(other, self))

    def __neg__(self) -> Row:
        return Row(-self.T)

    def __truediv__(self, factor: Any) -> Row:
        return Row(self.T / factor)

    def __mul__(self, other: Any) -> Any:
        column = self.T
        if isinstance(other, Number):
            return Row(column * other)
        if isinstance(other, np.ndarray | list | tuple):
            other = StackedVector(column.space, other, "the array")
        if not isinstance(other, StackedVector):
            return NotImplemented  # an operator takes the row from the left
        if other.space != column.space:
            raise ArgumentError(f"{column.name}* {other.name} does not fit: {column.space}; {other.space}.")
        return (column.to_array() @ other.to_array()).item()

    __matmul__ = __mul__

    def __rmul__(self, factor: complex) -> Row:
        return (factor * self.T).T


def reciprocal(factor: Any, name: str) -> Any:
    """1 / factor, by which `name` is multiplied."""
    number: Any = factor if isinstance(factor, Number) else 0
    if number == 0:
        raise ArgumentError(f"{name} cannot be divided by {factor!r:.60}; give a number other than 0.")
    return 1 / number


def _column(row: object, beside: Row) -> StackedVector:
    if not isinstance(row, Row):
        raise ArgumentError(f"{beside.T.name}* is a row; it can be added to another row only.")
    return row.T
