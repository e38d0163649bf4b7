"""Positions and motion of all pairs of shapes at the end of a step without contact forces."""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import add_scaled, dot, load3, load9, store3, sub
from limberjack.engine.compile.compiled import FLAG, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.boxes import meet_boxes
from limberjack.engine.kernels.contacts.broad_phase import (
    distance_and_pace,
    distance_of_boxes,
    place_shapes,
    size_of,
    velocity_at,
)
from limberjack.engine.kernels.contacts.distances import (
    column,
    meet_ball_box,
    meet_ball_cone,
    meet_ball_cylinder,
    meet_ball_funnel,
    meet_balls,
    meet_capsule_box,
    meet_capsule_cone,
    meet_capsules,
    meet_plane_ball,
    meet_plane_box,
    meet_plane_capsule,
    meet_plane_rims,
    on_segment,
)
from limberjack.engine.kernels.contacts.height_field import meet_height_field
from limberjack.engine.kernels.contacts.manifold import meet_convex, meet_plane_mesh
from limberjack.engine.kernels.contacts.rings import meet_circle
from limberjack.engine.kernels.contacts.same_places import sort_touches
from limberjack.engine.kernels.contacts.separation import separated
from limberjack.engine.kernels.contacts.supports import skin
from limberjack.engine.kernels.contacts.walls import meet_funnel
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: if a touch moves farther than its body by this share of the shape's size in a step, it is at another corner
_JUMP = 0.2


@kernel
def _meet_plane(met, at, n, p, shape, R, centre, size):
    if shape == t.SPHERE:
        meet_plane_ball(met[at], n, p, centre, size[0])
    elif shape == t.CAPSULE:
        meet_plane_capsule(met, at, n, p, R, centre, size)
    elif shape == t.BOX:
        meet_plane_box(met, at, n, p, R, centre, size)
    elif shape == t.CYLINDER:
        meet_plane_rims(met, at, n, p, R, centre, size[0], size[0], size[1])
    else:
        meet_plane_rims(met, at, n, p, R, centre, size[0], size[1], size[2])


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
    elif shape == t.CONE:
        meet_ball_cone(row, pa, radius, Rb, pb, size)
    else:
        meet_ball_funnel(met, at, pa, radius, Rb, pb, size)


@routine(WHOLE, REAL, returns=REAL)
def convex_routine(ints, floats, vector, i, margin):
    """All touches of pair i, of convex shapes or of a plane and a mesh. Returns 0, or if convex shapes are farther
    apart than the margin a lower bound of their distance, and then it looks for no touches."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    pair, met, scratch = plant.contacts.pair_int[i], work.contacts.met, work.contacts.scratch
    a, b, at, touches = pair[t.PA_A], pair[t.PA_B], pair[t.PA_TOUCH], pair[t.PA_TOUCHES]
    first, second = plant.contacts.collider_int[a, t.CO_SHAPE], plant.contacts.collider_int[b, t.CO_SHAPE]
    size_a, size_b = load3(plant.contacts.collider[a], t.CL_SIZE), load3(plant.contacts.collider[b], t.CL_SIZE)
    there, here = work.contacts.placed[a], work.contacts.placed[b]
    Ra, pa, Rb, pb = load9(there, t.PC_R), load3(there, t.PC_P), load9(here, t.PC_R), load3(here, t.PC_P)
    if first == t.PLANE:
        meet_plane_mesh(plant, met, at, touches, scratch, Ra, pa, b, Rb, pb)
        return 0.0
    skins = skin(first, size_a) + skin(second, size_b)
    found = separated(plant, work, i, 0, 0, margin + skins)
    if found[0] > margin + skins:
        return found[0] - skins
    meet_convex(plant, met, at, touches, scratch, found, a, first, Ra, pa, size_a, b, second, Rb, pb, size_b)
    return 0.0


@routine(WHOLE, REAL)
def height_field_routine(ints, floats, vector, i, margin):
    meet_height_field(plant_view(ints, floats), work_view(ints, vector), i, margin)


@kernel
def _meet_ring(plant, work, pair):
    """All touches of a pair of any shape and a ring."""
    a, b = pair[t.PA_A], pair[t.PA_B]
    centre, size = load3(work.contacts.placed[b], t.PC_P), load3(plant.contacts.collider[b], t.CL_SIZE)
    shape, touches = plant.contacts.collider_int[a, t.CO_SHAPE], pair[t.PA_TOUCHES]
    meet_circle(plant, work, pair[t.PA_TOUCH], touches, a, shape, b, centre, size[0], size[1])


@routine(WHOLE)
def funnel_routine(ints, floats, vector, i):
    """All touches of pair i, of a shape with edges or a capsule and a funnel, in either order."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    pair, colliders = plant.contacts.pair_int[i], plant.contacts.collider_int
    flip = colliders[pair[t.PA_A], t.CO_SHAPE] == t.FUNNEL
    a, b = (pair[t.PA_B], pair[t.PA_A]) if flip else (pair[t.PA_A], pair[t.PA_B])
    there, here = work.contacts.placed[a], work.contacts.placed[b]
    size_a, size_b = load3(plant.contacts.collider[a], t.CL_SIZE), load3(plant.contacts.collider[b], t.CL_SIZE)
    pa, pb = load3(there, t.PC_P), load3(here, t.PC_P)
    body = a, colliders[a, t.CO_SHAPE], load9(there, t.PC_R), pa, size_a, pb
    funnel = b, colliders[b, t.CO_SHAPE], load9(here, t.PC_R), pb, size_b, pa
    at, touches = pair[t.PA_TOUCH], pair[t.PA_TOUCHES]
    reach, wide = plant.contacts.collider[a, t.CL_REACH], plant.contacts.collider[b, t.CL_REACH]
    meet_funnel(plant, work, at, touches, body, reach, funnel, wide, flip)


@kernel
def _meet_pair(plant, work, pair):
    """All touches of a pair of shapes that has a closed form."""
    a, b, at, met = pair[t.PA_A], pair[t.PA_B], pair[t.PA_TOUCH], work.contacts.met
    there, here = work.contacts.placed[a], work.contacts.placed[b]
    Ra, pa, Rb, pb = load9(there, t.PC_R), load3(there, t.PC_P), load9(here, t.PC_R), load3(here, t.PC_P)
    first, second = plant.contacts.collider_int[a, t.CO_SHAPE], plant.contacts.collider_int[b, t.CO_SHAPE]
    size_a, size_b = load3(plant.contacts.collider[a], t.CL_SIZE), load3(plant.contacts.collider[b], t.CL_SIZE)
    if first == t.PLANE:
        _meet_plane(met, at, column(Ra, 2), pa, second, Rb, pb, size_b)
    elif first == t.SPHERE:
        _meet_ball(met, at, Ra, pa, size_a[0], second, Rb, pb, size_b)
    elif first == t.CAPSULE and second == t.CAPSULE:
        meet_capsules(met, at, Ra, pa, size_a, Rb, pb, size_b)
    elif first == t.CAPSULE and second == t.BOX:
        meet_capsule_box(met, at, Ra, pa, size_a, Rb, pb, size_b)
    elif first == t.CAPSULE and second == t.CYLINDER:
        meet_capsule_cone(met, at, Ra, pa, size_a, Rb, pb, (size_b[0], size_b[0], size_b[1]))
    elif first == t.CAPSULE:
        meet_capsule_cone(met, at, Ra, pa, size_a, Rb, pb, size_b)
    else:
        meet_boxes(met, at, Ra, pa, size_a, Rb, pb, size_b, work.contacts.scratch)


@kernel
def _is_plain(first, second):
    """Whether a pair of shapes has a closed form."""
    return second < t.MESH and (first < t.BOX or (first == t.BOX and second == t.BOX))


@kernel
def _far(work, i, pair, gap):
    """Pair i is out of reach: its gap is the lower bound of its distance. Its touches know that unless it was near."""
    awake = work.contacts.awake[i]
    awake[t.AW_GAP] = gap
    if awake[t.AW_NEAR] > 0.0:
        awake[t.AW_NEAR] = 0.0
        for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
            work.contacts.met[j, t.ME_GAP], work.contacts.met[j, t.ME_NEAR] = gap, 0.0


@kernel
def has_jumped(start, x, u, h, size):
    """Whether the place x of a touch, on a body that moves there at u, is not the one of the start of a step of h, for
    shapes of a size."""
    way = add_scaled(sub(x, start), -h, u)
    return dot(way, way) > (_JUMP * size) ** 2


@kernel
def _note_motion(plant, work, pair, h):
    """Velocities of all touches of a pair; those of edges and meshes that are at another corner than at the start of
    the step of h begin."""
    row_a = plant.contacts.collider_int[pair[t.PA_A], t.CO_ROW]
    row_b = plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW]
    size, one = size_of(plant, pair), plant.contacts.collider_int[pair[t.PA_A], t.CO_SHAPE]
    jumps = one == t.CAPSULE or plant.contacts.collider_int[pair[t.PA_B], t.CO_SHAPE] >= t.CYLINDER
    for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
        row = work.contacts.met[j]
        x = load3(row, t.ME_POINT)
        u = velocity_at(work, row_b, x)
        row[t.ME_NEAR] = 1.0
        if jumps and has_jumped(load3(row, t.ME_FROM), x, u, h, size):
            row[t.ME_BEGAN] = 0.0
        store3(row, t.ME_SPEED, sub(u, velocity_at(work, row_a, x)))


@kernel
def _meet_closely(plant, work, i, h, margin, since, ended):
    """All touches of pair i, which may touch where they are nearer than the margin. Returns 0, or of shapes that are
    farther apart a lower bound of their distance, and then it looks for no touches. since, ended: of `find_touches`"""
    pair, shapes = plant.contacts.pair_int[i], plant.contacts.collider_int
    one, other = shapes[pair[t.PA_A], t.CO_SHAPE], shapes[pair[t.PA_B], t.CO_SHAPE]
    ints, floats, vector = vectors(plant, work)
    if other == t.RING:
        _meet_ring(plant, work, pair)
    elif one > t.SPHERE and (one == t.FUNNEL or other == t.FUNNEL):
        funnel_routine(ints, floats, vector, i)
    elif _is_plain(one, other):
        _meet_pair(plant, work, pair)
    elif other == t.HEIGHT_FIELD:
        height_field_routine(ints, floats, vector, i, margin)
    else:
        apart = convex_routine(ints, floats, vector, i, margin if h > 0.0 else math.inf)
        if apart > 0.0:
            return apart
    _note_motion(plant, work, pair, h)
    if one == t.BOX and other == t.BOX:
        sort_touches(plant, work, pair, since, ended)
    return 0.0


@kernel
def _least_distance(plant, pair, awake, placed, h, stays):
    """(a lower bound of the distance of a pair, the margin within which it may touch). stays: its shapes are where they
    were when it was looked at last. Without a step (h) gaps are exact as soon as the spheres around shapes meet."""
    first, second = placed[pair[t.PA_A]], placed[pair[t.PA_B]]
    least, pace = distance_and_pace(plant, pair, first, second)
    margin = t.WARY * h * pace + t.NEARBY
    if stays and awake[t.AW_NEAR] == 0.0:
        least = max(least, awake[t.AW_GAP])
    if h > 0.0 and least <= margin:
        least = max(least, distance_of_boxes(plant, pair, first, second))
    return least, margin


@routine(REAL, REAL, FLAG)
def meet_routine(ints, floats, vector, h, since, ended):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    place_shapes(plant, work)
    stays = ended and since == 0.0  # with Euler's methods shapes end a step, along J(q) v', where they begin it
    for i in range(plant.contacts.pair_int.shape[0]):
        pair, awake = plant.contacts.pair_int[i], work.contacts.awake[i]
        least, margin = _least_distance(plant, pair, awake, work.contacts.placed, h, stays)
        if least > margin:
            _far(work, i, pair, least)
        elif stays and awake[t.AW_BEGAN] > 0.0 and not _is_on_ground(plant, pair):
            _note_motion(plant, work, pair, h)
        else:
            least = _meet_closely(plant, work, i, h, margin, since, ended)
            if least > 0.0:
                _far(work, i, pair, least)
            else:
                awake[t.AW_NEAR] = 1.0


@kernel
def _is_on_ground(plant, pair):
    """Whether a pair has a height field, of which the margin chooses triangles."""
    return plant.contacts.collider_int[pair[t.PA_B], t.CO_SHAPE] == t.HEIGHT_FIELD


@kernel
def find_touches(plant, work, h, since, ended):
    """work.contacts.met of all touches; links are placed and move. Shapes farther apart than they can come in a step
    of h at the pace of their links are not looked at closer; without a step, those of which the spheres are apart.

    since : how long ago touches were at the places to which they are compared, s: those at the start of the step if
        this is its end (`ended`), else those at which forces acted in the last one
    """
    ints, floats, vector = vectors(plant, work)
    meet_routine(ints, floats, vector, h, since, ended)


@kernel
def wake_pairs(plant, work):
    """Find out which pairs sleep, at the start of a call: work.contacts.touch is that of the State."""
    for i in range(plant.contacts.pair_int.shape[0]):
        pair, awake, live = plant.contacts.pair_int[i], work.contacts.awake[i], 0.0
        for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
            row = work.contacts.touch[j]
            if row[t.TO_ACTS] != 0.0 or row[t.TO_LAW] != 0.0 or row[t.TO_STORED] != 0.0:
                live = 1.0
        awake[t.AW_NEAR], awake[t.AW_BEGAN], awake[t.AW_LIVE], awake[t.AW_KEPT] = 1.0, 1.0, live, live


@kernel
def note_start(plant, work):
    """Keep the present touches as those at the start of a step."""
    for i in range(plant.contacts.pair_int.shape[0]):
        pair, awake = plant.contacts.pair_int[i], work.contacts.awake[i]
        if awake[t.AW_NEAR] > 0.0 or awake[t.AW_BEGAN] > 0.0:
            awake[t.AW_BEGAN] = awake[t.AW_NEAR]
            for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
                _note_start_of(work.contacts.met[j])


@kernel
def _note_start_of(row):
    row[t.ME_BEGAN] = row[t.ME_NEAR]
    if row[t.ME_NEAR] > 0.0:
        row[t.ME_START] = row[t.ME_GAP]
        store3(row, t.ME_FROM, load3(row, t.ME_POINT))
        store3(row, t.ME_ONCE, load3(row, t.ME_SPEED))


@kernel
def carry_on(plant, work, h):
    """Gaps at the end of a step of h at the present velocities."""
    for i in range(plant.contacts.pair_int.shape[0]):
        pair = plant.contacts.pair_int[i]
        if work.contacts.awake[i, t.AW_NEAR] > 0.0:
            for j in range(pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES]):
                row = work.contacts.met[j]
                if row[t.ME_NEAR] > 0.0:
                    row[t.ME_GAP] += h * dot(load3(row, t.ME_NORMAL), load3(row, t.ME_SPEED))
