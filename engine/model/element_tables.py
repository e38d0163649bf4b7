"""Force elements as tables of the Plant."""

from __future__ import annotations

import numpy as np

from limberjack.engine.model.elements.contact import Contact
from limberjack.engine.model.elements.facts import Element, facts_of, fill_row
from limberjack.engine.model.frames import Frames
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System, element_kinds
from limberjack.engine.tables import elements as el
from limberjack.engine.tables.plant import COUNTS


def element_counts(system: System) -> dict[int, int]:
    """The counts C_… of force elements."""
    return {
        el.C_THRUSTERS: len(system.thrusters),
        el.C_ROTORS: len(system.rotors),
        el.C_CENTRAL: int(system.central is not None),
    } | {COUNTS[group]: len(getattr(system, group)) for group in element_kinds()}


def fill_elements(plant: Plant, system: System, frames: Frames) -> None:
    """Write the tables, in the frames of links."""
    tables = plant.sections
    first = system.command_names.index(system.thrusters[0].name) if system.thrusters else 0
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
    for group, kind in element_kinds().items():
        _fill(plant, system, group, kind)
    if system.central is not None:
        fill_row(tables["central"][0], system.central)


def _fill(plant: Plant, system: System, group: str, kind: type[Element]) -> None:
    """The tables of one kind: places of what it names, its commands and numbers."""
    if kind is Contact:  # contact_tables.py
        return
    for i, item in enumerate(getattr(system, group)):
        ints = plant.sections[f"{kind.TABLE}_int"][i]
        for known in facts_of(kind):
            if known.fact.aims:
                ints[known.fact.column] = system.sensor_targets[known.fact.aims].index(getattr(item, known.name))
        if kind.COMMAND >= 0:
            taken = item.command_names
            ints[kind.COMMAND] = system.command_names.index(taken[0]) if taken else -1
        fill_row(plant.sections[kind.TABLE][i], item)
