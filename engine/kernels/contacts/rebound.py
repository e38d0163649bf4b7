"""Restitution, and what takes it back where it would add energy.

u' = -e u says nothing about friction or about touches that only bear. Both can turn other motion into motion apart: a
rod that falls on its end and sticks there would leave with up to e² / (1 - ρ²) of its energy, ρ the correlation of
normal and tangent in W (Kane and Levinson 1985), and what jams with joules from nowhere. A force that is constant over
the step does the work ½ h f·(u₋ + u), u₋ the velocity at its start. If that of all nearly rigid touches and of all
friction of an island is positive, its forces become

    f = f₀ + s (f₁ - f₀),   0 ≤ s < 1        f₁ with restitution, f₀ without

with the largest s for which it is not: along the line it is a quadratic in s. f₀ and f₁ are in the cones of Coulomb's
law, which are convex, and so is f. The W of that work is the one where and when the forces act, on the way of a step.
`account.py` finds out how far this prediction is from the work that rk4 adds to the energy.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.account import ROUNDING, missed_by, open_account
from limberjack.engine.kernels.contacts.answers import find_answers_at
from limberjack.engine.kernels.contacts.polish import law_of
from limberjack.engine.kernels.contacts.push_out import allowed, pushed
from limberjack.engine.kernels.contacts.speeds import came, start_speeds
from limberjack.engine.tables import contacts as t


@kernel
def rebound_speed(gap, free, came, e, h, share):
    """The speed u' at which a nearly rigid touch parts at the end of the step, which leaves e² of its energy.

    In free flight with du/dt = c the integrator keeps E = (u + (s - ½) c h)² - 2 c g, where gaps g move along the mean
    rate (s = ½) or with Euler's methods along the new one (s = 1). After the impact E is e² times what it was, at the
    gap g + s h (u' - u). Without c that is u' = -e u, with which a bouncing ball would gain the energy of its fall in
    the step at every bounce.
    """
    c = (free - came) / h
    ahead = free + (share - 0.5) * c * h
    before = ahead * ahead - 2.0 * c * gap
    rest = share * (1.0 - share) * c * c * h * h + e * e * before + 2.0 * c * (gap - h * share * free)
    return 0.5 * c * h + math.sqrt(rest) if rest > 0.0 else 0.0


@kernel
def _look_where_forces_act(plant, work, n, h, share, looped):
    """work.contacts.system = h W where the forces of n blocks act, and work.contacts.right = u₋ + u without changes of
    these: the solutions are through with both. With rk4 the forces act midway between the places at the start and the
    end of the step, so that what the way between these adds to u₋ it takes from u."""
    find_answers_at(plant, work, work.contacts.system, n, h, looped, share)
    for i in range(n):
        for c in range(3):
            work.contacts.right[3 * i + c] = came(work, i, c) + work.contacts.active[i, t.AC_FREE + c]


@kernel
def _both(work, row):
    """u₋ + u of a row with the present forces."""
    active, answer = work.contacts.active, work.contacts.system[row]
    held = active[row // 3]
    both = work.contacts.right[row]
    for j in range(whole(held[t.AC_FIRST]), whole(held[t.AC_END])):
        for c in range(3):
            both += answer[3 * j + c] * (active[j, t.AC_FORCE + c] - active[j, t.AC_HELD + c])
    return both


@kernel
def _is_compliant(plant, work, i):
    return plant.contacts.contact[law_of(plant, work, i), t.K_STIFFNESS] > 0.0


@kernel
def _work_of_row(plant, work, row):
    """f (u₋ + u) of a row, as far as restitution has to make up for it; all of it; the size of its parts.

    Compliant normal forces keep account of their work, and what pushes shapes apart may add its own.
    """
    i, c = row // 3, row % 3
    active = work.contacts.active[i]
    f, both = active[t.AC_FORCE + c], _both(work, row)
    done, counted, size = f * both, f * both, abs(f) * (abs(both) + abs(work.contacts.right[row]))
    if c == 0 and active[t.AC_TURNS] == 0.0:
        if _is_compliant(plant, work, i):
            return 0.0, done, 0.0
        counted -= 2.0 * f * max(0.0, active[t.AC_CALM])
    return counted, done, size


@kernel
def _work_of(plant, work, n, h):
    """f·(u₋ + u) of n blocks, as far as restitution has to make up for it, and the size of its parts. Deep overlaps may
    not add more than is allowed: pinched in an impact they bear 10 kN."""
    total, size = 0.0, 0.0
    for row in range(3 * n):
        counted, _, part = _work_of_row(plant, work, row)
        total, size = total + counted, size + part
    return total + max(0.0, pushed(work, n, True) - allowed(plant, work, h)), size


@kernel
def _expect(plant, work, n):
    """Open an account for each touch of n blocks: the work that its forces are to do, and what of it does not count."""
    first = work.contacts.opened[0]
    for i in range(n):
        if work.contacts.active[i, t.AC_TURNS] == 0.0:
            open_account(work, i, first, 0.0)
        account = work.contacts.account[whole(work.contacts.opened[0]) - 1]
        for c in range(3):
            counted, done, size = _work_of_row(plant, work, 3 * i + c)
            account[t.WK_SIZE] += size
            account[t.WK_EXPECTED] += counted
            account[t.WK_DONE] += counted - done


@kernel
def _rebounds(work, n):
    """Whether restitution acts at any of n blocks."""
    for i in range(n):
        active = work.contacts.active[i]
        if active[t.AC_TURNS] == 0.0 and active[t.AC_FORCE] > 0.0 and active[t.AC_AIM] > active[t.AC_CALM]:
            return True
    return False


@kernel
def _calm(work, n):
    """Keep f₁ of n blocks in AC_LIVELY, and take their restitution away."""
    for i in range(n):
        active = work.contacts.active[i]
        for c in range(3):
            active[t.AC_LIVELY + c] = active[t.AC_FORCE + c]
        if active[t.AC_TURNS] == 0.0:
            active[t.AC_AIM] = min(active[t.AC_AIM], active[t.AC_CALM])


@kernel
def _enliven(work, n, s):
    """Move the forces of n blocks towards AC_LIVELY by a share s of what is missing."""
    for i in range(n):
        active = work.contacts.active[i]
        for c in range(3):
            active[t.AC_FORCE + c] += s * (active[t.AC_LIVELY + c] - active[t.AC_FORCE + c])


@kernel
def share_until(least, middle, most):
    """The largest s in [0, 1] where a quadratic exceeds neither its value at 0 nor 0; its values at 0, ½ and 1."""
    if most <= least:
        return 1.0
    a = 2.0 * (most - 2.0 * middle + least)
    b = most - least - a
    root = math.sqrt(max(0.0, b * b - 4.0 * a * min(least, 0.0)))
    s = -2.0 * min(least, 0.0) / (b + root) if b > 0.0 else 0.5 * (root - b) / a
    return max(0.0, min(1.0, s))


@kernel
def lively(plant, work, n, h, share, looped, most):
    """Whether the n blocks of an island are to be solved again, after a solution: the work that f₁ does, or 0.

    most : what this returned after the solution before. Then this one is f₀, and the forces become f
    share, looped : as for `find_answers_at`
    """
    if not (most > 0.0 or _rebounds(work, n)):
        return 0.0
    _look_where_forces_act(plant, work, n, h, share, looped)
    missed, s = missed_by(work, n), 1.0
    done, size = _work_of(plant, work, n, h)
    done += missed
    if most > 0.0:
        _enliven(work, n, 0.5)
        s = share_until(done, _work_of(plant, work, n, h)[0] + missed, most)
        _enliven(work, n, 2.0 * s - 1.0)
        start_speeds(work, n)
    elif done > ROUNDING * size:
        _calm(work, n)
        return done
    if share < 1.0 and s > 0.0:  # without restitution there is none to take back
        _expect(plant, work, n)
    return 0.0
