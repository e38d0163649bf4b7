"""The names that telecommands of a model may use, and the numbers for these names in packets."""

from __future__ import annotations

from dataclasses import dataclass

from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.engine.api.simulation import Simulation


@dataclass(frozen=True)
class Vocabulary:
    """Ordered names: the position is the number in packets.

    commands : quantities of the group "command";  loops : that can be switched;  hinges : that have a lock
    """

    commands: tuple[Quantity, ...]
    loops: tuple[str, ...]
    hinges: tuple[str, ...]
    parameters: tuple[str, ...]

    @property
    def text(self) -> str:
        """All names, for the signature of the packets."""
        return repr((tuple(each.id for each in self.commands), self.loops, self.hinges, self.parameters))


def vocabulary_of(simulation: Simulation, dictionary: Dictionary) -> Vocabulary:
    """What telecommands may name in this model."""
    loops = [loop for loop in simulation.system.loops if loop.switchable]
    return Vocabulary(
        dictionary.quantities[dictionary.groups.get("command", slice(0, 0))],
        tuple(loop.name for loop in loops),
        tuple(loop.locked for loop in loops if loop.locked),
        tuple(simulation.parameters),
    )
