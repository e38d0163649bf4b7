"""How far shapes that touch reach: their numbers in the table of colliders, and what holds them."""

from __future__ import annotations

import math

import numpy as np

from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.grounds import ground_corners
from limberjack.engine.model.meshes import body_of
from limberjack.engine.model.polytope import Polytope


def kind_of(shape: Shape) -> str:
    """Its entry of SHAPES: a cylinder whose ends differ is a cone."""
    return "cone" if shape.type == "cylinder" and shape.size[0] != shape.size[1] else shape.type


def middle_of(body: Polytope) -> np.ndarray:
    """(3,) a place in a mesh, the mean of its corners."""
    return np.asarray(body.corners.mean(axis=0))


def size_of(shape: Shape, body: Polytope | None = None) -> tuple[np.ndarray, float]:
    """Its numbers in the table of colliders, and the radius of a sphere about its centre that holds it, m.

    body : of a mesh, if it is known
    """
    size = np.asarray(shape.size, dtype=float)
    if shape.type == "plane":
        return np.zeros(3), 0.0
    if shape.type == "sphere":
        return np.array([size[0], 0.0, 0.0]), float(size[0])
    if shape.type == "box":
        return 0.5 * size, 0.5 * float(np.linalg.norm(size))
    if shape.type == "mesh":
        body = body or body_of(shape)
        return np.zeros(3), float(np.linalg.norm(body.corners - middle_of(body), axis=1).max())
    if shape.type == "height_field":
        corners = ground_corners(shape).reshape(-1, 3)
        return np.array([*(0.5 * size), corners[:, 2].max()]), float(np.linalg.norm(corners, axis=1).max())
    if shape.type == "ring":
        return np.array([size[0], size[1], 0.0]), float(size[0] + size[1])
    if shape.type == "capsule":
        return np.array([size[0], 0.5 * size[1], 0.0]), float(size[0] + 0.5 * size[1])
    if kind_of(shape) in ("funnel", "cone"):
        return np.array([size[0], size[1], 0.5 * size[2]]), math.hypot(max(size[:2]), 0.5 * size[2])
    return np.array([size[0], 0.5 * size[2], 0.0]), math.hypot(size[0], 0.5 * size[2])


def box_of(shape: Shape, body: Polytope | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The middle, about its centre, and half the edges of a box along its axes that holds it, m.

    They are 0 for a plane and a height field. body : of a mesh, if it is known
    """
    size, middle = np.asarray(shape.size, dtype=float), np.zeros(3)
    if shape.type in ("plane", "height_field"):
        return middle, np.zeros(3)
    if shape.type == "mesh":
        body = body or body_of(shape)
        low, high = body.corners.min(axis=0), body.corners.max(axis=0)
        return 0.5 * (low + high) - middle_of(body), 0.5 * (high - low)
    if shape.type == "box":
        return middle, 0.5 * size
    if shape.type == "sphere":
        return middle, np.full(3, size[0])
    if shape.type == "ring":
        return middle, np.array([size[0] + size[1], size[0] + size[1], size[1]])
    if shape.type == "capsule":
        return middle, np.array([size[0], size[0], size[0] + 0.5 * size[1]])
    wide = float(max(size[:2]))
    return middle, np.array([wide, wide, 0.5 * size[2]])
