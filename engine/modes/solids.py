"""Solid elements, straight or curved: hexahedra, wedges, tetrahedra. Consistent mass, and stiffness under stress.

The order of an element's nodes is CalculiX's in results: corners as everyone's; of quadratic hexahedra and wedges the
middles of the bottom's edges, then the upright ones, then the top's. Integration points are in CalculiX's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ModelError

_HEX = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)])
_HEX_EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4))
_TET_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
_WEDGE = np.array([(0, 0, -1), (1, 0, -1), (0, 1, -1), (0, 0, 1), (1, 0, 1), (0, 1, 1)])
_WEDGE_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3))


@dataclass(frozen=True, eq=False)
class Rule:
    """Shape functions (Q, k), their derivatives by the element's coordinates (Q, 3, k), weights (Q,), edges."""

    value: np.ndarray
    slope: np.ndarray
    weight: np.ndarray
    edges: tuple[tuple[int, int], ...]


def _monomials(powers: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.prod(x[:, None, :] ** powers[None], axis=2))


def _rule(nodes: np.ndarray, powers: np.ndarray, points: np.ndarray, weight: np.ndarray, edges: Any) -> Rule:
    """Shape functions that are 1 at one node and 0 at the others, from the monomials they are made of."""
    inverse = np.linalg.inv(_monomials(powers, nodes))
    slope = []
    for i in range(3):
        lowered = powers - np.eye(3, dtype=int)[i]
        slope.append(powers[:, i] * _monomials(np.maximum(lowered, 0), points) @ inverse)
    return Rule(_monomials(powers, points) @ inverse, np.stack(slope, axis=1), weight, tuple(edges))


def _hexahedron(middles: bool, order: int) -> Rule:
    gauss, w = np.polynomial.legendre.leggauss(order)
    points = np.array(list(product(gauss, repeat=3)))[:, ::-1]  # x runs first
    weight = np.array([np.prod(item) for item in product(w, repeat=3)])
    nodes = _HEX.astype(float)
    powers = np.array(list(product((0, 1), repeat=3)))
    if middles:
        nodes = _with_middles(nodes, _HEX_EDGES)
        # serendipity: at most one square, with the others at most linear
        square = [p for p in product((0, 1, 2), repeat=3) if sum(i == 2 for i in p) == 1]
        powers = np.vstack([powers, square])
    return _rule(nodes, powers, points, weight, _HEX_EDGES)


def _wedge(middles: bool, order: int) -> Rule:
    """`order` points in the triangle (1 or 3), times two or three upright."""
    corner = np.full((1, 2), 1 / 3) if order == 1 else np.array([(1, 1), (4, 1), (1, 4)]) / 6.0
    gauss, w = np.polynomial.legendre.leggauss(2 if order == 1 else 3)
    points = np.array([(*place, height) for height in gauss for place in corner])
    weight = np.repeat(w, len(corner)) / (2.0 * len(corner))
    nodes = _WEDGE.astype(float)
    flat = ((0, 0), (1, 0), (0, 1))
    powers = [(*p, k) for p in flat for k in (0, 1)]
    if middles:
        nodes = _with_middles(nodes, _WEDGE_EDGES)
        powers += [(*p, k) for p in ((2, 0), (1, 1), (0, 2)) for k in (0, 1)] + [(*p, 2) for p in flat]
    return _rule(nodes, np.array(powers), points, weight, _WEDGE_EDGES)


def _tetrahedron(middles: bool, order: int) -> Rule:
    near, far = (5.0 - np.sqrt(5.0)) / 20.0, (5.0 + 3.0 * np.sqrt(5.0)) / 20.0
    corners = np.vstack([np.zeros(3), np.eye(3)])
    points = near + (far - near) * corners if order == 4 else np.full((1, 3), 0.25)
    powers = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    nodes = corners
    if middles:
        nodes = _with_middles(nodes, _TET_EDGES)
        powers = np.vstack([powers, [p for p in product((0, 1, 2), repeat=3) if sum(p) == 2]])
    weight = np.full(len(points), 1.0 / 6.0 / len(points))
    return _rule(nodes, powers, points, weight, _TET_EDGES)


def _with_middles(nodes: np.ndarray, edges: Any) -> np.ndarray:
    return np.vstack([nodes, [(nodes[a] + nodes[b]) / 2 for a, b in edges]])


#: by number of nodes and of integration points: C3D4, C3D6, C3D8 (C3D8R), C3D10, C3D15, C3D20 (C3D20R)
RULES = {
    (4, 1): _tetrahedron(False, 1), (6, 2): _wedge(False, 1), (8, 8): _hexahedron(False, 2),
    (8, 1): _hexahedron(False, 1), (10, 4): _tetrahedron(True, 4), (15, 9): _wedge(True, 3),
    (20, 27): _hexahedron(True, 3), (20, 8): _hexahedron(True, 2),
}  # fmt: skip
#: edges by number of nodes
EDGES = {nodes: rule.edges for (nodes, _), rule in RULES.items()}
#: integration points by number of nodes
FULL = {4: 1, 6: 2, 8: 8, 10: 4, 15: 9, 20: 27}
REDUCED = {**FULL, 8: 1, 20: 8}


def solid_mass(
    positions: np.ndarray, elements: Sequence[Sequence[int]], density: np.ndarray, where: str, reduced: bool = False
) -> Any:
    """Sparse (N, N) mass matrix of each translation; elements as indices of nodes, density (E,) kg/m³.

    reduced : whether hexahedra have the integration points of C3D8R and C3D20R instead of C3D8 and C3D20

    ModelError for elements that are not solids of 4, 6, 8, 10, 15 or 20 nodes, or turned inside out.
    """
    import scipy.sparse

    rows, columns, values = [], [], []
    for number, (nodes, rho) in enumerate(zip(elements, density), start=1):
        points = (REDUCED if reduced else FULL).get(len(nodes))
        if points is None:
            what = f"element {number} of the results has {len(nodes)} nodes: no solid of 4, 6, 8, 10, 15 or 20 nodes"
            raise ModelError(what, where=where, remedy="Give nodal masses (masses: file.csv) instead of densities")
        place, rule = np.asarray(nodes), RULES[len(nodes), points]
        jacobian = np.linalg.det(rule.slope @ positions[place])
        if jacobian.min() <= 0.0:
            what = f"element {number} of the results is turned inside out or flat"
            raise ModelError(what, where=where, remedy="Fix the mesh")
        block = np.einsum("q,qa,qb->ab", rho * rule.weight * jacobian, rule.value, rule.value)
        rows.append(np.repeat(place, len(place)))
        columns.append(np.tile(place, len(place)))
        values.append(block.ravel())
    size = len(positions)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return scipy.sparse.csr_matrix(entries, shape=(size, size))
