"""The points at which shapes with edges touch a funnel: its wall from inside, and its two rims.

What is inside of a cone is convex, so of all points of a polytope in it a corner is nearest to the wall, and of a
cylinder a place on a rim (`rings.py`). A corner that has come through the wall is one of a body that was inside if the
way from it to the middle of the body leads back through the wall, and not past an end of it. The rims of the funnel are
circles without a tube, which touch the faces and edges of the shape from outside. So a plate lies on the mouth of a
funnel, and a box that does not fit through rests on its corners.

Normals are from the shape to the funnel, and turned in the end if the funnel is the first of the pair.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import add, add_scaled, dot, load3, neg, rot, store3, sub, unrot
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.distances import column, meet, meet_ball_funnel
from limberjack.engine.kernels.contacts.fields import THROUGH, outside
from limberjack.engine.kernels.contacts.rings import WITH_BORDERS, WITH_SOME, meet_circle
from limberjack.engine.kernels.contacts.supports import rims
from limberjack.engine.tables import contacts as t

#: touches that are not there, m
_FAR = 1e300
#: points nearer to each other than this share of the smaller shape's size are one
_SAME = 1e-6
#: radii below this are none, m
_NO_LENGTH = 1e-12


@kernel
def _meet_corner(plant, work, at, inside, x):
    """A corner of a shape, if it is nearer to the wall than what is there."""
    row, (gap, n, _) = work.contacts.met[at], outside(plant, work, inside, x)
    if gap < row[t.ME_GAP]:
        meet(row, gap, neg(n), add_scaled(x, -0.5 * gap, n))


@kernel
def _meet_rim(plant, work, at, inside, number, centre, radius):
    """A rim of collider `number`, or its tip, in a funnel; returns how many touches it has."""
    rows = work.contacts.met
    if radius < _NO_LENGTH:
        _meet_corner(plant, work, at, inside, centre)
        return WITH_SOME
    meet_circle(plant, work, at, WITH_SOME, inside[0], t.INSIDE, number, centre, radius, 0.0)
    for i in range(at, at + WITH_SOME):
        store3(rows[i], t.ME_NORMAL, neg(load3(rows[i], t.ME_NORMAL)))
    return WITH_SOME


@kernel
def _meet_corners_of_mesh(plant, work, at, inside, body):
    """Of all corners in each eighth of the space about the middle of a mesh, along the axes of the funnel, the one
    that is nearest to the wall; returns how many touches there are."""
    number, _, R, p, _, _ = body
    first = plant.contacts.mesh_int[number, t.ML_FIRST]
    for i in range(first, first + plant.contacts.mesh_int[number, t.ML_COUNT]):
        d = rot(R, load3(plant.contacts.mesh_corner[i], 0))
        local = unrot(inside[2], d)
        part = (1 if local[0] > 0.1 * local[1] else 0) + (2 if local[1] > -0.1 * local[0] else 0)
        _meet_corner(plant, work, at + part + (4 if local[2] > 0.0 else 0), inside, add(p, d))
    return 8


@kernel
def _meet_inside(plant, work, at, inside, body):
    """Corners, rims or ends of a shape in a funnel; returns how many touches they have."""
    rows, (number, shape, R, p, size, _) = work.contacts.met, body
    if shape == t.MESH:
        return _meet_corners_of_mesh(plant, work, at, inside, body)
    if shape == t.CAPSULE:
        half = size[1]
        meet_ball_funnel(rows, at, add_scaled(p, half, column(R, 2)), size[0], inside[2], inside[3], inside[4])
        meet_ball_funnel(rows, at + 3, add_scaled(p, -half, column(R, 2)), size[0], inside[2], inside[3], inside[4])
        return 6
    if shape == t.BOX:
        for i in range(8):
            x, y = size[0] if i & 1 else -size[0], size[1] if i & 2 else -size[1]
            _meet_corner(plant, work, at + i, inside, add(p, rot(R, (x, y, size[2] if i & 4 else -size[2]))))
        return 8
    low, high, half = rims(shape, size)
    count = _meet_rim(plant, work, at, inside, number, add_scaled(p, -half, column(R, 2)), low)
    return count + _meet_rim(plant, work, at + count, inside, number, add_scaled(p, half, column(R, 2)), high)


@kernel
def _leave_out_twins(rows, at, touches, near):
    """Of points in one place the first is there."""
    for k in range(at + 1, at + touches):
        for i in range(at, k if rows[k, t.ME_GAP] < _FAR else at):
            if rows[i, t.ME_GAP] < _FAR:
                apart = sub(load3(rows[k], t.ME_POINT), load3(rows[i], t.ME_POINT))
                if dot(apart, apart) < near * near:
                    rows[k, t.ME_GAP] = _FAR


@kernel
def meet_funnel(plant, work, at, touches, body, reach, funnel, size_of_funnel, flip):
    """The touches of a shape with edges, or a capsule, and a funnel; body, funnel: as for `fields.outside`. reach: size
    of the shape; flip: whether the funnel is the first of the pair."""
    rows, (number, _, Rf, pf, size, _) = work.contacts.met, funnel
    low, high, half = size
    for i in range(at, at + touches):
        meet(rows[i], _FAR, column(Rf, 2), pf)
    inside = number, t.INSIDE, Rf, pf, size, body[3]
    there = at + _meet_inside(plant, work, at, inside, body)
    lips = WITH_SOME if body[1] == t.CAPSULE else WITH_BORDERS
    for end in range(2):
        radius, centre = high if end == 1 else low, add_scaled(pf, half if end == 1 else -half, column(Rf, 2))
        if radius > _NO_LENGTH:
            meet_circle(plant, work, there + end * lips, lips, body[0], body[1], number, centre, radius, 0.0)
    for i in range(there, there + 2 * lips):
        if rows[i, t.ME_GAP] < -THROUGH * max(low, high):
            rows[i, t.ME_GAP] = _FAR
    _leave_out_twins(rows, at, touches, _SAME * min(reach, size_of_funnel))
    if flip:
        for i in range(at, at + touches):
            store3(rows[i], t.ME_NORMAL, neg(load3(rows[i], t.ME_NORMAL)))
