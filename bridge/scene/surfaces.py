"""Surfaces of shapes as triangles."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.grounds import ground_corners

#: corners of what is round, and steps of a quarter of a circle
_AROUND, _QUARTER = 32, 8
#: parts, at most, that one edge is cut into
_MOST_PARTS = 48
#: of the unit box: for each face its normal's axis and sign
_FACES = tuple((axis, sign) for axis in range(3) for sign in (-1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Surface:
    """points : (V, 3) m, a separate one for each side of a sharp edge;  triangles : (T, 3), outward"""

    points: np.ndarray
    triangles: np.ndarray


def surface_of(shape: Shape, finest: float = math.inf) -> Surface:
    """The surface of a shape, not of a file, in its body's frame; edges longer than ``finest`` (m) are cut, to bend,
    but not those of a mesh or of ground."""
    made = _OF_SHAPES[shape.type](shape) if shape.type in _OF_SHAPES else _made(shape.type, shape.size, finest)
    return Surface(made.points @ shape.rotation.T + shape.position, made.triangles)


def joined(surfaces: list[Surface]) -> Surface:
    """All of them as one."""
    starts = np.cumsum([0, *(len(each.points) for each in surfaces)])
    points = np.vstack([np.zeros((0, 3)), *(each.points for each in surfaces)])
    triangles = [each.triangles + start for each, start in zip(surfaces, starts)]
    return Surface(points, np.vstack([np.zeros((0, 3), dtype=int), *triangles]))


def _triangles(shape: Shape) -> Surface:
    """The triangles of a mesh, of which each has its own corners; a mirrored one is turned inside out again."""
    order = shape.faces.astype(int)[:, :: 1 if np.prod(shape.size) > 0.0 else -1]
    return Surface((shape.vertices * shape.size)[order].reshape(-1, 3), np.arange(order.size).reshape(-1, 3))


def _ground(shape: Shape) -> Surface:
    """The triangles of a height field, each cell halved as contacts do."""
    rows, columns = shape.heights.shape
    place = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = place[:-1, :-1], place[:-1, 1:], place[1:, 1:], place[1:, :-1]
    halves = [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, d), (b, c, d))]
    return Surface(ground_corners(shape).reshape(-1, 3), np.concatenate(halves))


#: type → its surface, of shapes that are more than numbers
_OF_SHAPES = {"mesh": _triangles, "height_field": _ground}


def _made(kind: str, size: np.ndarray, finest: float) -> Surface:
    if kind == "box":
        return _box(size, finest)
    if kind == "plane":
        half = np.array([*size, 0.0]) * 0.5
        corners = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]]) * half
        return Surface(corners, np.array([[0, 1, 2], [0, 2, 3]]))
    if kind == "sphere":
        return _turned([_arc(size[0], 0.0, -1.0, 1.0)])
    if kind == "ellipsoid":
        ball = _turned([_arc(1.0, 0.0, -1.0, 1.0)])
        return Surface(ball.points * size, ball.triangles)
    if kind == "capsule":
        radius, half = size[0], 0.5 * size[1]
        side = _cut(np.array([[radius, -half], [radius, half]]), finest)[1:-1]
        return _turned([np.vstack([_arc(radius, -half, -1.0, 0.0), side, _arc(radius, half, 0.0, 1.0)])])
    if kind == "ring":
        half = np.pi * np.linspace(-1.0, 1.0, 4 * _QUARTER + 1)
        return _turned([np.column_stack([size[0] + size[1] * np.cos(half), size[1] * np.sin(half)])])
    first, last, half = size[0], size[1], 0.5 * size[2]
    side = _cut(np.array([[first, -half], [last, half]]), finest)
    if kind == "funnel":  # a thin wall, seen from both sides
        return _turned([side, side[::-1]])
    caps = [np.array([[0.0, -half], [first, -half]]), np.array([[last, half], [0.0, half]])]
    return _turned([caps[0], side, caps[1]])


def _parts(length: float, finest: float) -> int:
    return max(1, min(_MOST_PARTS, math.ceil(length / finest)))


def _cut(line: np.ndarray, finest: float) -> np.ndarray:
    """Points (n, 2) along a line of two."""
    steps = np.linspace(0.0, 1.0, _parts(float(np.linalg.norm(line[1] - line[0])), finest) + 1)
    return np.asarray(line[0] + steps[:, None] * (line[1] - line[0]))


def _arc(radius: float, centre: float, first: float, last: float) -> np.ndarray:
    """Points [distance from the axis, z] of a circle about z = centre, from a quarter turn times first to last."""
    angles = 0.5 * np.pi * np.linspace(first, last, round(_QUARTER * (last - first)) + 1)
    return np.column_stack([radius * np.abs(np.cos(angles)), centre + radius * np.sin(angles)])


def _turned(pieces: list[np.ndarray]) -> Surface:
    """What profiles [distance from the axis, z], from -z to +z, sweep when turned about z; edges between are sharp."""
    angles = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    around = np.column_stack([np.cos(angles), np.sin(angles)])
    made = []
    for piece in pieces:
        rings = [np.column_stack([radius * around, np.full(_AROUND, z)]) for radius, z in piece]
        made.append(Surface(np.vstack(rings), _grid(len(piece), _AROUND, closed=True)))
    return joined(made)


def _grid(rows: int, columns: int, closed: bool) -> np.ndarray:
    """Triangles (T, 3) between rows of points, closed: each row ends where it begins."""
    place = np.arange(rows * columns).reshape(rows, columns)
    place = np.column_stack([place, place[:, :1]]) if closed else place
    a, b, c, d = place[:-1, :-1], place[:-1, 1:], place[1:, 1:], place[1:, :-1]
    return np.concatenate([np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, b, c), (a, c, d))])


def _box(size: np.ndarray, finest: float) -> Surface:
    faces = []
    for axis, sign in _FACES:
        first, second = (axis + 1) % 3, (axis + 2) % 3
        along = [np.linspace(-0.5, 0.5, _parts(size[i], finest) + 1) * size[i] for i in (first, second)]
        points = np.zeros((len(along[0]) * len(along[1]), 3))
        points[:, axis] = 0.5 * sign * size[axis]
        points[:, first], points[:, second] = (each.ravel() for each in np.meshgrid(sign * along[0], along[1]))
        faces.append(Surface(points, _grid(len(along[1]), len(along[0]), closed=False)))
    return joined(faces)
