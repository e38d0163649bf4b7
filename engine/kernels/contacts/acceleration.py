"""Sweeps that Anderson's method accelerates, for heaps whose bodies roll on and push each other.

A sweep makes the forces g of forces x. While the touches keep their states, its change f = g - x is linear in x, and
sweeps bring it down by a small share each. The differences of the last ones show how f depends on x, and the next sweep
begins where f would be least (Anderson 1965; Walker and Ni 2011, SIAM Journal on Numerical Analysis 49, 1715):

    x = g - Σ θ Δg,    θ the least |f - Σ θ Δf|

The Δf of the pairs (Δf, Δg) that are kept are orthonormal, so that θ = Δf · f. When touches change their states, f gets
longer, and the method begins again. Forces are always those of a sweep: they are within their laws.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.compiled import REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.relaxation import close, near, settled, sweep
from limberjack.engine.kernels.contacts.speeds import copy_forces, take_forces
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, work_view

# rows of work.contacts.tried: x; f, g and the velocities of the last sweep; pairs, each with the velocities' difference
_BEGUN, _CHANGE, _FORCES, _SPEEDS, _PAIRS = range(5)
#: by how much f may get longer, squared
_LONGER = 4.0
#: a difference less than this share of which is not in those kept is rounding, squared
_KNOWN = 1e-14
#: forces that are near the solution will do once so many sweeps have brought them no nearer
_PATIENCE = 6
#: after so many sweeps it will do that they are close to it
_MANY = 60


@kernel
def _note_sweep(work, n, place):
    """Keep f, g and the velocities of a sweep over n blocks; their differences to those of the last one become the pair
    at a place, not yet orthogonal to the others. Returns |f|²."""
    tried, length = work.contacts.tried, 0.0
    pair = _PAIRS + 3 * place
    for i in range(n):
        for c in range(3):
            row, g = 3 * i + c, work.contacts.active[i, t.AC_FORCE + c]
            f, u = g - tried[_BEGUN, row], work.contacts.speed[row]
            tried[pair, row] = f - tried[_CHANGE, row]
            tried[pair + 1, row] = g - tried[_FORCES, row]
            tried[pair + 2, row] = u - tried[_SPEEDS, row]
            tried[_CHANGE, row], tried[_FORCES, row], tried[_SPEEDS, row] = f, g, u
            length += f * f
    return length


@kernel
def _product(a, b, size):
    s = 0.0
    for row in range(size):
        s += a[row] * b[row]
    return s


@kernel
def _add(tried, target, share, source, size):
    """Add a share of a pair to another one."""
    for c in range(3):
        for row in range(size):
            tried[target + c, row] += share * tried[source + c, row]


@kernel
def _straighten(work, n, place, pairs):
    """Make the pair at a place orthonormal to the others; one that adds nothing to them becomes zero."""
    tried, pair = work.contacts.tried, _PAIRS + 3 * place
    length = _product(tried[pair], tried[pair], 3 * n)
    for k in range(pairs):
        if k != place:
            other = _PAIRS + 3 * k
            _add(tried, pair, -_product(tried[other], tried[pair], 3 * n), other, 3 * n)
    left = _product(tried[pair], tried[pair], 3 * n)
    share = 1.0 / math.sqrt(left) if left > _KNOWN * length else 0.0
    for c in range(3):
        for row in range(3 * n):
            tried[pair + c, row] *= share


@kernel
def _leap(work, n, pairs):
    """The forces with which the next sweep over n blocks begins, and their velocities."""
    tried = work.contacts.tried
    for k in range(pairs):
        pair = _PAIRS + 3 * k
        share = _product(tried[pair], tried[_CHANGE], 3 * n)
        for i in range(n):
            for c in range(3):
                row = 3 * i + c
                work.contacts.active[i, t.AC_FORCE + c] -= share * tried[pair + 1, row]
                work.contacts.speed[row] -= share * tried[pair + 2, row]
    for i in range(n):
        for c in range(3):
            tried[_BEGUN, 3 * i + c] = work.contacts.active[i, t.AC_FORCE + c]


@routine(WHOLE, WHOLE, returns=REAL)
def accelerate_routine(ints, floats, vector, n, most):
    """AC_FORCE of the n blocks by `most` accelerated sweeps, and work.contacts.speed with it; returns 0 if they are the
    solution, and else the change of the sweep that led to them, the least."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    count, last, least, best = 0, 0.0, math.inf, 0
    _leap(work, n, 0)
    for k in range(most):
        change = sweep(plant, work, n, False)
        if settled(work, n, change):
            return 0.0
        if change < least:
            least, best = change, k
            copy_forces(work, n, t.AC_FORCE, t.AC_BEST)
        if (k > best + _PATIENCE and near(work, n, least)) or (k >= _MANY and close(work, n, change)):
            break
        place = count % t.KEPT_PAIRS
        length = _note_sweep(work, n, place)
        if length > _LONGER * last:  # or it is the first
            count = 0
        else:
            count += 1
            _straighten(work, n, place, min(count, t.KEPT_PAIRS))
        last = length
        _leap(work, n, min(count, t.KEPT_PAIRS))
    take_forces(work, n, t.AC_BEST)
    return least
