"""Gaps between round shapes, and between round and other shapes: distance, normal and point for each touch of a pair.

The gap is negative where shapes penetrate. The normal is from shape a to shape b; the point is midway between the two
surfaces. Poses (R, p) are in the inertial frame; sizes are those of `tables/contacts.py`.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import add, add_scaled, dot, neg, rot, scale, store3, sub, unrot
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import contacts as t

#: vectors shorter than this have no direction, m
_NO_LENGTH = 1e-12
#: points of a capsule's axis nearer to its end than this share of the half length count as the end
_SAME = 1e-6
_SINE_120 = math.sqrt(0.75)
#: by how much points that are fixed to a rim may be farther away than its nearest point, as a share of a shape's size:
#: at a tiny tilt the nearest point runs around the rim by the change of the tilt over the tilt, faster than bodies
#: turn. Then the tilt from which on a shape does not count as standing
RIM_MISSED, RIM_TILT = 1e-5, 1e-3
#: gap of places without a touch, m
_FAR = 1e300


@kernel
def meet(row, gap, normal, point):
    """Store the gap, normal and point of one touch."""
    row[t.ME_GAP] = gap
    store3(row, t.ME_NORMAL, normal)
    store3(row, t.ME_POINT, point)


@kernel
def column(R, i):
    """Column i of a rotation matrix."""
    if i == 0:
        return R[0], R[3], R[6]
    return (R[1], R[4], R[7]) if i == 1 else (R[2], R[5], R[8])


@kernel
def component(x, i):
    """x[i] of a vector."""
    return x[0] if i == 0 else (x[1] if i == 1 else x[2])


@kernel
def clamp(x, most):
    return max(-most, min(most, x))


@kernel
def meet_balls(row, a, radius_a, b, radius_b, fallback):
    """Two balls; fallback: the normal if their centres coincide."""
    d = sub(b, a)
    length = math.sqrt(dot(d, d))
    n = scale(1.0 / length, d) if length > _NO_LENGTH else fallback
    gap = length - radius_a - radius_b
    meet(row, gap, n, add_scaled(a, radius_a + 0.5 * gap, n))


@kernel
def meet_plane_ball(row, n, p, centre, radius):
    """A ball over the plane through p."""
    gap = dot(n, sub(centre, p)) - radius
    meet(row, gap, n, add_scaled(centre, -(radius + 0.5 * gap), n))


@kernel
def meet_plane_capsule(met, at, n, p, R, centre, size):
    along = column(R, 2)
    meet_plane_ball(met[at], n, p, add_scaled(centre, size[1], along), size[0])
    meet_plane_ball(met[at + 1], n, p, add_scaled(centre, -size[1], along), size[0])


@kernel
def meet_plane_box(met, at, n, p, R, centre, size):
    """All corners."""
    for i in range(8):
        x = size[0] if i & 1 else -size[0]
        y = size[1] if i & 2 else -size[1]
        z = size[2] if i & 4 else -size[2]
        meet_plane_ball(met[at + i], n, p, add(centre, rot(R, (x, y, z))), 0.0)


@kernel
def on_rim(x, y, i):
    """Point i of six on a circle about 0, from two of its radii that are at right angles."""
    c = (1.0 if i == 0 else -1.0) if i % 3 == 0 else (0.5 if i == 1 or i == 5 else -0.5)
    s = 0.0 if i % 3 == 0 else (_SINE_120 if i < 3 else -_SINE_120)
    return add_scaled(scale(c, x), s, y)


@kernel
def meet_plane_rims(met, at, n, p, R, centre, low, high, half):
    """The lowest point of each rim, of the radii low and high at -half and half, and six points of the lower one, fixed
    to the shape, if it stands. Where these are nearly as low, the rim's lowest point is not there: it would run around
    the rim with the least tilt."""
    along = column(R, 2)
    lean = dot(n, along)
    down = add_scaled(neg(n), lean, along)
    length = math.sqrt(dot(down, down))
    down = scale(1.0 / length, down) if length > _NO_LENGTH else column(R, 0)
    upper = half * lean - high * length < -half * lean - low * length
    radius, end = high if upper else low, add_scaled(centre, half if upper else -half, along)
    x, y, lowest = scale(radius, column(R, 0)), scale(radius, column(R, 1)), _FAR
    for i in range(6):
        row = met[at + 2 + i]
        meet_plane_ball(row, n, p, add(end, on_rim(x, y, i)), 0.0)
        if length > RIM_TILT:
            row[t.ME_GAP] = _FAR
        lowest = min(lowest, row[t.ME_GAP])
    for i in range(2):
        there = add_scaled(centre, half if i == 1 else -half, along)
        meet_plane_ball(met[at + i], n, p, add_scaled(there, high if i == 1 else low, down), 0.0)
    own = met[at + 1] if upper else met[at]
    if own[t.ME_GAP] > lowest - RIM_MISSED * (radius + half):
        own[t.ME_GAP] = _FAR


@kernel
def on_segment(centre, along, half, x):
    """The point of a segment that is nearest to x."""
    return add_scaled(centre, clamp(dot(sub(x, centre), along), half), along)


@kernel
def to_box(local, size):
    """(distance of a place from a box, direction to the box) in its axes; inside the distance is below 0."""
    near = clamp(local[0], size[0]), clamp(local[1], size[1]), clamp(local[2], size[2])
    d = sub(near, local)
    square = dot(d, d)
    if square > _NO_LENGTH * _NO_LENGTH:
        length = math.sqrt(square)
        return length, scale(1.0 / length, d)
    best, gap = 0, -1e300
    for i in range(3):
        apart = abs(component(local, i)) - component(size, i)
        if apart > gap:
            best, gap = i, apart
    side = -1.0 if component(local, best) > 0.0 else 1.0
    return gap, (side if best == 0 else 0.0, side if best == 1 else 0.0, side if best == 2 else 0.0)


@kernel
def meet_ball_box(row, x, radius, R, centre, size):
    """A ball and a box; its centre may be inside."""
    length, d = to_box(unrot(R, sub(x, centre)), size)
    n = rot(R, d)
    meet(row, length - radius, n, add_scaled(x, 0.5 * (length + radius), n))


@kernel
def meet_ball_cylinder(row, x, radius, R, centre, size):
    local = unrot(R, sub(x, centre))
    reach = math.sqrt(local[0] * local[0] + local[1] * local[1])
    side, cap = reach - size[0], abs(local[2]) - size[1]
    out = (local[0] / reach, local[1] / reach, 0.0) if reach > _NO_LENGTH else (1.0, 0.0, 0.0)
    up = (0.0, 0.0, 1.0) if local[2] > 0.0 else (0.0, 0.0, -1.0)
    if side > 0.0 and cap > 0.0:
        length = math.sqrt(side * side + cap * cap)
        d = add(scale(side / length, out), scale(cap / length, up))
    elif side > cap:
        length, d = side, out
    else:
        length, d = cap, up
    n = neg(rot(R, d))
    meet(row, length - radius, n, add_scaled(x, 0.5 * (length + radius), n))


@kernel
def from_cone(rho, z, size):
    """(distance, its direction along ρ, along z) of a place from a cone; inside the distance is below 0."""
    wide, long, half = size[1] - size[0], 2.0 * size[2], size[2]
    slant = math.sqrt(wide * wide + long * long)
    side = ((rho - size[0]) * long - (z + half) * wide) / slant
    if max(side, abs(z) - half) <= _NO_LENGTH:
        if side > abs(z) - half:
            return side, long / slant, -wide / slant
        return abs(z) - half, 0.0, 1.0 if z > 0.0 else -1.0
    share = max(0.0, min(1.0, ((rho - size[0]) * wide + (z + half) * long) / (slant * slant)))
    x, y = rho - size[0] - share * wide, z + half - share * long
    for i in range(2):
        u, w = rho - min(rho, (size[0] if i == 0 else size[1])), z - (half if i == 1 else -half)
        if u * u + w * w < x * x + y * y:
            x, y = u, w
    length = math.sqrt(x * x + y * y)
    return length, x / length, y / length


@kernel
def meet_ball_cone(row, x, radius, R, centre, size):
    """A ball and a solid cone, complete or truncated; the ball's centre may be inside."""
    local = unrot(R, sub(x, centre))
    reach = math.sqrt(local[0] * local[0] + local[1] * local[1])
    c, s = (local[0] / reach, local[1] / reach) if reach > _NO_LENGTH else (1.0, 0.0)
    length, out, up = from_cone(reach, local[2], size)
    n = neg(rot(R, (out * c, out * s, up)))
    meet(row, length - radius, n, add_scaled(x, 0.5 * (length + radius), n))


@kernel
def _meet_wall(row, local, radius, c, s, R, x, size):
    """A ball and the line of a funnel's wall in the direction (c, s) from its axis."""
    wide, length = size[1] - size[0], 2.0 * size[2]
    along = wide * (c * local[0] + s * local[1] - size[0]) + length * (local[2] + size[2])
    share = max(0.0, min(1.0, along / (wide * wide + length * length)))
    rho = size[0] + share * wide
    d = sub((c * rho, s * rho, share * length - size[2]), local)
    far = math.sqrt(dot(d, d))
    n = rot(R, scale(1.0 / far, d) if far > _NO_LENGTH else (c, s, 0.0))
    meet(row, far - radius, n, add_scaled(x, 0.5 * (far + radius), n))


@kernel
def meet_ball_funnel(met, at, x, radius, R, centre, size):
    """The nearest line of the thin wall, and those a third of a turn away: a ball in the narrow part rests on three."""
    local = unrot(R, sub(x, centre))
    reach = math.sqrt(local[0] * local[0] + local[1] * local[1])
    c, s = (local[0] / reach, local[1] / reach) if reach > _NO_LENGTH else (1.0, 0.0)
    _meet_wall(met[at], local, radius, c, s, R, x, size)
    _meet_wall(met[at + 1], local, radius, -0.5 * c - _SINE_120 * s, _SINE_120 * c - 0.5 * s, R, x, size)
    _meet_wall(met[at + 2], local, radius, -0.5 * c + _SINE_120 * s, -_SINE_120 * c - 0.5 * s, R, x, size)


@kernel
def nearest_of_segments(a, d, half_a, b, e, half_b):
    """The points s and t of two segments with the centres a and b that are nearest to each other."""
    r, c = sub(a, b), dot(d, e)
    f, g, square = dot(d, r), dot(e, r), 1.0 - c * c
    s = clamp((c * g - f) / square, half_a) if square > 1e-12 else 0.0
    t_ = clamp(c * s + g, half_b)
    s = clamp(c * t_ - f, half_a)
    return s, clamp(c * s + g, half_b)


@kernel
def meet_capsules(met, at, Ra, a, size_a, Rb, b, size_b):
    """The nearest points of the axes, and the farther end of a: parallel capsules touch at two points."""
    d, e = column(Ra, 2), column(Rb, 2)
    s, t_ = nearest_of_segments(a, d, size_a[1], b, e, size_b[1])
    up = column(Ra, 0)
    meet_balls(met[at], add_scaled(a, s, d), size_a[0], add_scaled(b, t_, e), size_b[0], up)
    end = add_scaled(a, -size_a[1] if s > 0.0 else size_a[1], d)
    meet_balls(met[at + 1], end, size_a[0], on_segment(b, e, size_b[1], end), size_b[0], up)


@kernel
def _pull(local, d, s, size):
    """Half the derivative of the squared distance of a box and the point s along a line, which rises with s."""
    x = add_scaled(local, s, d)
    return (
        (x[0] - clamp(x[0], size[0])) * d[0]
        + (x[1] - clamp(x[1], size[1])) * d[1]
        + (x[2] - clamp(x[2], size[2])) * d[2]
    )


@kernel
def _leave_out_end(row, s, half):
    """The place s of a capsule's axis is not there where it is an end, which is there already: two touches in one place
    would be twice as stiff."""
    if half - abs(s) < _SAME * half:
        row[t.ME_GAP] = _FAR


@kernel
def meet_capsule_box(met, at, Ra, a, size_a, R, centre, size):
    """Both ends of the capsule's axis, and its point nearest to the box."""
    d, half = column(Ra, 2), size_a[1]
    local, along = unrot(R, sub(a, centre)), unrot(R, d)
    low, high = -half, half
    for _ in range(50):
        middle = 0.5 * (low + high)
        if _pull(local, along, middle, size) > 0.0:
            high = middle
        else:
            low = middle
    meet_ball_box(met[at], add_scaled(a, -half, d), size_a[0], R, centre, size)
    meet_ball_box(met[at + 1], add_scaled(a, half, d), size_a[0], R, centre, size)
    meet_ball_box(met[at + 2], add_scaled(a, 0.5 * (low + high), d), size_a[0], R, centre, size)
    _leave_out_end(met[at + 2], 0.5 * (low + high), half)


@kernel
def _pull_of_cone(local, d, s, size):
    """The derivative of the distance of a cone and the point s along a line, which rises with s."""
    x = add_scaled(local, s, d)
    reach = math.sqrt(x[0] * x[0] + x[1] * x[1])
    _, out, up = from_cone(reach, x[2], size)
    return (out * (x[0] * d[0] + x[1] * d[1]) / reach if reach > _NO_LENGTH else 0.0) + up * d[2]


@kernel
def meet_capsule_cone(met, at, Ra, a, size_a, R, centre, size):
    """Both ends of the capsule's axis, and its point nearest to the cone; a cylinder is one with equal radii."""
    d, half = column(Ra, 2), size_a[1]
    local, along = unrot(R, sub(a, centre)), unrot(R, d)
    low, high = -half, half
    for _ in range(50):
        middle = 0.5 * (low + high)
        if _pull_of_cone(local, along, middle, size) > 0.0:
            high = middle
        else:
            low = middle
    meet_ball_cone(met[at], add_scaled(a, -half, d), size_a[0], R, centre, size)
    meet_ball_cone(met[at + 1], add_scaled(a, half, d), size_a[0], R, centre, size)
    meet_ball_cone(met[at + 2], add_scaled(a, 0.5 * (low + high), d), size_a[0], R, centre, size)
    _leave_out_end(met[at + 2], 0.5 * (low + high), half)
