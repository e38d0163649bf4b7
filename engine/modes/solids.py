"""Consistent mass of solid elements: hexahedra and tetrahedra with straight or curved edges.

The order of an element's nodes is CalculiX's in results: corners as everyone's; of the 20-node hexahedron the middles
of the bottom's edges, then the upright ones, then the top's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from limberjack.engine.errors import ModelError

_HEX = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)])
_HEX_EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4))
_TET_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))


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


def _hexahedron(middles: bool) -> Rule:
    gauss, w = np.polynomial.legendre.leggauss(3)
    points = np.array(list(product(gauss, repeat=3)))
    weight = np.array([np.prod(item) for item in product(w, repeat=3)])
    nodes = _HEX.astype(float)
    powers = np.array(list(product((0, 1), repeat=3)))
    if middles:
        nodes = np.vstack([nodes, [(nodes[a] + nodes[b]) / 2 for a, b in _HEX_EDGES]])
        # serendipity: at most one square, with the others at most linear
        square = [p for p in product((0, 1, 2), repeat=3) if sum(i == 2 for i in p) == 1]
        powers = np.vstack([powers, square])
    return _rule(nodes, powers, points, weight, _HEX_EDGES)


def _tetrahedron(middles: bool) -> Rule:
    near, far = (5.0 - np.sqrt(5.0)) / 20.0, (5.0 + 3.0 * np.sqrt(5.0)) / 20.0
    points = near + (far - near) * np.vstack([np.zeros(3), np.eye(3)]) if middles else np.full((1, 3), 0.25)
    nodes = np.vstack([np.zeros(3), np.eye(3)])
    powers = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    if middles:
        nodes = np.vstack([nodes, [(nodes[a] + nodes[b]) / 2 for a, b in _TET_EDGES]])
        powers = np.vstack([powers, [p for p in product((0, 1, 2), repeat=3) if sum(p) == 2]])
    weight = np.full(len(points), 1.0 / 6.0 / len(points))
    return _rule(nodes, powers, points, weight, _TET_EDGES)


#: by number of nodes
RULES = {8: _hexahedron(False), 20: _hexahedron(True), 4: _tetrahedron(False), 10: _tetrahedron(True)}


def solid_mass(positions: np.ndarray, elements: Sequence[Sequence[int]], density: np.ndarray, where: str) -> Any:
    """Sparse (N, N) mass matrix of each translation; elements as indices of nodes, density (E,) kg/m³.

    ModelError for elements that are no solids of 4, 8, 10 or 20 nodes, or turned inside out.
    """
    import scipy.sparse

    rows, columns, values = [], [], []
    for number, (nodes, rho) in enumerate(zip(elements, density), start=1):
        rule = RULES.get(len(nodes))
        if rule is None:
            what = f"element {number} of the results has {len(nodes)} nodes: no solid of 4, 8, 10 or 20 nodes"
            raise ModelError(what, where=where, mend="Give nodal masses (masses: file.csv) instead of densities")
        place = np.asarray(nodes)
        jacobian = np.linalg.det(rule.slope @ positions[place])
        if jacobian.min() <= 0.0:
            what = f"element {number} of the results is turned inside out or flat"
            raise ModelError(what, where=where, mend="Mend the mesh")
        block = np.einsum("q,qa,qb->ab", rho * rule.weight * jacobian, rule.value, rule.value)
        rows.append(np.repeat(place, len(place)))
        columns.append(np.tile(place, len(place)))
        values.append(block.ravel())
    size = len(positions)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return scipy.sparse.csr_matrix(entries, shape=(size, size))
