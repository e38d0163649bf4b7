"""Support points of convex shapes along a direction, and the features (face, rim or line) with which they touch.

A ball is a point, and a capsule a segment (their cores), with a skin of their radius; cylinders are cones with equal
radii. Directions and positions are in inertial axes, about the centre of the pair's first shape: far from the origin,
as in an orbit, differences of positions would lose digits.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import add, add_scaled, dot, load3, neg, rot, scale, store3, sub, unrot
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.contacts.distances import column, component
from limberjack.engine.tables import contacts as t

#: numbers of a feature: count of corners, its radius, its centre, the normal of its plane, its axes, corners
FEATURE = 16 + 3 * t.MOST_CORNERS
F_KIND, F_CORNERS, F_RADIUS, F_CENTRE, F_NORMAL, F_X, F_Y, F_CORNER = 0, 1, 2, 3, 6, 9, 12, 16
#: kinds of features
POINT, LINE, DISC, POLYGON = range(4)

#: parts of a direction across an axis that are shorter than this count as zero
_NO_LENGTH = 1e-12
#: farther than any corner
_NO_END = 1e300
#: a capsule whose axis is nearer to the normal touches with one end only; cosine
_END_ON = 0.9
#: a face whose normal is farther from the contact normal touches with one corner only; cosine
STEEP = 0.1


@kernel
def skin(shape, size):
    """Radius of the skin about a shape's core."""
    return size[0] if shape in (t.SPHERE, t.CAPSULE) else 0.0


@kernel
def rims(shape, size):
    """(radius at -z, radius at +z, half length) of a cylinder or cone."""
    return (size[0], size[0], size[1]) if shape == t.CYLINDER else size


@kernel
def _azimuth(local):
    """(cosine, sine, length) of a direction across the z axis."""
    across = math.sqrt(local[0] * local[0] + local[1] * local[1])
    if across > _NO_LENGTH:
        return local[0] / across, local[1] / across, across
    return 1.0, 0.0, 0.0


@kernel
def _rim_point(sizes, local):
    """The point of a cone that is farthest along a direction, both in its axes."""
    low, high, half = sizes
    c, s, across = _azimuth(local)
    up = across * high + local[2] * half >= across * low - local[2] * half
    radius = (high if up else low) if across > 0.0 else 0.0
    return radius * c, radius * s, half if up else -half


@kernel
def sector_of(n):
    """The sector of a direction, `SECTORS`."""
    x, y, z = abs(n[0]), abs(n[1]), abs(n[2])
    if x >= y:
        order = 0 if y >= z else (1 if x >= z else 2)
    else:
        order = 3 if x >= z else (4 if y >= z else 5)
    return 8 * order + (4 if n[0] < 0.0 else 0) + (2 if n[1] < 0.0 else 0) + (1 if n[2] < 0.0 else 0)


@kernel
def mesh_corner(plant, collider, local):
    """Which corner of a mesh is farthest along a direction in its axes."""
    parts, best, most = plant.contacts, plant.contacts.mesh_int[collider, t.ML_FIRST], -_NO_END
    sector = parts.sector_int[t.SECTORS * collider + sector_of(local)]
    for i in range(sector[t.ML_FIRST], sector[t.ML_FIRST] + sector[t.ML_COUNT]):
        corner = parts.mesh_link[i]
        far = dot(load3(parts.mesh_corner[corner], 0), local)
        if far > most:
            best, most = corner, far
    return best


@kernel
def _triangle_corner(plant, size, local):
    """The corner of a triangle that is farthest along a direction in its axes."""
    best, most = load3(plant.contacts.mesh_corner[int(size[0])], 0), -_NO_END
    for i in range(3):
        x = load3(plant.contacts.mesh_corner[int(component(size, i))], 0)
        if dot(x, local) > most:
            best, most = x, dot(x, local)
    return best


@kernel
def farthest(plant, collider, shape, R, p, size, n):
    """The point of a shape's core that is farthest along n."""
    if shape == t.SPHERE:
        return p
    local = unrot(R, n)
    if shape == t.CAPSULE:
        return add_scaled(p, size[1] if local[2] > 0.0 else -size[1], column(R, 2))
    if shape == t.BOX:
        x, y = size[0] if local[0] > 0.0 else -size[0], size[1] if local[1] > 0.0 else -size[1]
        return add(p, rot(R, (x, y, size[2] if local[2] > 0.0 else -size[2])))
    if shape == t.MESH:
        return add(p, rot(R, load3(plant.contacts.mesh_corner[mesh_corner(plant, collider, local)], 0)))
    if shape == t.TRIANGLE:
        return add(p, rot(R, _triangle_corner(plant, size, local)))
    return add(p, rot(R, _rim_point(rims(shape, size), local)))


@kernel
def point_feature(f, x, n):
    """One point, of which n is the normal."""
    f[F_KIND], f[F_CORNERS], f[F_RADIUS] = POINT, 1.0, 0.0
    store3(f, F_CENTRE, x)
    store3(f, F_NORMAL, n)
    store3(f, F_CORNER, x)


@kernel
def _line_feature(f, x, y, n, radius):
    """From x to y, which are not above each other; radius: of the round surface that it is part of."""
    d = sub(y, x)
    m = add_scaled(n, -dot(n, d) / dot(d, d), d)
    f[F_KIND], f[F_CORNERS], f[F_RADIUS] = LINE, 2.0, radius
    store3(f, F_CENTRE, x)
    store3(f, F_NORMAL, scale(1.0 / math.sqrt(dot(m, m)), m))
    store3(f, F_CORNER, x)
    store3(f, F_CORNER + 3, y)


@kernel
def _cone_feature(f, R, p, sizes, n):
    low, high, half = sizes
    local = unrot(R, n)
    c, s, across = _azimuth(local)
    wide, long = high - low, 2.0 * half
    side = (across * long - local[2] * wide) / math.sqrt(wide * wide + long * long)
    up = across * high + local[2] * half >= across * low - local[2] * half
    radius = high if up else low
    if radius > 0.0 and abs(local[2]) > side:
        f[F_KIND], f[F_CORNERS], f[F_RADIUS] = DISC, 0.0, radius
        store3(f, F_CENTRE, add_scaled(p, half if up else -half, column(R, 2)))
        store3(f, F_NORMAL, column(R, 2) if up else neg(column(R, 2)))
        store3(f, F_X, column(R, 0))
        store3(f, F_Y, column(R, 1))
    elif side > STEEP:
        x, y = (low * c, low * s, -half), (high * c, high * s, half)
        _line_feature(f, add(p, rot(R, x)), add(p, rot(R, y)), n, 0.5 * (low + high))
    else:
        point_feature(f, add(p, rot(R, _rim_point(sizes, local))), n)


@kernel
def _box_feature(f, R, p, size, n):
    """The face whose normal is nearest to n; corners counter-clockwise from outside."""
    face, most = 0, -1.0
    for i in range(3):
        if abs(dot(column(R, i), n)) > most:
            face, most = i, abs(dot(column(R, i), n))
    i, j = (face + 1) % 3, (face + 2) % 3
    out, u, v = column(R, face), scale(component(size, i), column(R, i)), scale(component(size, j), column(R, j))
    if dot(out, n) < 0.0:
        out, v = neg(out), neg(v)
    centre = add_scaled(p, component(size, face), out)
    f[F_KIND], f[F_CORNERS], f[F_RADIUS] = POLYGON, 4.0, 0.0
    store3(f, F_CENTRE, centre)
    store3(f, F_NORMAL, out)
    store3(f, F_CORNER, add(centre, add(u, v)))
    store3(f, F_CORNER + 3, add(centre, sub(v, u)))
    store3(f, F_CORNER + 6, sub(centre, add(u, v)))
    store3(f, F_CORNER + 9, add(centre, sub(u, v)))


@kernel
def _mesh_feature(plant, collider, f, R, p, n):
    """Of the faces at the farthest corner, the one whose normal is nearest to n."""
    parts, local = plant.contacts, unrot(R, n)
    corner = mesh_corner(plant, collider, local)
    first, best, most = parts.corner_int[corner, t.ML_FIRST], -1, STEEP
    for i in range(first, first + parts.corner_int[corner, t.ML_COUNT]):
        face = parts.mesh_link[i]
        along = dot(load3(parts.mesh_face[face], 0), local)
        if along > most:
            best, most = face, along
    if best < 0:
        point_feature(f, add(p, rot(R, load3(parts.mesh_corner[corner], 0))), n)
        return
    first, corners = parts.face_int[best, t.ML_FIRST], parts.face_int[best, t.ML_COUNT]
    f[F_KIND], f[F_CORNERS], f[F_RADIUS] = POLYGON, corners, 0.0
    for i in range(corners):
        x = load3(parts.mesh_corner[parts.mesh_link[first + i]], 0)
        store3(f, F_CORNER + 3 * i, add(p, rot(R, x)))
    store3(f, F_CENTRE, load3(f, F_CORNER))
    store3(f, F_NORMAL, rot(R, load3(parts.mesh_face[best], 0)))


@kernel
def triangle_feature(f, a, b, c, n):
    """A triangle with its normal; corners counter-clockwise from outside."""
    f[F_KIND], f[F_CORNERS], f[F_RADIUS] = POLYGON, 3.0, 0.0
    store3(f, F_CENTRE, a)
    store3(f, F_NORMAL, n)
    store3(f, F_CORNER, a)
    store3(f, F_CORNER + 3, b)
    store3(f, F_CORNER + 6, c)


@kernel
def find_feature(plant, collider, f, shape, R, p, size, n):
    """Write to f the feature with which a shape's core touches along n, the outward normal."""
    if shape == t.BOX:
        _box_feature(f, R, p, size, n)
    elif shape == t.MESH:
        _mesh_feature(plant, collider, f, R, p, n)
    elif shape in (t.CYLINDER, t.CONE):
        _cone_feature(f, R, p, rims(shape, size), n)
    elif shape == t.CAPSULE and abs(dot(column(R, 2), n)) < _END_ON:
        half = scale(size[1], column(R, 2))
        _line_feature(f, sub(p, half), add(p, half), n, size[0])
    else:
        point_feature(f, farthest(plant, collider, shape, R, p, size, n), n)
