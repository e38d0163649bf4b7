"""Linear equations for the forces of an island through the few velocities that they move: h W has a low rank.

Dozens of touches of a gripper move a few joints. With h W = B B* (3 n, rank), equations (L + K B B*) x = r whose L is
easy to invert need only one inverse of that rank (Woodbury 1950):

    x = L⁻¹ r - X y,    X = L⁻¹ K B,    (1 + B* X) y = B* L⁻¹ r,    y = B* x

The cost is linear in the number of touches. B comes from Cholesky's decomposition with pivots (Higham 2002, section
10.3), which ends at the rank.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.equations import subtract, take_pivot
from limberjack.engine.tables import contacts as t

#: pivots below this share of the largest number on the diagonal are rounding
_ROUNDING = 1e-14


@kernel
def _largest_left(left, size):
    """Where the largest of so many numbers is."""
    best = 0
    for row in range(1, size):
        if left[row] > left[best]:
            best = row
    return best


@kernel
def _take_column(work, n, r, pivot):
    """Column r of B, from column `pivot` of h W, and what it leaves of the diagonal."""
    B, A, left, active = work.contacts.root, work.contacts.answer, work.contacts.right, work.contacts.active
    first, end = 3 * whole(active[pivot // 3, t.AC_FIRST]), 3 * whole(active[pivot // 3, t.AC_END])
    scale = 1.0 / math.sqrt(left[pivot])
    for row in range(3 * n):
        s = A[row, pivot] if first <= row < end else 0.0
        for c in range(r):
            s -= B[row, c] * B[pivot, c]
        B[row, r] = s * scale
    for row in range(3 * n):
        left[row] -= B[row, r] * B[row, r]
    left[pivot] = 0.0


@kernel
def find_root(work, n):
    """B of the n blocks of an island: work.contacts.root; returns its rank, 0 if that is too high or W not finite."""
    A, left, most = work.contacts.answer, work.contacts.right, work.contacts.root.shape[1]
    for row in range(3 * n):
        left[row] = A[row, row]
    least = _ROUNDING * left[_largest_left(left, 3 * n)]
    for r in range(most + 1):
        pivot = _largest_left(left, 3 * n)
        if not left[pivot] > least:
            return r
        if r < most:
            _take_column(work, n, r, pivot)
    return 0


@kernel
def _find_reduced(work, n, rank):
    """1 + B* X and B* L⁻¹ r, where work.contacts.system is X and work.contacts.right L⁻¹ r."""
    S, y, B, X, x = (
        work.contacts.reduced,
        work.contacts.few,
        work.contacts.root,
        work.contacts.system,
        work.contacts.right,
    )
    for a in range(rank):
        y[a] = 0.0
        for b in range(rank):
            S[a, b] = 0.0
        S[a, a] = 1.0
    for row in range(3 * n):
        for a in range(rank):
            share = B[row, a]
            y[a] += share * x[row]
            for b in range(rank):
                S[a, b] += share * X[row, b]


@kernel
def _solve(S, y, n):
    """y = S⁻¹ y of size n; returns whether S is regular."""
    for k in range(n):
        if not take_pivot(S, y, k, n, n):
            return False
        subtract(S, y, k, n, n)
    for back in range(n):
        k = n - 1 - back
        s = y[k]
        for j in range(k + 1, n):
            s -= S[k, j] * y[j]
        y[k] = s / S[k, k]
    return True


@kernel
def solve_by_root(work, n, rank):
    """x of n blocks into work.contacts.right, and B B* x into AC_MOVED; returns whether the equations are regular.

    work.contacts.system is X = L⁻¹ K B, work.contacts.right L⁻¹ r.
    """
    y, B, X, x = work.contacts.few, work.contacts.root, work.contacts.system, work.contacts.right
    _find_reduced(work, n, rank)
    if not _solve(work.contacts.reduced, y, rank):
        return False
    for row in range(3 * n):
        less, moved = 0.0, 0.0
        for a in range(rank):
            less += X[row, a] * y[a]
            moved += B[row, a] * y[a]
        x[row] -= less
        work.contacts.active[row // 3, t.AC_MOVED + row % 3] = moved
    return True
