"""The commands of drives, loops and thrusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from limberjack.engine.model.catalogue.motion import Freedom, freedoms, turning
from limberjack.engine.model.catalogue.number import NO_LIMITS, TRUTH, Limits, Number
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Element
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Loop, System
from limberjack.engine.tables.measures import ACCELERATION, FORCE, POSITION, RATE, of_motion

#: mode of a drive → what its commands are, in their order; `Actuator` has the laws
_ASKED = {"torque": ("force",), "velocity": ("rate", "force"), "servo": ("position", "rate", "force")}
_PRESCRIBED = {"position": POSITION, "velocity": RATE, "acceleration": ACCELERATION}


def commands(system: System) -> Iterator[Number]:
    """The nu commands, in the order of `System.command_names`.

    The path of a drive's is that of what it commands (hinge elbow torque_command); where several drives act along one
    velocity, the drive's own (actuator motor torque_command).
    """
    along = {freedom.name: freedom for freedom in freedoms(system)}
    drives = Counter(actuator.coordinate for actuator in system.actuators)
    place = 0
    for taker in system.command_takers:
        if isinstance(taker, Actuator):
            found = _of_drive(taker, along[taker.coordinate], drives[taker.coordinate] == 1)
        elif isinstance(taker, Element):
            found = _of_element(taker)
        else:
            found = _of_loop(taker, system) if isinstance(taker, Loop) else _of_thruster(taker)
        for name, number in zip(taker.command_names, found, strict=True):
            yield replace(number, name=name, place=place, element=taker)
            place += 1


def _command(
    path: tuple[str, str, str], text: str, measure: str, limits: Limits = NO_LIMITS, start: float = 0.0
) -> Number:
    """A command before it has a name and a place."""
    return Number("command", "", path, text, "command", 0, measure, "", *limits, start)


def _of_drive(drive: Actuator, along: Freedom, alone: bool) -> Iterator[Number]:
    most = {"rate": drive.max_rate, "force": drive.limit}
    for i, role in enumerate(_ASKED[drive.mode]):
        word = along.word(role)
        path = along.path(f"{along.leaf(role)}_command") if alone else ("actuator", drive.name, f"{word}_command")
        aim = "feed-forward" if role == "force" and drive.mode != "torque" else "commanded"
        text = f"{aim} {word} of drive '{drive.name}', {along.where}"
        limits = (-most[role], most[role]) if role in most else along.stops
        yield _command(path, text, along.measure(role), limits, 0.0 if i else drive.initial)


def _of_loop(loop: Loop, system: System) -> Iterator[Number]:
    """Whether a loop is closed, and the motion that is prescribed to it."""
    if loop.switchable:
        text = f"true closes loop '{loop.name}' as soon as it is within reach, false releases it"
        yield replace(_command(("loop", loop.name, "closed"), text, "", TRUTH, float(loop.closed)), truth=True)
    for (word, pair), start in zip(_PRESCRIBED.items(), loop.initial) if loop.driven else ():
        path, text = ("loop", loop.name, f"{word}_command"), f"prescribed {word} of loop '{loop.name}'"
        yield _command(path, text, of_motion(pair, turning(loop, system)), start=start)


def _of_thruster(thruster: Thruster) -> Iterator[Number]:
    text = f"commanded force of thruster '{thruster.name}', up to {thruster.thrust:g} N"
    path, limits = ("thruster", thruster.name, "force_command"), (0.0, thruster.thrust)
    yield _command(path, text, FORCE[1], limits, thruster.initial)


def _of_element(element: Element) -> Iterator[Number]:
    """The commands that an element at nodes declares."""
    for word, measure, start in element.commands:
        text = f"commanded {word} of {element.TABLE.replace('_', ' ')} '{element.name}'"
        yield _command((element.TABLE, element.name, f"{word}_command"), text, measure, start=start)
