"""Which corners of a mesh can be farthest along directions of a sector, so that contacts compare few of many.

A direction n belongs to a sector by the order of |n₁|, |n₂|, |n₃| and by its signs. The directions of a sector are sums
of three vectors e with positive weights: ±e of the largest part, that plus ±e of the second, and that plus ±e of the
third. A corner is left out if another one is farther along all three, so it is not farthest along any of their sums.
"""

from __future__ import annotations

import itertools

import numpy as np

#: the axes from the largest part of a direction to the smallest, in the order of the sectors; then come the signs
_ORDERS = ((0, 1, 2), (0, 2, 1), (2, 0, 1), (1, 0, 2), (1, 2, 0), (2, 1, 0))
#: by how much another corner is farther, as a share of the mesh's size: more than products are off by rounding
_FARTHER = 1e-12


def sectors(corners: np.ndarray) -> list[list[int]]:
    """Of each sector (`kernels/contacts/supports.py`), the places of the corners (V, 3) that can be farthest."""
    margin = _FARTHER * float(np.abs(corners).max())
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=3)))
    return [_farthest(corners @ _edges(order, sign), margin) for order in _ORDERS for sign in signs]


def _edges(order: tuple[int, int, int], signs: np.ndarray) -> np.ndarray:
    """(3, 3) the vectors whose sums are the directions of a sector, as columns."""
    return np.cumsum(np.diag(signs)[:, order], axis=1)


def _farthest(reach: np.ndarray, margin: float) -> list[int]:
    """Places of the corners that no other one exceeds along all three vectors. reach : (V, 3) along each"""
    far = reach[[*reach.argmax(axis=0), int(reach.sum(axis=1).argmax())]]
    kept = np.flatnonzero(_keeps_up(reach, far, margin))  # few exceed most of them
    return [int(i) for i in kept[_keeps_up(reach[kept], reach[kept], margin)]]


def _keeps_up(reach: np.ndarray, others: np.ndarray, margin: float) -> np.ndarray:
    """(V,) whether none of the others is farther along all three vectors."""
    exceeds = np.all(others[None] > reach[:, None] + margin, axis=2)
    return np.asarray(~np.any(exceeds, axis=1))
