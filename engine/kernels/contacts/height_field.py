"""The points at which a convex shape touches a height field: ground of triangles, solid below.

Each triangle near the shape is treated separately, along the direction in which it is farthest from the shape or
overlaps it least (`convex.py`). That direction is a normal of the ground only if the ground beside the touch does not
rise above the plane across it: at an edge, the other triangle there; at a corner, all edges there. Otherwise the
triangle merely ends there, as at each edge within a level part. It then touches along its own normal, if the shape is
over it. A shape thus slides over level ground of many triangles as over a plane, rests on ridges and peaks, and lies
between the flanks of a valley. A shape whose centre or corner is below the surface is in the solid ground: there it
touches what is above it, and below a valley, where normals of flanks diverge, both flanks.

Places are about the centre of the shape, in inertial
axes.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    neg,
    rot,
    scale,
    store3,
    sub,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts import manifold as m
from limberjack.engine.kernels.contacts import supports as f
from limberjack.engine.kernels.contacts.convex import SEARCH
from limberjack.engine.kernels.contacts.distances import column
from limberjack.engine.kernels.contacts.separation import separated
from limberjack.engine.tables import contacts as t

#: triangles farther away than this share of the shape's size are ignored
_NEAR = 0.05
#: corners of a triangle whose heights differ by less than this share of its edge are level
_LEVEL = 1e-6
#: gap of places without a touch, m
_FAR = 1e300


@kernel
def _row_of(row, half, k):
    """The row of corner k of a half of the cell that begins in a row; corners counter-clockwise from above."""
    return row + (1 if k == 2 or (half == 1 and k == 1) else 0)


@kernel
def _column_of(column, half, k):
    return column + (1 if (half == 0 and k == 1) or (half == 1 and k < 2) else 0)


@kernel
def _number_of(plant, field, row, column):
    """Number of the corner in a row and column, among those of all meshes."""
    part = plant.contacts.mesh_int[field]
    return part[t.ML_FIRST] + row * part[t.ML_ACROSS] + column


@kernel
def _place_of(plant, ground, row, column):
    field, R, p = ground
    return add(p, rot(R, load3(plant.contacts.mesh_corner[_number_of(plant, field, row, column)], 0)))


@kernel
def _is_below(plant, ground, row, column, up, top):
    """Whether a corner is not above the plane across `up` at the height top, or beyond the ground's border."""
    part = plant.contacts.mesh_int[ground[0]]
    across = part[t.ML_ACROSS]
    if row < 0 or column < 0 or column >= across or row * across >= part[t.ML_COUNT]:
        return True
    return dot(up, _place_of(plant, ground, row, column)) <= top


@kernel
def _edge_stands_out(plant, ground, row, column, half, k, up, top):
    """Whether the ground does not rise above the height top beyond the edge of a triangle across from its corner k: the
    third corner of the triangle there is the mirror image of k, in rows and columns."""
    i, j = (k + 1) % 3, (k + 2) % 3
    there = _row_of(row, half, i) + _row_of(row, half, j) - _row_of(row, half, k)
    beside = _column_of(column, half, i) + _column_of(column, half, j) - _column_of(column, half, k)
    return _is_below(plant, ground, there, beside, up, top)


@kernel
def _corner_stands_out(plant, ground, row, column, up, top):
    """Whether none of the six edges at a corner rises."""
    for i in range(-1, 2):
        for j in range(-1, 2):
            if i != j and not _is_below(plant, ground, row + i, column + j, up, top):
                return False
    return True


@kernel
def _stands_out(plant, ground, row, column, half, up, low):
    """Whether a shape along `up` over a triangle touches the ground at the one corner or edge that is highest that way;
    low: how much lower what is level may be."""
    top, count, aside, peak = -_FAR, 0, 0, 0
    for k in range(3):
        place = _place_of(plant, ground, _row_of(row, half, k), _column_of(column, half, k))
        top = max(top, dot(up, place))
    for k in range(3):
        place = _place_of(plant, ground, _row_of(row, half, k), _column_of(column, half, k))
        if dot(up, place) > top - low:
            count += 1
            peak = k
        else:
            aside = k
    if count == 1:
        there, beside = _row_of(row, half, peak), _column_of(column, half, peak)
        return _corner_stands_out(plant, ground, there, beside, up, top + low)
    return count == 2 and _edge_stands_out(plant, ground, row, column, half, aside, up, top + low)


@kernel
def _is_over(x, a, b, c, up):
    """Whether a place is over or under a triangle, along its normal."""
    first, second = dot(cross(sub(b, a), sub(x, a)), up), dot(cross(sub(c, b), sub(x, b)), up)
    return min(first, second, dot(cross(sub(a, c), sub(x, c)), up)) >= 0.0


@kernel
def _normal_beyond(plant, ground, cell, k):
    """A normal of the ground beyond the edge of a triangle across from its corner k; at the border the vertical."""
    row, number, half = cell
    i, j = (k + 1) % 3, (k + 2) % 3
    r, s, c, d = _row_of(row, half, i), _row_of(row, half, j), _column_of(number, half, i), _column_of(number, half, j)
    there, beside = r + s - _row_of(row, half, k), c + d - _column_of(number, half, k)
    part = plant.contacts.mesh_int[ground[0]]
    across = part[t.ML_ACROSS]
    if there < 0 or beside < 0 or beside >= across or there * across >= part[t.ML_COUNT]:
        return column(ground[1], 2)
    a, b = _place_of(plant, ground, r, c), _place_of(plant, ground, s, d)
    return cross(sub(a, b), sub(_place_of(plant, ground, there, beside), b))


@kernel
def _is_under(plant, ground, cell, corners, x, up):
    """Whether a place is in the ground under a triangle: along its normal or the vertical, or below a valley, where the
    normals of the flanks part, between them."""
    if not dot(up, sub(x, corners[0])) < 0.0:
        return False
    z = column(ground[1], 2)
    for k in range(3):
        a, b = corners[(k + 1) % 3], corners[(k + 2) % 3]
        side = cross(sub(b, a), sub(x, a))
        if max(dot(side, up), dot(side, z)) < 0.0 and dot(side, _normal_beyond(plant, ground, cell, k)) < 0.0:
            return False
    return True


@kernel
def _direction(plant, work, pair, body, ground, cell, corners, up, lowest):
    """(gap, normal from the shape to the ground, place midway between them) of a triangle; no gap if it touches nowhere
    but over its face. lowest: the lowest point of the shape's core over its plane."""
    (row, column, half), (a, b, c), skin = cell, corners, f.skin(body[1], body[4])
    if _is_over(lowest, a, b, c, up) or _is_under(plant, ground, cell, corners, lowest, up):
        gap = dot(up, sub(lowest, a)) - skin
        return gap, neg(up), add_scaled(lowest, -(skin + 0.5 * gap), up)
    gap, n, x, y = separated(plant, work, pair, _number_of(plant, ground[0], row, column), half, math.inf)
    edge = sub(b, a)
    low = _LEVEL * math.sqrt(dot(edge, edge))
    if dot(n, up) >= 0.0 or not _stands_out(plant, ground, row, column, half, neg(n), low):
        return _FAR, neg(up), lowest
    return gap - skin, n, add_scaled(scale(0.5, add(x, y)), 0.5 * skin, n)


@kernel
def _cut_ridges(plant, frame, rows, at, first, second, ground, cell, up):
    """Consider points where the shape's feature crosses edges of a triangle beyond which the ground falls."""
    row, column, half = cell
    m.fill_sides(frame, first)
    for k in range(3):
        x = load3(second, f.F_CORNER + 3 * (k + 1 if k < 2 else 0))
        d = sub(load3(second, f.F_CORNER + 3 * (k - 1 if k > 0 else 2)), x)
        if _edge_stands_out(plant, ground, row, column, half, k, up, dot(up, x) - _LEVEL * math.sqrt(dot(d, d))):
            m.cut_edge(frame, rows, at, first, second, first, x, d)


@kernel
def _far_beside(plant, field, cell, bounds):
    """How far a triangle is at least from a box along the axes of the ground that holds the shape; bounds: lower and
    upper x and y of the box, and its lower z."""
    row, column, half = cell
    (left, right), (front, back), bottom = bounds
    x, y, top = load3(plant.contacts.mesh_corner[_number_of(plant, field, row, column)], 0)
    wide, deep, top = load3(plant.contacts.mesh_corner[_number_of(plant, field, row + 1, column + 1)], 0)
    top = -_FAR
    for k in range(3):
        there = _number_of(plant, field, _row_of(row, half, k), _column_of(column, half, k))
        top = max(top, plant.contacts.mesh_corner[there, 2])
    return max(bottom - top, max(max(x - right, left - wide), max(y - back, front - deep)))


@kernel
def _meet_triangle(plant, work, pair, body, ground, cell, bounds, near):
    """Consider the points at which a shape touches a triangle that is not farther away than `near`; returns (how far
    away it is at least, gap, normal and place of the point where it is nearest), with one of the two distances."""
    number, shape, R, _, size = body
    row, column, half = cell
    least = _far_beside(plant, ground[0], cell, bounds)
    if least > near:
        return least, _FAR, ZERO, ZERO
    rows, at, scratch = work.contacts.met, plant.contacts.pair_int[pair, t.PA_TOUCH], work.contacts.scratch
    a = _place_of(plant, ground, _row_of(row, half, 0), _column_of(column, half, 0))
    b = _place_of(plant, ground, _row_of(row, half, 1), _column_of(column, half, 1))
    c = _place_of(plant, ground, _row_of(row, half, 2), _column_of(column, half, 2))
    up, reach = cross(sub(b, a), sub(c, a)), plant.contacts.collider[number, t.CL_REACH]
    up = scale(1.0 / math.sqrt(dot(up, up)), up)
    lowest = f.farthest(plant, number, shape, R, ZERO, size, neg(up))
    least = dot(up, sub(lowest, a)) - f.skin(shape, size)
    if least > near:
        return least, _FAR, up, lowest
    gap, n, place = _direction(plant, work, pair, body, ground, cell, (a, b, c), up, lowest)
    frame, missed = vector_view(scratch, SEARCH, m.CHOICE), 0.0
    store3(frame, m.NORMAL, n)
    frame[m.LEAST] = _FAR
    if dot(n, up) < -f.STEEP:
        first, second = vector_view(scratch, m.FIRST, f.FEATURE), vector_view(scratch, m.SECOND, f.FEATURE)
        f.find_feature(plant, number, first, shape, R, ZERO, size, n)
        f.triangle_feature(second, a, b, c, up)
        m.cut(frame, rows, at, first, second, first, second)
        _cut_ridges(plant, frame, rows, at, first, second, ground, cell, up)
        missed = m.missed_beside(frame, first, second) * reach
    if frame[m.LEAST] > gap + missed:
        m.choose(frame, rows, at, gap, n, place)
    return _FAR, frame[m.LEAST], n, load3(frame, m.LOWEST)


@kernel
def _span(plant, body, axis, middle, half, cells):
    """(first and last cell along an axis of the ground over which a shape is, distance beyond the border, where
    the shape begins and ends)."""
    number, shape, R, _, size = body
    skin = f.skin(shape, size)
    low = dot(axis, f.farthest(plant, number, shape, R, ZERO, size, neg(axis))) - skin - middle
    high = dot(axis, f.farthest(plant, number, shape, R, ZERO, size, axis)) + skin - middle
    more, wide = _NEAR * plant.contacts.collider[number, t.CL_REACH], 2.0 * half / cells
    begin, end = (low - more + half) / wide, (high + more + half) / wide
    first = int(min(begin, cells)) if begin > 0.0 else 0
    last = int(min(end, cells - 1.0)) if end >= 0.0 else -1  # none if the shape's position is NaN
    return first, last, max(low - half, -half - high), (low, high)


@kernel
def meet_height_field(plant, work, i, margin):
    """The touches of pair i, of a convex shape and a height field. Triangles farther away than the margin are not met
    if another one is nearer."""
    pair, rows = plant.contacts.pair_int[i], work.contacts.met
    a, b, at, touches = pair[t.PA_A], pair[t.PA_B], pair[t.PA_TOUCH], pair[t.PA_TOUCHES]
    there, here, size = work.contacts.placed[a], work.contacts.placed[b], load3(plant.contacts.collider[a], t.CL_SIZE)
    shape, p, R, Rb = plant.contacts.collider_int[a, t.CO_SHAPE], load3(there, t.PC_P), load9(there, 0), load9(here, 0)
    apart, half = sub(load3(here, t.PC_P), p), load3(plant.contacts.collider[b], t.CL_SIZE)
    body, ground, part = (a, shape, R, ZERO, size), (b, Rb, apart), plant.contacts.mesh_int[b]
    across = part[t.ML_ACROSS]
    x, y, z, reach = column(Rb, 0), column(Rb, 1), column(Rb, 2), plant.contacts.collider[a, t.CL_REACH]
    first, last, beyond, wide = _span(plant, body, x, dot(x, apart), half[0], across - 1)
    begun, ended, aside, deep = _span(plant, body, y, dot(y, apart), half[1], part[t.ML_COUNT] // across - 1)
    frame, skin = vector_view(work.contacts.scratch, SEARCH, m.CHOICE), f.skin(shape, size)
    bottom = dot(z, sub(f.farthest(plant, a, shape, R, ZERO, size, neg(z)), apart)) - skin
    m.begin(frame, neg(x), neg(z), reach, skin, 0.0, touches - 1)
    frame[m.GROUND] = 1.0
    least, gap, n, place = _FAR, _FAR, neg(z), ZERO
    for row in range(begun, ended + 1):
        for cell in range(first, last + 1):
            for side in range(2):
                near = min(_NEAR * reach, max(margin, gap))
                bound, own, normal, where = _meet_triangle(
                    plant, work, i, body, ground, (row, cell, side), (wide, deep, bottom), near
                )
                least = min(least, bound)
                if own < gap:
                    gap, n, place = own, normal, where
    gap = min(gap, least, max(_NEAR * reach, beyond, aside))
    m.finish(frame, rows, at, gap, n, place, reach, 0.0)
    for k in range(touches):
        row = rows[at + k]
        store3(row, t.ME_POINT, add(p, load3(row, t.ME_POINT)))
