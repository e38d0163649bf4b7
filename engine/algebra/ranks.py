"""What counts as zero and what as equal: one rule for all that decides by size, so that rounding decides nothing.

Libraries of linear algebra differ in the last bit from one processor to the next, and so do the numbers that a model is
made of. Which rows of a loop say something, which velocities depend on others, which vectors span a space: none of it
may change with that bit. The planning of loops (model/loops), the operators (operators) and `linearize` decide by
these rules, at the same numbers, those of `Mechanism`:

  scale      Rows and velocities are brought to order one by what is typical of the mechanism (`Sizes`), never by a
             row's own length: what is left of a row that says nothing is rounding, and would be made large.
  zero       An entry is zero that is not above NOISE of the terms that it was summed from (`without_rounding`): the
             lengths of the vectors in the products, not the products, in which a direction may be lost by chance.
  rank       Singular values count above RANK_TOLERANCE of the largest, at the configurations where a model is planned.
             That many rows count at most. At the present one a pivot of scaled rows is rounding up to NOISE, and a
             choice of dependent velocities is left below KEEP (tables/loops.py). The kernels (kernels/groups) have the
             same rows, scales, number and KEEP; how near to a singular position they follow a row is theirs to say
             (RANK there), since an integrator's stages do not close the loops to rounding.
  equal      Candidates whose sizes differ by less than TIED of the largest are equal, and the first one is taken.
  bases      Of a space of which only the span is known no basis is used as a library returns it: vectors are projected
             on it (`onto_null_space`), or a basis is drawn from fixed directions (`complement`, `eigenbases.py`).
"""

from __future__ import annotations

import numpy as np

#: an entry is zero up to this share of the terms that it was summed from: loops close to 1e-11, sums of many terms to
#: 1e-13
NOISE = 1e-9
#: sizes that differ by less than this share of the largest are equal
TIED = 1e-6
#: singular values below this share of the largest are zero: models write their numbers rounded
RANK_TOLERANCE = 1e-5


def without_rounding(sums: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """`sums` with zeros where nothing but rounding is left of terms of these sizes."""
    return np.where(np.abs(sums) > NOISE * terms, sums, 0.0)


def first_largest(sizes: np.ndarray) -> int:
    """The first of the largest of sizes that are not negative."""
    return int(np.argmax(sizes >= (1.0 - TIED) * sizes.max()))


def first_smallest(sizes: np.ndarray) -> int:
    """The first of the smallest of sizes that are not negative."""
    return int(np.argmax(sizes <= sizes.min() + TIED * sizes.max()))


def rank(A: np.ndarray, tolerance: float = RANK_TOLERANCE) -> int:
    """Number of singular values above this share of the largest."""
    s = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(s > tolerance * s[0])) if s.size and s[0] > 0.0 else 0


def onto_null_space(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The part of x (n,) that A (m, n) maps to zero."""
    Vt = np.linalg.svd(A, full_matrices=False)[2][: rank(A)]
    return np.asarray(x - Vt.T @ (Vt @ x))


def complement(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns (m, m - rank) across those of A (m, n).

    Of the unit vectors' parts across A those are taken that keep most of their length, and made orthonormal with the
    least change: where A leaves unit vectors alone they are these themselves.
    """
    Q = np.linalg.svd(A, full_matrices=False)[0][:, : rank(A, NOISE)]
    across = np.eye(len(A)) - Q @ Q.T
    left, chosen = across.copy(), list[int]()
    for _ in range(len(A) - Q.shape[1]):
        lengths = np.linalg.norm(left, axis=0)
        pivot = first_largest(lengths)
        chosen.append(pivot)
        unit = left[:, pivot] / lengths[pivot]
        left -= np.outer(unit, unit @ left)
    U, _, Vt = np.linalg.svd(across[:, sorted(chosen)], full_matrices=False)
    return without_rounding(U @ Vt, np.ones(1))
