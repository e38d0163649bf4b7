"""The direction along which two convex shapes are farthest apart, for all pairs that have no closed form.

With D, all differences of a point of b and one of a, the gap along a direction n is g(n) = min n·d, and the normal is
where it is largest: towards the point of D that is nearest to the origin, where shapes are apart. That point is found
by the algorithm of Gilbert, Johnson and Keerthi (1988), here for any place x out of D instead of the origin.

Shapes that touch or penetrate have the origin on D or in it, where nothing shows its direction. Then x goes from the
origin away from the middle of D until it is out, and from there along the normals that are found: to
x = (g(n) - L) n, which is at least L out of D. The normal n stays where the nearest point of D lies on its line, as
it does where g is largest. On flat parts of D that is so at once; where D is as round as a ball of radius R the error
shrinks by (L - g) / (R + L) each time. L is far above rounding, so that normals of shapes that just touch have all
digits.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.spatial import ZERO, add_scaled, cross, dot, load3, neg, scale, store3, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.distances import column
from limberjack.engine.kernels.contacts.supports import farthest

#: numbers of a corner of the simplex: of D, and of a
_CORNER = 6
#: where its weights are, and x; numbers that the search keeps
_WEIGHT, _FROM = 4 * _CORNER, 28
SEARCH = 32
_MOST_STEPS = 64
#: the distance is known to this share; steps that may come no nearer, and the share that they may go away, squared:
#: what nearly flat parts of D turn the normal by is less than rounding in distances
_KNOWN, _MOST_STALE, _THIN = 1e-13, 3, 1.0 + 1e-9
#: a simplex is flat if an edge rises less from a face than by this sine, squared
_FLAT = 1e-16
#: distances below this share of the smaller shape's size are none, and L
_TOUCHING, _OUT = 1e-6, 0.02
_MOST_RAYS, _MOST_TURNS = 8, 13
#: the square of the angle by which a normal that is found turns no more
_TURNED = 1e-18
#: by how much a normal is pushed, and for which share of the depth that it still comes nearer
_PUSH, _SLOW = 0.5, 0.01
#: differences of gaps below this share of L are none
_ROUNDING = 1e-10


@kernel
def _corner(s, i):
    """Corner i of the simplex, as seen from x."""
    return sub(load3(s, _CORNER * i), load3(s, _FROM))


@kernel
def _line_weight(a, b):
    """Where the point of a line from a to b is that is nearest to 0: its share of b."""
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
    """Whether x is in the simplex of four corners; in a flat one it is not."""
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
    """Weights of the corners whose mean is nearest to x."""
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
    """Leave out corners without weight; returns how many there are."""
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
    """Corner `count` of the simplex: that of D which is farthest against n; returns it."""
    (a, shape_a, Ra, pa, size_a), (b, shape_b, Rb, pb, size_b) = pair
    x = farthest(plant, a, shape_a, Ra, pa, size_a, n)
    d = sub(farthest(plant, b, shape_b, Rb, pb, size_b, neg(n)), x)
    store3(s, _CORNER * count, d)
    store3(s, _CORNER * count + 3, x)
    return d


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
def approach(plant, s, count, pair, x):
    """The point of D that is nearest to x: (corners of the simplex around it, distance, direction from x, its place on
    a); no distance if x is in D. s: a simplex of `count` corners of D to begin with."""
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
        stale += 1 if square >= least else 0  # by rounding, in a simplex that has become thin
        if square > _THIN * least or stale > _MOST_STALE:
            break
        least = min(least, square)
        place = _mean(s, count, 3)
        d = add_corner(plant, s, count, pair, v)
        bound = dot(v, sub(d, x)) / math.sqrt(square)  # the distance is not less
        if bound > best:
            best, length, n, on_a = bound, math.sqrt(square), v, place
        if length - best <= _KNOWN * length or _known(s, count, d):
            break
        count += 1
    if best < 0.5 * length:  # x is so near to D that rounding hides on which side
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
def _leave(plant, s, count, pair, out):
    """A normal of D near the origin, which is in it or at its surface: seen from where a ray through it leaves D."""
    Ra, pa, pb = pair[0][2], pair[0][3], pair[1][3]
    middle = sub(pb, pa)
    length = math.sqrt(dot(middle, middle))
    ray = scale(1.0 / length, middle) if length > 1e-3 * out else column(Ra, 2)
    n, far = ray, out
    for _ in range(_MOST_RAYS):
        count, distance, n, _ = approach(plant, s, count, pair, scale(-far, ray))
        if distance > 1e-3 * out:
            return count, n
        far *= 8.0
    return count, ray


@kernel
def _tilted(n, turn):
    """n, turned on by a good angle the way that it turned last."""
    x = add_scaled(n, _PUSH / math.sqrt(dot(turn, turn)), turn)
    return scale(1.0 / math.sqrt(dot(x, x)), x)


@kernel
def _climb(plant, s, count, pair, n, out):
    """Go on from n to where the gap is largest: (corners of the simplex, gap, normal, place on a).

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
        count, distance, turned, on_a = approach(plant, s, count, pair, scale(there - out, ahead))
        if distance == 0.0:
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
def separate(plant, scratch, pair, reach):
    """(gap, normal from a to b, places on a and on b where they are nearest) of the cores of two shapes; reach: the
    size of the smaller one. Those that penetrate by more than a little may have a shorter way out."""
    s, out = vector_view(scratch, 0, SEARCH), _OUT * reach
    middle = sub(pair[1][3], pair[0][3])
    add_corner(plant, s, 0, pair, middle if dot(middle, middle) > 0.0 else column(pair[0][2], 2))
    count, gap, n, x = approach(plant, s, 1, pair, ZERO)
    if gap > _TOUCHING * reach:
        return gap, n, x, add_scaled(x, gap, n)
    gap = -1e300
    for start in range(3):
        if start == 0:
            count, turned = _leave(plant, s, count, pair, out)
        else:
            turned = _best_axis(plant, pair, pair[0][2] if start == 1 else pair[1][2])
        count, there, turned, place = _climb(plant, s, count, pair, turned, out)
        if there > gap:
            gap, n, x = there, turned, place
        if gap > -out:
            break
    return gap, n, x, add_scaled(x, gap, n)
