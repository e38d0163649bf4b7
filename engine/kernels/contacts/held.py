"""Contact forces that are held: the prediction of a step's end goes with the last forces of touches that go on, so that
what rests is at rest.

The solution takes back what is held, at the places where the touches are now. So it has to be held there.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import dot, load3, store3, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.answers import place_of
from limberjack.engine.kernels.contacts.broad_phase import size_of, velocity_at
from limberjack.engine.kernels.contacts.islands import forget
from limberjack.engine.kernels.contacts.meeting import has_jumped
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import B_M

#: how often accelerations are computed again at most, since fewer forces are held than they have
MOST_TRIES = 2
#: a change of speed that held forces may miss, since they were held elsewhere, m/s
_MISSED = 1e-3


@kernel
def hold_touches(plant, work):
    """Hold only the forces of touches that have acted for more than one step since their last jolt: an impact must not
    act twice, neither at its own touch nor at those that pass it on."""
    for i in range(plant.contacts.pair_int.shape[0]):
        pair = plant.contacts.pair_int[i]
        if work.contacts.awake[i, t.AW_LIVE] > 0.0:
            for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
                known = work.contacts.touch[j]
                if known[t.TO_ACTS] < 2.0:
                    known[t.TO_ACTS] = -known[t.TO_ACTS]


@kernel
def _is_elsewhere(plant, work, pair, j, h):
    """Whether touch j of a pair, which is held, is at another place at the end of a step of h, or not there at all."""
    met, known = work.contacts.met[j], work.contacts.touch[j]
    if met[t.ME_NEAR] == 0.0 or met[t.ME_GAP] > size_of(plant, pair):
        return True
    x = load3(met, t.ME_POINT)
    u = velocity_at(work, plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW], x)
    return has_jumped(load3(known, t.TO_POINT), x, u, h, size_of(plant, pair))


@kernel
def _room(plant, pair, h):
    """How much force times way a held touch of a pair may miss, N·m: a change of the lighter link's speed by `_MISSED`.
    Of a link without mass that is not known."""
    a, b = plant.contacts.collider_int[pair[t.PA_A], t.CO_ROW], plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW]
    mass = plant.body[max(a, b) - 1, B_M]
    if a > 0 and b > 0:
        mass = min(mass, plant.body[min(a, b) - 1, B_M])
    return _MISSED * mass * size_of(plant, pair) / h if mass > 0.0 else math.inf


@kernel
def _carry(work, j, share, room):
    """Whether the force of touch j, which is held, was far from where it acts in this step: it moves there.

    What is held goes into the end of the step where it was held, and is taken back where the touch is now. With a force
    f and a way d between the two this misses the couple f d: a change of speed by h f d / (m L) at a link of mass m.
    """
    known = work.contacts.touch[j]
    x, f = place_of(work.contacts.met[j], share), load3(known, t.TO_FORCE)
    way = sub(x, load3(known, t.TO_POINT))
    if dot(f, f) * dot(way, way) <= room * room:
        return False
    store3(known, t.TO_POINT, x)
    return True


@kernel
def let_go(plant, work, h, share, tries):
    """Whether touches were held that are not where they were, so that no force there could take back what is held:
    these begin again, or are held where they are now; at the last try no others are held."""
    found = False
    for i in range(plant.contacts.pair_int.shape[0]):
        pair, awake = plant.contacts.pair_int[i], work.contacts.awake[i]
        if awake[t.AW_LIVE] > 0.0:
            room = _room(plant, pair, h)
            for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
                if work.contacts.touch[j, t.TO_ACTS] > 0.0:
                    if _is_elsewhere(plant, work, pair, j, h):
                        forget(work, j, work.contacts.met[j, t.ME_GAP])
                        found = True
                    elif _carry(work, j, share, room):
                        found = True
    if found and tries == MOST_TRIES - 1:
        for j in range(work.contacts.touch.shape[0]):
            work.contacts.touch[j, t.TO_ACTS] = -abs(work.contacts.touch[j, t.TO_ACTS])
    return found
