"""Forces of contact on links: what `contacts/touching.py` found for a step, at one place of the inertial frame."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import add_cross, load3, load9, neg, sub, unrot
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.forces.link_forces import push
from limberjack.engine.tables import contacts as t


@kernel
def _push_at(work, row, x, f, m):
    """Apply a force at the point x, and a moment, inertial axes; those on the ground are dropped."""
    if row > 0:
        pose = work.pose[row]
        R = load9(pose, 0)
        push(work, row, unrot(R, add_cross(m, sub(x, load3(pose, 9)), f)), unrot(R, f))


@kernel
def push_touches(plant, work):
    """Add the forces of all touches that act to work.wrench; links are placed in the inertial frame."""
    for i in range(plant.contacts.pair_int.shape[0]):
        pair = plant.contacts.pair_int[i]
        if work.contacts.awake[i, t.AW_LIVE] > 0.0:
            for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
                row = work.contacts.touch[j]
                if row[t.TO_ACTS] > 0.0:
                    x, f, m = load3(row, t.TO_POINT), load3(row, t.TO_FORCE), load3(row, t.TO_MOMENT)
                    _push_at(work, plant.contacts.collider_int[pair[t.PA_A], t.CO_ROW], x, neg(f), neg(m))
                    _push_at(work, plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW], x, f, m)
