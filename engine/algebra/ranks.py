"""What counts as zero and what as equal: one rule for all decisions by size, so that none depends on rounding.

Results of linear-algebra libraries differ in the last bit from one processor to the next, and so do the numbers of a
model. That bit must not decide which rows of a loop constrain anything, which velocities depend on others, or which
vectors span a space. The planning of loops (model/loops), the operators (operators) and `linearize` apply these rules
to the same numbers, those of `Mechanism`:

  scale      Typical sizes of the mechanism (`Sizes`) scale rows and velocities to order one. A row's own length never
             does: a row that constrains nothing consists of rounding errors, which that would magnify.
  zero       An entry counts as zero if it does not exceed NOISE times the terms of its sum (`without_rounding`). These
             terms are the lengths of the vectors in the products, not the products, which may vanish by chance.
  rank       Singular values count above RANK_TOLERANCE of the largest, at the configurations where a model is planned.
             That is the largest number of rows. At the present configuration a pivot of scaled rows up to NOISE counts
             as rounding, and below KEEP (tables/loops.py) other dependent velocities are chosen. The kernels
             (kernels/groups) have the same rows, scales, number and KEEP. They have a limit of their own (RANK there)
             for how near to a singular position they use a row, since the stages of an integrator do not close loops
             to rounding.
  equal      Candidates whose sizes differ by less than TIED of the largest are equal, and the first one is taken.
  bases      A basis that a library returns for a space is never used directly. Vectors are projected onto the space
             (`onto_null_space`), or fixed directions determine a basis (`complement`, `eigenbases.py`).
"""

from __future__ import annotations

import numpy as np

#: an entry up to this share of the terms of its sum is zero: loops close to 1e-11, sums of many terms are exact to
#: 1e-13
NOISE = 1e-9
#: sizes that differ by less than this share of the largest are equal
TIED = 1e-6
#: singular values below this share of the largest are zero: model files contain rounded numbers
RANK_TOLERANCE = 1e-5


def without_rounding(sums: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """`sums` with zeros in place of entries that are only rounding errors of terms of these sizes."""
    return np.where(np.abs(sums) > NOISE * terms, sums, 0.0)


def first_largest(sizes: np.ndarray) -> int:
    """Index of the first of the largest sizes; sizes are not negative."""
    return int(np.argmax(sizes >= (1.0 - TIED) * sizes.max()))


def first_smallest(sizes: np.ndarray) -> int:
    """Index of the first of the smallest sizes; sizes are not negative."""
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
    """Orthonormal columns (m, m - rank), orthogonal to those of A (m, n).

    They are the unit vectors whose parts orthogonal to A are longest, made orthonormal with the least change. Unit
    vectors that are orthogonal to A are thus returned as they are.
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
