"""Where all pairs of shapes are at the end of a step without contact forces, and how they move there."""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import add, add_cross, dot, load3, load9, mul, rot, store3, sub, unrot
from limberjack.engine.compile.compiled import REAL
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.boxes import meet_boxes
from limberjack.engine.kernels.contacts.distances import (
    column,
    meet_ball_box,
    meet_ball_cylinder,
    meet_ball_funnel,
    meet_balls,
    meet_capsule_box,
    meet_capsules,
    meet_plane_ball,
    meet_plane_box,
    meet_plane_capsule,
    meet_plane_cylinder,
    on_segment,
)
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import W_V, plant_view, vectors, work_view


@kernel
def _placed(plant, work, c):
    """R and p of a shape in the inertial frame."""
    pose, local = work.pose[plant.contacts.collider_int[c, t.CO_ROW]], plant.contacts.collider[c]
    R = load9(pose, 0)
    return mul(R, load9(local, t.CL_R)), add(load3(pose, 9), rot(R, load3(local, t.CL_P)))


@kernel
def _distance(plant, a, b, Ra, pa, pb):
    """A distance that two shapes have at least."""
    d = sub(pb, pa)
    reach = plant.contacts.collider[b, t.CL_REACH]
    if plant.contacts.collider_int[a, t.CO_SHAPE] == t.PLANE:
        return dot(column(Ra, 2), d) - reach
    return math.sqrt(dot(d, d)) - reach - plant.contacts.collider[a, t.CL_REACH]


@kernel
def _meet_plane(met, at, n, p, shape, R, centre, size):
    if shape == t.SPHERE:
        meet_plane_ball(met[at], n, p, centre, size[0])
    elif shape == t.CAPSULE:
        meet_plane_capsule(met, at, n, p, R, centre, size)
    elif shape == t.BOX:
        meet_plane_box(met, at, n, p, R, centre, size)
    else:
        meet_plane_cylinder(met, at, n, p, R, centre, size)


@kernel
def _meet_ball(met, at, Ra, pa, radius, shape, Rb, pb, size):
    row = met[at]
    if shape == t.SPHERE:
        meet_balls(row, pa, radius, pb, size[0], column(Ra, 2))
    elif shape == t.CAPSULE:
        near = on_segment(pb, column(Rb, 2), size[1], pa)
        meet_balls(row, pa, radius, near, size[0], column(Rb, 0))
    elif shape == t.BOX:
        meet_ball_box(row, pa, radius, Rb, pb, size)
    elif shape == t.CYLINDER:
        meet_ball_cylinder(row, pa, radius, Rb, pb, size)
    else:
        meet_ball_funnel(met, at, pa, radius, Rb, pb, size)


@kernel
def _meet_pair(plant, work, pair, Ra, pa, Rb, pb):
    """All touches of a pair of shapes."""
    a, b, at, met = pair[t.PA_A], pair[t.PA_B], pair[t.PA_TOUCH], work.contacts.met
    first, second = plant.contacts.collider_int[a, t.CO_SHAPE], plant.contacts.collider_int[b, t.CO_SHAPE]
    size_a, size_b = load3(plant.contacts.collider[a], t.CL_SIZE), load3(plant.contacts.collider[b], t.CL_SIZE)
    if first == t.PLANE:
        _meet_plane(met, at, column(Ra, 2), pa, second, Rb, pb, size_b)
    elif first == t.SPHERE:
        _meet_ball(met, at, Ra, pa, size_a[0], second, Rb, pb, size_b)
    elif first == t.CAPSULE and second == t.CAPSULE:
        meet_capsules(met, at, Ra, pa, size_a, Rb, pb, size_b)
    elif first == t.CAPSULE:
        meet_capsule_box(met, at, Ra, pa, size_a, Rb, pb, size_b)
    else:
        meet_boxes(met, at, Ra, pa, size_a, Rb, pb, size_b, work.contacts.scratch)


@kernel
def _velocity(work, row, x):
    """Velocity of the place x of a link, inertial axes."""
    pose, motion = work.pose[row], work.rows[row]
    R = load9(pose, 0)
    return rot(R, add_cross(load3(motion, W_V + 3), load3(motion, W_V), unrot(R, sub(x, load3(pose, 9)))))


@kernel
def _turning(work, row):
    """Angular speed of a link."""
    w = load3(work.rows[row], W_V)
    return math.sqrt(dot(w, w))


@kernel
def _pace(plant, work, pair, row_a, row_b, pa, pb):
    """A speed that two shapes approach with at most."""
    u, d = sub(_velocity(work, row_b, pb), _velocity(work, row_a, pa)), sub(pb, pa)
    turned = _turning(work, row_a) * math.sqrt(dot(d, d))
    return math.sqrt(dot(u, u)) + turned + _turning(work, row_b) * plant.contacts.collider[pair[t.PA_B], t.CL_REACH]


@kernel
def _far(met, pair, gap):
    """A pair that is out of reach: its touches have the distance that it has at least."""
    for i in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
        met[i, t.ME_GAP], met[i, t.ME_NEAR] = gap, 0.0


@routine(REAL)
def meet_routine(ints, floats, vector, h):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    for i in range(plant.contacts.pair_int.shape[0]):
        pair = plant.contacts.pair_int[i]
        row_a = plant.contacts.collider_int[pair[t.PA_A], t.CO_ROW]
        row_b = plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW]
        Ra, pa = _placed(plant, work, pair[t.PA_A])
        Rb, pb = _placed(plant, work, pair[t.PA_B])
        least = _distance(plant, pair[t.PA_A], pair[t.PA_B], Ra, pa, pb)
        if least > t.WARY * h * _pace(plant, work, pair, row_a, row_b, pa, pb) + t.NEARBY:
            _far(work.contacts.met, pair, least)
            continue
        _meet_pair(plant, work, pair, Ra, pa, Rb, pb)
        for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
            row = work.contacts.met[j]
            x = load3(row, t.ME_POINT)
            row[t.ME_NEAR] = 1.0
            store3(row, t.ME_SPEED, sub(_velocity(work, row_b, x), _velocity(work, row_a, x)))


@kernel
def find_touches(plant, work, h):
    """work.contacts.met of all touches; links are placed and move. Shapes farther apart than they can come in a step
    of h at the pace of their links are not looked at closer."""
    ints, floats, vector = vectors(plant, work)
    meet_routine(ints, floats, vector, h)


@kernel
def note_start(work):
    """Where touches are now is where they are at the start of a step."""
    for i in range(work.contacts.met.shape[0]):
        row = work.contacts.met[i]
        row[t.ME_BEGAN], row[t.ME_START] = row[t.ME_NEAR], row[t.ME_GAP]
        store3(row, t.ME_FROM, load3(row, t.ME_POINT))


@kernel
def carry_on(work, h):
    """Gaps at the end of a step of h at the present velocities."""
    for i in range(work.contacts.met.shape[0]):
        row = work.contacts.met[i]
        if row[t.ME_NEAR] > 0.0:
            row[t.ME_GAP] += h * dot(load3(row, t.ME_NORMAL), load3(row, t.ME_SPEED))


@kernel
def basis(row, n):
    """Store n and two unit vectors across it, right-handed."""
    if abs(n[2]) < 0.7:
        s = 1.0 / math.sqrt(n[0] * n[0] + n[1] * n[1])
        x = -s * n[1], s * n[0], 0.0
    else:
        s = 1.0 / math.sqrt(n[1] * n[1] + n[2] * n[2])
        x = 0.0, -s * n[2], s * n[1]
    y = n[1] * x[2] - n[2] * x[1], n[2] * x[0] - n[0] * x[2], n[0] * x[1] - n[1] * x[0]
    store3(row, t.AC_BASIS, n)
    store3(row, t.AC_BASIS + 3, x)
    store3(row, t.AC_BASIS + 6, y)


@kernel
def _fastest(plant, work):
    """The largest speed at which shapes that would penetrate approach, m/s."""
    most = 0.0
    for i in range(plant.contacts.pair_int.shape[0]):
        pair = plant.contacts.pair_int[i]
        for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
            row = work.contacts.met[j]
            if row[t.ME_NEAR] > 0.0 and row[t.ME_GAP] < 0.0:
                most = max(most, -dot(load3(row, t.ME_NORMAL), load3(row, t.ME_SPEED)))
    return most


@kernel
def choose_active(plant, work, h):
    """Touches that forces of others may close as well become rows of work.contacts.active; returns how many there are,
    which may be more than there is room for."""
    count, most = 0, work.contacts.active.shape[0]
    margin = 2.0 * h * _fastest(plant, work)
    for i in range(plant.contacts.pair_int.shape[0]):
        pair = plant.contacts.pair_int[i]
        for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
            row = work.contacts.met[j]
            held = work.contacts.touch[j, t.TO_ACTS] > 0.0
            if row[t.ME_NEAR] > 0.0 and (held or row[t.ME_GAP] < margin or row[t.ME_GAP] <= 0.0):
                if count < most:
                    _begin_active(plant, work, work.contacts.active[count], i, j)
                count += 1
    return count


@kernel
def _begin_active(plant, work, active, pair, touch):
    """One row of work.contacts.active: its axes, its free velocity, and the last force along them."""
    met, known = work.contacts.met[touch], work.contacts.touch[touch]
    active[t.AC_TOUCH], active[t.AC_PAIR] = touch, pair
    basis(active, load3(met, t.ME_NORMAL))
    speed, force = load3(met, t.ME_SPEED), load3(known, t.TO_FORCE)
    for c in range(3):
        axis = load3(active, t.AC_BASIS + 3 * c)
        active[t.AC_FREE + c] = dot(axis, speed)
        active[t.AC_FORCE + c] = dot(axis, force)
        active[t.AC_HELD + c] = active[t.AC_FORCE + c] if known[t.TO_ACTS] > 0.0 else 0.0
    active[t.AC_FORCE], active[t.AC_STEPS] = max(active[t.AC_FORCE], 0.0), abs(known[t.TO_ACTS])
