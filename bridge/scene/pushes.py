"""Forces of contacts as arrows: where shapes touch at a state, and how long the arrow is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from limberjack.engine.tables import contacts as at

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.session import Session

#: an arrow grows by a part of its full length for each factor of ten, and has that at this power of ten of a newton
_DECADES = 4.0
#: numbers of an arrow: place (3,) m and direction (3,) in the inertial frame, level
PUSH = 7


def level(force: float) -> float:
    """Length of an arrow, relative to the longest: log₁₀(1 + F / 1 N) / 4, at most 1."""
    return min(1.0, math.log10(1.0 + force) / _DECADES)


class Pushes:
    """Forces on the second shapes of all contacts with a sensor `contact_force`, as that shows them."""

    def __init__(self, session: Session) -> None:
        system, self._mirror = session.system, session.mirror
        #: of each arrow: its place among the outputs, and its touches
        self._arrows: list[tuple[int, np.ndarray]] = []
        if system.contacts:
            pairs = session.mirror.simulation.plant.sections["pair_int"]
            names = np.array([contact.name for contact in system.contacts])
            touched = np.repeat(names[pairs[:, at.PA_CONTACT]], pairs[:, at.PA_TOUCHES])
            sensors = {each.target: each.name for each in system.sensors if each.type == "contact_force"}
            places = system.output_places
            self._arrows = [(places[name][0], np.flatnonzero(touched == contact)) for contact, name in sensors.items()]

    def at(self, q: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """(n, 7) arrows [x, y, z of where it acts, direction (3,), level] of the forces that are not 0.

        None for shapes that are apart by more than 1 mm again: the force is that of the step which parted them.
        """
        found = [(outputs[start : start + 3], touches) for start, touches in self._arrows]
        found = [(force, touches) for force, touches in found if np.any(force) and np.isfinite(force).all()]
        if not found:
            return np.zeros((0, PUSH))
        met = self._mirror.met(q)
        arrows = []
        for force, touches in found:
            near = met[touches][met[touches, at.ME_NEAR] > 0.0]
            if len(near):
                size = float(np.linalg.norm(force))
                arrows.append([*_place(near), *(force / size), level(size)])
        return np.array(arrows).reshape(-1, PUSH)


def _place(near: np.ndarray) -> np.ndarray:
    """(3,) m where the force of some touches acts: their mean by depth; of none that is deep the nearest."""
    depth = np.maximum(0.0, -near[:, at.ME_GAP])
    weights = depth if depth.any() else (near[:, at.ME_GAP] == near[:, at.ME_GAP].min()).astype(float)
    place: np.ndarray = weights @ near[:, at.ME_POINT : at.ME_POINT + 3] / weights.sum()
    return place
