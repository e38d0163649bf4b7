"""Eigenmodes in a basis that does not depend on rounding.

Modes of one frequency, such as those of a beam with equal stiffness in two planes, span a space. A library may return
any basis of it, and a different one on another processor. Here, modes count as equal if the relative difference of
their ω² is below CLOSE. Of the bases of their space, `fixed` takes the one nearest to fixed directions: those of the
given rows (displacements of nodes, or coordinates) that move most in that space, the first ones if several move
equally. Each mode moves its own row in the positive direction, and the modes have the order of their rows. The same
rule gives the sign of a single mode.

When rounding changes the numbers, the basis changes no more than the space does.
"""

from __future__ import annotations

import numpy as np

from limberjack.engine.algebra.ranks import first_largest

#: ω² that differ by less than this share are equal: eigensolvers resolve 1e-16 of their highest ω², which may be 1e8
#: times the lowest
CLOSE = 1e-7
#: and so are those that differ by less than this share of the highest
ROUNDING = 1e-15


def clusters(squares: np.ndarray, blur: np.ndarray | float = 0.0) -> list[slice]:
    """Slices of equal ω² among ascending ones; blur: the share of each that rounding may have changed."""
    size = np.abs(squares)
    same = np.diff(squares) <= ((CLOSE + blur) * size)[1:] + ROUNDING * size.max(initial=0.0)
    starts = [0, *(np.flatnonzero(~same) + 1).tolist()] if len(squares) else []
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], len(squares)])]


def fixed(
    squares: np.ndarray, modes: np.ndarray, rows: np.ndarray, blur: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """ω² (n,) and modes (d, n) in the basis of that rule; rows (p, n): what the given modes move, all in one unit."""
    squares, modes = squares.copy(), modes.copy()
    for part in clusters(squares, blur):
        turn = _turn(rows[:, part])
        modes[:, part] = modes[:, part] @ turn
        squares[part] = np.einsum("ri,r,ri->i", turn, squares[part], turn)
    return squares, modes


def _turn(rows: np.ndarray) -> np.ndarray:
    """An orthogonal matrix (m, m): the chosen rows times this matrix are symmetric and positive."""
    left, chosen = rows.copy(), list[int]()
    for _ in range(rows.shape[1]):
        lengths = np.linalg.norm(left, axis=1)
        pivot = first_largest(lengths)
        if lengths[pivot] == 0.0:  # a mode that moves none of the rows
            return np.eye(rows.shape[1])
        unit = left[pivot] / lengths[pivot]
        left -= np.outer(left @ unit, unit)
        chosen.append(pivot)
    U, _, Vt = np.linalg.svd(rows[sorted(chosen)])
    return np.asarray(Vt.T @ U.T)


def own_modes(stiffness: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ω² (n,) ascending and Φ (n, n) of symmetric (n, n) with Φ* M Φ = 1, nearest to the coordinates themselves."""
    inverse = np.linalg.inv(np.linalg.cholesky(mass))
    squares, vectors = np.linalg.eigh(inverse @ stiffness @ inverse.T)
    modes = inverse.T @ vectors
    return fixed(squares, modes, np.sqrt(np.diag(mass))[:, None] * modes)
