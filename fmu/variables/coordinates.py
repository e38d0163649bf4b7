"""What an FMU calls the coordinates, velocities, forces and commands of the hinges, and their declared types."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Dof, Hinge, Loop, System
from limberjack.engine.model.units import turning
from limberjack.engine.tables.hinge_types import CUSTOM
from limberjack.fmu.variables.naming import place


@dataclass(frozen=True)
class Coordinate:
    """One of the nq coordinates.

    name : structured name; said : words for descriptions; type_name, rate_type : declared types of it and of its rate
    nominal : size to expect, rad, m or 1; word : "angle" or "distance" ("" in a quaternion); stops : words about them
    """

    name: str
    said: str
    type_name: str
    rate_type: str
    nominal: float = 1.0
    word: str = ""
    stops: str = ""


@dataclass(frozen=True)
class Velocity:
    """One of the nv velocities, with the force along it.

    name, force : structured names of the velocity and of its force
    stem : what names of its parameters and stops begin with, "hinge.elbow." or "hinge.wrist.angle1_"
    where : words for descriptions, "of hinge 'elbow'"; dof : what acts along it
    angular : True for an angle, False for a distance, None for a mixed one (custom hinges)
    """

    name: str
    force: str
    stem: str
    where: str
    dof: Dof
    angular: bool | None

    @property
    def said(self) -> str:
        return f"{self.word} {self.where}"

    @property
    def type_name(self) -> str:
        return _choose(self.angular, "AngularVelocity", "Velocity")

    @property
    def rate_type(self) -> str:
        return _choose(self.angular, "AngularAcceleration", "Acceleration")

    @property
    def force_type(self) -> str:
        return _choose(self.angular, "Torque", "Force")

    @property
    def word(self) -> str:
        return _choose(self.angular, "rate", "speed", "rate")

    @property
    def force_word(self) -> str:
        return _choose(self.angular, "torque", "force", "force")


@dataclass(frozen=True)
class Command:
    """One of the commands: name, words, declared type and first value; `boolean` for a truth value.

    `role` is "position", "rate", "force", "acceleration" or "switch".
    """

    name: str
    said: str
    type_name: str
    start: float
    role: str

    @property
    def boolean(self) -> bool:
        return self.role == "switch"


def _choose(angular: bool | None, turning: str, sliding: str, mixed: str = "") -> str:
    return mixed if angular is None else turning if angular else sliding


def coordinates_of(system: System) -> list[Coordinate]:
    """The nq coordinates in the order of q."""
    return [coordinate for body in system.bodies for coordinate in _coordinates(body.hinge)]


def velocities_of(system: System) -> list[Velocity]:
    """The nv velocities in the order of v."""
    return [velocity for body in system.bodies for velocity in _velocities(body.hinge)]


def _coordinates(hinge: Hinge) -> list[Coordinate]:
    if hinge.modes is not None:
        return _modal_coordinates(hinge)
    kind = hinge.kind
    listed = []
    for i, suffix in enumerate(kind.q):
        if suffix.startswith("q"):
            said = f"quaternion component {suffix[1:]} of hinge '{hinge.name}'"
            listed.append(Coordinate(place("hinge", hinge.name, suffix), said, "QuaternionComponent", "QuaternionRate"))
            continue
        angular = not kind.quasi and kind.angular[i]
        word = "angle" if angular else "distance"
        types = ("Angle", "AngularVelocity") if angular else ("Distance", "Velocity")
        dof = Dof() if kind.quasi else _dof(hinge, i)
        said = f"{word} {_where(suffix, hinge.name)}"
        stops = _stops(dof, "rad" if angular else "m")
        name = place("hinge", hinge.name, suffix or word)
        listed.append(Coordinate(name, said, *types, _nominal(dof), word, stops))
    return listed


def _modal_coordinates(hinge: Hinge) -> list[Coordinate]:
    """Those of a flexible body: metres at a modal mass of 1 kg."""
    listed = []
    for i in range(hinge.nv):
        hertz = math.sqrt(_dof(hinge, i).stiffness) / math.tau
        said = f"coordinate {_mode(i, hinge)} (modal mass 1 kg, {hertz:.4g} Hz)"
        name = place("flexible", str(hinge.parent), f"mode{i + 1}")
        listed.append(Coordinate(name, said, "Distance", "Velocity", word="distance"))
    return listed


def _modal_velocities(hinge: Hinge) -> list[Velocity]:
    stems = [place("flexible", str(hinge.parent), f"mode{i + 1}_") for i in range(hinge.nv)]
    return [
        Velocity(f"{stem}rate", f"{stem}force", stem, _mode(i, hinge), _dof(hinge, i), False)
        for i, stem in enumerate(stems)
    ]


def _mode(i: int, hinge: Hinge) -> str:
    return f"of mode {i + 1} of flexible body '{hinge.parent}'"


def _velocities(hinge: Hinge) -> list[Velocity]:
    if hinge.modes is not None:
        return _modal_velocities(hinge)
    kind = hinge.kind
    listed = []
    for i in range(hinge.nv):
        angular = None if kind.code == CUSTOM else kind.angular[i]
        word, force = _choose(angular, "rate", "speed", "rate"), _choose(angular, "torque", "force", "force")
        suffix = f"rate{i + 1}" if kind.code == CUSTOM else kind.v[i]
        leaf = suffix if kind.quasi else f"{suffix}_rate" if suffix else word
        listed.append(
            Velocity(
                place("hinge", hinge.name, leaf),
                place("hinge", hinge.name, f"{suffix}_{force}" if suffix else force),
                place("hinge", hinge.name, f"{suffix}_" if suffix else "") + ("" if suffix else "."),
                _where(suffix, hinge.name),
                _dof(hinge, i),
                angular,
            )
        )
    return listed


def _dof(hinge: Hinge, index: int) -> Dof:
    return hinge.dofs[index] if hinge.dofs else Dof()


def _where(suffix: str, hinge: str) -> str:
    return f"along '{suffix}' of hinge '{hinge}'" if suffix else f"of hinge '{hinge}'"


def _stops(dof: Dof, unit: str) -> str:
    if math.isinf(dof.lower) and math.isinf(dof.upper):
        return ""
    if math.isinf(dof.lower):
        return f", stop above {dof.upper:g} {unit}"
    if math.isinf(dof.upper):
        return f", stop below {dof.lower:g} {unit}"
    return f", stops at {dof.lower:g} and {dof.upper:g} {unit}"


def _nominal(dof: Dof) -> float:
    """The farther stop, where there are two."""
    farthest = max(abs(dof.lower), abs(dof.upper))
    return farthest if math.isfinite(farthest) and farthest > 0.0 else 1.0


def commands_of(system: System) -> list[Command]:
    """The nu commands in the order of System.command_names.

    Those of drives are named by what they command (hinge.elbow.torque_command); where several drives act on one
    coordinate, by the drive (actuator.motor.torque_command). Those of loops are loop.grasp.closed and
    loop.rod.position_command, …; of thrusters thruster.t1.force_command.
    """
    drives = Counter(actuator.coordinate for actuator in system.actuators)
    velocities = dict(zip(system.velocity_names, velocities_of(system)))
    positions = dict(zip(system.coordinate_names, coordinates_of(system)))
    listed = []
    for actuator in system.actuators:
        velocity, position = velocities[actuator.coordinate], positions.get(actuator.coordinate)
        alone = drives[actuator.coordinate] == 1
        for i, role in enumerate(_roles(actuator)):
            listed.append(_command(actuator, role, velocity, position, alone, actuator.initial if i == 0 else 0.0))
    listed += [command for loop in system.loops for command in _loop_commands(loop, system)]
    return listed + [_thrust(thruster) for thruster in system.thrusters]


def _thrust(thruster: Thruster) -> Command:
    said = f"commanded force of thruster '{thruster.name}', up to {thruster.thrust:g} N"
    return Command(place("thruster", thruster.name, "force_command"), said, "Force", thruster.initial, "force")


def _roles(actuator: Actuator) -> tuple[str, ...]:
    """What the commands of a drive are, in their order; `Actuator` has the laws."""
    return {"torque": ("force",), "velocity": ("rate", "force"), "servo": ("position", "rate", "force")}[actuator.mode]


def _command(
    actuator: Actuator, role: str, velocity: Velocity, position: Coordinate | None, alone: bool, start: float
) -> Command:
    name, word, type_name = {
        "position": (position.name, position.word, position.type_name) if position else ("", "", ""),
        "rate": (velocity.name, velocity.word, velocity.type_name),
        "force": (velocity.force, velocity.force_word, velocity.force_type),
    }[role]
    if not alone:
        name = place("actuator", actuator.name, word)
    aim = "feed-forward" if role == "force" and actuator.mode != "torque" else "commanded"
    said = f"{aim} {word} of drive '{actuator.name}', {velocity.where}"
    return Command(f"{name}_command", said, type_name, start, role)


def _loop_commands(loop: Loop, system: System) -> list[Command]:
    """Whether a loop is closed, and the motion that is prescribed to it."""
    first = dict(zip(loop.command_names, loop.first_commands, strict=True))
    types = {
        "position": ("Angle", "Distance"),
        "velocity": ("AngularVelocity", "Velocity"),
        "acceleration": ("AngularAcceleration", "Acceleration"),
    }
    listed = []
    for name, start in first.items():
        word = name.removeprefix(f"{loop.name}.")
        if word == "closed":
            said = f"true closes loop '{loop.name}' as soon as it is within reach, false releases it"
            listed.append(Command(place("loop", loop.name, "closed"), said, "", start, "switch"))
        else:
            role = "rate" if word == "velocity" else word
            said = f"prescribed {word} of loop '{loop.name}'"
            kind = _choose(turning(loop, system), *types[word])
            listed.append(Command(place("loop", loop.name, f"{word}_command"), said, kind, start, role))
    return listed


def labels(system: System) -> list[str]:
    """Texts for log lines: what each of the nq coordinates, then each of the nv velocities, then each loop is."""
    listed = []
    for word, attribute in (("coordinate", "coordinate_names"), ("velocity", "velocity_names")):
        for body in system.bodies:
            listed += [f"{word} '{name}' of body '{body.name}'" for name in getattr(body.hinge, attribute)]
    return listed + [f"loop '{loop.name}'" for loop in system.loops]
