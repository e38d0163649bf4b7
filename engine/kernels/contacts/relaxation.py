"""Sweeps over the touches of an island (Gauss-Seidel): each by its own laws exactly, given all other forces."""

from __future__ import annotations

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.laws import STILL, compliant_force, friction, most_returned, rigid_force
from limberjack.engine.kernels.contacts.polish import law_of
from limberjack.engine.kernels.contacts.speeds import spread
from limberjack.engine.tables import contacts as t

#: forces are the solution when changes of forces are below this share of the largest force
REST = 1e-10
#: the same where forces hardly come nearer, as of touches that share a load in many ways
NEAR = 1e-6
#: the same at the end of all ways: of heaps, whose next steps go on from these forces
CLOSE = 1e-4
#: or when they would change the velocity of all bodies, as one mass, by no more than this, m/s: where nothing pushes,
#: all forces are rounding
QUIET = 1e-15


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
def sweep(plant, work, n, held):
    """One sweep over n blocks; returns the largest change. held : whether bounds of friction are"""
    change = 0.0
    for i in range(n):
        change = max(change, _relax(plant, work, i, held))
    return change


@kernel
def _is_small(work, n, change, share):
    """Whether a change of a sweep over n blocks is below a share of their largest force, or moves nothing."""
    return change <= share * _largest(work, n) or change * work.contacts.active[0, t.AC_LIGHT] <= QUIET


@kernel
def settled(work, n, change):
    """Whether so large a change of a sweep over n blocks is none."""
    return _is_small(work, n, change, REST)


@kernel
def near(work, n, change):
    """Whether so small a change of a sweep over n blocks will do, where nothing brings the forces nearer."""
    return _is_small(work, n, change, NEAR)


@kernel
def close(work, n, change):
    """Whether so small a change of a sweep over n blocks will do where nothing has brought the forces nearer."""
    return _is_small(work, n, change, CLOSE)
