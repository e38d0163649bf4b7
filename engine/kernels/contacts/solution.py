"""The forces of an island: a Gauss-Seidel iteration over its touches, each solved by its own laws.

For given bounds of friction the forces are the unique solution of a convex problem, and the iteration descends to it.
The bounds µ f follow the normal forces during the iteration. If that does not converge (a rod that jams, Painlevé
1895), the bounds are held constant for the last sweeps, so that these converge. Between sweeps the forces of all
touches are solved for at once (`polish.py`), each in its state at that moment. Where no sweep ends that, as in jams of
dozens of touches, the forces are weakened until they add no energy.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.compiled import FLAG, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.account import missed_by
from limberjack.engine.kernels.contacts.laws import STILL, compliant_force, friction, most_returned, rigid_force
from limberjack.engine.kernels.contacts.polish import law_of, pays, polish_routine
from limberjack.engine.kernels.contacts.push_out import ENDLESS
from limberjack.engine.kernels.contacts.speeds import came, spread, start_speeds
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, work_view

#: the iteration ends when changes of forces are below this share of the largest force
REST = 1e-10
#: the same once solutions for all touches hardly bring the forces nearer, as of touches that share a load in many ways;
#: and after how many sweeps: steps that follow take more of them where forces are not at rest
NEAR, EARLY = 1e-6, 12
#: or when they would change the velocity of all bodies, as one mass, by no more than this, m/s: where nothing pushes,
#: all forces are rounding
QUIET = 1e-15
#: first sweeps; sweeps after a solution for all touches; how many times longer they get after each one that brings the
#: forces no nearer
FIRST, BETWEEN, LONGER = 2, 2, 4
#: most sweeps; where solutions for all touches pay, most products of sweeps and touches, but at least so many sweeps
SWEEPS, PRODUCTS, FEW = 226, 2000, 50


@kernel
def _normal(work, i, law):
    """The normal force of block i, given all other forces."""
    active, at = work.contacts.active[i], 3 * i
    own = work.contacts.answer[at, at]
    r = work.contacts.speed[at] - own * active[t.AC_FORCE]
    if law[t.K_STIFFNESS] == 0.0:
        return rigid_force(active, r, own)
    j = int(active[t.AC_TOUCH])
    before = (1.0 - active[t.AC_SHARE]) * work.contacts.touch[j, t.TO_LAW]
    force = compliant_force(law, active, work.contacts.met[j, t.ME_GAP], before, r, own)
    return min(force, most_returned(active, r, own)) if force > 0.0 and own > 0.0 else force


@kernel
def _twist(work, i):
    """The moment about the normal of block i, given all other forces."""
    active, A, at = work.contacts.active[i], work.contacts.answer, 3 * i
    own, most = A[at, at], active[t.AC_TWIST]
    if not own > STILL * (A[at + 1, at + 1] + A[at + 2, at + 2]):
        return 0.0
    return max(-most, min(most, active[t.AC_FORCE] - work.contacts.speed[at] / own))


@kernel
def _relax(plant, work, i, held):
    """Block i by its laws; returns the largest change of its forces, of moments over the lengths in their laws."""
    active, at, A = work.contacts.active[i], 3 * i, work.contacts.answer
    law, turns = plant.contacts.contact[law_of(plant, work, i)], active[t.AC_TURNS] > 0.0
    if turns:
        if not held:
            normal = work.contacts.active[i - 1, t.AC_FORCE]
            active[t.AC_TWIST], active[t.AC_BOUND] = law[t.K_TORSION] * normal, law[t.K_ROLLING] * normal
        f = _twist(work, i)
    else:
        f = _normal(work, i, law)
        if not held:
            active[t.AC_BOUND] = law[t.K_FRICTION] * f
    d = f - active[t.AC_FORCE]
    a, b, c = A[at + 1, at + 1], A[at + 1, at + 2], A[at + 2, at + 2]
    x, y = active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
    u = work.contacts.speed[at + 1] + A[at, at + 1] * d - a * x - b * y
    v = work.contacts.speed[at + 2] + A[at, at + 2] * d - b * x - c * y
    g, h = friction(a, b, c, u, v, active[t.AC_BOUND], active[t.AC_LIGHT], (x, y))
    active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2] = f, g, h
    if d != 0.0 or g != x or h != y:
        spread(work, i, d, g - x, h - y)
    change = max(abs(d), max(abs(g - x), abs(h - y)))
    return change / max(law[t.K_TORSION], law[t.K_ROLLING]) if turns else change


@kernel
def _largest(work, n):
    """The largest force; moments do not count."""
    most = 0.0
    for i in range(n):
        for c in range(3):
            most = max(most, (1.0 - work.contacts.active[i, t.AC_TURNS]) * abs(work.contacts.active[i, t.AC_FORCE + c]))
    return most


@kernel
def _work(plant, work, n):
    """f·(u₋ + u) of n blocks, twice the power of their forces, and f·W f; u₋: at the start of the step.

    Normal forces of compliant touches keep account of what they do, and what pushes shapes apart may add its own.
    """
    done, answered = 0.0, 0.0
    for i in range(n):
        active = work.contacts.active[i]
        own = active[t.AC_TURNS] == 0.0 and plant.contacts.contact[law_of(plant, work, i), t.K_STIFFNESS] > 0.0
        for c in range(3):
            row, f = 3 * i + c, active[t.AC_FORCE + c]
            if c > 0 or not own:
                done += f * (came(work, i, c) + work.contacts.speed[row])
            if c == 0:
                done -= 2.0 * f * max(0.0, active[t.AC_CALM])
            for j in range(whole(active[t.AC_FIRST]), whole(active[t.AC_END])):
                for d in range(3):
                    answered += f * work.contacts.answer[row, 3 * j + d] * work.contacts.active[j, t.AC_FORCE + d]
    return done, answered


@kernel
def _scale(active, share):
    for c in range(3):
        active[t.AC_FORCE + c] *= share


@kernel
def _make_do(plant, work, n):
    """Make do with forces of n blocks that are not the solution: those of touches that bear nothing are none, which the
    bounds that were held last do not say, deep overlaps only bear, and together the forces add no energy."""
    for i in range(n):
        active, turns = work.contacts.active[i], work.contacts.active[i, t.AC_TURNS] > 0.0
        if active[t.AC_MOST] < ENDLESS:
            active[t.AC_CALM] = 0.0
        if work.contacts.active[i - 1 if turns else i, t.AC_FORCE] <= 0.0:
            _scale(active, 0.0)
    start_speeds(work, n)
    done, answered = _work(plant, work, n)
    done += missed_by(work, n)
    if done > 0.0:
        share = max(0.0, 1.0 - done / answered) if answered > 0.0 else 0.0
        for i in range(n):
            _scale(work.contacts.active[i], share)
        start_speeds(work, n)


@kernel
def _sweep(plant, work, n, held):
    """One sweep over n blocks; returns the largest change. held : whether bounds of friction are"""
    change = 0.0
    for i in range(n):
        change = max(change, _relax(plant, work, i, held))
    return change


@kernel
def _keep(work, n):
    """Keep the forces of n blocks as the best so far."""
    for i in range(n):
        for c in range(3):
            work.contacts.active[i, t.AC_BEST + c] = work.contacts.active[i, t.AC_FORCE + c]


@kernel
def _go_back(work, n):
    """The forces of n blocks become the best again."""
    for i in range(n):
        for c in range(3):
            work.contacts.active[i, t.AC_FORCE + c] = work.contacts.active[i, t.AC_BEST + c]


@routine(WHOLE, returns=FLAG)
def solve_touches_routine(ints, floats, vector, n):
    """AC_FORCE of the n blocks of an island, and work.contacts.speed with it; returns whether they are the solution."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    polishes, polished, wait, following, least, change = pays(work, n), False, BETWEEN, FIRST, math.inf, math.inf
    most = max(FEW, PRODUCTS // n) if polishes and n * SWEEPS > PRODUCTS else SWEEPS
    for sweep in range(most):
        held = sweep > most // 2
        begins = polishes and sweep == following and not held
        stalls, worse = begins and polished and change > 0.5 * least, begins and polished and change >= least
        if worse:
            polished, wait, following = False, LONGER * wait, sweep + LONGER * wait
            _go_back(work, n)
        if sweep == 0 or worse:
            start_speeds(work, n)
        if stalls and sweep > EARLY and min(change, least) <= NEAR * _largest(work, n):
            return True
        if begins and not worse:
            polished, least, following = True, change, sweep + BETWEEN
            _keep(work, n)
            for _ in range(2 if wait > BETWEEN else 1):  # what slides shows after one, and not after a sweep
                polish_routine(ints, floats, vector, n)
                start_speeds(work, n)
        change = _sweep(plant, work, n, held)
        if change <= REST * _largest(work, n) or change * work.contacts.active[0, t.AC_LIGHT] <= QUIET:
            if not held:
                return True
            break
    work.contacts.found[t.FO_FAILED] += 1.0
    _make_do(plant, work, n)
    return False
