"""Which shapes may touch in a step: each shape is placed once; for each pair, the distance of the spheres around them
is compared with the distance that they can travel, and then that of the boxes around them.

All pairs are examined, since each has a gap to report. A pair that is far apart costs two roots and forty products.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import (
    add,
    add_cross,
    add_scaled,
    dot,
    load3,
    load9,
    mul,
    rot,
    store3,
    store9,
    sub,
    unrot,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.boxes import farthest_face, spread
from limberjack.engine.kernels.contacts.distances import column
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import W_V


@kernel
def velocity_at(work, row, x):
    """Velocity of the point x of a link, inertial axes."""
    pose, motion = work.pose[row], work.rows[row]
    R = load9(pose, 0)
    return rot(R, add_cross(load3(motion, W_V + 3), load3(motion, W_V), unrot(R, sub(x, load3(pose, 9)))))


@kernel
def size_of(plant, pair):
    """Radius of a sphere about the smaller shape of a pair, m."""
    first, second = plant.contacts.collider[pair[t.PA_A], t.CL_REACH], plant.contacts.collider[pair[t.PA_B], t.CL_REACH]
    return min(first, second) if first > 0.0 else second  # planes have none


@kernel
def place_shapes(plant, work):
    """work.contacts.placed of all shapes; links are placed and move."""
    for c in range(plant.contacts.collider_int.shape[0]):
        row, local = plant.contacts.collider_int[c, t.CO_ROW], plant.contacts.collider[c]
        placed, pose, w = work.contacts.placed[c], work.pose[row], load3(work.rows[row], W_V)
        R = load9(pose, 0)
        p = add(load3(pose, 9), rot(R, load3(local, t.CL_P)))
        store9(placed, t.PC_R, mul(R, load9(local, t.CL_R)))
        store3(placed, t.PC_P, p)
        store3(placed, t.PC_U, velocity_at(work, row, p))
        placed[t.PC_W] = math.sqrt(dot(w, w))


@kernel
def carried(work, collider, x, time):
    """The point x, after the centre of a shape has moved for a time."""
    return add_scaled(x, time, load3(work.contacts.placed[collider], t.PC_U))


@kernel
def distance_and_pace(plant, pair, first, second):
    """A lower bound of the distance of two shapes, and an upper bound of the speed at which they approach."""
    a, b = pair[t.PA_A], pair[t.PA_B]
    d, u = sub(load3(second, t.PC_P), load3(first, t.PC_P)), sub(load3(second, t.PC_U), load3(first, t.PC_U))
    reach, apart = plant.contacts.collider[b, t.CL_REACH], math.sqrt(dot(d, d))
    pace = math.sqrt(dot(u, u)) + first[t.PC_W] * apart + second[t.PC_W] * reach
    if plant.contacts.collider_int[a, t.CO_SHAPE] == t.PLANE:
        return dot(column(load9(first, t.PC_R), 2), d) - reach, pace
    own = plant.contacts.collider[a, t.CL_REACH]
    if plant.contacts.collider_int[b, t.CO_SHAPE] == t.HEIGHT_FIELD:
        above = -dot(column(load9(second, t.PC_R), 2), d) - plant.contacts.collider[b, t.CL_SIZE + 2] - own
        return max(above, apart - reach - own), pace + second[t.PC_W] * apart
    return apart - reach - own, pace


@kernel
def _has_box(one, other):
    """Whether to look at two shapes takes longer than to compare the boxes around them."""
    return other != t.HEIGHT_FIELD and (other >= t.MESH or (one >= t.CAPSULE and other >= t.BOX))


@kernel
def distance_of_boxes(plant, pair, first, second):
    """A lower bound of the distance of two shapes: how far the boxes around them are apart along the axes of both."""
    a, b = plant.contacts.collider[pair[t.PA_A]], plant.contacts.collider[pair[t.PA_B]]
    one, other = (
        plant.contacts.collider_int[pair[t.PA_A], t.CO_SHAPE],
        plant.contacts.collider_int[pair[t.PA_B], t.CO_SHAPE],
    )
    if not _has_box(one, other):
        return -math.inf
    Ra, Rb, half = load9(first, t.PC_R), load9(second, t.PC_R), load3(b, t.CL_HALF)
    d = sub(load3(second, t.PC_P), load3(first, t.PC_P))
    d = sub(add(d, rot(Rb, load3(b, t.CL_MIDDLE))), rot(Ra, load3(a, t.CL_MIDDLE)))
    if one == t.PLANE:
        return dot(column(Ra, 2), d) - spread(Rb, half, column(Ra, 2))
    return max(
        farthest_face(Ra, d, load3(a, t.CL_HALF), Rb, half)[0], farthest_face(Rb, d, half, Ra, load3(a, t.CL_HALF))[0]
    )
