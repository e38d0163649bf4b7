"""Surfaces of flexible bodies, and how their modes move every point of them."""

from __future__ import annotations

import numpy as np

from limberjack.bridge.scene.surfaces import Surface, joined, surface_of
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.frames import rotation_to_z
from limberjack.engine.modes.modal import Outline

#: points that are looked at together
_PORTION = 512
#: radius of the rods along the lines of a body without shapes, relative to its extent
_SLENDER = 0.006
#: nodes without lines that are drawn
_MOST_KNOTS = 300


def finest(outline: Outline) -> float:
    """Longest edge, m, with which a surface can follow the deformation: half of what is between two nodes."""
    ends = outline.p[outline.lines.astype(int)]
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    lengths = lengths[lengths > 0.0]
    return 0.5 * float(np.median(lengths)) if len(lengths) else extent(outline) / 16.0


def extent(outline: Outline) -> float:
    """Diagonal of the box about all nodes, m; 1 where there is none."""
    return float(np.linalg.norm(np.ptp(outline.p, axis=0))) or 1.0


def bare(outline: Outline) -> Surface:
    """Rods along the lines between nodes; where there are none, a knot at each node."""
    radius = _SLENDER * extent(outline)
    if not len(outline.lines):
        some = np.linspace(0, len(outline.p) - 1, min(len(outline.p), _MOST_KNOTS)).astype(int)
        edge = np.full(3, 2.0 * radius)
        return joined([surface_of(Shape("", "box", edge, "", outline.p[i])) for i in some])
    rods = []
    for start, end in outline.p[outline.lines.astype(int)]:
        along = end - start
        length = float(np.linalg.norm(along))
        if length > 0.0:
            size = np.array([radius, radius, length])
            turn = rotation_to_z(along / length)
            rods.append(surface_of(Shape("", "cylinder", size, "", start + 0.5 * along, turn), finest(outline)))
    return joined(rods)


def displacements(points: np.ndarray, outline: Outline) -> np.ndarray:
    """(n, V, 3) m per unit of every modal coordinate, of points (V, 3) that are fixed to the nearest line or node.

    Between the ends of a line, translation and rotation are taken in proportion; a point off the line turns with it:
    u = Π^t + Π^r × (point - place on the line).
    """
    modes = outline.Pt.shape[2]
    moved = np.zeros((modes, len(points), 3))
    for start in range(0, len(points), _PORTION):
        some = points[start : start + _PORTION]
        first, second, share = _nearest(some, outline)
        away = some - (outline.p[first] + share[:, None] * (outline.p[second] - outline.p[first]))
        turn, shift = (
            (1.0 - share)[:, None, None] * part[first] + share[:, None, None] * part[second]
            for part in (outline.Pr, outline.Pt)
        )
        across = np.cross(turn, away[:, :, None], axis=1)
        moved[:, start : start + _PORTION] = np.moveaxis(shift + across, 2, 0)
    return moved


def _nearest(points: np.ndarray, outline: Outline) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each point the two ends of the nearest line, and the share of the second in the place nearest to it."""
    lines = outline.lines.astype(int)
    if not len(lines):
        lines = np.repeat(np.arange(len(outline.p))[:, None], 2, axis=1)
    starts, along = outline.p[lines[:, 0]], outline.p[lines[:, 1]] - outline.p[lines[:, 0]]
    squares = np.maximum(np.einsum("ek,ek->e", along, along), 1e-300)
    share = np.clip(np.einsum("vek,ek->ve", points[:, None] - starts, along) / squares, 0.0, 1.0)
    apart = points[:, None] - starts - share[:, :, None] * along
    best = np.argmin(np.einsum("vek,vek->ve", apart, apart), axis=1)
    return lines[best, 0], lines[best, 1], share[np.arange(len(points)), best]
