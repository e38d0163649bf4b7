"""The points at which two convex shapes touch: corners of the intersection of their features, seen along the normal.

The face, rim or line with which each shape touches (`supports.py`) is clipped at that of the other, in the plane across
the normal. Heights along the normal are linear over a feature, so each point has its own gap. The corners that reach
farthest in fixed directions across the normal are kept; a gap makes a corner count less. They keep their places while
the shapes do not move. The last place is for the point where the shapes are nearest, if that is not one of the corners.
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
    neg,
    rot,
    scale,
    store3,
    sub,
    unrot,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts import supports as f
from limberjack.engine.kernels.contacts.convex import SEARCH
from limberjack.engine.kernels.contacts.distances import RIM_MISSED, RIM_TILT, column, meet, on_rim
from limberjack.engine.tables import contacts as t

#: gap of places without a touch, m
_FAR = 1e300
#: in the choice of points, this times the gap is subtracted from a point's reach
_STEEPNESS = 10.0
#: of ground, this times the depth is added, and the former times the depth towards where the normal leans: points at
#: which normals differ both count, however much deeper one is
_DEPTH = 1.0
#: the first direction in which points are chosen: oblique to edges, which are often along axes
_COS_START, _SIN_START = math.cos(0.1), math.sin(0.1)
_COS_SEVENTH, _SIN_SEVENTH = math.cos(2.0 * math.pi / 7.0), math.sin(2.0 * math.pi / 7.0)
#: points are in features up to this beyond their edges, as a share of the smaller shape's size
_EDGE = 1e-9
#: lines count as parallel if the sine of the angle between them is below this
_ALONG = 0.1
#: points nearer to each other than this share of the smaller shape's size count as one
_SAME = 1e-6

#: features lie flat on each other if the cosine of the angle between their normals exceeds this
_FLAT = 0.99
#: how much nearer than all chosen points shapes are where they are nearest, as a share of the smaller one's size; of
#: rims `distances.RIM_MISSED`
_MISSED = 1e-8
#: of a mesh on a plane, corners less than this share of its size above the lowest one are chosen before all others
_BESIDE = 1e-3

# what the choice of points knows: axes across the normal, and the normal, 9; sum and difference of the skins; margin at
# edges; how many directions, how far the best of each reaches, 7; the least gap of points considered, and where, 3;
# whether the points may have several normals, as on ground; sides of the polygon at which edges are cut, 4 each
ACROSS, NORMAL, SKIN, SHIFT, MARGIN, DIRECTIONS, REACH, LEAST, LOWEST, GROUND = 0, 6, 9, 10, 11, 12, 13, 20, 21, 24
SIDES = 25
CHOICE = SIDES + 4 * t.MOST_CORNERS
FIRST = SEARCH + CHOICE
SECOND = FIRST + f.FEATURE


@kernel
def _height(frame, feature, x):
    """Height of a feature's plane above the point x, along the normal."""
    m = load3(feature, f.F_NORMAL)
    return dot(sub(load3(feature, f.F_CENTRE), x), m) / dot(load3(frame, NORMAL), m)


@kernel
def _next_seventh(c, s):
    """Cosine and sine of a direction, a seventh of a turn on."""
    return c * _COS_SEVENTH - s * _SIN_SEVENTH, s * _COS_SEVENTH + c * _SIN_SEVENTH


@kernel
def choose(frame, rows, at, gap, n, place):
    """Keep a point if it reaches farther than those kept so far."""
    u, v = dot(place, load3(frame, ACROSS)), dot(place, load3(frame, ACROSS + 3))
    if gap < frame[LEAST]:
        frame[LEAST] = gap
        store3(frame, LOWEST, place)
    count = int(frame[DIRECTIONS])
    c, s = _COS_START, _SIN_START
    deep = gap < 0.0 and frame[GROUND] > 0.0
    lean = -_STEEPNESS * gap if deep else 0.0
    u, v = u + lean * dot(n, load3(frame, ACROSS)), v + lean * dot(n, load3(frame, ACROSS + 3))
    more = -(_DEPTH if deep else _STEEPNESS) * gap
    for k in range(count):
        reach = c * u + s * v + more
        if reach > frame[REACH + k]:
            frame[REACH + k] = reach
            meet(rows[at + k], gap, n, place)
        c, s = _next_seventh(c, s) if count > 2 else (-c, -s)


@kernel
def _consider(frame, rows, at, first, second, x, more):
    """Keep the point above or below x if it reaches farther than those known; more: a gap beside that of the planes."""
    n = load3(frame, NORMAL)
    low, high = _height(frame, first, x), _height(frame, second, x)
    gap = high - low + more - frame[SKIN]
    choose(frame, rows, at, gap, n, add_scaled(x, 0.5 * (low + high + frame[SHIFT]), n))


@kernel
def fill_sides(frame, feature):
    """SIDES of a polygon: of its edge to corner i the direction inwards across the normal, and the margin beyond it."""
    n = load3(frame, NORMAL)
    if dot(load3(feature, f.F_NORMAL), n) < 0.0:
        n = neg(n)
    corners = int(feature[f.F_CORNERS]) if feature[f.F_KIND] == f.POLYGON else 0
    for i in range(corners):
        a = load3(feature, f.F_CORNER + 3 * (i - 1 if i > 0 else corners - 1))
        e = cross(n, sub(load3(feature, f.F_CORNER + 3 * i), a))
        store3(frame, SIDES + 4 * i, e)
        frame[SIDES + 4 * i + 3] = frame[MARGIN] * math.sqrt(dot(e, e))


@kernel
def _within_polygon(frame, feature, x, d):
    """The part of x + t d, t from 0 to 1, that is over the polygon of SIDES."""
    low, high = 0.0, 1.0
    for i in range(int(feature[f.F_CORNERS])):
        e = load3(frame, SIDES + 4 * i)
        there, rate = dot(e, sub(x, load3(feature, f.F_CORNER + 3 * i))) + frame[SIDES + 4 * i + 3], dot(e, d)
        if rate > 0.0:
            low = max(low, -there / rate)
        elif rate < 0.0:
            high = min(high, -there / rate)
        elif there < 0.0:
            high = -1.0
        if low > high:
            break
    return low, high


@kernel
def _within_disc(frame, feature, x, d):
    """The part of x + t d, t from 0 to 1, that is over a disc."""
    n, m = load3(frame, NORMAL), load3(feature, f.F_NORMAL)
    x = sub(add_scaled(x, _height(frame, feature, x), n), load3(feature, f.F_CENTRE))
    d = add_scaled(d, -dot(d, m) / dot(n, m), n)
    radius = feature[f.F_RADIUS] + frame[MARGIN]
    a, b, c = dot(d, d), dot(x, d), dot(x, x) - radius * radius
    if a == 0.0:
        return 0.0, 1.0 if c <= 0.0 else -1.0
    square = b * b - a * c
    if square <= 0.0:
        return 1.0, 0.0
    root = math.sqrt(square)
    return max(0.0, (-b - root) / a), min(1.0, (-b + root) / a)


@kernel
def cut_edge(frame, rows, at, first, second, other, x, d):
    """Consider the ends of the part of an edge x + t d, t from 0 to 1, that is over the other feature, whose sides are
    known."""
    low, high = 1.0, 0.0
    if other[f.F_KIND] == f.POLYGON:
        low, high = _within_polygon(frame, other, x, d)
    elif other[f.F_KIND] == f.DISC:
        low, high = _within_disc(frame, other, x, d)
    if low <= high:
        _consider(frame, rows, at, first, second, add_scaled(x, low, d), 0.0)
        _consider(frame, rows, at, first, second, add_scaled(x, high, d), 0.0)


@kernel
def _cut_disc(frame, rows, at, first, second, disc, other):
    """Consider six points of a rim, fixed to the shape, that are over the other feature: a standing shape needs
    them."""
    centre, radius = load3(disc, f.F_CENTRE), disc[f.F_RADIUS]
    x, y = scale(radius, load3(disc, f.F_X)), scale(radius, load3(disc, f.F_Y))
    for i in range(6):
        cut_edge(frame, rows, at, first, second, other, add(centre, on_rim(x, y, i)), ZERO)


@kernel
def _is_flat_on_rim(first, second, n):
    """Whether a rim touches with neither of the features tilted from the normal: the shape stands."""
    if first[f.F_KIND] != f.DISC and second[f.F_KIND] != f.DISC:
        return False
    flat = min(dot(n, load3(first, f.F_NORMAL)), -dot(n, load3(second, f.F_NORMAL)))
    return flat > 0.0 and 1.0 - flat * flat < RIM_TILT * RIM_TILT


@kernel
def cut(frame, rows, at, first, second, own, other):
    """Consider the corners of one feature that are over the other, and where its edges leave it."""
    fill_sides(frame, other)
    if own[f.F_KIND] == f.DISC:
        if _is_flat_on_rim(first, second, load3(frame, NORMAL)):
            _cut_disc(frame, rows, at, first, second, own, other)
        return
    corners = int(own[f.F_CORNERS])
    for i in range(corners if own[f.F_KIND] == f.POLYGON else 1):
        x = load3(own, f.F_CORNER + 3 * i)
        y = load3(own, f.F_CORNER + 3 * (i + 1 if i + 1 < corners else 0))
        cut_edge(frame, rows, at, first, second, other, x, sub(y, x))


@kernel
def _cross_discs(frame, rows, at, first, second):
    """Consider the points where two rims cross, if they lie flat on each other. Rims that are nearly one, or nearly
    touch from inside, cross anywhere, and their fixed points are over each other."""
    n, r1, r2 = load3(frame, NORMAL), first[f.F_RADIUS], second[f.F_RADIUS]
    flat = min(dot(n, load3(first, f.F_NORMAL)), -dot(n, load3(second, f.F_NORMAL)))
    centre = load3(first, f.F_CENTRE)
    d = sub(load3(second, f.F_CENTRE), centre)
    d = add_scaled(d, -dot(d, n), n)
    apart = math.sqrt(dot(d, d))
    if flat < _FLAT or apart <= abs(r1 - r2) + frame[MARGIN] or apart >= r1 + r2:
        return
    along = 0.5 * (apart + (r1 - r2) * (r1 + r2) / apart)
    aside = math.sqrt(max(0.0, r1 * r1 - along * along)) / apart
    middle, e = add_scaled(centre, along / apart, d), cross(n, d)
    _consider(frame, rows, at, first, second, add_scaled(middle, aside, e), 0.0)
    _consider(frame, rows, at, first, second, add_scaled(middle, -aside, e), 0.0)


@kernel
def _ends_along(frame, rows, at, first, second, own, other):
    """Consider the ends of a line that are beside another line along it, which is on a round surface."""
    n, y = load3(frame, NORMAL), load3(other, f.F_CORNER)
    d, e = sub(load3(own, f.F_CORNER + 3), load3(own, f.F_CORNER)), sub(load3(other, f.F_CORNER + 3), y)
    e = add_scaled(e, -dot(e, n), n)
    aside = cross(n, e)
    square, lean = dot(e, e), dot(d, aside)
    if lean * lean > _ALONG * _ALONG * square * dot(d, d):
        return
    for i in range(2):
        x = load3(own, f.F_CORNER + 3 * i)
        along, off = dot(sub(x, y), e) / square, dot(sub(x, y), aside)
        if -_EDGE <= along <= 1.0 + _EDGE:
            more = 0.5 * off * off / (square * (first[f.F_RADIUS] + second[f.F_RADIUS]))
            _consider(frame, rows, at, first, second, x, more)


@kernel
def begin(frame, axis, n, reach, skin_a, skin_b, directions):
    """Begin without points. axis: the first axis across the normal n."""
    store3(frame, ACROSS, axis)
    store3(frame, ACROSS + 3, cross(n, axis))
    store3(frame, NORMAL, n)
    frame[SKIN], frame[SHIFT] = skin_a + skin_b, skin_a - skin_b
    frame[MARGIN], frame[DIRECTIONS], frame[LEAST], frame[GROUND] = _EDGE * reach, directions, _FAR, 0.0
    for k in range(7):
        frame[REACH + k] = -_FAR


@kernel
def _axis_across(Ra, n):
    """A direction across n that is fixed to the first shape, as far as possible."""
    axis = column(Ra, 2) if abs(dot(column(Ra, 2), n)) < 0.8 else column(Ra, 0)
    axis = add_scaled(axis, -dot(axis, n), n)
    return scale(1.0 / math.sqrt(dot(axis, axis)), axis)


@kernel
def _leave_doubles(frame, rows, at, n, place, reach):
    """Leave out points that are there twice."""
    for k in range(int(frame[DIRECTIONS])):
        twice = frame[REACH + k] == -_FAR
        x = load3(rows[at + k], t.ME_POINT)
        for i in range(k):
            apart = sub(x, load3(rows[at + i], t.ME_POINT))
            if rows[at + i, t.ME_GAP] < _FAR and dot(apart, apart) < (_SAME * reach) ** 2:
                twice = True
        if twice:
            meet(rows[at + k], _FAR, n, place)


@kernel
def finish(frame, rows, at, gap, n, place, reach, missed):
    """Leave out points that are there twice; the last place is for where the shapes are nearest, if that is nearer
    than all of them by what may be missed."""
    _leave_doubles(frame, rows, at, n, place, reach)
    count, least = int(frame[DIRECTIONS]), _FAR
    for k in range(count):
        least = min(least, rows[at + k, t.ME_GAP])
    meet(rows[at + count], gap if least > gap + missed else _FAR, n, place)


@kernel
def missed_beside(frame, first, second):
    """How much nearer than the corners of what two features have in common another point may be, as a share of the
    smaller shape's size."""
    return RIM_MISSED if _is_flat_on_rim(first, second, load3(frame, NORMAL)) else _MISSED


@kernel
def meet_convex(plant, rows, at, touches, scratch, found, a, shape_a, Ra, pa, size_a, b, shape_b, Rb, pb, size_b):
    """The touches of two convex shapes; a, b: their numbers among the colliders; found: where they are nearest
    (`separation.py`)."""
    reach = min(plant.contacts.collider[a, t.CL_REACH], plant.contacts.collider[b, t.CL_REACH])
    apart, skin_a, skin_b = sub(pb, pa), f.skin(shape_a, size_a), f.skin(shape_b, size_b)
    gap, n, x, y = found
    frame = vector_view(scratch, SEARCH, CHOICE)
    first, second = vector_view(scratch, FIRST, f.FEATURE), vector_view(scratch, SECOND, f.FEATURE)
    begin(frame, _axis_across(Ra, n), n, reach, skin_a, skin_b, touches - 1)
    missed = _MISSED
    if touches > 1:
        f.find_feature(plant, a, first, shape_a, Ra, ZERO, size_a, n)
        f.find_feature(plant, b, second, shape_b, Rb, apart, size_b, neg(n))
        cut(frame, rows, at, first, second, first, second)
        cut(frame, rows, at, first, second, second, first)
        if first[f.F_KIND] == f.DISC and second[f.F_KIND] == f.DISC:
            _cross_discs(frame, rows, at, first, second)
        if first[f.F_KIND] == f.LINE and second[f.F_KIND] == f.LINE:
            _ends_along(frame, rows, at, first, second, first, second)
            _ends_along(frame, rows, at, first, second, second, first)
        missed = missed_beside(frame, first, second)
    middle = add_scaled(scale(0.5, add(x, y)), 0.5 * (skin_a - skin_b), n)
    finish(frame, rows, at, gap - skin_a - skin_b, n, middle, reach, missed * reach)
    for k in range(touches):
        store3(rows[at + k], t.ME_POINT, add(pa, load3(rows[at + k], t.ME_POINT)))


@kernel
def _choose_low_corners(plant, frame, rows, at, b, Rb, apart, upto):
    """Choose among the corners of a mesh at most that high above a plane; apart: its centre above the plane."""
    n, corner = load3(frame, NORMAL), plant.contacts.mesh_int[b, t.ML_FIRST]
    up, height = unrot(Rb, n), dot(n, apart)
    for i in range(corner, corner + plant.contacts.mesh_int[b, t.ML_COUNT]):
        x = load3(plant.contacts.mesh_corner[i], 0)
        gap = height + dot(up, x)
        if gap <= upto:
            choose(frame, rows, at, gap, n, add_scaled(add(apart, rot(Rb, x)), -0.5 * gap, n))


@kernel
def _fill_places(plant, frame, rows, at, b, Rb, apart, upto):
    """Give places that are left to higher corners of a mesh that reach farther than all others there."""
    n, c, s = load3(frame, NORMAL), _COS_START, _SIN_START
    for k in range(int(frame[DIRECTIONS])):
        if rows[at + k, t.ME_GAP] == _FAR:
            along = add_scaled(scale(c, load3(frame, ACROSS)), s, load3(frame, ACROSS + 3))
            corner = f.mesh_corner(plant, b, unrot(Rb, add_scaled(along, -_STEEPNESS, n)))
            x = add(apart, rot(Rb, load3(plant.contacts.mesh_corner[corner], 0)))
            gap = dot(n, x)
            if gap > upto:
                frame[REACH + k] = 0.0
                meet(rows[at + k], gap, n, add_scaled(x, -0.5 * gap, n))
        c, s = _next_seventh(c, s)


@kernel
def meet_plane_mesh(plant, rows, at, touches, scratch, R, p, b, Rb, pb):
    """The corners of a mesh that reach farthest over a plane, and the lowest. Those that touch or are beside the lowest
    one come first: higher ones that reach farther get only places that these leave."""
    n, apart, reach = column(R, 2), sub(pb, p), plant.contacts.collider[b, t.CL_REACH]
    frame = vector_view(scratch, SEARCH, CHOICE)
    begin(frame, _axis_across(R, n), n, reach, 0.0, 0.0, touches - 1)
    down = unrot(Rb, neg(n))
    lowest = load3(plant.contacts.mesh_corner[f.mesh_corner(plant, b, down)], 0)
    gap = dot(n, apart) - dot(down, lowest)
    place, upto = add_scaled(add(apart, rot(Rb, lowest)), -0.5 * gap, n), max(0.0, gap) + _BESIDE * reach
    _choose_low_corners(plant, frame, rows, at, b, Rb, apart, upto)
    _leave_doubles(frame, rows, at, n, place, reach)
    _fill_places(plant, frame, rows, at, b, Rb, apart, upto)
    finish(frame, rows, at, gap, n, place, reach, _MISSED * reach)
    for k in range(touches):
        store3(rows[at + k], t.ME_POINT, add(p, load3(rows[at + k], t.ME_POINT)))
