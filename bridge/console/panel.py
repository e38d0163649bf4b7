"""The contents of the command panel: drives, loops, locks and parameters of the engine, faults of a bench."""

from __future__ import annotations

from typing import Any

from limberjack.bridge.console.live import number
from limberjack.bridge.telemetry.orders import faults_of
from limberjack.bridge.telemetry.session import Session
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Loop

#: mode of a drive → the group of its commands
_DRIVES = {"servo": "Servos", "velocity": "Rate drives", "torque": "Torque drives"}


def panel_of(session: Session) -> dict[str, Any]:
    """Names and ranges, from which the page of the console builds its buttons.

    commands : name, group: what kind of device it moves, unit, low, high (null where unbounded), more: whether it goes
        with the command before it
    """
    loops = [loop for loop in session.description.raw["loops"] if loop["switchable"]]
    switched = {f"{loop['name']}.closed" for loop in loops}
    drives = {actuator.name for actuator in session.system.actuators}
    groups = {name: _group(taker) for taker in session.system.command_takers for name in taker.command_names}
    commands = []
    for name in session.description.names["command"]:
        if name in switched:
            continue
        known = session.dictionary[f"command.{name}"]
        stem, _, last = name.rpartition(".")
        more = stem in drives and last in ("rate", "torque")
        bounds = {"low": number(known.low), "high": number(known.high)}
        commands.append({"name": name, "group": groups[name], "unit": known.unit, **bounds, "more": more})
    return {
        "commands": commands,
        "loops": [loop["name"] for loop in loops if not loop["hinge"]],
        "locks": [{"hinge": loop["hinge"], "loop": loop["name"]} for loop in loops if loop["hinge"]],
        "faults": faults_of(session),
        "parameters": list(session.description.parameters),
    }


def _group(taker: Any) -> str:
    """The kind of object that takes a command."""
    if isinstance(taker, Actuator):
        return _DRIVES[taker.mode]
    return "Loops" if isinstance(taker, Loop) else f"{type(taker).__name__}s"
