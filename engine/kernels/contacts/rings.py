"""The points at which a circle touches another shape: a ring, which is one in a skin of its tube's radius, or a rim.

The gap of a place x on the circle is the distance g(x) of x from the other shape, less the tube's radius; that distance
has a closed form for all shapes but meshes, and its slope along the circle is n·t, with its normal n and the
circle's tangent t. So the circle, or the arc of it that may be nearest or touch, is cut in 32 parts, and in one at
whose ends the slope falls and rises the lowest place is found by a bounded number of secants and bisections. No step
needs an angle, and none divides by what is zero where rings are coaxial, concentric or in one plane.

A circle that lies evenly all around, or flat on a face, stands on six points that are fixed to it, as the rim of a
cylinder does: the lowest place would run around with the least tilt. Where it leaves a face it has a point, too. Lowest
places and borders have touches by the quarter of the circle in which they are.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import matrix_view
from limberjack.engine.algebra.spatial import add, add_scaled, cross, dot, load3, load9, scale, store3, sub, unrot
from limberjack.engine.compile.compiled import REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.distances import RIM_MISSED, RIM_TILT, column, meet, on_rim
from limberjack.engine.kernels.contacts.fields import outside
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: parts in which circles are looked at, a power of 2, and how often half of the arc is halved for one
_PARTS, _HALVINGS = 32, 4
#: numbers of a place: distance, slope, normal 3, face, and where it is on the circle 2
PLACE = 8
_P_GAP, _P_SLOPE, _P_NORMAL, _P_FACE, _P_WHERE = 0, 1, 2, 5, 6
#: rows of places that a circle needs, the last three for those between others
PLACES = _PARTS + 4
#: a part along which the normal turns by more than this cosine may have two lowest places, or one behind a highest: it
#: is cut into finer ones
_TURNS, _FINER = 0.98, 8
#: steps by which a lowest place is found, of which every second is a bisection, and those to the border of a face
_MOST_STEPS, _MOST_HALVINGS = 64, 45
#: slopes below this are none, as on a face; slopes and arcs below these are known; lengths without direction, m
_LEVEL, _KNOWN, _NARROW, _NO_LENGTH = 1e-12, 1e-14, 1e-28, 1e-12
#: circles lie on faces whose normals are nearer to their axis than this cosine
_FLAT = 0.99
#: slopes jump by more than this at edges; a shape through which no way out has this share of both normals is thin
_KINK, _THIN = 1e-6, 0.1
#: borders of faces this much higher than the lowest place are not looked for; lowest places so near to a point that is
#: there are none, unless they are lower; as shares of the circle's radius
_HIGH, _BESIDE = 0.1, 0.01
#: by how much lower than a border, as a share of what the fixed points may miss
_LOWER = 0.01
#: an arc is at least so wide, 1 - cosine of its half; and how much farther than it needs, as a share of the shape's
#: size
_LEAST_ARC, _MORE = 1e-3, 0.1
#: touches of pairs of which a circle is lowest in one place alone, of those with several such places, and of those with
#: faces that have borders
WITH_ONE, WITH_SOME, WITH_BORDERS = 7, 10, 18
#: touches that are not there, m
_FAR = 1e300
#: the first border between quarters: askew to where symmetric shapes touch
_COS_ASKEW, _SIN_ASKEW = math.cos(0.1), math.sin(0.1)


@kernel
def _place(circle, c, s):
    x, y, centre, _ = circle
    return add(centre, add_scaled(scale(c, x), s, y))


@kernel
def _look(plant, work, row, body, circle, c, s):
    """What is known of the place (c, s) of a circle; circle: two radii square to each other, centre, radius of tube."""
    x, y, _, _ = circle
    gap, n, face = outside(plant, work, body, _place(circle, c, s))
    row[_P_GAP], row[_P_FACE], row[_P_WHERE], row[_P_WHERE + 1] = gap, face, c, s
    row[_P_SLOPE] = dot(n, add_scaled(scale(c, y), -s, x)) / math.sqrt(dot(x, x))
    store3(row, _P_NORMAL, n)


@kernel
def _touch(target, row, circle):
    """A place of a circle touches, if it is nearer than what is there."""
    tube = circle[3]
    if row[_P_GAP] - tube < target[t.ME_GAP]:
        n, place = load3(row, _P_NORMAL), _place(circle, row[_P_WHERE], row[_P_WHERE + 1])
        meet(target, row[_P_GAP] - tube, n, add_scaled(place, -0.5 * (row[_P_GAP] + tube), n))


@kernel
def _between(c, s, e, f, share):
    """The place between (c, s) and (e, f) on the circle."""
    x, y = c + share * (e - c), s + share * (f - s)
    length = math.sqrt(x * x + y * y)
    return x / length, y / length


@kernel
def _settle_edge(row, ahead, falls, behind, rises):
    """A lowest place inside of a shape where the nearest face changes, from one with the normal and slope `ahead` and
    `falls` to `behind` and `rises`: the circle goes through an edge, and leaves it across both its own tangent and the
    edge. It goes through a thin shape where that is no way out."""
    if row[_P_GAP] >= 0.0 or rises - falls < _KINK:
        return
    m = add_scaled(scale(rises / (rises - falls), ahead), -falls / (rises - falls), behind)
    share = math.sqrt(dot(m, m))
    row[_P_GAP] = row[_P_GAP] / share if share > _THIN else _FAR
    if share > _THIN:
        store3(row, _P_NORMAL, scale(1.0 / share, m))


@kernel
def _lowest_between(plant, work, row, body, circle, first, second):
    """row: the place between two, where the distance falls and rises, where it is least."""
    c, s, falls = first[_P_WHERE], first[_P_WHERE + 1], first[_P_SLOPE]
    e, f, rises = second[_P_WHERE], second[_P_WHERE + 1], second[_P_SLOPE]
    ahead, behind = load3(first, _P_NORMAL), load3(second, _P_NORMAL)
    for i in range(_MOST_STEPS):
        x, y = _between(c, s, e, f, 0.5 if i % 2 == 1 else falls / (falls - rises))
        _look(plant, work, row, body, circle, x, y)
        slope = row[_P_SLOPE]
        if abs(slope) < _KNOWN:
            return
        if slope < 0.0:
            c, s, falls, ahead = x, y, slope, load3(row, _P_NORMAL)
        else:
            e, f, rises, behind = x, y, slope, load3(row, _P_NORMAL)
        if (e - c) * (e - c) + (f - s) * (f - s) < _NARROW:
            break
    _settle_edge(row, ahead, falls, behind, rises)


@kernel
def _border_between(plant, work, row, body, circle, first, second):
    """row: the last place from one that is over a face to another that is not over it."""
    c, s, e, f = first[_P_WHERE], first[_P_WHERE + 1], second[_P_WHERE], second[_P_WHERE + 1]
    for _ in range(_MOST_HALVINGS):
        x, y = _between(c, s, e, f, 0.5)
        _look(plant, work, row, body, circle, x, y)
        if row[_P_FACE] == first[_P_FACE]:
            c, s = x, y
        else:
            e, f = x, y
    _look(plant, work, row, body, circle, c, s)


@kernel
def _quarter(row):
    """In which quarter of the circle a place is."""
    c, s = row[_P_WHERE], row[_P_WHERE + 1]
    x, y = _COS_ASKEW * c + _SIN_ASKEW * s, _COS_ASKEW * s - _SIN_ASKEW * c
    if x > 0.0:
        return 0 if y >= 0.0 else 3
    return 1 if y >= 0.0 else 2


@kernel
def _arc(R, centre, radius, tube, body, reach):
    """(middle (c, s), cosine of half) of the arc of a circle where a shape may be nearest or touch; the whole circle
    about (1, 0) has -1. reach: of the shape, 0 without bounds. Of one with a hole even its middle is that far away."""
    _, shape, _, p, _, _ = body
    d = unrot(R, sub(p, centre))
    rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
    if reach == 0.0 or rho < _NO_LENGTH:
        return 1.0, 0.0, -1.0
    square = (radius - rho) * (radius - rho) + d[2] * d[2]
    hollow = reach if shape == t.RING or shape == t.FUNNEL or shape == t.INSIDE else 0.0
    far = hollow + reach * (1.0 + _MORE) + max(math.sqrt(square), tube)
    half = 1.0 - max(_LEAST_ARC, (far * far - square) / (2.0 * radius * rho))
    return (d[0] / rho, d[1] / rho, half) if half > -1.0 else (1.0, 0.0, -1.0)


@kernel
def _look_around(plant, work, known, body, circle, arc):
    """known: places at the ends of all parts of an arc; returns the least and the greatest distance."""
    c, s, half = arc
    sine = math.sqrt(max(0.0, 1.0 - half * half))
    x, y = c * half + s * sine, s * half - c * sine  # where it begins
    for _ in range(_HALVINGS):
        sine, half = math.sqrt(max(0.0, 0.5 * (1.0 - half))), math.sqrt(max(0.0, 0.5 * (1.0 + half)))
    least, most = _FAR, -_FAR
    for i in range(_PARTS + 1):
        _look(plant, work, known[i], body, circle, x, y)
        least, most = min(least, known[i, _P_GAP]), max(most, known[i, _P_GAP])
        x, y = half * x - sine * y, half * y + sine * x
    return least, most


@kernel
def _stand(plant, work, rows, at, known, body, circle, axis, even, high):
    """Six points that are fixed to the circle where it is even all around, or flat on a face and not too high; returns
    the least of their gaps."""
    least, row = _FAR, known[_PARTS + 1]
    for i in range(6):
        c, s, _ = on_rim((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), i)
        _look(plant, work, row, body, circle, c, s)
        tilt = dot(load3(row, _P_NORMAL), axis)
        flat = row[_P_FACE] != 0.0 and 1.0 - tilt * tilt <= RIM_TILT * RIM_TILT and row[_P_GAP] <= high
        if even or flat:
            _touch(rows[at + i], row, circle)
            least = min(least, rows[at + i, t.ME_GAP])
    return least


@kernel
def _lies_on(row, axis, high):
    """Whether a place is over a face on which the circle lies, and not too high."""
    return row[_P_FACE] != 0.0 and row[_P_GAP] < high and abs(dot(load3(row, _P_NORMAL), axis)) > _FLAT


@kernel
def _find_borders(plant, work, rows, at, known, body, circle, axis, high):
    """Places where the circle comes over a face on which it lies, and behind these where it leaves it."""
    row = known[_PARTS + 1]
    for i in range(_PARTS):
        first, second = known[i], known[i + 1]
        if first[_P_FACE] != second[_P_FACE]:
            if _lies_on(first, axis, high):
                _border_between(plant, work, row, body, circle, first, second)
                _touch(rows[at + 4 + _quarter(row)], row, circle)
            if _lies_on(second, axis, high):
                _border_between(plant, work, row, body, circle, second, first)
                _touch(rows[at + _quarter(row)], row, circle)


@kernel
def _is_there(rows, at, touches, row, circle, lower):
    """Whether a place is beside a point that touches, and not lower than it by that much."""
    x, n, gap = _place(circle, row[_P_WHERE], row[_P_WHERE + 1]), load3(row, _P_NORMAL), row[_P_GAP] - circle[3]
    place, near = add_scaled(x, -0.5 * (row[_P_GAP] + circle[3]), n), _BESIDE * _BESIDE * dot(circle[0], circle[0])
    for i in range(touches):
        apart = sub(load3(rows[at + i], t.ME_POINT), place)
        if gap > rows[at + i, t.ME_GAP] - lower and dot(apart, apart) < near:
            return True
    return False


@kernel
def _find_lowest_between(plant, work, rows, at, touches, row, body, circle, first, second, below, lower):
    """A lowest place between two, if it is below a height and not there already."""
    axis = scale(1.0 / dot(circle[0], circle[0]), cross(circle[0], circle[1]))
    on_face = touches == WITH_BORDERS and abs(second[_P_SLOPE]) < _LEVEL and _lies_on(second, axis, _FAR)
    if first[_P_SLOPE] < -_LEVEL and second[_P_SLOPE] >= -_LEVEL and not on_face:
        _lowest_between(plant, work, row, body, circle, first, second)
        if row[_P_GAP] - circle[3] < below and not _is_there(rows, at, touches, row, circle, lower):
            _touch(rows[at + 6 + (_quarter(row) if touches > WITH_ONE else 0)], row, circle)


@kernel
def _find_lowest(plant, work, rows, at, touches, known, body, circle, below, lower, most):
    """Lowest places of all parts of the circle; those of parts that are nowhere nearer than `most` may be others."""
    row, radius = known[_PARTS + 1], math.sqrt(dot(circle[0], circle[0]))
    for i in range(_PARTS):
        first, second = known[i], known[i + 1]
        c, s, e, f = first[_P_WHERE], first[_P_WHERE + 1], second[_P_WHERE], second[_P_WHERE + 1]
        length = radius * math.sqrt((e - c) * (e - c) + (f - s) * (f - s))
        far = 0.5 * (first[_P_GAP] + second[_P_GAP]) > most + 1.5 * length
        if far or dot(load3(first, _P_NORMAL), load3(second, _P_NORMAL)) > _TURNS:
            _find_lowest_between(plant, work, rows, at, touches, row, body, circle, first, second, below, lower)
        else:
            _look(plant, work, known[_PARTS + 2], body, circle, c, s)
            for k in range(_FINER):
                begin, end = known[_PARTS + 2 + (k & 1)], known[_PARTS + 3 - (k & 1)]
                x, y = _between(c, s, e, f, (k + 1.0) / _FINER)
                _look(plant, work, end, body, circle, x, y)
                _find_lowest_between(plant, work, rows, at, touches, row, body, circle, begin, end, below, lower)


@kernel
def _keep_one(rows, at, touches, known, circle):
    """A ring that touches nowhere, as it goes through a thin shape, touches at the lowest of the places looked at."""
    lowest = 0
    for i in range(touches):
        if rows[at + i, t.ME_GAP] < _FAR:
            return
    for i in range(_PARTS + 1):
        if known[i, _P_GAP] < known[lowest, _P_GAP]:
            lowest = i
    _touch(rows[at + 6], known[lowest], circle)


@kernel
def _meet_circle(plant, work, at, touches, body, reach, R, centre, radius, tube):
    """The touches of another shape and a circle about the z axis of R in a skin; normals are the shape's. body, reach:
    the shape (`fields.outside`), and its size. Touches: six on which the circle stands, lowest places, and WITH_BORDERS
    where it comes over a face and leaves it."""
    rows, known = work.contacts.met, matrix_view(work.contacts.scratch, 0, PLACES, PLACE)
    circle = scale(radius, column(R, 0)), scale(radius, column(R, 1)), centre, tube
    arc = _arc(R, centre, radius, tube, body, reach)
    least, most = _look_around(plant, work, known, body, circle, arc)
    for i in range(touches):
        meet(rows[at + i], _FAR, load3(known[0], _P_NORMAL), centre)
    even, high = arc[2] == -1.0 and most - least <= 2.0 * RIM_TILT * radius, least + 2.0 * RIM_TILT * radius
    stands = _stand(plant, work, rows, at, known, body, circle, column(R, 2), even, high)
    if touches == WITH_BORDERS:
        _find_borders(plant, work, rows, at + WITH_SOME, known, body, circle, column(R, 2), least + _HIGH * radius)
    lower = RIM_MISSED * (min(reach, radius + tube) if reach > 0.0 else radius + tube)
    below = stands - lower if stands < _FAR else _FAR
    _find_lowest(plant, work, rows, at, touches, known, body, circle, below, _LOWER * lower, max(least, tube))
    if tube > 0.0:
        _keep_one(rows, at, touches, known, circle)


@routine(WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, REAL, REAL, REAL, REAL, REAL)
def circle_routine(ints, floats, vector, number, shape, other, at, touches, x, y, z, radius, tube):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    there, here, size = work.contacts.placed[number], work.contacts.placed[other], plant.contacts.collider[number]
    R, p, middle = load9(there, t.PC_R), load3(there, t.PC_P), load3(here, t.PC_P)
    body = number, shape, R, p, load3(size, t.CL_SIZE), middle
    _meet_circle(plant, work, at, touches, body, size[t.CL_REACH], load9(here, t.PC_R), (x, y, z), radius, tube)


@kernel
def meet_circle(plant, work, at, touches, number, shape, other, centre, radius, tube):
    """The touches from row `at` of a collider and a circle about the z axis of another; normals are the collider's.

    shape : the collider's, or INSIDE; touches : WITH_ONE, WITH_SOME or WITH_BORDERS; tube : radius of the circle's skin
    """
    ints, floats, vector = vectors(plant, work)
    x, y, z = centre
    circle_routine(ints, floats, vector, number, shape, other, at, touches, x, y, z, radius, tube)
