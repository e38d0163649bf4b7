"""Elements, sensors, shapes and alarms added to a System."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.arguments import system_of
from limberjack.engine.model.elements.alarm import Alarm
from limberjack.engine.model.elements.central_gravity import CentralGravity
from limberjack.engine.model.elements.device import Device
from limberjack.engine.model.elements.facts import Element
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import System, item_kinds
from limberjack.engine.model.validate import validate

Item = Device | Thruster | Rotor | CentralGravity | Element | Sensor | Shape | Alarm


def equip(system: System, *elements: Item) -> System:
    """A checked copy of a System with these elements, sensors, shapes and alarms as well.

    system : from `limberjack.load`; elements : such as `Wheel`, `Spring`, `Alarm`

    A CentralGravity takes the place of the uniform gravity. Raises ModelError for an element that does not fit, and
    ArgumentError if an argument is not a System or an element.
    """
    system = system_of(system)
    for element in elements:
        system = _with(system, element)
    return validate(system)


def _with(system: System, element: Item) -> System:
    if isinstance(element, CentralGravity):
        return replace(system, central=element, gravity=np.zeros(3))
    if isinstance(element, Device):
        made = element.parts()
        bodies, actuators = (*system.bodies, made.body), (*system.actuators, *made.drives)
        return replace(system, bodies=bodies, actuators=actuators, rotors=(*system.rotors, *made.rotors))
    field = next((name for name, kind in item_kinds().items() if kind is type(element)), None)
    if field is None:
        raise ArgumentError(f"a {type(element).__name__} is not an element; give a Wheel, Spring, Sensor, Shape, ….")
    more: dict[str, Any] = {field: (*getattr(system, field), element)}
    return replace(system, **more)
