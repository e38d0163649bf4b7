"""Where in a file a thing was written, for messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from limberjack.engine.common.errors import ModelError
from limberjack.engine.model.elements.alarm import Alarm
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import Element
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Body, Hinge, Loop, Node

Item = Body | Hinge | Node | Actuator | Sensor | Loop | Thruster | Rotor | Alarm | Element

#: (where the item was written, field of it) → the place to show; a reader that knows lines gives its own
Locate = Callable[[str, str], str]


def plain_locate(where: str, field: str) -> str:
    """The place of a field when no lines are known."""
    return f"{where}, {field}" if field else where


def where_is(item: Item) -> str:
    """Where an item was written; its kind and name if it was made by hand."""
    return item.where or f"{type(item).__name__.lower()} '{item.name}'"


def refuse(item: Item, field: str, what: str, remedy: str, locate: Locate) -> NoReturn:
    """Raise the ModelError about one field of an item."""
    raise ModelError(what, where=locate(where_is(item), field), remedy=remedy)
