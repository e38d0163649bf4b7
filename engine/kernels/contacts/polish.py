"""Forces of all touches at once, each in its present state: open or closed, sticking or sliding in a direction.

    closed      u + κ f = κ f₀ + u₀        κ = -du/df of its law, or of the work it may return, about what it is now
    open        f = 0
    pushing     f = f₁                     at the bound of deep overlaps
    sticking    u_t + ρ f_t = ρ f₀         ρ small: which of many sticking touches bears what stays as it is
    sliding     f_t = µ f d                d its direction now

and likewise for the moments of torsional and rolling friction, where u = u₀ + h W f. This is a step of Newton's method
that begins at the present result of the Gauss-Seidel iteration. It also converges for high stacks, for which that
iteration takes many sweeps.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.laws import depth_at, law_force, law_slope
from limberjack.engine.tables import contacts as t

#: ρ as a share of the touch's response to its own force
_PROXIMAL = 1e-6
#: a touch slides if its force is this near to the bound of friction
_SLIDES = 1.0 - 1e-9
#: likewise the work that compliant touches return
_RETURNS = 1.0 - 1e-9


@kernel
def law_of(plant, work, i):
    """The row of the law of block i in plant.contacts.contact."""
    return plant.contacts.pair_int[int(work.contacts.active[i, t.AC_PAIR]), t.PA_CONTACT]


@kernel
def _answer_row(work, n, row, extra, right):
    """u + extra f = right, as an equation for all forces."""
    system, answer, free = work.contacts.system[row], work.contacts.answer[row], work.contacts.active
    for j in range(3 * n):
        system[j] = answer[j]
    system[row] += extra
    for i in range(n):
        for c in range(3):
            right += answer[3 * i + c] * free[i, t.AC_HELD + c]
    work.contacts.right[row] = right - free[row // 3, t.AC_FREE + row % 3]


@kernel
def _given_row(work, n, row, value):
    """f = value."""
    system = work.contacts.system[row]
    for j in range(3 * n):
        system[j] = 0.0
    system[row], work.contacts.right[row] = 1.0, value


@kernel
def _compliant_row(work, n, i, law):
    active, at = work.contacts.active[i], 3 * i
    f, u = active[t.AC_FORCE], work.contacts.speed[at]
    gap = work.contacts.met[int(active[t.AC_TOUCH]), t.ME_GAP]
    depth = depth_at(active, gap, u)
    if law_force(law, depth, u) > 0.0:
        soft = 1.0 / (active[t.AC_SHARE] * law_slope(law, depth, u, active[t.AC_MOVE]))
        before = (1.0 - active[t.AC_SHARE]) * work.contacts.touch[int(active[t.AC_TOUCH]), t.TO_LAW]
        now = before + active[t.AC_SHARE] * law_force(law, depth, u)
        _answer_row(work, n, at, soft, u + soft * now)
    else:
        _given_row(work, n, at, f)


@kernel
def _normal_row(work, n, i, law):
    active, at = work.contacts.active[i], 3 * i
    f, u = active[t.AC_FORCE], work.contacts.speed[at]
    if f <= 0.0:
        _given_row(work, n, at, 0.0)
    elif law[t.K_STIFFNESS] == 0.0 and active[t.AC_AIM] - u >= active[t.AC_SOFT] * active[t.AC_MOST]:
        _given_row(work, n, at, active[t.AC_MOST])
    elif law[t.K_STIFFNESS] == 0.0:
        _answer_row(work, n, at, active[t.AC_SOFT], active[t.AC_AIM])
    elif f * (active[t.AC_CAME] + u) >= _RETURNS * active[t.AC_STORED] and active[t.AC_CAME] + u >= 0.0:
        soft = (active[t.AC_CAME] + u) / f
        _answer_row(work, n, at, soft, u + soft * f)
    else:
        _compliant_row(work, n, i, law)


@kernel
def _tangent_rows(work, n, i, normal, friction):
    """The two rows of block i across the normal; normal: the block of the normal force."""
    active, at = work.contacts.active[i], 3 * i
    x, y = active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
    length = math.sqrt(x * x + y * y)
    near = _PROXIMAL * (work.contacts.answer[at + 1, at + 1] + work.contacts.answer[at + 2, at + 2])
    if near > 0.0 and length < _SLIDES * friction * work.contacts.active[normal, t.AC_FORCE]:
        for c in range(1, 3):
            _answer_row(work, n, at + c, near, near * active[t.AC_FORCE + c])
        return
    _given_row(work, n, at + 1, 0.0)
    _given_row(work, n, at + 2, 0.0)
    if length > 0.0:
        work.contacts.system[at + 1, 3 * normal] = -friction * x / length
        work.contacts.system[at + 2, 3 * normal] = -friction * y / length


@kernel
def _twist_row(work, n, i, friction):
    """The row of the moment about the normal, of block i."""
    at, moment = 3 * i, work.contacts.active[i, t.AC_FORCE]
    near = _PROXIMAL * work.contacts.answer[at, at]
    if near > 0.0 and abs(moment) < _SLIDES * friction * work.contacts.active[i - 1, t.AC_FORCE]:
        _answer_row(work, n, at, near, near * moment)
        return
    _given_row(work, n, at, 0.0)
    if moment != 0.0:
        work.contacts.system[at, at - 3] = -math.copysign(friction, moment)


@kernel
def _swap(a, b, first, end):
    for j in range(first, end):
        kept = a[j]
        a[j] = b[j]
        b[j] = kept


@kernel
def _eliminate(work, m):
    """Gaussian elimination with row pivots; returns whether the system is regular. Zeros below a pivot cost nothing."""
    A, x = work.contacts.system, work.contacts.right
    for k in range(m):
        best, most = k, abs(A[k, k])
        for i in range(k + 1, m):
            if abs(A[i, k]) > most:
                best, most = i, abs(A[i, k])
        if not most > 0.0:
            return False
        if best != k:
            _swap(A[best], A[k], k, m)
            kept = x[best]
            x[best] = x[k]
            x[k] = kept
        pivot, inverse = A[k], 1.0 / A[k, k]
        for i in range(k + 1, m):
            share = A[i, k] * inverse
            if share != 0.0:
                row = A[i]
                for j in range(k + 1, m):
                    row[j] -= share * pivot[j]
                x[i] -= share * x[k]
    for back in range(m):
        k = m - 1 - back
        s = x[k]
        for j in range(k + 1, m):
            s -= A[k, j] * x[j]
        x[k] = s / A[k, k]
    return True


@kernel
def _take(work, i, f, most):
    """The solution's forces of block i, as far as its laws allow: f, and so much across."""
    active, x, at = work.contacts.active[i], work.contacts.right, 3 * i
    length, share = math.sqrt(x[at + 1] * x[at + 1] + x[at + 2] * x[at + 2]), 1.0
    if length > most:
        share = most / length
    active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2] = f, share * x[at + 1], share * x[at + 2]


@kernel
def polish(plant, work, n):
    """AC_FORCE of the n blocks by one such solution; velocities in work.contacts.speed are not renewed."""
    for i in range(n):
        law = plant.contacts.contact[law_of(plant, work, i)]
        if work.contacts.active[i, t.AC_TURNS] > 0.0:
            _twist_row(work, n, i, law[t.K_TORSION])
            _tangent_rows(work, n, i, i - 1, law[t.K_ROLLING])
        else:
            _normal_row(work, n, i, law)
            _tangent_rows(work, n, i, i, law[t.K_FRICTION])
    if _eliminate(work, 3 * n):
        for i in range(n):
            law, x = plant.contacts.contact[law_of(plant, work, i)], work.contacts.right[3 * i]
            if work.contacts.active[i, t.AC_TURNS] > 0.0:
                f = work.contacts.active[i - 1, t.AC_FORCE]
                twist = law[t.K_TORSION] * f
                _take(work, i, max(-twist, min(twist, x)), law[t.K_ROLLING] * f)
            else:
                f, most = max(0.0, x), work.contacts.active[i, t.AC_MOST]
                if f > most:
                    f = most
                _take(work, i, f, law[t.K_FRICTION] * f)
