"""The forces of an island: a Gauss-Seidel iteration over its touches, each solved by its own laws.

For given bounds of friction the forces are the unique solution of a convex problem, and the iteration descends to it.
The bounds µ f follow the normal forces during the iteration. If that does not converge (a rod that jams, Painlevé
1895), the bounds are held constant for the last sweeps, so that these converge. Between sweeps the forces of all
touches are solved for at once (`polish.py`), each in its state at that moment.
"""

from __future__ import annotations

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.laws import STILL, compliant_force, friction, most_returned, rigid_force
from limberjack.engine.kernels.contacts.polish import law_of, pays, polish
from limberjack.engine.tables import contacts as t

#: the iteration ends when changes of forces are below this share of the largest force
REST = 1e-10
#: first sweeps; then so many times a solution for all touches followed by sweeps, unless there are more touches than
#: that pays for; last sweeps
FIRST, ROUNDS, BETWEEN, SWEEPS = 2, 12, 2, 200


@kernel
def _spread(work, i, d, e, f):
    """Update the velocities of all blocks for the changes [d; e; f] of the forces of block i."""
    a, b, c = work.contacts.answer[3 * i], work.contacts.answer[3 * i + 1], work.contacts.answer[3 * i + 2]
    speed, active = work.contacts.speed, work.contacts.active[i]
    for j in range(3 * whole(active[t.AC_FIRST]), 3 * whole(active[t.AC_END])):
        speed[j] += d * a[j] + e * b[j] + f * c[j]


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
    g, h = friction(a, b, c, u, v, active[t.AC_BOUND], active[t.AC_LIGHT])
    active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2] = f, g, h
    if d != 0.0 or g != x or h != y:
        _spread(work, i, d, g - x, h - y)
    change = max(abs(d), max(abs(g - x), abs(h - y)))
    return change / max(law[t.K_TORSION], law[t.K_ROLLING]) if turns else change


@kernel
def start_speeds(work, n):
    """Velocities of all blocks with the present forces."""
    for i in range(n):
        for c in range(3):
            work.contacts.speed[3 * i + c] = work.contacts.active[i, t.AC_FREE + c]
    for i in range(n):
        active = work.contacts.active[i]
        d = active[t.AC_FORCE] - active[t.AC_HELD]
        e = active[t.AC_FORCE + 1] - active[t.AC_HELD + 1]
        f = active[t.AC_FORCE + 2] - active[t.AC_HELD + 2]
        if d != 0.0 or e != 0.0 or f != 0.0:
            _spread(work, i, d, e, f)


@kernel
def _largest(work, n):
    """The largest force; moments do not count."""
    most = 0.0
    for i in range(n):
        for c in range(3):
            most = max(most, (1.0 - work.contacts.active[i, t.AC_TURNS]) * abs(work.contacts.active[i, t.AC_FORCE + c]))
    return most


@kernel
def solve_touches(plant, work, n):
    """AC_FORCE of the n blocks of an island, and work.contacts.speed with it; returns the number of sweeps."""
    rounds = FIRST + (ROUNDS * BETWEEN if pays(work, n) else 0)
    for sweep in range(rounds + SWEEPS):
        polished = sweep >= FIRST and sweep < rounds and (sweep - FIRST) % BETWEEN == 0
        if polished:
            polish(plant, work, n)
        if sweep == 0 or polished:
            start_speeds(work, n)
        change, held = 0.0, sweep >= rounds + SWEEPS // 2
        for i in range(n):
            change = max(change, _relax(plant, work, i, held))
        if change <= REST * _largest(work, n):
            return sweep + 1
    return rounds + SWEEPS
