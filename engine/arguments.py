"""Checks of the arrays and names that users hand to the engine; the messages say what was expected."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.errors import ArgumentError, UnknownNameError
from limberjack.engine.near import nearest
from limberjack.engine.system.hinge_types import CUSTOM, FREE, SPHERICAL
from limberjack.engine.system.system import System

#: how far a quaternion may be from unit length
QUATERNION_TOLERANCE = 1e-6


def vector(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """`value` as a fresh contiguous float64 array of this shape, all numbers finite and real."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biuf":
            raise TypeError(given.dtype)
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} must be numbers of shape {shape}, got {value!r:.80}.") from error
    if array.shape != shape:
        raise ArgumentError(f"{name} has shape {array.shape}, but this model needs {shape}.")
    if not np.all(np.isfinite(array)):
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


def system_of(value: object) -> System:
    """`value`, if it is a System."""
    if not isinstance(value, System):
        raise ArgumentError(f"a System is needed, got {type(value).__name__}; make one with limberjack.load(path).")
    return value


def count(name: str, value: object, low: int, high: int) -> int:
    """`value` as a whole number from low to high."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = low - 1
    if isinstance(value, bool) or not low <= number <= high:
        raise ArgumentError(f"{name} is {value!r:.40}; give a whole number from {low} to {high}.")
    return number


def coordinates(system: System, value: ArrayLike) -> np.ndarray:
    """Coordinates q (nq,), with unit quaternions."""
    q = vector("q", value, (system.nq,))
    start = 0
    for body in system.bodies:
        kind = body.hinge.kind
        if kind.code in (SPHERICAL, FREE, CUSTOM):
            length = float(np.linalg.norm(q[start : start + 4]))
            if abs(length - 1.0) > QUATERNION_TOLERANCE:
                raise ArgumentError(
                    f"the quaternion q[{start}:{start + 4}] of hinge '{body.hinge.name}' has length {length:.9g}; "
                    "scale it to 1 (order w, x, y, z)."
                )
        start += kind.nq
    return q


def rigid(system: System, what: str) -> None:
    """Refuse a system with flexible bodies; what: analytic derivatives that do not take them."""
    names = list(system.flexible_names)
    if names:
        verb = "is" if len(names) == 1 else "are"
        raise ArgumentError(
            f"{_shorten(names)} {verb} flexible, and `{what}` takes rigid bodies only so far. `limberjack.linearize` "
            "gives the slopes of flexible ones."
        )


def without_elements(system: System, what: str) -> None:
    """Refuse a system with a central field or rotors of constant momentum; what: who does not take them."""
    found = ["a central field of gravity"] * (system.central is not None)
    found += ["rotors of constant momentum"] * bool(system.rotors)
    if found:
        raise ArgumentError(
            f"the model has {' and '.join(found)}, which {what} does not take. `limberjack.linearize` gives the slopes "
            "of such models."
        )


def index_of(kind: str, name: str, names: Collection[str]) -> int:
    """Place of `name` among `names`; the error offers the nearest spelling."""
    listed = list(names)
    if name in listed:
        return listed.index(name)
    near = nearest(str(name), listed, count=1)
    verb = "is" if len(listed) == 1 else "are"
    all_of_them = f"there {verb} {len(listed)}: {_shorten(listed)}" if listed else "there is none"
    hint = f"; did you mean '{near[0]}'?" if near else f"; {all_of_them}."
    raise UnknownNameError(f"no {kind} is called '{name}'{hint}")


def _shorten(names: list[str], most: int = 8) -> str:
    text = ", ".join(names[:most])
    return text + (", …" if len(names) > most else "")


def wrenches(system: System, external: Mapping[str, ArrayLike] | ArrayLike) -> np.ndarray:
    """External forces as (nodes, 6): from a mapping of node name to [moment; force], or from the whole array."""
    shape = (len(system.node_names), 6)
    if not isinstance(external, Mapping):
        return vector("external", external, shape)
    table = np.zeros(shape)
    for name, wrench in external.items():
        table[index_of("node", name, system.node_names)] += vector(f"external['{name}']", wrench, (6,))
    return table
