"""Velocities of the blocks of an island, along their axes."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import dot, load3
from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import contacts as t


@kernel
def spread(work, i, d, e, f):
    """Update the velocities of all blocks for the changes [d; e; f] of the forces of block i."""
    a, b, c = work.contacts.answer[3 * i], work.contacts.answer[3 * i + 1], work.contacts.answer[3 * i + 2]
    speed, active = work.contacts.speed, work.contacts.active[i]
    for j in range(3 * whole(active[t.AC_FIRST]), 3 * whole(active[t.AC_END])):
        speed[j] += d * a[j] + e * b[j] + f * c[j]


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
            spread(work, i, d, e, f)


@kernel
def came(work, i, c):
    """The velocity of block i along axis c at the start of the step; of spins, which hardly change without contact,
    that at its end."""
    active = work.contacts.active[i]
    met = work.contacts.met[int(active[t.AC_TOUCH])]
    if active[t.AC_TURNS] > 0.0:
        return active[t.AC_FREE + c]
    return dot(load3(active, t.AC_BASIS + 3 * c), load3(met, t.ME_ONCE))


@kernel
def copy_forces(work, n, source, target):
    """Copy three numbers of n blocks from one column to another."""
    for i in range(n):
        for c in range(3):
            work.contacts.active[i, target + c] = work.contacts.active[i, source + c]


@kernel
def take_forces(work, n, source):
    """Forces of n blocks become those in another column, and work.contacts.speed what they make of it."""
    copy_forces(work, n, source, t.AC_FORCE)
    start_speeds(work, n)
