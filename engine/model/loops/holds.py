"""Coordinates and velocities that keep their values while loops are closed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from limberjack.engine.algebra.ranks import complement
from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.common.errors import UnknownNameError
from limberjack.engine.common.nearest import nearest
from limberjack.engine.model.loops.joint_tree import Joint
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import Basis, Sizes
from limberjack.engine.model.system import System


@dataclass(frozen=True)
class Holds:
    """Indices of the coordinates and of the velocities that are held."""

    coordinates: frozenset[int] = frozenset()
    velocities: frozenset[int] = frozenset()


def holds(system: System, coordinates: Iterable[str], velocities: Iterable[str]) -> Holds:
    """What names of coordinates and of velocities mean."""
    q = {name: i for i, name in enumerate(system.coordinate_names)}
    v = {name: i for i, name in enumerate(system.velocity_names)}
    return Holds(frozenset(q[name] for name in coordinates), frozenset(v[name] for name in velocities))


def named(system: System, names: Iterable[str]) -> Holds:
    """What names of coordinates, velocities or hinges mean; all that bear the name. Raises UnknownNameError."""
    hinges = {body.hinge.name: body.hinge for body in system.bodies}
    coordinates, velocities = list[str](), list[str]()
    for name in names:
        hinge = hinges.get(name)
        found_q = hinge.coordinate_names if hinge else [n for n in system.coordinate_names if n == name]
        found_v = hinge.velocity_names if hinge else [n for n in system.velocity_names if n == name]
        if not (found_q or found_v):
            near = nearest(str(name), [*hinges, *system.coordinate_names, *system.velocity_names], 1)
            hint = f"; did you mean '{near[0]}'?" if near else "."
            raise UnknownNameError(f"hold: no coordinate, velocity or moving hinge is called '{name}'{hint}")
        coordinates += found_q
        velocities += found_v
    return holds(system, coordinates, velocities)


def basis(mechanism: Mechanism, held: Holds, size: Sizes) -> Basis | None:
    """The scaled motions that leave the held coordinates as they are; None if none is held.

    Of a quaternion all four or none are held.
    """
    touched = [
        (joint, [i for i in range(joint.nq) if joint.qi + i in held.coordinates])
        for joint in mechanism.joints
        if any(joint.qi + i in held.coordinates for i in range(joint.nq))
    ]
    if not touched:
        return None

    def motions(q: np.ndarray) -> np.ndarray:
        Z = np.eye(len(mechanism.dofs))
        for joint, indices in touched:
            part = mechanism.slices[joint.body + 1]
            Z[part, part] = 0.0
            kept = _left(joint, indices, q) * (1.0 / size.velocity[part])[:, None]
            Z[part, part.start : part.start + kept.shape[1]] = kept
        return Z

    return motions


def _left(joint: Joint, indices: list[int], q: np.ndarray) -> np.ndarray:
    """Velocities (nv, free) of a hinge that leave some of its coordinates as they are."""
    H = joint.map
    if H is None or not joint.quasi:
        return np.eye(joint.nv)[:, [i for i in range(joint.nv) if i not in indices]]
    R = from_quaternion(q[joint.qi : joint.qi + 4])
    turned = H[:3] if min(indices) < 4 else np.zeros((0, joint.nv))
    slid = R @ H[3:]
    fixed = np.vstack([turned, slid[[i - 4 for i in indices if i >= 4]]])
    return complement(fixed.T)


class Limits:
    """Limits of the hinges of a mechanism, for the coordinates that are not held."""

    def __init__(self, mechanism: Mechanism, held: Holds) -> None:
        self._places: list[int] = []
        bounds: list[tuple[float, float]] = []
        for joint in mechanism.joints:
            hinge = mechanism.tree.frames.links[joint.body].body.hinge
            for i, dof in enumerate(() if joint.quasi else hinge.dofs):
                if joint.qi + i not in held.coordinates:
                    self._places.append(joint.qi + i)
                    bounds.append((dof.lower, dof.upper))
        self._lower, self._upper = np.array(bounds).reshape(-1, 2).T

    def clipped(self, q: np.ndarray) -> np.ndarray:
        """The coordinates, moved into the limits."""
        inside = q.copy()
        inside[self._places] = np.clip(q[self._places], self._lower, self._upper)
        return inside

    def hold(self, q: np.ndarray) -> bool:
        """Whether the coordinates are within the limits."""
        own = q[self._places]
        return bool(np.all((own >= self._lower) & (own <= self._upper)))
