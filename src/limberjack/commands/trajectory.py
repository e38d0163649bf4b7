"""A smooth test trajectory for every driven hinge: three minimum-jerk legs, out, back (past the start), home."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Dof, System

#: excursions, unless a limit requires smaller ones
TURN_RAD, SLIDE_M = 0.6, 0.1
#: share of the way to a limit that is used
REACH = 0.6


@dataclass(frozen=True)
class Reference:
    """Position, rate and acceleration of the driven coordinates at one time, each (n,)."""

    position: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray


class Trajectory:
    """From start to two waypoints and home, in legs of equal duration, each a fifth-order polynomial.

    way : (2, n) offsets of the waypoints from the start
    """

    def __init__(self, start: np.ndarray, way: np.ndarray, duration_s: float) -> None:
        self._points = np.array([start, start + way[0], start + way[1], start])
        self._leg_s = duration_s / 3.0

    def at(self, time_s: float) -> Reference:
        """The reference at a time; at rest at the ends."""
        leg = int(np.clip(time_s // self._leg_s, 0, 2))
        s = float(np.clip(time_s / self._leg_s - leg, 0.0, 1.0))
        way = self._points[leg + 1] - self._points[leg]
        shape = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        slope = 30.0 * s * s * (1.0 - s) ** 2 / self._leg_s
        bend = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / self._leg_s**2
        return Reference(self._points[leg] + shape * way, slope * way, bend * way)


def drivable(system: System) -> tuple[Actuator, ...]:
    """Actuators on a velocity that is the rate of the coordinate of the same name.

    The quasi-velocities of spherical, free and custom hinges are the rate of no coordinate: no trajectory there.
    """
    names = set(system.coordinate_names)
    return tuple(a for a in system.actuators if a.coordinate in names)


def resting(system: System) -> tuple[Actuator, ...]:
    """Drivable actuators that are weaker than the dry friction of their hinge: they are left at rest."""
    dofs = _dofs(system)
    return tuple(a for a in drivable(system) if a.limit <= dofs[a.coordinate][0].friction)


def for_system(system: System, duration_s: float) -> Trajectory:
    """A trajectory of all drivable velocities that stays within their limits; resting drives stay at the start.

    Each drive has a different amplitude, so that hinges that start together move apart.
    """
    dofs = _dofs(system)
    values = dict(zip(system.coordinate_names, system.q0, strict=True))
    names = [a.coordinate for a in drivable(system)]
    start = np.array([values[name] for name in names])
    ways = [_waypoints(x, *dofs[name], _share(i)) for i, (x, name) in enumerate(zip(start, names, strict=True))]
    still = [a.coordinate for a in resting(system)]
    table = np.array(ways).reshape(-1, 2)
    table[np.isin(names, still)] = 0.0
    return Trajectory(start, table.T, duration_s)


def _share(index: int) -> float:
    """Share of the largest excursion; its sign is the side tried first: 1, -0.7, 0.4, -0.8 … 14 different ones."""
    return (1.0 - 0.1 * (3 * index % 7)) * (-1.0 if index % 2 else 1.0)


def _waypoints(start: float, dof: Dof, angular: bool, share: float = 1.0) -> tuple[float, float]:
    """Out towards the side with more room, then half as far beyond the start, or, without room, back half the way.

    A negative share goes out the other way, if there is room for all of it.
    """
    most = TURN_RAD if angular else SLIDE_M
    up, down = max(dof.upper - start, 0.0), max(start - dof.lower, 0.0)
    out = abs(share) * min(most, REACH * max(up, down))
    back = -0.5 * out if REACH * min(up, down) >= 0.5 * out else 0.5 * out
    upwards = up >= down
    if share < 0.0 and REACH * min(up, down) >= out:
        upwards = not upwards
    return (out, back) if upwards else (-out, -back)


def _dofs(system: System) -> dict[str, tuple[Dof, bool]]:
    table: dict[str, tuple[Dof, bool]] = {}
    for body in system.bodies:
        hinge = body.hinge
        angular = hinge.kind.angular or (True,) * hinge.nv
        specs = hinge.dofs or (Dof(),) * hinge.nv
        table |= {name: (specs[i], angular[i]) for i, name in enumerate(hinge.velocity_names)}
    return table
