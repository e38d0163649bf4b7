"""The direction along which two convex shapes are farthest apart, for all pairs without a closed form.

Let D be the set of all differences of a point of b and a point of a. The gap along a direction n is g(n) = min n·d over
D, and the normal maximises it. If the shapes are apart, it points to the point of D nearest to the origin. The
algorithm of Gilbert, Johnson and Keerthi (1988) finds that point, here for any point x outside D instead of the origin.

If the shapes touch or penetrate, the origin is on D or inside, and gives no direction. Then x moves from the origin
away from the middle of D until it is outside, and from there to x = (g(n) - L) n for each normal n that the algorithm
finds; this point is at least L outside D. The normal no longer changes once the nearest point of D lies on its line,
which is so where g is largest. On flat parts of D this happens at once; where D is as round as a ball of radius R the
error shrinks by the factor (L - g) / (R + L) each time. L is far above rounding, so normals of shapes that just touch
are accurate to all digits.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.spatial import ZERO, add_scaled, cross, dot, load3, neg, scale, store3, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.distances import column
from limberjack.engine.kernels.contacts.supports import farthest

#: numbers of a corner of the simplex: a point of D, and that of a
_CORNER = 6
#: offsets of the weights, and of x; length of the scratch of the search
_WEIGHT, _FROM = 4 * _CORNER, 28
SEARCH = 32
_MOST_STEPS = 64
#: shapes are clear of each other if their distance is known to be farther than asked for, and to this share
_CLEAR = 0.9
#: relative accuracy of the distance; number of steps that need not come nearer, and the share by which they may go
#: away, squared: nearly flat parts of D turn the normal while the change of the distance is below rounding
_KNOWN, _MOST_STALE, _THIN = 1e-13, 3, 1.0 + 1e-9
#: a simplex is flat if the sine of the angle between an edge and a face, squared, is below this
_FLAT = 1e-16
#: shares of the smaller shape's size: distances below the first count as zero; L
_TOUCHING, _OUT = 1e-6, 0.02
_MOST_RAYS, _MOST_TURNS = 8, 13
#: a normal is final if it turns by less than this, rad²
_TURNED = 1e-18
#: by how much a normal is turned ahead, and the last turn, as a share of the depth, from which on that is done
_PUSH, _SLOW = 0.5, 0.01
#: differences of gaps below this share of L count as zero
_ROUNDING = 1e-10


@kernel
def _corner(s, i):
    """Corner i of the simplex, as seen from x."""
    return sub(load3(s, _CORNER * i), load3(s, _FROM))


@kernel
def _line_weight(a, b):
    """The point of a line from a to b that is nearest to 0, as its share of b."""
    d = sub(b, a)
    square = dot(d, d)
    return max(0.0, min(1.0, -dot(a, d) / square)) if square > 0.0 else 0.0


@kernel
def _on_edges(a, b, c):
    """(square of the distance, shares of b and c) of the point of a triangle's edges that is nearest to 0."""
    best_u, best_w, least = 0.0, 0.0, 1e300
    for i in range(3):
        x, y = b if i == 2 else a, c if i > 0 else b
        share = _line_weight(x, y)
        v = add_scaled(x, share, sub(y, x))
        if dot(v, v) < least:
            least = dot(v, v)
            best_u = share if i == 0 else (1.0 - share if i == 2 else 0.0)
            best_w = share if i > 0 else 0.0
    return least, best_u, best_w


@kernel
def _triangle(s, i, j, k):
    """(square of the distance, weights) of the nearest point of a face of the simplex. Also a thin one has shares
    as exact as their products with its edges need."""
    a = _corner(s, i)
    d, e = sub(_corner(s, j), a), sub(_corner(s, k), a)
    n = cross(d, e)
    area = dot(n, n)
    if area > 0.0:
        u, w = dot(cross(e, a), n) / area, dot(cross(a, d), n) / area
        if u >= 0.0 and w >= 0.0 and u + w <= 1.0:
            v = add_scaled(add_scaled(a, u, d), w, e)
            return dot(v, v), 1.0 - u - w, u, w
    square, u, w = _on_edges(a, _corner(s, j), _corner(s, k))
    return square, 1.0 - u - w, u, w


@kernel
def _encloses(s):
    """Whether x is inside the simplex of four corners; nothing is inside a flat one."""
    for skip in range(4):
        i, j, k = 1 if skip == 0 else 0, 2 if skip <= 1 else 1, 3 if skip <= 2 else 2
        a = _corner(s, i)
        n = cross(sub(_corner(s, j), a), sub(_corner(s, k), a))
        e = sub(_corner(s, skip), a)
        there = dot(n, e)
        if there * there <= _FLAT * dot(n, n) * dot(e, e) or -dot(n, a) * there < 0.0:
            return False
    return True


@kernel
def _weigh(s, count):
    """Weights of the corners for the weighted mean that is nearest to x."""
    s[_WEIGHT], s[_WEIGHT + 1], s[_WEIGHT + 2], s[_WEIGHT + 3] = 1.0, 0.0, 0.0, 0.0
    if count == 2:
        s[_WEIGHT + 1] = _line_weight(_corner(s, 0), _corner(s, 1))
        s[_WEIGHT] = 1.0 - s[_WEIGHT + 1]
    elif count >= 3:
        least = 1e300
        for skip in range(4):
            if count == 4 or skip == 3:
                i, j, k = 1 if skip == 0 else 0, 2 if skip <= 1 else 1, 3 if skip <= 2 else 2
                square, a, b, c = _triangle(s, i, j, k)
                if square < least:
                    least = square
                    s[_WEIGHT + skip] = 0.0
                    s[_WEIGHT + i], s[_WEIGHT + j], s[_WEIGHT + k] = a, b, c


@kernel
def _drop(s, count):
    """Remove corners without weight; returns how many remain."""
    kept = 0
    for i in range(count):
        if s[_WEIGHT + i] > 0.0:
            for c in range(_CORNER):
                s[_CORNER * kept + c] = s[_CORNER * i + c]
            s[_WEIGHT + kept] = s[_WEIGHT + i]
            kept += 1
    return kept


@kernel
def _mean(s, count, at):
    """The weighted mean of corners; at: 0 of D, 3 of a."""
    x = ZERO
    for i in range(count):
        x = add_scaled(x, s[_WEIGHT + i], load3(s, _CORNER * i + at))
    return x


@kernel
def add_corner(plant, s, count, pair, n):
    """Make the point of D that is farthest against n corner `count` of the simplex; returns it."""
    (a, shape_a, Ra, pa, size_a), (b, shape_b, Rb, pb, size_b) = pair
    x = farthest(plant, a, shape_a, Ra, pa, size_a, n)
    d = sub(farthest(plant, b, shape_b, Rb, pb, size_b, neg(n)), x)
    store3(s, _CORNER * count, d)
    store3(s, _CORNER * count + 3, x)
    return d


@kernel
def _far_point(plant, body, n):
    """The point of a shape that is farthest along n."""
    number, shape, R, p, size = body
    return farthest(plant, number, shape, R, p, size, n)


@kernel
def _gap_along(plant, pair, n):
    (a, shape_a, Ra, pa, size_a), (b, shape_b, Rb, pb, size_b) = pair
    x = farthest(plant, a, shape_a, Ra, pa, size_a, n)
    return dot(n, sub(farthest(plant, b, shape_b, Rb, pb, size_b, neg(n)), x))


@kernel
def _known(s, count, d):
    """Whether d is a corner of the simplex."""
    for i in range(count):
        x = load3(s, _CORNER * i)
        if x[0] == d[0] and x[1] == d[1] and x[2] == d[2]:
            return True
    return False


@kernel
def approach(plant, s, count, pair, x, enough):
    """The point of D that is nearest to x: (corners of the simplex around it, distance, direction from x, its place on
    a); no distance if x is in D. s: a simplex of `count` corners of D to begin with; enough: from which distance on a
    lower bound of it will do."""
    store3(s, _FROM, x)
    least, best, length, n, on_a, stale = 1e300, -1e300, 0.0, ZERO, ZERO, 0
    for _ in range(_MOST_STEPS):
        if count == 4 and _encloses(s):
            return count, 0.0, ZERO, on_a
        _weigh(s, count)
        count = _drop(s, count)
        v = sub(_mean(s, count, 0), x)
        square = dot(v, v)
        if square == 0.0:
            return count, 0.0, ZERO, on_a
        stale += 1 if square >= least else 0  # an effect of rounding in a thin simplex
        if square > _THIN * least or stale > _MOST_STALE:
            break
        least = min(least, square)
        place = _mean(s, count, 3)
        d = add_corner(plant, s, count, pair, v)
        bound = dot(v, sub(d, x)) / math.sqrt(square)  # the distance is at least this
        if bound > best:
            best, length, n, on_a = bound, math.sqrt(square), v, place
        if length - best <= _KNOWN * length or _known(s, count, d):
            break
        if best > max(enough, _CLEAR * length):
            return count, best, scale(1.0 / length, n), on_a
        count += 1
    if best < 0.5 * length:  # x is so near to D that rounding hides on which side it is
        return count, 0.0, ZERO, on_a
    return count, length, scale(1.0 / length, n), on_a


@kernel
def _best_axis(plant, pair, R):
    """The axis of a shape along which the gap is largest."""
    best, most = column(R, 2), -1e300
    for i in range(3):
        axis = column(R, i)
        if dot(axis, sub(pair[1][3], pair[0][3])) < 0.0:
            axis = neg(axis)
        gap = _gap_along(plant, pair, axis)
        if gap > most:
            best, most = axis, gap
    return best


@kernel
def _leave(plant, s, count, pair, toward, out):
    """A normal of D near the origin, which is in D or on its surface: that where a ray through the origin leaves D."""
    length = math.sqrt(dot(toward, toward))
    ray = scale(1.0 / length, toward) if length > 1e-3 * out else column(pair[0][2], 2)
    n, far = ray, out
    for _ in range(_MOST_RAYS):
        count, distance, n, _ = approach(plant, s, count, pair, scale(-far, ray), math.inf)
        if distance > 1e-3 * out:
            return count, n
        far *= 8.0
    return count, ray


@kernel
def _tilted(n, turn):
    """n, turned farther in the direction in which it last turned."""
    x = add_scaled(n, _PUSH / math.sqrt(dot(turn, turn)), turn)
    return scale(1.0 / math.sqrt(dot(x, x)), x)


@kernel
def _climb(plant, s, count, pair, n, out):
    """Improve n until the gap is largest: (corners of the simplex, gap, normal, place on a).

    From a normal between two faces of D that meet at an edge just beside the origin the way to either is slow: every
    third turn looks ahead.
    """
    gap, x, turn = _gap_along(plant, pair, n), ZERO, ZERO
    for i in range(_MOST_TURNS):
        ahead, there = n, gap
        pushes = i % 3 == 2 and math.sqrt(dot(turn, turn)) * out > _SLOW * abs(gap)
        if pushes:
            ahead = _tilted(n, turn)
            there = _gap_along(plant, pair, ahead)
        count, distance, turned, on_a = approach(plant, s, count, pair, scale(there - out, ahead), math.inf)
        if distance == 0.0:
            x = _far_point(plant, pair[0], n) if i == 0 else x
            break
        there = _gap_along(plant, pair, turned)
        if there > gap - _ROUNDING * out:
            turn = sub(turned, n)
            n, gap, x = turned, there, on_a
        elif not pushes:
            x = on_a if i == 0 else x
            break
        if dot(turn, turn) < _TURNED and not pushes:
            break
    return count, gap, n, x


@kernel
def separate(plant, scratch, pair, toward, reach, enough):
    """(gap, normal from a to b, places on a and on b where they are nearest) of the cores of two shapes; toward: a
    direction from inside a to b; reach: the size of the smaller one; enough: from which gap on a lower bound of it will
    do. Those that penetrate by more than a little may have a shorter way out."""
    s, out = vector_view(scratch, 0, SEARCH), _OUT * reach
    add_corner(plant, s, 0, pair, toward if dot(toward, toward) > 0.0 else column(pair[0][2], 2))
    count, gap, n, x = approach(plant, s, 1, pair, ZERO, enough)
    if gap > _TOUCHING * reach:
        return gap, n, x, add_scaled(x, gap, n)
    gap = -1e300
    for start in range(3):
        if start == 0:
            count, turned = _leave(plant, s, count, pair, toward, out)
        else:
            turned = _best_axis(plant, pair, pair[0][2] if start == 1 else pair[1][2])
        count, there, turned, place = _climb(plant, s, count, pair, turned, out)
        if there > gap:
            gap, n, x = there, turned, place
        if gap > -out:
            break
    return gap, n, x, add_scaled(x, gap, n)
