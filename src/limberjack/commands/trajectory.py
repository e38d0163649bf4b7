"""A smooth test trajectory for every driven hinge: three minimum-jerk legs, out, back (past the start), home."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.system.hinge_types import HINGE_TYPES
from limberjack.engine.system.system import Dof, System

#: excursions where no limit asks for less
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

    way : (2, n) what the waypoints add to start
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


def for_system(system: System, driven: list[str], duration_s: float) -> Trajectory:
    """A trajectory of the driven velocity coordinates (names) that stays within their limits.

    A drive that is weaker than its hinge's friction rests.
    """
    dofs = _dofs(system)
    values = dict(zip(system.coordinate_names, system.q0, strict=True))
    start = np.array([values.get(name, 0.0) for name in driven])
    ways = np.array([_waypoints(x, *dofs[name]) for x, name in zip(start, driven, strict=True)]).reshape(-1, 2)
    stuck = [a.limit <= dofs[a.coordinate][0].friction for a in system.actuators]
    ways[stuck] = 0.0
    return Trajectory(start, ways.T, duration_s)


def _waypoints(start: float, dof: Dof, angular: bool) -> tuple[float, float]:
    """Out towards the freer side, then half as far beyond the start, or half the way where there is no room."""
    most = TURN_RAD if angular else SLIDE_M
    up, down = max(dof.upper - start, 0.0), max(start - dof.lower, 0.0)
    out = min(most, REACH * max(up, down))
    back = -0.5 * out if REACH * min(up, down) >= 0.5 * out else 0.5 * out
    return (out, back) if up >= down else (-out, -back)


def _dofs(system: System) -> dict[str, tuple[Dof, bool]]:
    table: dict[str, tuple[Dof, bool]] = {}
    for body in system.bodies:
        hinge = body.hinge
        angular = HINGE_TYPES[hinge.type].angular or (True,) * hinge.nv
        specs = hinge.dofs or (Dof(),) * hinge.nv
        table |= {name: (specs[i], angular[i]) for i, name in enumerate(hinge.velocity_names)}
    return table
