"""Convex meshes: the faces of a closed surface, checked and made flat, with what the search for contacts needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from limberjack.engine.tables.contacts import MOST_CORNERS

#: reports (what is wrong, remedy)
Fail = Callable[[str, str], NoReturn]
#: corners of a mesh
MOST_VERTICES = 256
#: triangles that are looked at, before corners that are in one place are made one
MOST_TRIANGLES = 20_000
#: as shares of the mesh's size: corners nearer to each other are one; what is flat and convex: coordinates are
#: often written with seven digits
_SAME, FLAT = 1e-6, 1e-5
_REPAIR = "Repair it with a mesh tool, or let its convex hull touch with hull: true"
_FEWER = f"Give at most {MOST_VERTICES} corners: a coarser mesh, or simple shapes"


@dataclass(frozen=True, eq=False)
class Polytope:
    """A convex body.

    corners : (V, 3) m;  faces : their corners by place, counter-clockwise from outside;  normals : (F, 3), outwards
    """

    corners: np.ndarray
    faces: tuple[tuple[int, ...], ...]
    normals: np.ndarray


def polytope(corners: np.ndarray, faces: Sequence[Sequence[int]], fail: Fail) -> Polytope:
    """The convex body in a surface of flat faces, corners (n, 3).

    Calls ``fail`` for a surface that is open, not convex, without volume or of more than MOST_VERTICES corners.
    """
    triangles = np.array([[face[0], face[i], face[i + 1]] for face in faces for i in range(1, len(face) - 1)])
    if len(triangles) > MOST_TRIANGLES:
        fail(f"it has {len(triangles)} triangles", _FEWER)
    corners, places = _without_doubles(corners)
    triangles = places[triangles]
    triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
    if len(corners) > MOST_VERTICES:
        fail(f"it has {len(corners)} corners", _FEWER)
    neighbours = _neighbours(triangles, fail)
    x = corners[triangles]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    size = float(np.ptp(corners, axis=0).max())
    volume = float(np.einsum("tk,tk->", x[:, 0] - corners.mean(axis=0), normals)) / 6.0
    if abs(volume) <= (FLAT * size) ** 3 or not volume:
        fail("it has no volume", "Give the surface of a solid body")
    if volume < 0.0:
        triangles, normals = triangles[:, ::-1], -normals
    groups = _flat_groups(corners, triangles, normals, neighbours, FLAT * size, fail)
    return _whole(corners, triangles, groups, fail)


def _without_doubles(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners in different places, and the place of each given one among them."""
    exact, places = np.unique(corners, axis=0, return_inverse=True)
    places = places.reshape(-1)
    size = float(np.ptp(exact, axis=0).max()) if len(exact) else 0.0
    first = np.arange(len(exact))
    for i in range(len(exact)):
        if first[i] == i:
            near = np.abs(exact[i + 1 :] - exact[i]).max(axis=1) <= _SAME * size
            first[i + 1 :][near & (first[i + 1 :] == np.arange(i + 1, len(exact)))] = i
    kept, again = np.unique(first, return_inverse=True)
    return exact[kept], again[places]


def _neighbours(triangles: np.ndarray, fail: Fail) -> np.ndarray:
    """(T, 3) the triangle at the other side of each edge; edge i begins at corner i."""
    edges = {}
    for t, triangle in enumerate(triangles.tolist()):
        for i in range(3):
            edge = triangle[i], triangle[(i + 1) % 3]
            if edge in edges:
                fail("its triangles face different ways, or three of them meet in an edge", _REPAIR)
            edges[edge] = t
    found = np.zeros(triangles.shape, dtype=int)
    for (a, b), t in edges.items():
        if (b, a) not in edges:
            fail("its surface is not closed", _REPAIR)
        found[t, triangles[t].tolist().index(a)] = edges[b, a]
    return found


def _flat_groups(
    corners: np.ndarray, triangles: np.ndarray, normals: np.ndarray, neighbours: np.ndarray, margin: float, fail: Fail
) -> list[tuple[np.ndarray, list[int]]]:
    """(unit normal, triangles) of each flat face: grown from the largest triangle on. Nothing is above a face."""
    areas = np.linalg.norm(normals, axis=1)
    taken = np.zeros(len(triangles), dtype=bool)
    groups = []
    for seed in np.argsort(-areas, kind="stable").tolist():
        if taken[seed]:
            continue
        if areas[seed] <= margin * margin:
            fail("it has triangles without area", _REPAIR)
        normal = normals[seed] / areas[seed]
        heights = (corners - corners[triangles[seed, 0]]) @ normal
        if heights.max() > margin:
            fail("it is not convex", f"{_REPAIR}, or build the body of several convex shapes")
        flat = (np.abs(heights[triangles]) <= margin).all(axis=1)
        group, taken[seed] = [seed], True
        for t in group:  # grows
            for other in neighbours[t].tolist():
                if flat[other] and not taken[other]:
                    taken[other] = True
                    group.append(other)
        groups.append((normal, group))
    return groups


def _whole(
    corners: np.ndarray, triangles: np.ndarray, groups: list[tuple[np.ndarray, list[int]]], fail: Fail
) -> Polytope:
    """The body of these faces; corners inside of a face are left out."""
    loops = [_outline(triangles[group].tolist(), fail) for _, group in groups]
    used = np.unique([corner for loop in loops for corner in loop])
    place = {int(corner): i for i, corner in enumerate(used)}
    faces = tuple(tuple(place[corner] for corner in loop) for loop in loops)
    return Polytope(corners[used], faces, np.array([normal for normal, _ in groups]))


def _outline(triangles: list[list[int]], fail: Fail) -> list[int]:
    """The corners around a face of triangles."""
    edges = {(t[i], t[(i + 1) % 3]) for t in triangles for i in range(3)}
    after = {a: b for a, b in edges if (b, a) not in edges}
    loop = [min(after)]
    while after[loop[-1]] != loop[0] and len(loop) <= len(after):
        loop.append(after[loop[-1]])
    if len(loop) != len(after):
        fail("one of its faces has a hole", _REPAIR)
    if len(loop) > MOST_CORNERS:
        fail(f"one of its faces has {len(loop)} corners", f"Give at most {MOST_CORNERS}: a coarser mesh, or a cylinder")
    return loop
