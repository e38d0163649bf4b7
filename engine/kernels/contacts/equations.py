"""Linear equations for the forces of all touches of an island: rows from W, and elimination within its profile."""

from __future__ import annotations

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import contacts as t


@kernel
def pays(work, n, most):
    """Whether solutions for n blocks take no more work than for `most` that all answer to each other."""
    active, products = work.contacts.active, 0
    for i in range(n):
        end = whole(active[i, t.AC_END])
        products += (end - i) * (whole(active[end - 1, t.AC_END]) - i)
    return 3 * products <= most**3 + 3 * most**2


@kernel
def answer_row(work, row, extra, right):
    """u + extra f = right, as an equation for all forces."""
    work.contacts.system[row, row] += extra
    work.contacts.right[row] += right


@kernel
def given_row(work, row, value):
    """f = value."""
    system, active = work.contacts.system[row], work.contacts.active[row // 3]
    for j in range(3 * whole(active[t.AC_FIRST]), 3 * whole(active[t.AC_END])):
        system[j] = 0.0
    system[row], work.contacts.right[row] = 1.0, value


@kernel
def _swap(a, b, first, end):
    for j in range(first, end):
        kept = a[j]
        a[j] = b[j]
        b[j] = kept


@kernel
def _clear(row, first, end):
    for j in range(first, end):
        row[j] = 0.0


@kernel
def _reach(work, i):
    """The end of the rows that the elimination of block i changes, and of their columns, which are zero where no block
    has written."""
    A, active = work.contacts.system, work.contacts.active
    end, before, cleared = whole(active[i, t.AC_END]), 0, 0
    right = 3 * whole(active[end - 1, t.AC_END])
    if i > 0:
        before = whole(active[i - 1, t.AC_END])
        cleared = 3 * whole(active[before - 1, t.AC_END])
    for row in range(3 * i, 3 * before):
        _clear(A[row], cleared, right)
    for row in range(3 * before, 3 * end):
        _clear(A[row], 3 * whole(active[row // 3, t.AC_END]), right)
    return 3 * end, right


@kernel
def take_pivot(A, x, k, end, right):
    """Swap the row with the largest number in column k, of those before `end`, with row k; whether there is one."""
    best, most = k, abs(A[k, k])
    for i in range(k + 1, end):
        if abs(A[i, k]) > most:
            best, most = i, abs(A[i, k])
    if best != k:
        _swap(A[best], A[k], k, right)
        kept = x[best]
        x[best] = x[k]
        x[k] = kept
    return most > 0.0


@kernel
def subtract(A, x, k, end, right):
    """Subtract row k from those below it, so that column k is zero there. Zeros below a pivot cost nothing."""
    pivot, inverse = A[k], 1.0 / A[k, k]
    for i in range(k + 1, end):
        share = A[i, k] * inverse
        if share != 0.0:
            row = A[i]
            for j in range(k + 1, right):
                row[j] -= share * pivot[j]
            x[i] -= share * x[k]


@kernel
def eliminate(work, n):
    """Gaussian elimination with row pivots; returns whether the system is regular.

    Rows and columns end with the profile of W, as far as swapped rows widen it (George and Liu 1981, chapter 4): for
    touches along a stack the work grows with their number.
    """
    A, x = work.contacts.system, work.contacts.right
    for i in range(n):
        end, right = _reach(work, i)
        for k in range(3 * i, 3 * i + 3):
            if not take_pivot(A, x, k, end, right):
                return False
            subtract(A, x, k, end, right)
    for back in range(3 * n):
        k = 3 * n - 1 - back
        s, end = x[k], whole(work.contacts.active[k // 3, t.AC_END])
        for j in range(k + 1, 3 * whole(work.contacts.active[end - 1, t.AC_END])):
            s -= A[k, j] * x[j]
        x[k] = s / A[k, k]
    return True
