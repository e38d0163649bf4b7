"""Forces of all touches at once, each in its present state: open or closed, sticking or sliding in a direction.

    closed      u + κ f = κ f₀ + u₀        κ = -du/df of its law, or of the work it may return, about what it is now
    open        f = 0
    pushing     f = f₁                     at the bound of deep overlaps
    sticking    u_t + ρ f_t = ρ f₀         ρ small: which of many sticking touches bears what stays as it is
    sliding     f_t = µ f d - P u_t / s    d its direction now, -s f_t the velocity, P what is across d: the direction
                                           turns with the velocity, to first order

and likewise for the moments of torsional and rolling friction, where u = u₀ + h W f. This is a step of Newton's method
that begins at the present result of the Gauss-Seidel iteration. It also converges for high stacks, for which that
iteration takes many sweeps.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.compiled import WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.equations import answer_row, eliminate, given_row
from limberjack.engine.kernels.contacts.laws import STILL, depth_at, law_force, law_slope
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, work_view

#: ρ as a share of the touch's response to its own force
_PROXIMAL = 1e-6
#: a touch slides if its force is this near to the bound of friction; likewise the bound of deep overlaps
_SLIDES = 1.0 - 1e-9
#: likewise the work that compliant touches return
_RETURNS = 1.0 - 1e-9


@kernel
def law_of(plant, work, i):
    """The row of the law of block i in plant.contacts.contact."""
    return plant.contacts.pair_int[int(work.contacts.active[i, t.AC_PAIR]), t.PA_CONTACT]


@kernel
def _begin_rows(work, i):
    """The rows of block i of W f = u + right, which the laws complete."""
    active, answer = work.contacts.active, work.contacts.answer
    first, end = whole(active[i, t.AC_FIRST]), whole(active[i, t.AC_END])
    for row in range(3 * i, 3 * i + 3):
        right = -active[i, t.AC_FREE + row - 3 * i]
        for j in range(first, end):
            for c in range(3):
                work.contacts.system[row, 3 * j + c] = answer[row, 3 * j + c]
                right += answer[row, 3 * j + c] * active[j, t.AC_HELD + c]
        work.contacts.right[row] = right


@kernel
def _compliant_row(work, i, law):
    active, at = work.contacts.active[i], 3 * i
    f, u = active[t.AC_FORCE], work.contacts.speed[at]
    gap = work.contacts.met[int(active[t.AC_TOUCH]), t.ME_GAP]
    depth, slope = depth_at(active, gap, u), 0.0
    if law_force(law, depth, u) > 0.0:
        slope = active[t.AC_SHARE] * law_slope(law, depth, u, active[t.AC_MOVE])
    if slope * work.contacts.answer[at, at] > STILL:
        before = (1.0 - active[t.AC_SHARE]) * work.contacts.touch[int(active[t.AC_TOUCH]), t.TO_LAW]
        now = before + active[t.AC_SHARE] * law_force(law, depth, u)
        answer_row(work, at, 1.0 / slope, u + now / slope)
    else:  # the law does not answer: no force, or θ = 0, if a gap is open until others close it in an Euler step
        given_row(work, at, f)


@kernel
def _is_bound(active, f, u):
    """Whether a normal force is at its bound, and its law would have more."""
    return f >= _SLIDES * active[t.AC_MOST] and active[t.AC_AIM] - u >= active[t.AC_SOFT] * active[t.AC_MOST]


@kernel
def _normal_row(work, i, law):
    active, at = work.contacts.active[i], 3 * i
    f, u = active[t.AC_FORCE], work.contacts.speed[at]
    if f <= 0.0:
        given_row(work, at, 0.0)
    elif law[t.K_STIFFNESS] == 0.0 and _is_bound(active, f, u):
        given_row(work, at, active[t.AC_MOST])
    elif law[t.K_STIFFNESS] == 0.0:
        answer_row(work, at, active[t.AC_SOFT], active[t.AC_AIM])
    elif f * (active[t.AC_CAME] + u) >= _RETURNS * active[t.AC_STORED] and active[t.AC_CAME] + u >= 0.0:
        soft = (active[t.AC_CAME] + u) / f
        answer_row(work, at, soft, u + soft * f)
    else:
        _compliant_row(work, i, law)


@kernel
def _sliding_rows(work, i, normal, friction, d, lag):
    """d·f_t = µ f, and P u_t + s P f_t = 0, of block i; lag: s."""
    active, at, right = work.contacts.active[i], 3 * i, work.contacts.right
    first, second = work.contacts.system[at + 1], work.contacts.system[at + 2]
    for j in range(3 * whole(active[t.AC_FIRST]), 3 * whole(active[t.AC_END])):
        second[j] = d[0] * second[j] - d[1] * first[j]
    right[at + 2] = d[0] * right[at + 2] - d[1] * right[at + 1]
    second[at + 1] -= lag * d[1]
    second[at + 2] += lag * d[0]
    given_row(work, at + 1, 0.0)
    first[at + 1], first[at + 2], first[3 * normal] = d[0], d[1], -friction


@kernel
def _tangent_rows(work, i, normal, friction):
    """The two rows of block i across the normal; normal: the block of the normal force."""
    active, at = work.contacts.active[i], 3 * i
    x, y = active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
    length = math.sqrt(x * x + y * y)
    across = work.contacts.answer[at + 1, at + 1] + work.contacts.answer[at + 2, at + 2]
    near = _PROXIMAL * across
    if across > STILL * active[t.AC_LIGHT] and length < _SLIDES * friction * work.contacts.active[normal, t.AC_FORCE]:
        for c in range(1, 3):
            answer_row(work, at + c, near, near * active[t.AC_FORCE + c])
        return
    if length > 0.0:
        u, v = work.contacts.speed[at + 1], work.contacts.speed[at + 2]
        lag = max(near, -(u * x + v * y) / (length * length))
        _sliding_rows(work, i, normal, friction, (x / length, y / length), lag)
        return
    given_row(work, at + 1, 0.0)
    given_row(work, at + 2, 0.0)


@kernel
def _twist_row(work, i, friction):
    """The row of the moment about the normal, of block i."""
    at, moment = 3 * i, work.contacts.active[i, t.AC_FORCE]
    near = _PROXIMAL * work.contacts.answer[at, at]
    if near > 0.0 and abs(moment) < _SLIDES * friction * work.contacts.active[i - 1, t.AC_FORCE]:
        answer_row(work, at, near, near * moment)
        return
    given_row(work, at, 0.0)
    if moment != 0.0:
        work.contacts.system[at, at - 3] = -math.copysign(friction, moment)


@kernel
def _take(work, i, f, most):
    """The solution's forces of block i, as far as its laws allow: f, and so much across."""
    active, x, at = work.contacts.active[i], work.contacts.right, 3 * i
    length, share = math.sqrt(x[at + 1] * x[at + 1] + x[at + 2] * x[at + 2]), 1.0
    if length > most:
        share = most / length
    active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2] = f, share * x[at + 1], share * x[at + 2]


@routine(WHOLE)
def polish_routine(ints, floats, vector, n):
    """AC_FORCE of the n blocks by one such solution; velocities in work.contacts.speed are not renewed."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    for i in range(n):
        law = plant.contacts.contact[law_of(plant, work, i)]
        _begin_rows(work, i)
        if work.contacts.active[i, t.AC_TURNS] > 0.0:
            _twist_row(work, i, law[t.K_TORSION])
            _tangent_rows(work, i, i - 1, law[t.K_ROLLING])
        else:
            _normal_row(work, i, law)
            _tangent_rows(work, i, i, law[t.K_FRICTION])
    if eliminate(work, n):
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
