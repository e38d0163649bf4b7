"""The drawing of a body without shapes, from its inertia and its hinges."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection

import numpy as np

from limberjack.engine.algebra.eigenbases import fixed
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.frames import rotation_to_z
from limberjack.engine.model.system import Body, Inertia, System

#: density for point masses, kg/m³; a box that would be lighter than the second has an inertia that no solid has
_DENSITY, _LIGHTEST = 1000.0, 2.0
#: edges of a box are at least this part of the longest, and a rod's radius this part of its length
_THINNEST = 0.03
#: relative difference of two principal moments that counts as zero
_ALIKE = 0.02


def looks(system: System, dressed: Collection[str | None]) -> list[Shape]:
    """Shapes of all rigid bodies but those that are ``dressed``, by names."""
    flexible, joints = set(system.flexible_names), _joints(system)
    made: list[Shape] = []
    for body in system.own_bodies:
        if body.name not in dressed and body.name not in flexible:
            made += _looks(body, joints[body.name])
    return made


def _joints(system: System) -> dict[str | None, list[np.ndarray]]:
    """Body → where hinges, loops and nodes sit on it, (3,) in its frame."""
    found: dict[str | None, list[np.ndarray]] = defaultdict(list)
    for body in system.bodies:
        found[body.name].append(body.hinge.outboard.position)
        found[body.hinge.parent].append(body.hinge.inboard.position)
    for loop in system.loops:
        if loop.hinge is not None:
            found[loop.hinge.parent].append(loop.hinge.inboard.position)
            found[loop.body].append(loop.hinge.outboard.position)
    for node in system.nodes:
        found[node.body].append(node.pose.position)
    return found


def _looks(body: Body, joints: list[np.ndarray]) -> list[Shape]:
    """A solid of the body's mass and inertia, and rods from its hinge to whatever else sits on it."""
    solid = _solid(body)
    thickest = min((0.25 * float(np.min(each.size[each.size > 0.0])) for each in solid), default=math.inf)
    rods = []
    for joint in joints[1:]:
        along = joint - joints[0]
        length = float(np.linalg.norm(along))
        radius = min(thickest, _THINNEST * length)
        if radius > 0.0:
            axis = rotation_to_z(along / length)
            rods.append(Shape(body.name, "capsule", np.array([radius, length]), "", joints[0] + 0.5 * along, axis))
    return [*solid, *rods]


def _solid(body: Body) -> list[Shape]:
    """A disc for what is round about its hinge's axis, else a box, a ball for a point mass; nothing without mass."""
    inertia, hinge = body.inertia, body.hinge
    if not inertia.mass > 0.0:
        return []
    moments, axes = np.linalg.eigh(inertia.about_com)
    moments, axes = fixed(moments, axes, axes)  # of equal moments the axes nearest to the body's own
    if hinge.type == "revolute":
        axis = hinge.outboard.rotation @ hinge.axes[0]
        disc = _disc(inertia, axis / np.linalg.norm(axis))
        if disc is not None:
            return [Shape(body.name, "cylinder", disc, "", inertia.com, rotation_to_z(axis))]
    edges = np.sqrt(np.maximum(6.0 * (moments.sum() - 2.0 * moments) / inertia.mass, 0.0))
    edges = np.maximum(edges, _THINNEST * edges.max())
    if not inertia.mass >= _LIGHTEST * np.prod(edges) > 0.0:
        radius = (3.0 * inertia.mass / (4.0 * math.pi * _DENSITY)) ** (1.0 / 3.0)
        return [Shape(body.name, "sphere", np.array([radius]), "", inertia.com)]
    axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])
    return [Shape(body.name, "box", edges, "", inertia.com, axes)]


def _disc(inertia: Inertia, axis: np.ndarray) -> np.ndarray | None:
    """Size of the flat cylinder about an axis through the centre of mass that has this inertia; None if there is none.

    Moments: m r² / 2 about the axis, m r² / 4 + m h² / 12 across it.
    """
    spin = float(axis @ inertia.about_com @ axis)
    across = 0.5 * (float(np.trace(inertia.about_com)) - spin)
    expected = across * np.eye(3) + (spin - across) * np.outer(axis, axis)
    off = float(np.linalg.norm(np.cross(inertia.com, axis)))
    if not spin > 0.0:
        return None
    round_about = np.abs(inertia.about_com - expected).max() <= _ALIKE * max(spin, across)
    radius = math.sqrt(2.0 * spin / inertia.mass)
    if not round_about or spin <= across or off > _ALIKE * radius:
        return None
    height = math.sqrt(max(12.0 * across / inertia.mass - 3.0 * radius**2, 0.0))
    return np.array([radius, radius, max(height, _THINNEST * radius)])
