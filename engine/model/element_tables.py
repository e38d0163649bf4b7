"""Force elements as tables of the Plant."""

from __future__ import annotations

import numpy as np

from limberjack.engine.model.elements.facts import fill_row
from limberjack.engine.model.frames import Frames
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.tables import elements as el


def element_counts(system: System) -> dict[int, int]:
    """The counts C_… of force elements."""
    return {
        el.C_THRUSTERS: len(system.thrusters),
        el.C_ROTORS: len(system.rotors),
        el.C_CENTRAL: int(system.central is not None),
    }


def fill_elements(plant: Plant, system: System, frames: Frames) -> None:
    """Write the tables, in the frames of links."""
    tables = plant.sections
    first = len(system.command_names) - len(system.thrusters)
    for i, thruster in enumerate(system.thrusters):
        row, pose = frames.of_body[thruster.body]
        tables["thruster_int"][i] = row, first + i, 0
        tables["thruster"][i, :6] = np.concatenate(
            [pose.position + pose.rotation @ thruster.position, pose.rotation @ thruster.direction]
        )
        fill_row(tables["thruster"][i], thruster)
    for i, rotor in enumerate(system.rotors):
        row, pose = frames.of_body[rotor.body]
        tables["rotor_row"][i], tables["rotor"][i] = row, pose.rotation @ rotor.momentum
    if system.central is not None:
        fill_row(tables["central"][0], system.central)
