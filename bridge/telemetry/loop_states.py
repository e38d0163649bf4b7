"""States of loops that can be switched, in words: open, closed, or waiting until they are within reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.model.system import Loop
from limberjack.engine.tables.plant import SURVEY_HEAD, SURVEY_NODE

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.session import Session


def words(loop: Loop, closed: bool, wanted: bool, distance: float) -> str:
    """The state of a loop. closed : by the newest heartbeat;  wanted : by its command;  distance : of its frames, m

    A command acts at once if the loop is within reach. The command then gives the state, as a heartbeat may be older.
    """
    open_word, closed_word = ("free", "locked") if loop.type == "lock" else ("open", "closed")
    if not wanted:
        return open_word
    if closed or distance <= loop.reach:
        return closed_word
    return f"waiting ({reach_words(loop, distance)})"


def reach_words(loop: Loop, distance: float) -> str:
    """The reach of a loop and the distance of its frames, as text."""
    return f"reach {loop.reach:g} m, now {distance:.3g} m"


class LoopStates:
    """The loops of one model that can be switched, by name."""

    def __init__(self, session: Session) -> None:
        system = session.system
        self._session = session
        self.loops = {loop.name: loop for loop in system.loops if loop.switchable}
        self._bodies = {body.name: place for place, body in enumerate(system.bodies)}
        self._commands = {name: place for place, name in enumerate(session.description.names["command"])}

    def states(self, q: np.ndarray, v: np.ndarray, command: np.ndarray, closed: Mapping[str, bool]) -> dict[str, str]:
        """Loop → its state, at these coordinates, velocities and commands. closed : loop → whether it is"""
        distances = self.distances(q, v)
        return {
            name: words(loop, closed.get(name, False), self.wanted(name, command), distances[name])
            for name, loop in self.loops.items()
        }

    def wanted(self, name: str, command: np.ndarray) -> bool:
        """Whether the command of a loop asks to close it."""
        return bool(command[self._commands[f"{name}.closed"]] > 0.5)

    def distances(self, q: np.ndarray, v: np.ndarray) -> dict[str, float]:
        """Loop → how far its frames' origins are apart, m; 0 for those that have no reach to keep."""
        bounded = [name for name, loop in self.loops.items() if math.isfinite(loop.reach) and loop.hinge is not None]
        found = dict.fromkeys(self.loops, 0.0)
        if bounded:
            survey = self._session.mirror.survey(q, v)
            nodes = survey[SURVEY_HEAD:].reshape(-1, SURVEY_NODE)[: len(self._bodies)]
            for name in bounded:
                found[name] = self._distance(self.loops[name], nodes)
        return found

    def _distance(self, loop: Loop, nodes: np.ndarray) -> float:
        assert loop.hinge is not None
        first = self._origin(loop.hinge.parent, loop.hinge.inboard.position, nodes)
        second = self._origin(loop.body, loop.hinge.outboard.position, nodes)
        return float(np.linalg.norm(second - first))

    def _origin(self, body: str | None, position: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """(3,) of a frame on a body, m, in the inertial frame."""
        if body is None:
            return np.asarray(position)
        node = nodes[self._bodies[body]]
        origin: np.ndarray = node[:3] + from_quaternion(node[3:7]) @ position
        return origin
