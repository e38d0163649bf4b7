"""Units of all numbers that a model takes and gives, as text: SI symbols, "" where there is none or it is mixed."""

from __future__ import annotations

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Hinge, Loop, System
from limberjack.engine.tables.hinge_types import CUSTOM
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

#: each measure's unit of an angle and of a distance
POSITION, RATE, ACCELERATION, FORCE = ("rad", "m"), ("rad/s", "m/s"), ("rad/s²", "m/s²"), ("N·m", "N")


def hinge_units(system: System) -> dict[str, list[str]]:
    """Units of q, v and tau, one text a coordinate."""
    units: dict[str, list[str]] = {"q": [], "v": [], "tau": []}
    for body in system.bodies:
        hinge, kind = body.hinge, body.hinge.kind
        if kind.q[:1] == ("qw",):
            units["q"] += ["1"] * 4 + ["m"] * (len(hinge.coordinate_names) - 4)
        else:
            units["q"] += [_of(POSITION, turns) for turns in kind.angular]
        units["v"] += [_of(RATE, turns) for turns in _turns(hinge)]
        units["tau"] += [_of(FORCE, turns) for turns in _turns(hinge)]
    return units


def output_units(system: System) -> list[str]:
    """Units of the sensors' outputs (ny)."""
    units = hinge_units(system)
    known = {
        "coordinate": {"rad or m": dict(zip(system.coordinate_names, units["q"], strict=True))},
        "velocity": {
            "rad/s or m/s": dict(zip(system.velocity_names, units["v"], strict=True)),
            "N·m or N": dict(zip(system.velocity_names, units["tau"], strict=True)),
        },
    }
    found = []
    for sensor in system.sensors:
        target, suffixes, unit = SENSOR_TYPES[sensor.type]
        if " or " not in unit:
            parts = unit.split(", ")  # "N·m, N": the first half of the components, the second half
            found += [part for part in parts for _ in range(len(suffixes) // len(parts))]
        elif target in known:
            found.append(known[target][unit][sensor.target])
        else:
            found.append(_loop_unit(sensor, unit, system))
    return found


def _loop_unit(sensor: Sensor, unit: str, system: System) -> str:
    """Unit of a number of a loop that may be of angles or of distances."""
    (loop,) = (loop for loop in system.loops if loop.name == sensor.target)
    if sensor.type == "loop_force" and loop.joins:
        return FORCE[1]  # the size of the force between its bodies
    angle, distance = unit.split(" or ")
    return _of((angle, distance), turning(loop, system))


def command_units(system: System) -> list[str]:
    """Units of the commands (nu)."""
    turns = velocities_turn(system)
    return [unit for taker in system.command_takers for unit in _taken(taker, turns, system)]


def _taken(taker: Actuator | Loop | Thruster, turns: dict[str, bool | None], system: System) -> list[str]:
    if isinstance(taker, Thruster):
        return [FORCE[1]]
    if isinstance(taker, Loop):
        driven = [_of(measure, turning(taker, system)) for measure in (POSITION, RATE, ACCELERATION)]
        return ["1"] * taker.switchable + driven * taker.driven
    measures = {"torque": (FORCE,), "velocity": (RATE, FORCE), "servo": (POSITION, RATE, FORCE)}[taker.mode]
    return [_of(measure, turns[taker.coordinate]) for measure in measures]


def velocities_turn(system: System) -> dict[str, bool | None]:
    """Velocity → True of an angle, False of a distance, None of both (custom hinges)."""
    return {name: turns for body in system.bodies for name, turns in zip(body.hinge.velocity_names, _turns(body.hinge))}


def turning(loop: Loop, system: System) -> bool | None:
    """True where a loop is measured as an angle, False as a distance, None where some of it is either."""
    if loop.joins:
        return False if loop.type in ("point", "distance", "rolling") else None
    turns = velocities_turn(system)
    if loop.type == "lock":
        (hinge,) = (body.hinge for body in system.bodies if body.hinge.name == loop.locked)
        kinds = {turns[name] for name in hinge.velocity_names}
    else:
        kinds = {turns[term.coordinate] for term in loop.terms}
    return kinds.pop() if len(kinds) == 1 else None


def _turns(hinge: Hinge) -> tuple[bool | None, ...]:
    """What each velocity of a hinge measures."""
    return (None,) * hinge.nv if hinge.kind.code == CUSTOM else hinge.kind.angular


def _of(measure: tuple[str, str], turns: bool | None) -> str:
    return "" if turns is None else measure[0] if turns else measure[1]
