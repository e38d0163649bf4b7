"""Convex hulls of meshes, with so few corners that contacts can use them.

A hull keeps corners of its mesh and adds none, so it nowhere stands out of the mesh's own hull. It begins with four
corners far from each other. Then those farthest from what is kept join, until none is farther away than the margin
within which surfaces are flat, or there are as many as a mesh that touches may have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from limberjack.engine.common.errors import MissingExtraError
from limberjack.engine.model.polytope import FLAT, MOST_VERTICES, Fail
from limberjack.engine.tables.contacts import MOST_CORNERS

#: corners that join in one round are at least this share of the farthest one's distance away
_SHARE = 0.5
#: points whose heights above all facets are found at once
_PIECE = 4096
#: a point this share of the hull's size below a facet may still be beside it: facets of one face differ by rounding
_LEVEL = 1e-9
#: what is this flat, as a share of its length, has no volume: both sides would be one face
_THIN = 4.0 * FLAT
_TINY = 1e-300
_SOLID = "Give a solid body, or a box that is as thick as it"


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points, or a body inside it.

    corners : (V, 3);  triangles : (T, 3), counter-clockwise from outside;  lack : how far the points stand out of it at
    most, in their unit, 0 where that is less than the margin
    """

    corners: np.ndarray
    triangles: np.ndarray
    lack: float


@dataclass(frozen=True, eq=False)
class _Facets:
    """triangles : (T, 3) places of corners;  normals : (T, 3), outwards;  offsets : (T,), 0 = normal · x + offset"""

    triangles: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray


def convex_hull(points: np.ndarray, fail: Fail) -> Hull:
    """The hull of points (n, 3): of those within its margin of the others, and beyond MOST_VERTICES, some are left out.

    Calls ``fail`` for points in a plane. Raises MissingExtraError without the package ``scipy``.
    """
    size = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    outer = points[_outermost(points, fail)]
    start, most = _simplex(outer, fail), MOST_VERTICES
    while True:
        chosen = outer[_thinned(outer, start, FLAT * size, most)]
        facets = _facets(chosen)
        heights = chosen @ facets.normals.T + facets.offsets
        if np.count_nonzero(heights > -FLAT * size, axis=0).max() <= MOST_CORNERS:
            lack = float(_beyond(outer, chosen)[0].max())
            return Hull(chosen, facets.triangles, lack if lack > FLAT * size else 0.0)
        most //= 2  # a face has at most MOST_CORNERS corners once there are no more


def lacks_of(lacks: dict[str, float]) -> list[str]:
    """A text where hulls do not hold all of their meshes. lacks : what says which mesh it is → its hull's lack, m"""
    found = {which: lack for which, lack in lacks.items() if lack > 0.0}
    if not found:
        return []
    which = max(found, key=lambda each: found[each])
    others = f" ({len(found) - 1} more like it, by less)" if len(found) > 1 else ""
    what = f"{which}: the mesh touches up to {found[which]:.2g} m inside its convex hull{others}"
    return [f"{what}: contacts take {MOST_VERTICES} corners at most, {MOST_CORNERS} of a face"]


def _outermost(points: np.ndarray, fail: Fail) -> np.ndarray:
    """Places of the corners of the hull of all points."""
    try:
        from scipy.spatial import ConvexHull, QhullError
    except ImportError:
        raise MissingExtraError("convex hulls of meshes", "scipy", "hulls") from None
    if len(points) < 4:
        fail(f"it has {len(points)} corners", _SOLID)
    try:
        return np.asarray(np.sort(ConvexHull(points).vertices))
    except QhullError:
        fail("its hull is flat", _SOLID)


def _facets(corners: np.ndarray) -> _Facets:
    """The hull of corners that are not in a plane."""
    from scipy.spatial import ConvexHull

    found = ConvexHull(corners)
    normals, triangles = found.equations[:, :3], found.simplices.copy()
    a, b, c = (corners[triangles[:, i]] for i in range(3))
    turned = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals) < 0.0
    triangles[turned] = triangles[turned, ::-1]
    return _Facets(triangles, normals, found.equations[:, 3])


def _thinned(points: np.ndarray, start: np.ndarray, margin: float, most: int) -> np.ndarray:
    """Places of the points that are kept, in their order, among them those to start with."""
    chosen = start
    while len(chosen) < most:
        distances, facets = _beyond(points, points[chosen])
        far = np.flatnonzero(distances > max(margin, _SHARE * distances.max()))
        if not len(far):
            break
        far = far[np.argsort(-distances[far], kind="stable")]
        first = np.sort(np.unique(facets[far], return_index=True)[1])  # the farthest beyond each facet
        chosen = np.concatenate([chosen, far[first][: most - len(chosen)]])
    return np.sort(chosen)


def _simplex(points: np.ndarray, fail: Fail) -> np.ndarray:
    """Places of four points that are far from each other, and not in a plane."""
    a = int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax())
    b = int(np.linalg.norm(points - points[a], axis=1).argmax())
    across = np.cross(points - points[a], points[b] - points[a])
    c = int(np.linalg.norm(across, axis=1).argmax())
    heights = np.abs((points - points[a]) @ across[c]) / max(float(np.linalg.norm(across[c])), _TINY)
    if heights.max() <= _THIN * np.linalg.norm(points[b] - points[a]):
        fail("its hull is flat", _SOLID)
    return np.array([a, b, c, int(heights.argmax())])


def _beyond(points: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(distance of each point from the hull of corners, 0 inside; the facet that it is nearest to, there)."""
    facets = _facets(corners)
    distances, nearest = np.zeros(len(points)), np.zeros(len(points), dtype=int)
    level = -_LEVEL * np.ptp(corners, axis=0).max()
    for start in range(0, len(points), _PIECE):
        heights = points[start : start + _PIECE] @ facets.normals.T + facets.offsets
        above = (heights > level) & (heights.max(axis=1) > 0.0)[:, None]
        which, facet = np.nonzero(above)  # the nearest facet is one of those that a point is above
        apart = _from_triangles(points[start + which], corners[facets.triangles[facet]], facets.normals[facet])
        order = np.lexsort((apart, which))
        which, first = np.unique(which[order], return_index=True)
        distances[start + which], nearest[start + which] = apart[order][first], facet[order][first]
    return distances, nearest


def _from_triangles(points: np.ndarray, triangles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """(n,) the distance of each point from its triangle (3, 3)."""
    over = np.ones(len(points), dtype=bool)
    nearest = np.full(len(points), np.inf)
    for i in range(3):
        from_a, along = points - triangles[:, i], triangles[:, (i + 1) % 3] - triangles[:, i]
        over &= np.einsum("ij,ij->i", np.cross(normals, along), from_a) >= 0.0
        share = np.einsum("ij,ij->i", from_a, along) / np.maximum(np.einsum("ij,ij->i", along, along), _TINY)
        there = from_a - np.clip(share, 0.0, 1.0)[:, None] * along
        nearest = np.minimum(nearest, np.linalg.norm(there, axis=1))
    heights = np.einsum("ij,ij->i", points - triangles[:, 0], normals)
    return np.where(over, np.abs(heights), nearest)
