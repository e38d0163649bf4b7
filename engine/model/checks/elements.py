"""Checks of elements against the model that they are in; each kind checks its own numbers (`elements/`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.contact_tables import contact_fault
from limberjack.engine.model.elements.facts import Element, Fail, facts_of
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.elements.sensor import MOST_DELAYED, MOST_SEED
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.places import Item, Locate, refuse
from limberjack.engine.model.system import System


def check_elements(system: System, locate: Locate) -> System:
    """Refuse what cannot act; directions of thrusters become unit vectors."""
    where = system.source or f"system '{system.name}'"
    if system.central is not None:
        system.central.check(partial(_fail_globally, where, "central."))
    bodies = set(system.body_names)
    for rotor in system.rotors:
        _check_body(rotor, bodies, locate)
        rotor.check(_fail(rotor, locate))
    for element in system.elements:
        _check_element(element, system.sensor_targets, locate)
    for contact in system.contacts:
        what, remedy = contact_fault(system, contact)
        if what:
            refuse(contact, "first", f"contact '{contact.name}' {what}", remedy, locate)
    return replace(system, thrusters=tuple(_checked(thruster, bodies, locate) for thruster in system.thrusters))


def _fail(item: Item, locate: Locate) -> Fail:
    """Reports what is wrong with a field of an item."""

    def fail(field: str, what: str, remedy: str) -> NoReturn:
        refuse(item, field, what, remedy, locate)

    return fail


def _fail_globally(where: str, group: str, field: str, what: str, remedy: str) -> NoReturn:
    raise ModelError(what, where=f"{where}, {group}{field}", remedy=remedy)


def _check_body(item: Thruster | Rotor, bodies: set[str], locate: Locate) -> None:
    if item.body not in bodies:
        what = f"{type(item).__name__.lower()} '{item.name}' sits on '{item.body}', which is not a body"
        refuse(item, "body", what, f"Name one of: {some_names(bodies)}", locate)


def _check_element(element: Element, targets: Mapping[str, tuple[str, ...]], locate: Locate) -> None:
    for known in facts_of(type(element)):
        name = getattr(element, known.name)
        if known.fact.aims and name not in targets[known.fact.aims]:
            what = f"{element.TABLE} '{element.name}' names '{name}', which is not a {known.fact.aims}"
            refuse(element, known.name, what, f"Name one of: {some_names(targets[known.fact.aims])}", locate)
    element.check(_fail(element, locate))


def _checked(thruster: Thruster, bodies: set[str], locate: Locate) -> Thruster:
    _check_body(thruster, bodies, locate)
    return thruster.checked(_fail(thruster, locate))


def check_devices(system: System, locate: Locate) -> System:
    """Refuse errors, motors and valves that cannot be; the direction to the sun becomes a unit vector."""
    fail = partial(_fail_globally, system.source or f"system '{system.name}'", "")
    if np.shape(system.sun) != (3,) or not usable(system.sun) or not np.any(system.sun):
        fail("sun", "sun is not a direction", "Give x, y, z, not all zero")
    if not (isinstance(system.seed, int) and 0 <= system.seed <= MOST_SEED):
        fail("seed", f"the seed is {system.seed}", f"Give a whole number from 0 to {MOST_SEED}")
    for sensor in system.sensors:
        sensor.check(system.dt, _fail(sensor, locate))
    quasi = {name for body in system.bodies if body.hinge.kind.quasi for name in body.hinge.velocity_names}
    for actuator in system.actuators:
        if actuator.motor is not None:
            if actuator.coordinate in quasi:
                what = f"the motor of '{actuator.name}' drives the quasi-velocity '{actuator.coordinate}'"
                refuse(actuator, "coordinate", what, "Drive a coordinate of a revolute or sliding hinge", locate)
            actuator.motor.check(actuator.name, _motor_fail(_fail(actuator, locate)))
    for thruster in system.thrusters:
        if thruster.delayed_commands(system.dt) > MOST_DELAYED:
            what = f"the delay of thruster '{thruster.name}' is {thruster.delay:g} s, beyond {MOST_DELAYED} steps"
            refuse(thruster, "delay", what, "Give a shorter delay or a larger dt", locate)
    return replace(system, sun=system.sun / np.linalg.norm(system.sun))


def _motor_fail(fail: Fail) -> Fail:
    """All fields of a motor are shown at the drive's field `motor`."""
    return lambda field, what, remedy: fail("motor", what, remedy)
