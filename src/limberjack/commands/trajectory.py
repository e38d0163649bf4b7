"""A smooth test trajectory for every driven hinge: three minimum-jerk legs, out, back past the start, home."""

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
    """Waypoints start, start + a, start - a/2, start, of equal duration, each leg a fifth-order polynomial."""

    def __init__(self, start: np.ndarray, excursion: np.ndarray, duration_s: float) -> None:
        self._points = np.array([start, start + excursion, start - 0.5 * excursion, start])
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
    """Excursions within the limits of the driven velocity coordinates (names), towards their freer side."""
    dofs = _dofs(system)
    values = dict(zip(system.coordinate_names, system.q0, strict=True))
    start = np.array([values.get(name, 0.0) for name in driven])
    pairs = [_excursion(x, *dofs[name]) for x, name in zip(start, driven, strict=True)]
    return Trajectory(start, np.array(pairs), duration_s)


def _excursion(start: float, dof: Dof, angular: bool) -> float:
    most = TURN_RAD if angular else SLIDE_M
    up, down = dof.upper - start, start - dof.lower
    reach = min(most, REACH * max(up, down))
    if min(up, down) < 0.5 * reach:
        reach = min(reach, max(2.0 * REACH * min(up, down), 0.5 * reach))
    return reach if up >= down else -reach


def _dofs(system: System) -> dict[str, tuple[Dof, bool]]:
    table: dict[str, tuple[Dof, bool]] = {}
    for body in system.bodies:
        hinge = body.hinge
        angular = HINGE_TYPES[hinge.type].angular or (True,) * hinge.nv
        specs = hinge.dofs or (Dof(),) * hinge.nv
        table |= {name: (specs[i], angular[i]) for i, name in enumerate(hinge.velocity_names)}
    return table
