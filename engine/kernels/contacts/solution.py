"""The forces of all active touches: Gauss and Seidel's iteration over touches, each solved by its own laws.

For given bounds of friction the forces are the one solution of a convex problem, and the iteration descends to it. The
bounds µ f follow the normal forces along the way; if that has not come to rest at last (a rod that jams, Painlevé
1895), they are held for the last sweeps, so that these do. Between sweeps the forces of all touches are solved for at
once (`polish.py`), for what each of them does then.
"""

from __future__ import annotations

from limberjack.engine.compile.compiled import WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.laws import compliant_force, friction, rigid_force
from limberjack.engine.kernels.contacts.polish import polish
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: how small the changes of forces are at the end beside the largest one
REST = 1e-10
#: sweeps at first; then so many times one solution for all touches and sweeps behind it, unless there are more touches
#: than that pays for; sweeps at last
FIRST, ROUNDS, BETWEEN, SWEEPS = 4, 12, 2, 200
MOST_POLISHED = 64


@kernel
def _spread(work, n, i, d, e, f):
    """Velocities of all touches answer to changes [d; e; f] of the forces at touch i."""
    a, b, c = work.contacts.answer[3 * i], work.contacts.answer[3 * i + 1], work.contacts.answer[3 * i + 2]
    speed = work.contacts.speed
    for j in range(3 * n):
        speed[j] += d * a[j] + e * b[j] + f * c[j]


@kernel
def _normal(plant, work, i, law):
    """The normal force of touch i for what all others do."""
    active, at = work.contacts.active[i], 3 * i
    own = work.contacts.answer[at, at]
    r = work.contacts.speed[at] - own * active[t.AC_FORCE]
    if law[t.K_STIFFNESS] == 0.0:
        return rigid_force(active, r, own)
    j = int(active[t.AC_TOUCH])
    before = (1.0 - active[t.AC_SHARE]) * work.contacts.touch[j, t.TO_LAW]
    return compliant_force(law, active, work.contacts.met[j, t.ME_GAP], before, r, own)


@kernel
def _relax(plant, work, n, i, held):
    """Touch i by its laws; returns the largest change of its forces."""
    active, at, A = work.contacts.active[i], 3 * i, work.contacts.answer
    law = plant.contacts.contact[plant.contacts.pair_int[int(active[t.AC_PAIR]), t.PA_CONTACT]]
    f = _normal(plant, work, i, law)
    d = f - active[t.AC_FORCE]
    if not held:
        active[t.AC_BOUND] = law[t.K_FRICTION] * f
    a, b, c = A[at + 1, at + 1], A[at + 1, at + 2], A[at + 2, at + 2]
    x, y = active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
    u = work.contacts.speed[at + 1] + A[at, at + 1] * d - a * x - b * y
    v = work.contacts.speed[at + 2] + A[at, at + 2] * d - b * x - c * y
    g, h = friction(a, b, c, u, v, active[t.AC_BOUND])
    active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2] = f, g, h
    if d != 0.0 or g != x or h != y:
        _spread(work, n, i, d, g - x, h - y)
    return max(abs(d), max(abs(g - x), abs(h - y)))


@kernel
def _start(work, n):
    """Velocities of all touches with the forces of now."""
    for i in range(n):
        for c in range(3):
            work.contacts.speed[3 * i + c] = work.contacts.active[i, t.AC_FREE + c]
    for i in range(n):
        active = work.contacts.active[i]
        f, g, h = active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
        _spread(work, n, i, f - active[t.AC_HELD], g - active[t.AC_HELD + 1], h - active[t.AC_HELD + 2])


@kernel
def _largest(work, n):
    most = 0.0
    for i in range(n):
        for c in range(3):
            most = max(most, abs(work.contacts.active[i, t.AC_FORCE + c]))
    return most


@kernel
def _sweep(plant, work, n, held):
    """One sweep over all touches; whether forces have come to rest."""
    change = 0.0
    for i in range(n):
        change = max(change, _relax(plant, work, n, i, held))
    return change <= REST * _largest(work, n)


@routine(WHOLE, returns=WHOLE)
def solve_touches_routine(ints, floats, vector, n):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    _start(work, n)
    done = 0
    for _ in range(FIRST):
        done += 1
        if _sweep(plant, work, n, False):
            return done
    for _ in range(ROUNDS if n <= MOST_POLISHED else 0):
        polish(plant, work, n)
        _start(work, n)
        for _ in range(BETWEEN):
            done += 1
            if _sweep(plant, work, n, False):
                return done
    for sweep in range(SWEEPS):
        done += 1
        if _sweep(plant, work, n, sweep >= SWEEPS // 2):
            return done
    return done


@kernel
def solve_touches(plant, work, n):
    """AC_FORCE of the n active touches, and work.contacts.speed with it; returns the number of sweeps."""
    ints, floats, vector = vectors(plant, work)
    return solve_touches_routine(ints, floats, vector, n)
