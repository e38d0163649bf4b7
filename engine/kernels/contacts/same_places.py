"""Touches of two boxes keep their rows while their places stay.

Clipping lists corners in an order that depends on the face it begins from, and two faces that are nearly parallel take
turns from step to step. A row would then have the force of one corner and the place of another. So rows are sorted
twice: at the start of a step, by the places at which touches acted in the last one, and at its end, by those at the
start. Each place takes the nearest corner. What has no place at the start begins.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.spatial import add_scaled, dot, load3, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.broad_phase import size_of, velocity_at
from limberjack.engine.tables import contacts as t

#: shares of a shape's size: a touch that moved by less, beyond the slip of a step, may be the one that was there; it is
_NEAR, _STILL = 1e-2, 1e-4


@kernel
def _swap(one, other):
    """Swap what is known of two touches at the present time."""
    for c in range(t.ME_NEAR + 1):
        kept = one[c]
        one[c] = other[c]
        other[c] = kept


@kernel
def _nearest(work, pair, row, k, place, taken, h, size):
    """The touch of a pair, not taken yet, that was nearest to a place h ago; -1 if none was within reach. If the one in
    row k hardly moved, there is nothing to compare. row: of the body that carries them."""
    best, least, touches = -1, size * size, pair[t.PA_TOUCHES]
    for step in range(touches):
        i = k + step if k + step < touches else k + step - touches
        met = work.contacts.met[pair[t.PA_TOUCH] + i]
        if taken[i] == 0.0 and met[t.ME_GAP] < size:
            x, u = load3(met, t.ME_POINT), load3(met, t.ME_SPEED)
            if h > 0.0:
                x = add_scaled(x, -h, velocity_at(work, row, x))
            way, reach = sub(x, place), _NEAR * size + h * math.sqrt(dot(u, u))
            square = dot(way, way)
            if square < min(least, reach * reach):
                best, least = i, square
            if least < (_STILL * size) ** 2:
                break
    return best


@kernel
def _was(met, known, size, ended):
    """Whether a row has a place to which its touch belongs, and where that is."""
    if ended:
        return met[t.ME_BEGAN] > 0.0 and met[t.ME_START] < size, load3(met, t.ME_FROM)
    return known[t.TO_ACTS] != 0.0 or known[t.TO_LAW] != 0.0, load3(known, t.TO_POINT)


@kernel
def sort_touches(plant, work, pair, h, ended):
    """Bring the touches of a pair into the rows where they were h ago; ended: at the start of this step."""
    first, touches, taken = pair[t.PA_TOUCH], pair[t.PA_TOUCHES], vector_view(work.contacts.scratch, 0, t.SCRATCH)
    row, size = plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW], size_of(plant, pair)
    for i in range(touches):
        taken[i] = 0.0
    for i in range(touches):
        known, place = _was(work.contacts.met[first + i], work.contacts.touch[first + i], size, ended)
        near = _nearest(work, pair, row, i, place, taken, h, size) if known else -1
        if near >= 0:
            taken[i] = 1.0
            if near != i:
                _swap(work.contacts.met[first + i], work.contacts.met[first + near])
    if ended:
        for i in range(touches):
            if taken[i] == 0.0:
                work.contacts.met[first + i, t.ME_BEGAN] = 0.0
