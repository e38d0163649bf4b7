"""Commands at which what they drive comes to rest."""

from __future__ import annotations

from limberjack.engine.api.running import Running, Steered
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Loop


def resting_command(simulation: Steered, place: int) -> float | None:
    """The command at a place of the command vector, at the present state: a servo holds where it is, a drive has no
    speed, torque or force, thrusters are off. None: left alone, as those of loops are."""
    name = simulation.command_names[place]
    taker = [taker for taker in simulation.system.command_takers for _ in taker.command_names][place]
    if isinstance(taker, Loop):
        return None
    if isinstance(taker, Actuator) and name == taker.name and taker.mode == "servo":
        return float(simulation.part("q")[simulation.system.coordinate_names.index(taker.coordinate)])
    return 0.0


def come_to_rest(simulation: Running) -> None:
    """Put all commands at rest."""
    for place in range(len(simulation.command_names)):
        command = resting_command(simulation, place)
        if command is not None:
            simulation.part("command")[place] = command
    simulation.changed()
