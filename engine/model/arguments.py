"""Checks of what users hand to the functions of a System: coordinates, wrenches, kinds of systems."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common.arguments import index_of, shorten, vector
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import System, element_kinds
from limberjack.engine.tables.hinge_types import CUSTOM, FREE, SPHERICAL

#: how far a quaternion may be from unit length
QUATERNION_TOLERANCE = 1e-6


def system_of(value: object) -> System:
    """`value`, if it is a System."""
    if not isinstance(value, System):
        raise ArgumentError(f"a System is needed, got {type(value).__name__}; make one with limberjack.load(path).")
    return value


def coordinates(system: System, value: ArrayLike) -> np.ndarray:
    """Coordinates q (nq,), with unit quaternions."""
    q = vector("q", value, (system.nq,))
    for start, hinge in quaternions(system):
        length = float(np.linalg.norm(q[start : start + 4]))
        if abs(length - 1.0) > QUATERNION_TOLERANCE:
            raise ArgumentError(
                f"the quaternion q[{start}:{start + 4}] of hinge '{hinge}' has length {length:.9g}; "
                "scale it to 1 (order w, x, y, z)."
            )
    return q


def quaternions(system: System) -> list[tuple[int, str]]:
    """Where in q each quaternion begins, and its hinge's name."""
    found, start = [], 0
    for body in system.bodies:
        kind = body.hinge.kind
        if kind.code in (SPHERICAL, FREE, CUSTOM):
            found.append((start, body.hinge.name))
        start += kind.nq
    return found


def rigid(system: System, what: str) -> None:
    """Refuse a system with flexible bodies; what: analytic derivatives that do not take them."""
    names = list(system.flexible_names)
    if names:
        verb = "is" if len(names) == 1 else "are"
        raise ArgumentError(
            f"{shorten(names)} {verb} flexible, and `{what}` takes rigid bodies only so far. `limberjack.linearize` "
            "gives the slopes of flexible ones."
        )


def without_elements(system: System, what: str) -> None:
    """Refuse a system with a central field, rotors or elements at nodes; what: who does not take them."""
    found = ["a central field of gravity"] * (system.central is not None)
    found += ["rotors of constant momentum"] * bool(system.rotors)
    found += [kind.SAID for group, kind in element_kinds().items() if kind.FORCE and getattr(system, group)]
    if found:
        raise ArgumentError(
            f"the model has {' and '.join(found)}, which {what} does not take. `limberjack.linearize` gives the slopes "
            "of such models."
        )


def with_slopes(system: System, what: str, loops: bool = True) -> None:
    """Refuse a system of which `what` has no analytic derivatives; loops: whether it may have closed loops."""
    rigid(system, what)
    without_elements(system, f"`{what}`")
    if system.loops and not loops:
        raise ArgumentError(
            f"the model has closed loops, and `{what}` takes trees only: a coordinate of a loop cannot move by itself. "
            "Use `limberjack.linearize` for the motions that the loops allow."
        )


def wrenches(system: System, external: Mapping[str, ArrayLike] | ArrayLike) -> np.ndarray:
    """External forces as (nodes, 6): from a mapping of node name to [moment; force], or from the whole array."""
    shape = (len(system.node_names), 6)
    if not isinstance(external, Mapping):
        return vector("external", external, shape)
    table = np.zeros(shape)
    for name, wrench in external.items():
        table[index_of("node", name, system.node_names)] += vector(f"external['{name}']", wrench, (6,))
    return table
