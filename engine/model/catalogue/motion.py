"""Coordinates, velocities, their rates and the forces along them, from the hinges and the modes of a model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from limberjack.engine.model.catalogue.number import NO_LIMITS, Limits, Number
from limberjack.engine.model.system import LOOP_TYPES, Dof, Hinge, Loop, System
from limberjack.engine.tables.hinge_types import CUSTOM
from limberjack.engine.tables.measures import FORCE, POSITION, RATE, RATES, of_motion

#: what a number along a velocity is: its measure, its word for what turns, for what slides, for a mixture
_ROLES = {
    "position": (POSITION, ("angle", "distance", "")),
    "rate": (RATE, ("rate", "speed", "rate")),
    "force": (FORCE, ("torque", "force", "force")),
}


@dataclass(frozen=True)
class Freedom:
    """One of the nv directions in which a model moves.

    name : of its velocity;  dof : what acts along it;  turns : True of an angle, False of a distance, None of both
    suffix : what distinguishes it from others of its hinge, "angle1"; "mode1" of a mode; "" of the only one
    """

    name: str
    suffix: str
    hinge: Hinge
    turns: bool | None
    dof: Dof

    @property
    def where(self) -> str:
        """Words for texts: "of hinge 'elbow'"."""
        if self.hinge.modes is not None:
            return f"of mode {self.suffix.removeprefix('mode')} of flexible body '{self.hinge.parent}'"
        return f"along '{self.suffix}' of hinge '{self.hinge.name}'" if self.suffix else f"of hinge '{self.hinge.name}'"

    @property
    def stops(self) -> Limits:
        """Where its stops are."""
        return (self.dof.lower, self.dof.upper)

    def path(self, leaf: str) -> tuple[str, str, str]:
        """The path of a number along it."""
        modal = self.hinge.modes is not None
        return ("flexible", str(self.hinge.parent), leaf) if modal else ("hinge", self.hinge.name, leaf)

    def tuned(self, word: str) -> tuple[str, str, str]:
        """The path of a parameter of it: "damping", or "angle1_damping"."""
        return self.path(f"{self.suffix}_{word}" if self.suffix else word)

    def word(self, role: str) -> str:
        """What its "position", "rate" or "force" is called."""
        turning, sliding, mixed = _ROLES[role][1]
        return mixed if self.turns is None else turning if self.turns else sliding

    def leaf(self, role: str) -> str:
        """The last word of the path of its position, rate or force."""
        word = self.word(role)
        if role == "force" or not self.suffix:
            return f"{self.suffix}_{word}" if self.suffix else word
        return self.suffix if role == "position" or self.hinge.kind.quasi else f"{self.suffix}_rate"

    def measure(self, role: str) -> str:
        """The measure of its position, rate or force."""
        return of_motion(_ROLES[role][0], self.turns)


def freedoms(system: System) -> tuple[Freedom, ...]:
    """All directions in which a model moves, in the order of its velocities."""
    return tuple(freedom for body in system.bodies for freedom in _freedoms(body.hinge))


def _freedoms(hinge: Hinge) -> Iterator[Freedom]:
    custom = hinge.kind.code == CUSTOM
    for i, name in enumerate(hinge.velocity_names):
        suffix = f"mode{i + 1}" if hinge.modes is not None else f"rate{i + 1}" if custom else hinge.kind.v[i]
        dof = hinge.dofs[i] if hinge.dofs else Dof()
        yield Freedom(name, suffix, hinge, None if custom else hinge.kind.angular[i], dof)


def turning(loop: Loop, system: System) -> bool | None:
    """True where a loop is measured as an angle, False as a distance, None where some of it is either."""
    if loop.joins:
        return False if LOOP_TYPES[loop.type].slides else None
    terms = {term.coordinate for term in loop.terms}
    kinds = {
        freedom.turns
        for freedom in freedoms(system)
        if (freedom.hinge.name == loop.locked if loop.type == "lock" else freedom.name in terms)
    }
    return kinds.pop() if len(kinds) == 1 else None


def coordinates(system: System) -> Iterator[Number]:
    """The nq coordinates."""
    start, place = system.q0, 0
    for body in system.bodies:
        hinge, along = body.hinge, tuple(_freedoms(body.hinge))
        for i, name in enumerate(hinge.coordinate_names):
            suffix = hinge.kind.q[i]
            if suffix.startswith("q"):
                text = f"quaternion component {suffix[1:]} of hinge '{hinge.name}'"
                path, measure, limits = ("hinge", hinge.name, suffix), "QuaternionComponent", NO_LIMITS
            else:  # the quasi-velocities of a hinge are not the rates of its coordinates, and have no stops
                freedom = Freedom(name, suffix, hinge, False, Dof()) if hinge.kind.quasi else along[i]
                path, measure = freedom.path(freedom.leaf("position")), freedom.measure("position")
                text, limits = f"{freedom.word('position')} {freedom.where}", freedom.stops
                if hinge.modes is not None:
                    hertz = math.sqrt(freedom.dof.stiffness) / math.tau
                    text = f"coordinate {freedom.where} (modal mass 1 kg, {hertz:.4g} Hz)"
            yield Number("q", name, path, text, "q", place, measure, "", *limits, float(start[place]))
            place += 1


def velocities(system: System) -> Iterator[Number]:
    """The nv velocities."""
    for place, (along, start) in enumerate(zip(freedoms(system), system.v0, strict=True)):
        text = f"{along.word('rate')} {along.where}"
        path, measure = along.path(along.leaf("rate")), along.measure("rate")
        yield Number("v", along.name, path, text, "v", place, measure, start=float(start))


def forces(system: System) -> Iterator[Number]:
    """The nv forces of hinges and drives. Of a drive and friction alone the largest force is known."""
    drives = dict.fromkeys(system.velocity_names, 0.0)
    for actuator in system.actuators:
        drives[actuator.coordinate] += actuator.limit if actuator.motor is None else math.inf  # its current overshoots
    for place, along in enumerate(freedoms(system)):
        most = drives[along.name] + along.dof.friction
        alone = not along.dof.stiffness and not along.dof.damping and along.stops == NO_LIMITS
        limits = (-most, most) if alone and 0.0 < most < math.inf else NO_LIMITS
        text = f"{along.word('force')} of springs, dampers, stops and drives {along.where}"
        path, measure = along.path(along.leaf("force")), along.measure("force")
        yield Number("tau", along.name, path, text, "tau", place, measure, "", *limits)


def coordinate_rates(system: System) -> Iterator[Number]:
    """The time derivatives of the coordinates."""
    return (_rate(number, "qdot") for number in coordinates(system))


def accelerations(system: System) -> Iterator[Number]:
    """The time derivatives of the velocities."""
    return (_rate(number, "vdot") for number in velocities(system))


def _rate(number: Number, group: str) -> Number:
    text = f"time derivative of the {number.text}"
    return Number(group, number.name, number.path, text, group, number.place, RATES[number.measure])
