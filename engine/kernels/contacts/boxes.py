"""Two boxes: the axis along which they are farthest apart, and the points at which they touch.

The separating axis is normal to a face or to two edges. For a face, the opposite face of the other box is clipped at
the sides of the first (Sutherland and Hodgman 1974); the corners of the result are the touches. Two edges touch at one
point.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.spatial import add, add_scaled, cross, dot, load3, neg, scale, store3, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.distances import column, component, meet, nearest_of_segments

#: gap of places without a touch, m
_FAR = 1e300
#: edges are chosen if they are farther apart than faces by this share of the boxes' size; faces give more touches
_FACES_FIRST = 1e-3
_MOST_CORNERS = 8
#: faces are clipped a little beyond the edges, m per m of half an edge: where edges lie on each other rounding would
#: decide whether and where they are cut, in each step again
_BEYOND = 1e-3


@kernel
def spread(R, size, n):
    """Half the extent of a box along n."""
    return (
        abs(dot(column(R, 0), n)) * size[0] + abs(dot(column(R, 1), n)) * size[1] + abs(dot(column(R, 2), n)) * size[2]
    )


@kernel
def farthest_face(R, d, own, other_R, other):
    """(gap, face) of the face from which the other box is farthest; d: from this box's centre to the other's."""
    best, gap = 0, -_FAR
    for i in range(3):
        n = column(R, i)
        apart = abs(dot(n, d)) - component(own, i) - spread(other_R, other, n)
        if apart > gap:
            best, gap = i, apart
    return gap, best


@kernel
def _farthest_edges(Ra, a, Rb, b, d):
    """(gap, edge of a, edge of b, normal) of the pair of edges along whose normal the boxes are farthest apart."""
    gap, best_a, best_b, normal = -_FAR, 0, 0, (0.0, 0.0, 1.0)
    for i in range(3):
        for j in range(3):
            n = cross(column(Ra, i), column(Rb, j))
            square = dot(n, n)
            if square > 1e-6:
                n = scale(1.0 / math.sqrt(square), n)
                if dot(n, d) < 0.0:
                    n = neg(n)
                apart = dot(n, d) - spread(Ra, a, n) - spread(Rb, b, n)
                if apart > gap:
                    gap, best_a, best_b, normal = apart, i, j, n
    return gap, best_a, best_b, normal


@kernel
def _middle_of_edge(R, p, size, along, n):
    """The middle of the edge of that direction which is farthest along n."""
    x = p
    for i in range(3):
        if i != along:
            e = column(R, i)
            half = component(size, i)
            x = add_scaled(x, half if dot(e, n) > 0.0 else -half, e)
    return x


@kernel
def _meet_edges(row, Ra, pa, a, i, Rb, pb, b, j, n):
    d, e = column(Ra, i), column(Rb, j)
    x, y = _middle_of_edge(Ra, pa, a, i, n), _middle_of_edge(Rb, pb, b, j, neg(n))
    s, t_ = nearest_of_segments(x, d, component(a, i), y, e, component(b, j))
    x, y = add_scaled(x, s, d), add_scaled(y, t_, e)
    meet(row, dot(n, sub(y, x)), n, scale(0.5, add(x, y)))


@kernel
def _looking_back(R, p, size, n, corners):
    """The four corners of the face of a box whose normal is most opposite to n."""
    face, most = 0, -1.0
    for i in range(3):
        if abs(dot(column(R, i), n)) > most:
            face, most = i, abs(dot(column(R, i), n))
    out, i, j = column(R, face), (face + 1) % 3, (face + 2) % 3
    half = component(size, face)
    centre = add_scaled(p, -half if dot(out, n) > 0.0 else half, out)
    u, v = scale(component(size, i), column(R, i)), scale(component(size, j), column(R, j))
    store3(corners, 0, add(centre, add(u, v)))
    store3(corners, 3, add(centre, sub(v, u)))
    store3(corners, 6, sub(centre, add(u, v)))
    store3(corners, 9, add(centre, sub(u, v)))


@kernel
def _cut(source, count, target, n, most):
    """The part of a polygon with n · x ≤ most; returns its number of corners."""
    kept = 0
    for i in range(count):
        x, y = load3(source, 3 * i), load3(source, 3 * (i + 1 if i + 1 < count else 0))
        inside, after = most - dot(n, x), most - dot(n, y)
        if inside >= 0.0 and kept < _MOST_CORNERS:
            store3(target, 3 * kept, x)
            kept += 1
        if (inside < 0.0) != (after < 0.0) and kept < _MOST_CORNERS:
            store3(target, 3 * kept, add_scaled(x, inside / (inside - after), sub(y, x)))
            kept += 1
    return kept


@kernel
def _meet_face(met, at, R, p, size, face, other_R, other_p, other, back, scratch):
    """Corners of the other box's face over a face of this one; back: the normal is from the other one to this."""
    n = column(R, face)
    if dot(n, sub(other_p, p)) < 0.0:
        n = neg(n)
    here, there = vector_view(scratch, 0, 36), vector_view(scratch, 36, 36)
    _looking_back(other_R, other_p, other, n, here)
    count = 4
    for step in range(1, 3):
        i = (face + step) % 3
        e = column(R, i)
        middle, half = dot(e, p), (1.0 + _BEYOND) * component(size, i)
        count = _cut(here, count, there, e, half + middle)
        count = _cut(there, count, here, neg(e), half - middle)
    for i in range(_MOST_CORNERS):
        if i < count:
            x = load3(here, 3 * i)
            gap = dot(n, sub(x, p)) - component(size, face)
            meet(met[at + i], gap, neg(n) if back else n, add_scaled(x, -0.5 * gap, n))
        else:
            meet(met[at + i], _FAR, n, p)


@kernel
def meet_boxes(met, at, Ra, pa, a, Rb, pb, b, scratch):
    """Up to eight touches of two boxes."""
    d = sub(pb, pa)
    gap_a, face_a = farthest_face(Ra, d, a, Rb, b)
    gap_b, face_b = farthest_face(Rb, d, b, Ra, a)
    gap, i, j, n = _farthest_edges(Ra, a, Rb, b, d)
    size = _FACES_FIRST * (a[0] + a[1] + a[2] + b[0] + b[1] + b[2])
    if gap > max(gap_a, gap_b) + size:
        for c in range(_MOST_CORNERS):
            meet(met[at + c], _FAR, n, pa)
        _meet_edges(met[at], Ra, pa, a, i, Rb, pb, b, j, n)
    elif gap_a >= gap_b:
        _meet_face(met, at, Ra, pa, a, face_a, Rb, pb, b, False, scratch)
    else:
        _meet_face(met, at, Rb, pb, b, face_b, Ra, pa, a, True, scratch)
