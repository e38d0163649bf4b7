"""Checks of loops against the bodies, hinges and coordinates they name."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from functools import cached_property

import numpy as np

from limberjack.engine.common.names import some_names
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.checks.hinge import check_hinge
from limberjack.engine.model.elements.facts import Known, facts_of
from limberjack.engine.model.frames import Frames, assemble
from limberjack.engine.model.loops.joint_tree import Tree, place
from limberjack.engine.model.places import Locate, refuse
from limberjack.engine.model.system import (
    JOINED_AS,
    LOOP_TYPES,
    METHODS,
    WHEELS,
    Hinge,
    Loop,
    Pose,
    System,
    Term,
)

MOST_FACTORS = 4
_EMPTY = np.zeros(0)


def check_loops(system: System, locate: Locate) -> tuple[Loop, ...]:
    """The loops with unit axes and lengths filled in; ModelError for whatever their types cannot have.

    The system is otherwise checked, its bodies base to tip.
    """
    tree = _Tree(system)
    velocities = dict.fromkeys(system.velocity_names)
    checked = []
    for loop in system.loops:
        if loop.type not in LOOP_TYPES:
            what = f"loop '{loop.name}' has the unknown type '{loop.type}'"
            refuse(loop, "type", what, f"Use one of: {', '.join(LOOP_TYPES)}", locate)
        _refuse_foreign_fields(loop, locate)
        _check_method(loop, velocities, locate)
        _check_switch(loop, locate)
        _check_initial(loop, locate)
        if loop.joins:
            loop = _check_wheel(_check_joining(loop, tree, locate), locate)
        elif loop.type == "coupling":
            loop = _check_coupling(loop, tree, locate)
        else:
            loop = _check_lock(loop, tree, locate)
        checked.append(replace(loop, method="embed") if loop.independent else loop)
    return tuple(checked)


class _Tree:
    """What loops ask of the checked bodies."""

    def __init__(self, system: System) -> None:
        bodies = system.bodies
        self.hinges = {body.hinge.name: body.hinge for body in bodies}
        self.names = {body.name for body in bodies}
        self.rates = dict.fromkeys(
            n for body in bodies if not body.hinge.kind.quasi for n in body.hinge.coordinate_names
        )
        self.quasi = {n for body in bodies if body.hinge.kind.quasi for n in body.hinge.coordinate_names}
        self._system = system
        self._carrier: dict[str | None, str | None] = {None: None}
        for body in bodies:
            folded = body.hinge.type == "fixed" and body.hinge.merge
            self._carrier[body.name] = self._carrier[body.hinge.parent] if folded else body.name

    def together(self, first: str | None, second: str | None) -> bool:
        """Whether two bodies are one, or fixed to each other."""
        return self._carrier[first] == self._carrier[second]

    def distance(self, loop: Loop, hinge: Hinge) -> float:
        """Distance of the frames' origins at the initial coordinates, m."""
        frames, poses = self._placed
        ends = []
        for body, pose in ((hinge.parent, hinge.inboard), (loop.body, hinge.outboard)):
            row, fixed = frames.of_body[body]
            ends.append((poses[row] @ fixed @ pose).position)
        return float(np.linalg.norm(ends[1] - ends[0]))

    @cached_property
    def _placed(self) -> tuple[Frames, list[Pose]]:
        """Frames of the bodies, and where they are at the initial coordinates."""
        frames, poses = assemble(self._system), [Pose()]
        for joint in Tree(frames).joints:
            poses.append(place(joint, poses[joint.parent], self._system.q0)[0])
        return frames, poses


def _refuse_foreign_fields(loop: Loop, locate: Locate) -> None:
    """Fields that only other types have."""
    own = (known for known in facts_of(Loop) if known.name not in ("reach", "initial") and known.fact.only)
    foreign = {
        "hinge": loop.hinge is not None and not loop.joins,
        "body": loop.body is not None and not loop.joins,
        "wheel": loop.wheel is not None and loop.type != "rolling",
        **{known.name: loop.type not in known.fact.only and _given(loop, known) for known in own},
        "reach": loop.reach != math.inf and not (loop.joins and loop.switchable),
    }
    for field, present in foreign.items():
        if present:
            kind = "loop that is not switchable" if field == "reach" and loop.joins else f"{loop.type} loop"
            refuse(loop, field, f"loop '{loop.name}': a {kind} has no {field}", f"Remove {field}", locate)


def _given(loop: Loop, known: Known) -> bool:
    """Whether a field of some types is there: neither empty nor a number that says that it is not given."""
    value = getattr(loop, known.name)
    return bool(value) and value == value and value != known.default


def _check_method(loop: Loop, velocities: Collection[str], locate: Locate) -> None:
    name = loop.name
    if loop.method is not None and loop.method not in METHODS:
        what = f"loop '{name}' has the unknown method '{loop.method}'"
        refuse(loop, "method", what, f"Use one of: {', '.join(METHODS)}, or none to let the graph decide", locate)
    seen: set[str] = set()
    for velocity in loop.independent:
        if velocity not in velocities:
            what = f"loop '{name}': '{velocity}' is not a velocity coordinate, so that it cannot stay independent"
            refuse(loop, "independent", what, f"Name one of: {some_names(velocities)}", locate)
        if velocity in seen:
            refuse(loop, "independent", f"loop '{name}' names '{velocity}' twice", "Name it once", locate)
        seen.add(velocity)
    if loop.independent and loop.method == "force":
        what = f"loop '{name}' acts by force, which leaves no velocities independent of others"
        refuse(loop, "independent", what, "Remove independent, or use method embed", locate)
    if not (usable(loop.stabilisation) and loop.stabilisation >= 0.0):
        what = f"stabilisation of loop '{name}' is {loop.stabilisation} 1/s"
        refuse(loop, "stabilisation", what, "Give a rate of zero or more", locate)
    if loop.method == "embed" or loop.independent:
        for field in ("stabilisation", "projection"):
            if getattr(loop, field) != getattr(Loop, field):
                what = f"loop '{name}' is embedded, so that it stays closed without {field}"
                refuse(loop, field, what, f"Remove {field}, or use method force", locate)


def _check_switch(loop: Loop, locate: Locate) -> None:
    name = loop.name
    if not loop.closed and not loop.switchable:
        what = f"loop '{name}' starts open and is not switchable: it would never do anything"
        refuse(loop, "closed", what, "Add switchable: true, or remove the loop", locate)
    if loop.switchable and (loop.method == "embed" or loop.independent):
        field = "method" if loop.method == "embed" else "independent"
        what = f"loop '{name}' is switchable, and so acts by force; it cannot be embedded"
        refuse(loop, field, what, f"Remove {field}, or make the loop permanent", locate)
    if math.isnan(loop.reach) or loop.reach <= 0.0:
        refuse(loop, "reach", f"reach of loop '{name}' is {loop.reach} m", "Give a distance > 0, or none", locate)


def _check_initial(loop: Loop, locate: Locate) -> None:
    if not (len(loop.initial) == 3 and usable(loop.initial)):
        what = f"the initial motion of loop '{loop.name}' is {loop.initial}"
        refuse(loop, "initial", what, "Give a finite position, velocity and acceleration", locate)
    if any(loop.initial) and not loop.driven:
        what = f"loop '{loop.name}' has an initial motion and is not driven"
        refuse(loop, "initial", what, "Add driven: true, or remove initial", locate)


def _check_joining(loop: Loop, tree: _Tree, locate: Locate) -> Loop:
    hinge = loop.hinge
    if hinge is None:
        what = f"loop '{loop.name}' of type {loop.type} has no hinge, which says what frames it joins"
        refuse(loop, "hinge", what, "Give a Hinge with the first frame as parent and inboard", locate)
    wanted = JOINED_AS.get(loop.type, hinge.type)
    if hinge.type != wanted:
        what = f"the hinge of loop '{loop.name}' is {hinge.type}; that of a {loop.type} loop is {wanted}"
        refuse(loop, "hinge", what, f"Use a {wanted} hinge, or a loop of type hinge", locate)
    _check_ends(loop, hinge, tree, locate)
    checked = check_hinge(replace(hinge, name=loop.name, where=hinge.where or loop.where), locate)
    if loop.type == "hinge" and checked.nv == 6:
        what = f"loop '{loop.name}': a {hinge.type} hinge with six freedoms forbids nothing"
        refuse(loop, "hinge", what, "Use another hinge type, or remove the loop", locate)
    if hinge.dofs or np.size(hinge.q0) or np.size(hinge.v0):
        what = f"the hinge of loop '{loop.name}' has dofs or initial values; a cut hinge has none of its own"
        refuse(loop, "hinge", what, "Cut another hinge of the loop, and give this one to the tree", locate)
    bare = replace(checked, dofs=(), q0=_EMPTY, v0=_EMPTY, merge=True)
    return replace(loop, hinge=bare, length=_length(loop, checked, tree, locate))


def _check_wheel(loop: Loop, locate: Locate) -> Loop:
    """A rolling loop with a unit axle; others as they are."""
    wheel = loop.wheel
    if loop.type != "rolling":
        return loop
    if wheel is None or wheel.shape not in WHEELS:
        what = f"loop '{loop.name}' rolls, and has no wheel" + (f" of shape '{wheel.shape}'" if wheel else "")
        refuse(loop, "wheel", what, f"Give a Wheel of shape {' or '.join(WHEELS)}", locate)
    if not (usable(wheel.radius) and wheel.radius > 0.0):
        refuse(loop, "radius", f"the radius of loop '{loop.name}' is {wheel.radius} m", "Give a radius > 0", locate)
    axis = np.asarray(wheel.axis, dtype=float)
    if wheel.shape == "ball" and axis.size:
        refuse(loop, "axis", f"loop '{loop.name}': a ball has no axis", "Remove axis, or make it a disc", locate)
    if wheel.shape == "disc" and not (axis.shape == (3,) and usable(axis) and np.linalg.norm(axis) > 0.0):
        what = f"the disc of loop '{loop.name}' has no axle: its axis is {axis.tolist()}"
        refuse(loop, "axis", what, "Give axis, a direction in the axes of the second frame", locate)
    if loop.switchable:
        what = f"loop '{loop.name}' rolls, and cannot be switchable: it cannot hold the position in which it closes"
        refuse(loop, "switchable", what, "Remove switchable", locate)
    return replace(loop, wheel=replace(wheel, axis=axis / np.linalg.norm(axis) if axis.size else axis))


def _check_ends(loop: Loop, hinge: Hinge, tree: _Tree, locate: Locate) -> None:
    for field, body in (("parent", hinge.parent), ("body", loop.body)):
        if body is not None and body not in tree.names:
            what = f"loop '{loop.name}' joins '{body}', which does not exist"
            refuse(loop, field, what, f"Name one of: {some_names(tree.names)}, or the world", locate)
    if tree.together(hinge.parent, loop.body):
        first, second = (f"'{body}'" if body else "the world" for body in (hinge.parent, loop.body))
        how = "on the same body" if hinge.parent == loop.body else "on bodies that are fixed to each other"
        what = f"loop '{loop.name}' joins {first} with {second}: both frames are {how}"
        refuse(loop, "body", what, "Join frames that can move against each other, or remove the loop", locate)


def _length(loop: Loop, hinge: Hinge, tree: _Tree, locate: Locate) -> float:
    if loop.type != "distance":
        return 0.0
    given = not math.isnan(loop.length)
    length = loop.length if given else tree.distance(loop, hinge) - loop.initial[0]
    if not given and not length > 0.0:
        what = f"loop '{loop.name}' has no length, and its frames are at the same place at the start"
        what = what if not loop.initial[0] else f"loop '{loop.name}' is {length:.6g} m long without its first position"
        refuse(loop, "length", what, "Give the length, or a loop of type point for none", locate)
    if not (usable(length) and length > 0.0):
        refuse(loop, "length", f"the length of loop '{loop.name}' is {length} m", "Give a length > 0", locate)
    if not length + loop.initial[0] > 0.0:
        what = f"loop '{loop.name}' is {length + loop.initial[0]:.6g} m long with its first position"
        refuse(loop, "initial", what, "Give a position that leaves a length > 0", locate)
    return length


def _check_coupling(loop: Loop, tree: _Tree, locate: Locate) -> Loop:
    if not usable(loop.offset):
        refuse(loop, "offset", f"the offset of loop '{loop.name}' is {loop.offset}", "Give a finite number", locate)
    if not loop.terms:
        what = f"loop '{loop.name}' couples no coordinates"
        refuse(loop, "terms", what, "Give terms: coordinates with their factors", locate)
    seen: set[str] = set()
    for term in loop.terms:
        if term.coordinate in seen:
            what = f"loop '{loop.name}' has two terms of the coordinate '{term.coordinate}'"
            refuse(loop, f"terms.{term.coordinate}", what, "Add them up", locate)
        seen.add(term.coordinate)
        _check_term(loop, term, tree, locate)
    return replace(loop, length=0.0)


def _check_term(loop: Loop, term: Term, tree: _Tree, locate: Locate) -> None:
    name, field = term.coordinate, f"terms.{term.coordinate}"
    if name in tree.quasi:
        what = f"loop '{loop.name}' couples '{name}', whose rate is not a velocity of its hinge (quaternion or frame)"
        refuse(loop, field, what, "Couple coordinates of other hinge types, or join frames", locate)
    if name not in tree.rates:
        what = f"loop '{loop.name}' couples '{name}', which is not a coordinate"
        remedy = f"Name one of: {some_names(tree.rates)}" if tree.rates else "The model has none to couple"
        refuse(loop, field, what, remedy, locate)
    if not 1 <= len(term.factors) <= MOST_FACTORS:
        what = f"loop '{loop.name}' has {len(term.factors)} factors of '{name}'"
        refuse(loop, field, what, f"Give one to {MOST_FACTORS}, of q, q², q³, q⁴", locate)
    if not usable(term.factors) or not any(term.factors):
        what = f"the factors of '{name}' in loop '{loop.name}' are {list(term.factors)}"
        refuse(loop, field, what, "Give finite numbers, not all zero", locate)


def _check_lock(loop: Loop, tree: _Tree, locate: Locate) -> Loop:
    if loop.locked not in tree.hinges:
        what = f"loop '{loop.name}' locks '{loop.locked}', which is not a hinge"
        refuse(loop, "locked", what, f"Name one of: {some_names(list(tree.hinges))}", locate)
    if tree.hinges[loop.locked].type == "fixed":
        what = f"loop '{loop.name}' locks the hinge '{loop.locked}', which is fixed already"
        refuse(loop, "locked", what, "Name a hinge that can move, or remove the loop", locate)
    return replace(loop, length=0.0)
