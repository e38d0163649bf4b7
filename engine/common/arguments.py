"""Checks of the arrays and names that users hand to the engine; the messages say what was expected."""

from __future__ import annotations

import operator
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common.errors import ArgumentError, UnknownNameError
from limberjack.engine.common.nearest import nearest


def vector(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """`value` as a fresh contiguous float64 array of this shape, all numbers finite and real."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biuf":
            raise TypeError(given.dtype)
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        needed = f"numbers of shape {shape}" if shape else "one number"
        raise ArgumentError(f"{name} must be {needed}, got {value!r:.80}.") from error
    if array.shape != shape:
        needed = f"this model needs {shape}" if shape else "it must be one number"
        raise ArgumentError(f"{name} has shape {array.shape}, but {needed}.")
    if not np.isfinite(array).all():
        place = next(i for i in np.ndindex(shape) if not np.isfinite(array[i]))
        index = f"[{', '.join(map(str, place))}]" if place else ""
        raise ArgumentError(f"{name}{index} is {array[place]}; give finite numbers.")
    return array


def positive(name: str, value: float) -> float:
    """`value` as a float above 0."""
    number = float(vector(name, value, ()))
    if number <= 0.0:
        raise ArgumentError(f"{name} is {number:g}; give a positive number.")
    return number


def count(name: str, value: object, low: int, high: int) -> int:
    """`value` as a whole number from low to high."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or not low <= number <= high:
        raise ArgumentError(f"{name} is {value!r:.40}; give a whole number from {low} to {high}.")
    return number


def index_of(kind: str, name: str, names: Collection[str]) -> int:
    """Place of `name` among `names`; the error offers the nearest spelling."""
    listed = list(names)
    if name in listed:
        return listed.index(name)
    near = nearest(str(name), listed, count=1)
    verb = "is" if len(listed) == 1 else "are"
    all_of_them = f"there {verb} {len(listed)}: {shorten(listed)}" if listed else "there is none"
    hint = f"; did you mean '{near[0]}'?" if near else f"; {all_of_them}."
    raise UnknownNameError(f"no {kind} is called '{name}'{hint}")


def shorten(names: list[str], most: int = 8) -> str:
    text = ", ".join(names[:most])
    return text + (", …" if len(names) > most else "")
