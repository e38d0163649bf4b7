"""The forces of an island: a Gauss-Seidel iteration over its touches, each solved by its own laws.

For given bounds of friction the forces are the unique solution of a convex problem, and the iteration descends to it.
The bounds µ f follow the normal forces during the iteration. Between sweeps (`relaxation.py`) the forces of all touches
are solved for at once (`polish.py`), each in its state at that moment. Where that does not end, they are found from
inside their laws (`interior.py`), or if too many velocities take part, by accelerated sweeps (`acceleration.py`). Where
laws have no solution that is found (a rod that jams, Painlevé 1895; jams of dozens of touches), the bounds are held
constant for the last sweeps, so that these converge, and then the forces are weakened until they add no energy.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.compiled import FLAG, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.acceleration import accelerate_routine
from limberjack.engine.kernels.contacts.account import missed_by
from limberjack.engine.kernels.contacts.equations import pays
from limberjack.engine.kernels.contacts.interior import solve_inside_routine
from limberjack.engine.kernels.contacts.polish import law_of, polish_routine
from limberjack.engine.kernels.contacts.push_out import ENDLESS, pushed
from limberjack.engine.kernels.contacts.pushed_work import work_of
from limberjack.engine.kernels.contacts.relaxation import close, near, settled, sweep
from limberjack.engine.kernels.contacts.speeds import copy_forces, start_speeds, take_forces
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import C_V, plant_view, work_view

#: after how many sweeps forces will do that solutions for all touches hardly bring nearer (NEAR): steps that follow
#: take more of them where forces are not at rest
EARLY = 12
#: first sweeps; sweeps after a solution for all touches; how many times longer they get after each one that brings the
#: forces no nearer
FIRST, BETWEEN, LONGER = 2, 2, 4
#: most sweeps; where solutions for all touches pay, most products of sweeps and touches, but at least so many sweeps
SWEEPS, PRODUCTS, LEAST = 226, 2000, 50
#: first sweeps of nearly rigid touches, and most accelerated ones; both where there are more touches than velocities,
#: as in jams, for which forces from inside take little
BEFORE, MANY = 30, 200
SOON, FEW = 8, 30
#: most touches, all of which answer to each other, for which solutions for all pay
MOST_POLISHED = 64
#: most touches whose forces are found from inside
MOST_INSIDE = 96


@kernel
def _scale(active, share):
    for c in range(3):
        active[t.AC_FORCE + c] *= share


@kernel
def _answered(work, n):
    """f·W f of n blocks."""
    answered = 0.0
    for i in range(n):
        active = work.contacts.active[i]
        for c in range(3):
            for j in range(whole(active[t.AC_FIRST]), whole(active[t.AC_END])):
                for d in range(3):
                    answer = work.contacts.answer[3 * i + c, 3 * j + d]
                    answered += active[t.AC_FORCE + c] * answer * work.contacts.active[j, t.AC_FORCE + d]
    return answered


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
    _spend(plant, work, n)


@kernel
def _spend(plant, work, n):
    """Weaken forces of n blocks, together, until they add no energy."""
    done = work_of(plant, work, n) - pushed(work, n, False) + missed_by(work, n)
    if done > 0.0:
        answered = _answered(work, n)
        share = max(0.0, 1.0 - done / answered) if answered > 0.0 else 0.0
        for i in range(n):
            _scale(work.contacts.active[i], share)
        start_speeds(work, n)


@kernel
def _count_sweeps(work, n, polishes):
    """Most sweeps over n blocks."""
    return max(LEAST, PRODUCTS // n) if polishes and n * SWEEPS > PRODUCTS else SWEEPS


@kernel
def _is_rigid(plant, work, n):
    """Whether all n blocks are nearly rigid."""
    stiffest = 0.0
    for i in range(n):
        stiffest = max(stiffest, plant.contacts.contact[law_of(plant, work, i), t.K_STIFFNESS])
    return stiffest == 0.0


@routine(WHOLE, WHOLE, WHOLE, returns=REAL)
def relax_routine(ints, floats, vector, n, most, polishes):
    """AC_FORCE of the n blocks by `most` sweeps, and work.contacts.speed with it; returns 0 if they are the solution,
    and else the change of the sweep that led to them.

    polishes : 1: between sweeps solve for all touches at once
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    polished, wait, following, least, change = False, BETWEEN, FIRST, math.inf, math.inf
    start_speeds(work, n)
    for k in range(most):
        begins = polishes == 1 and k == following
        stalls, worse = begins and polished and change > 0.5 * least, begins and polished and change >= least
        if worse:
            polished, wait, following = False, LONGER * wait, k + LONGER * wait
            take_forces(work, n, t.AC_BEST)
        if stalls and k > EARLY and near(work, n, min(change, least)):
            return 0.0
        if begins and not worse:
            polished, least, following = True, change, k + BETWEEN
            copy_forces(work, n, t.AC_FORCE, t.AC_BEST)
            for _ in range(2 if wait > BETWEEN else 1):  # what slides shows after one, and not after a sweep
                polish_routine(ints, floats, vector, n)
                start_speeds(work, n)
        change = sweep(plant, work, n, False)
        if settled(work, n, change):
            return 0.0
    if change < least:
        copy_forces(work, n, t.AC_FORCE, t.AC_BEST)
        return change
    take_forces(work, n, t.AC_BEST)
    return least


@kernel
def _hold_bounds(plant, work, n, most):
    """Sweeps over n blocks, `most` at most, whose bounds of friction are those of the first one."""
    sweep(plant, work, n, False)
    for _ in range(most):
        if settled(work, n, sweep(plant, work, n, True)):
            break


@kernel
def _solve_rigid(plant, work, ints, floats, vector, n, change):
    """Forces of n blocks, all nearly rigid, whose first sweeps ended with a change; returns whether they are found."""
    if n <= MOST_INSIDE and solve_inside_routine(ints, floats, vector, n, change):
        return True
    jams = n > ints[C_V]
    change = accelerate_routine(ints, floats, vector, n, FEW if jams else MANY)
    if near(work, n, change) or jams or not close(work, n, change):
        return near(work, n, change)
    _spend(plant, work, n)
    return True


@routine(WHOLE, returns=FLAG)
def solve_touches_routine(ints, floats, vector, n):
    """AC_FORCE of the n blocks of an island, and work.contacts.speed with it; returns whether they are the solution."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    polishes, rigid = pays(work, n, MOST_POLISHED), _is_rigid(plant, work, n)
    most = _count_sweeps(work, n, polishes)
    before = (SOON if n > ints[C_V] else BEFORE) if rigid else most // 2
    change = relax_routine(ints, floats, vector, n, before, 1 if polishes else 0)
    if change == 0.0 or (rigid and _solve_rigid(plant, work, ints, floats, vector, n, change)):
        return True
    _hold_bounds(plant, work, n, most // 2)
    work.contacts.found[t.FO_FAILED] += 1.0
    _make_do(plant, work, n)
    return False
