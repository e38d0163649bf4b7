"""The dependencies of forces of elements at nodes, besides the motion of their nodes."""

from __future__ import annotations

from limberjack.engine.model.elements.facts import Element, tuned_of
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region

#: one number that others depend on: region Q, V, COMMAND or PARAMETER, and its offset there
Known = tuple[Region, int]
Knowns = frozenset[Known]
NOTHING: Knowns = frozenset()


def links_at(system: System, plant: Plant, element: Element) -> list[int]:
    """The links at whose nodes an element acts; the ground does not count as a link."""
    rows = (plant.sections["node_row"][system.node_names.index(node), 0] for node in element.nodes)
    return [int(row) - 1 for row in rows if row > 0]


def commands_of(system: System, element: Element) -> Knowns:
    """The commands that it takes."""
    return frozenset((Region.COMMAND, system.command_names.index(name)) for name in element.command_names)


def parameters_of(element: Element) -> list[str]:
    """The names of its parameters."""
    return [f"{element.TABLE}.{element.name}.{field.name}" for field in tuned_of(type(element))]
