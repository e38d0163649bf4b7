"""Checks of a whole System. Readers' Systems and those made by hand pass through the same checks."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Literal

import numpy as np

from limberjack.engine.common.errors import ModelError, ModelWarning
from limberjack.engine.common.names import some_names
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.body_order import order_bodies
from limberjack.engine.model.checks.alarms import check_alarms
from limberjack.engine.model.checks.elements import check_devices, check_elements
from limberjack.engine.model.checks.hinge import check_hinge, check_pose
from limberjack.engine.model.checks.inertia import check_inertia, check_leaves, inertia_fault
from limberjack.engine.model.checks.interfaces import (
    check_actuators,
    check_commands,
    check_held,
    check_interface,
    check_sensors,
)
from limberjack.engine.model.checks.loops import check_loops
from limberjack.engine.model.checks.shapes import check_shapes
from limberjack.engine.model.meshes import with_surfaces
from limberjack.engine.model.places import Item, Locate, plain_locate, refuse, where_is
from limberjack.engine.model.system import Body, Node, System, element_kinds
from limberjack.engine.tables.hinge_types import HINGE_TYPES

InertiaPolicy = Literal["refuse", "warn"]
_OF_NODES = "Correct the masses and inertias of its nodes"
_KEEP = "or keep it with strict: false in the file, or load(…, strict=False)"
INTEGRATORS = ("rk4", "semi_implicit", "implicit")
MAX_NAME = 200


def validate(system: System, *, inertia: InertiaPolicy = "refuse") -> System:
    """A checked copy: bodies base to tip, axes of unit length, every dof, q0 and v0 filled in.

    ``inertia`` says what happens to a rotational inertia that no real body has: "refuse" raises, "warn" keeps
    it, lists it in ``System.warnings`` and warns with `ModelWarning`. Raises ModelError that names the place.
    """
    checked = examine(system, inertia, plain_locate)
    new = checked.warnings[len(system.warnings) :]
    if new:
        warnings.warn("\n".join(new), ModelWarning, stacklevel=2)
    return checked


def examine(system: System, inertia: InertiaPolicy, locate: Locate) -> System:
    """`validate` without the warning: findings are only added to ``System.warnings``."""
    _check_globals(system)
    _check_names(system, locate)
    names = set(system.body_names)
    for node in system.nodes:
        _check_node(node, names, locate)
    in_order = order_bodies(system.bodies, locate)
    ordered = tuple(replace(body, hinge=check_hinge(body.hinge, locate)) for body in in_order)
    for body in ordered:
        check_inertia(body, locate)
    findings = _inertia_findings(ordered, inertia, locate, system.warnings)
    findings += [] if system.loops else range_findings(ordered)  # with loops the initial positions are a guess
    check_leaves(ordered, system.loops, locate)
    findings = [finding for finding in findings if finding not in system.warnings]
    checked = replace(system, bodies=ordered, warnings=(*system.warnings, *findings))
    checked = replace(checked, loops=check_loops(checked, locate))
    checked = check_elements(checked, locate)
    check_actuators(checked, locate)
    check_commands(checked, locate)
    check_held(checked)
    check_sensors(checked, locate)
    checked = check_devices(checked, locate)
    check_alarms(checked, locate)
    check_interface(checked)
    check_shapes(checked, locate)
    return with_surfaces(checked, locate)


def _check_globals(system: System) -> None:
    where = system.source or f"system '{system.name}'"
    if not system.bodies:
        raise ModelError("the model has no bodies", where=where, remedy="Add at least one body")
    if np.shape(system.gravity) != (3,) or not usable(system.gravity):
        raise ModelError("gravity is not 3 finite numbers", where=f"{where}, gravity", remedy="Give m/s² along x, y, z")
    if not (usable(system.dt) and system.dt > 0):
        raise ModelError(f"dt is {system.dt} s", where=f"{where}, dt", remedy="Give a step > 0")
    if system.integrator not in INTEGRATORS:
        what = f"unknown integrator '{system.integrator}'"
        raise ModelError(what, where=f"{where}, integrator", remedy=f"Use one of: {', '.join(INTEGRATORS)}")


def _check_names(system: System, locate: Locate) -> None:
    """One namespace each: bodies with nodes, hinges, actuators, sensors, loops, …"""
    hinges = [body.hinge for body in system.bodies]
    groups: tuple[tuple[str, Iterable[Item]], ...] = (
        ("bodies and nodes", (*system.bodies, *system.nodes)),
        ("hinges", hinges),
        ("actuators", system.actuators),
        ("sensors", system.sensors),
        ("loops", system.loops),
        ("thrusters", system.thrusters),
        ("rotors", system.rotors),
        *((group, getattr(system, group)) for group in element_kinds()),
    )
    for group, items in groups:
        seen: dict[str, Item] = {}
        for item in items:
            _check_name(item, locate)
            if item.name in seen:
                first = where_is(seen[item.name])
                what = f"the name '{item.name}' is used twice among the {group}, first at {first}"
                refuse(item, "name", what, "Rename one of them", locate)
            seen[item.name] = item
    _check_derived_names(system, locate)


def _check_name(item: Item, locate: Locate) -> None:
    name = item.name
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        what = f"the name {name!r} is empty or begins or ends with a space"
        refuse(item, "name", what, "Give a plain name", locate)
    if len(name) > MAX_NAME or not name.isprintable():
        what = f"the name {name[:60]!r} is longer than {MAX_NAME} characters or has unprintable characters"
        refuse(item, "name", what, "Give a shorter, printable name", locate)


def _check_derived_names(system: System, locate: Locate) -> None:
    """Coordinates such as "wrist.angle1" must not meet a hinge of that name."""
    for attribute in ("coordinate_names", "velocity_names"):
        seen: dict[str, str] = {}
        for body in system.bodies:
            hinge = body.hinge
            for name in getattr(hinge, attribute) if hinge.type in HINGE_TYPES or hinge.modes else ():
                if name in seen:
                    what = f"hinges '{seen[name]}' and '{hinge.name}' both have the coordinate '{name}'"
                    refuse(hinge, "name", what, "Rename one of the hinges", locate)
                seen[name] = hinge.name


def _check_node(node: Node, bodies: set[str], locate: Locate) -> None:
    if node.body is not None and node.body not in bodies:
        what = f"node '{node.name}' sits on body '{node.body}', which does not exist"
        refuse(node, "body", what, f"Name one of: {some_names(bodies)}, or the world", locate)
    check_pose(node, "position", node.pose, locate)


def _inertia_findings(
    bodies: Iterable[Body], policy: InertiaPolicy, locate: Locate, known: Collection[str]
) -> list[str]:
    """known : findings of an earlier check, which kept these inertias; so does this one"""
    findings = []
    for body in bodies:
        fault = inertia_fault(body.inertia)
        finding = f"{where_is(body)}: {fault}; kept as given"
        if not fault or finding in known:
            continue
        if policy == "refuse" and body.hinge.modes is not None:
            what = f"flexible body '{body.hinge.parent}': {fault}, by its modal data"
            refuse(body, "flexible", what, f"{_OF_NODES}, {_KEEP}", locate)
        if policy == "refuse":
            what = f"body '{body.name}': {fault}"
            refuse(body, "inertia", what, f"Give the inertia about the centre of mass of a real body, {_KEEP}", locate)
        findings.append(finding)
    return findings


def range_findings(bodies: Iterable[Body]) -> list[str]:
    """Initial positions beyond a limit: the stop pushes from the first step."""
    findings = []
    for body in bodies:
        for name, q, dof in zip(body.hinge.coordinate_names, body.hinge.q0, body.hinge.dofs):
            if not dof.lower <= q <= dof.upper and not body.hinge.kind.quasi:
                findings.append(
                    f"{where_is(body.hinge)}: '{name}' starts at {q:.6g}, outside its limits "
                    f"[{dof.lower:.6g}, {dof.upper:.6g}]"
                )
    return findings
