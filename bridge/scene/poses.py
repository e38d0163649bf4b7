"""Poses of all drawn objects at a state of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from limberjack.bridge.scene.pushes import PUSH, Pushes
from limberjack.bridge.telemetry.sample import Sample
from limberjack.engine.tables.plant import SURVEY_HEAD, SURVEY_NODE

if TYPE_CHECKING:
    from limberjack.bridge.telemetry.session import Session


@dataclass(frozen=True, eq=False)
class Posed:
    """One state.

    bodies : (n, 7) [x, y, z, qw, qx, qy, qz] in the inertial frame, in the order of `System.bodies`
    modes : (m,) all modal coordinates;  jets : thrust of each thruster, relative to its own
    pushes : (k, 7) forces of contacts, as of `Pushes.at`
    """

    bodies: np.ndarray
    modes: np.ndarray
    jets: np.ndarray
    pushes: np.ndarray = field(default_factory=lambda: np.zeros((0, PUSH)))

    def finite(self) -> bool:
        """Whether everything is a number that can be drawn."""
        return all(bool(np.isfinite(each).all()) for each in (self.bodies, self.modes, self.jets, self.pushes))


class Poses:
    """Makes `Posed` of samples of one model."""

    def __init__(self, session: Session) -> None:
        system = session.system
        self._mirror, self._groups, self._bodies = session.mirror, session.dictionary.groups, len(system.bodies)
        modal = [np.full(body.hinge.kind.nq, body.hinge.modes is not None) for body in system.bodies]
        self._pushes = Pushes(session)
        self._modal = np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *modal]))
        places = {name: i for i, name in enumerate(system.command_names)}
        self._places = np.array([places[each.name] for each in system.thrusters], dtype=int)
        self._least = np.array([each.minimum for each in system.thrusters])
        self._most = np.array([each.thrust for each in system.thrusters])

    def at(self, sample: Sample) -> Posed:
        """The state of a sample."""
        q, v, outputs, command = (
            sample.vector[self._groups[name]] if name in self._groups else sample.vector[:0]
            for name in ("q", "v", "output", "command")
        )
        survey = self._mirror.survey(q, v)
        nodes = survey[SURVEY_HEAD:].reshape(-1, SURVEY_NODE)[: self._bodies, :7]
        thrust = command[self._places]
        jets = np.where(thrust >= self._least, np.minimum(thrust, self._most) / self._most, 0.0)
        return Posed(nodes, q[self._modal], jets, self._pushes.at(q, outputs))
