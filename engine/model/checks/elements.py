"""Checks of force elements: the central field, thrusters and rotors."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.common.names import some_names
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.elements import CentralGravity, Rotor, Thruster
from limberjack.engine.model.places import Locate, refuse
from limberjack.engine.model.system import System


def check_elements(system: System, locate: Locate) -> System:
    """Refuse what cannot act; directions of thrusters become unit vectors."""
    if system.central is not None:
        _check_central(system.central, system.source or f"system '{system.name}'")
    bodies = set(system.body_names)
    for rotor in system.rotors:
        _check_body(rotor, bodies, locate)
        _check_vector(rotor, "momentum", rotor.momentum, locate)
    return replace(system, thrusters=tuple(_checked(thruster, bodies, locate) for thruster in system.thrusters))


def _check_central(central: CentralGravity, where: str) -> None:
    def fail(what: str, field: str, mend: str) -> NoReturn:
        raise ModelError(what, where=f"{where}, central.{field}", mend=mend)

    if not (usable(central.mu) and central.mu > 0):
        fail(f"the gravitational parameter is {central.mu}", "mu", "Give a number > 0, m³/s²; 3.986004418e14 for Earth")
    if np.shape(central.position) != (3,) or not usable(central.position):
        fail("the centre of gravity is not 3 finite numbers", "position", "Give metres along x, y, z")


def _check_body(item: Thruster | Rotor, bodies: set[str], locate: Locate) -> None:
    if item.body not in bodies:
        what = f"{type(item).__name__.lower()} '{item.name}' sits on '{item.body}', which is no body"
        refuse(item, "body", what, f"Name one of: {some_names(bodies)}", locate)


def _check_vector(item: Thruster | Rotor, field: str, value: np.ndarray, locate: Locate) -> None:
    if np.shape(value) != (3,) or not usable(value):
        what = f"the {field} of {type(item).__name__.lower()} '{item.name}' is not 3 finite numbers"
        refuse(item, field, what, "Give x, y, z in the axes of the body", locate)


def _checked(thruster: Thruster, bodies: set[str], locate: Locate) -> Thruster:
    """The thruster with a unit direction."""
    _check_body(thruster, bodies, locate)
    for field in ("position", "direction"):
        _check_vector(thruster, field, getattr(thruster, field), locate)
    length = float(np.linalg.norm(thruster.direction))
    if length == 0.0:
        what = f"the direction of thruster '{thruster.name}' is zero"
        refuse(thruster, "direction", what, "Give the direction of the force on the body", locate)
    if not (usable(thruster.thrust) and thruster.thrust > 0):
        what = f"the thrust of thruster '{thruster.name}' is {thruster.thrust}"
        refuse(thruster, "thrust", what, "Give its largest force, N, > 0", locate)
    if not (usable(thruster.minimum) and 0 <= thruster.minimum <= thruster.thrust):
        what = f"the minimum of thruster '{thruster.name}' is {thruster.minimum}, its thrust {thruster.thrust}"
        refuse(thruster, "minimum", what, "Give a force from 0 to the thrust, N", locate)
    if not usable(thruster.initial):
        what = f"the first command of thruster '{thruster.name}' is {thruster.initial}"
        refuse(thruster, "initial", what, "Give a finite number, N", locate)
    return thruster if abs(length - 1.0) < 1e-15 else replace(thruster, direction=thruster.direction / length)
