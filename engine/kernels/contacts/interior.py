"""Forces of an island from inside their laws: an interior-point method, for touches that slide and stick at once.

Sweeps come nearer in small steps there, and solutions for all touches take what sticks for sliding and then the
contrary. From inside, no touch has a state before all have one. For a normal force 0 < f < F, friction f_t and b = µ f,
for all touches at once

    w - z = u + κ f - u₀        f w = τ            (F - f) z = τ                        (laws.py: nearly rigid)
    b s + f_t·u_t = τ           b u_t + s f_t = 0        s > |u_t|,  b > |f_t|

and likewise for moments. The second line is the Jordan product of (b, f_t) and (s, u_t). With τ = 0 these are Coulomb's
laws: s = |u_t| where a touch slides, u_t = 0 where it sticks. Newton's method solves them while τ goes to zero; its
steps end before the border. It begins anywhere, and takes about 30 steps whatever the touches do.

Sources: Alizadeh and Goldfarb 2003, Second-order cone programming (the search direction that they call AHO); Acary,
Armand, Nguyen and Shpakovych 2024, the same for Coulomb's law. Friction does not act on the normal velocity, as the
convex problem of Anitescu 2006 would have it, so jams may have no solution, or none that this finds.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.compiled import FLAG, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.interior_step import lengths_of, step_inside_routine
from limberjack.engine.kernels.contacts.laws import STILL
from limberjack.engine.kernels.contacts.low_rank import find_root
from limberjack.engine.kernels.contacts.push_out import ENDLESS
from limberjack.engine.kernels.contacts.relaxation import near, settled, sweep
from limberjack.engine.kernels.contacts.speeds import copy_forces, start_speeds, take_forces
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, work_view

#: most steps; the share of the first τ below which sweeps show whether forces are the solution
_STEPS, _ENDS = 80, 1e-12
#: steps shorter than this get nowhere; how many of them end it
_SHORT, _STUCK = 0.02, 6
#: slacks begin at so many times the largest velocity: well inside, where steps are long
_INSIDE = 100.0
#: least and largest share of τ at which a step aims: more after one that the border cut short
_LEAST, _MOST = 0.1, 0.9
#: how much of the way to the border a step goes at most
_NEARER = 0.9


@kernel
def _fastest(work, n):
    """The largest velocity that n blocks of forces have, or aim at, m/s."""
    most = 0.0
    for i in range(n):
        active = work.contacts.active[i]
        if active[t.AC_TURNS] == 0.0:
            most = max(most, abs(active[t.AC_AIM]))
            for c in range(3):
                most = max(most, abs(work.contacts.speed[3 * i + c]))
    return most


@kernel
def _own(work, i):
    """The trace of h W of block i with itself."""
    A, at = work.contacts.answer, 3 * i
    return A[at, at] + A[at + 1, at + 1] + A[at + 2, at + 2]


@kernel
def _begin_forces(work, n):
    """Normal forces inside their bounds, and no others; returns a velocity for slacks."""
    for i in range(n):
        active = work.contacts.active[i]
        active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2] = 0.0, 0.0, 0.0
    start_speeds(work, n)
    speed, largest = _INSIDE * _fastest(work, n), 0.0
    for i in range(n):
        largest = max(largest, (1.0 - work.contacts.active[i, t.AC_TURNS]) * _own(work, i))
    for i in range(n):
        active = work.contacts.active[i]
        active[t.AC_SLACK] = 0.0
        if active[t.AC_TURNS] == 0.0 and active[t.AC_SOFT] > 0.0 and active[t.AC_MOST] > 0.0:
            force = speed / math.sqrt(_own(work, i) * largest)  # so that no touch changes by more than `speed`
            active[t.AC_FORCE], active[t.AC_SLACK] = min(force, 0.5 * active[t.AC_MOST]), 1.0
    start_speeds(work, n)
    return speed


@kernel
def _begin(plant, work, n):
    """Forces and slacks inside the laws of n blocks."""
    speed, A = _begin_forces(work, n), work.contacts.answer
    for i in range(n):
        active, at, (normal, across, about) = work.contacts.active[i], 3 * i, lengths_of(plant, work, i)
        u, v, w = work.contacts.speed[at], work.contacts.speed[at + 1], work.contacts.speed[at + 2]
        acts, slides = work.contacts.active[normal, t.AC_SLACK] > 0.0, A[at + 1, at + 1] + A[at + 2, at + 2]
        slack = speed / max(across, about) if active[t.AC_TURNS] > 0.0 else speed
        active[t.AC_UPPER] = active[t.AC_CONE] = active[t.AC_TURN] = 0.0
        if acts and across > 0.0 and slides > STILL * active[t.AC_LIGHT]:
            active[t.AC_CONE] = math.sqrt(v * v + w * w) + slack
        if acts and about > 0.0 and A[at, at] > STILL * slides:
            active[t.AC_TURN] = abs(u) + slack
        if acts and normal == i:
            rest = u + active[t.AC_SOFT] * active[t.AC_FORCE] - active[t.AC_AIM]
            active[t.AC_SLACK] = max(rest, speed)
            if active[t.AC_MOST] < ENDLESS:
                active[t.AC_UPPER] = max(speed, active[t.AC_SLACK] - rest)
                active[t.AC_LEFT] = active[t.AC_MOST] - active[t.AC_FORCE]


@kernel
def _mean(plant, work, n):
    """The mean of the τ of all laws, W."""
    total, count = 0.0, 0.0
    for i in range(n):
        active, at, (normal, across, about) = work.contacts.active[i], 3 * i, lengths_of(plant, work, i)
        f, bears = active[t.AC_FORCE], work.contacts.active[normal, t.AC_FORCE]
        if active[t.AC_SLACK] > 0.0:
            total, count = total + f * active[t.AC_SLACK], count + 1.0
        if active[t.AC_UPPER] > 0.0:
            total, count = total + active[t.AC_LEFT] * active[t.AC_UPPER], count + 1.0
        if active[t.AC_CONE] > 0.0:
            slide = active[t.AC_FORCE + 1] * work.contacts.speed[at + 1]
            slide += active[t.AC_FORCE + 2] * work.contacts.speed[at + 2]
            total, count = total + across * bears * active[t.AC_CONE] + slide, count + 1.0
        if active[t.AC_TURN] > 0.0:
            turn = f * work.contacts.speed[at]
            total, count = total + about * bears * active[t.AC_TURN] + turn, count + 1.0
    return total / count if count > 0.0 else 0.0


@kernel
def _try_sweep(plant, work, n, least):
    """The smaller one of `least` and the change of a sweep, after which AC_FORCE is what it was; AC_BEST: the forces
    whose sweep changed least."""
    copy_forces(work, n, t.AC_FORCE, t.AC_INSIDE)
    change = sweep(plant, work, n, False)
    if change < least:
        least = change
        copy_forces(work, n, t.AC_FORCE, t.AC_BEST)
    take_forces(work, n, t.AC_INSIDE)
    return least


@routine(WHOLE, REAL, returns=FLAG)
def solve_inside_routine(ints, floats, vector, n, least):
    """AC_FORCE of the n blocks, all nearly rigid, from inside their laws, and work.contacts.speed with it; returns
    whether they are the solution.

    least : change of the sweep that led to AC_BEST. Forces that are no solution are those whose sweep changed least
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    rank, length, short = find_root(work, n), 1.0, 0
    _begin(plant, work, n)
    first = _mean(plant, work, n)
    for _ in range(_STEPS if rank > 0 else 0):
        tau = _mean(plant, work, n)
        if not tau > 0.0:
            break
        if tau < _ENDS * first:
            least = _try_sweep(plant, work, n, least)
            if settled(work, n, least):
                break
        aim = max(_LEAST, min(_MOST, (1.0 - length) * (1.0 - length))) * tau
        length = step_inside_routine(ints, floats, vector, n, rank, aim, _NEARER)
        short += 1 if length < _SHORT else 0
        if not length > 0.0 or short == _STUCK:
            break
        start_speeds(work, n)
    take_forces(work, n, t.AC_BEST)
    return near(work, n, least)
