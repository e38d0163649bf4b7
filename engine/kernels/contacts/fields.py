"""How far places are from shapes: distance, normal and face, for circles of which a place is nearest (`rings.py`)."""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.spatial import ZERO, add_scaled, dot, load3, neg, rot, store3, sub, unrot
from limberjack.engine.compile.compiled import REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.convex import SEARCH, add_corner, approach
from limberjack.engine.kernels.contacts.distances import clamp, column, component, from_cone, to_box
from limberjack.engine.kernels.contacts.supports import mesh_corner, rims
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: at the end of the scratch of pairs: the result of a search in a mesh (distance, face, normal 3), and its scratch
_FOUND, _SEARCH = t.SCRATCH - 5, t.SCRATCH - 5 - SEARCH
#: lengths without direction, m
_NO_LENGTH = 1e-12
#: normals are those of a face if the others of their components are not larger
_ON_FACE = 1e-7
#: and of one of a mesh if the cosine between them is one to this
_ALONG = 1e-12
#: what has come farther through the wall of a funnel, or over its rim, was never before it, as a share of its greater
#: radius
THROUGH = 0.1
_UPRIGHT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
#: no distance of planes is as large, m
_FAR = 1e300


@kernel
def _from_wall(rho, z, size):
    """(distance, its direction along ρ, along z) of a place from a funnel's wall, which is thin."""
    low, high, half = size
    wide, long = high - low, 2.0 * half
    share = max(0.0, min(1.0, (wide * (rho - low) + long * (z + half)) / (wide * wide + long * long)))
    x, y = rho - low - share * wide, z + half - share * long
    length = math.sqrt(x * x + y * y)
    return (length, x / length, y / length) if length > _NO_LENGTH else (0.0, -1.0, 0.0)


@kernel
def _from_core(x, y, radius):
    """(distance, direction) of a place beside the core of a round shape."""
    length = math.sqrt(x * x + y * y)
    return (length - radius, x / length, y / length) if length > _NO_LENGTH else (-radius, 0.0, 1.0)


@kernel
def _from_axis(shape, size, rho, z):
    """(distance, its direction along ρ, along z) of a place from a shape that is round about its z axis."""
    if shape == t.SPHERE:
        return _from_core(rho, z, size[0])
    if shape == t.CAPSULE:
        return _from_core(rho, z - clamp(z, size[1]), size[0])
    if shape == t.RING:
        return _from_core(rho - size[0], z, size[1])
    if shape == t.FUNNEL:
        return _from_wall(rho, z, size)
    return from_cone(rho, z, rims(shape, size))


@kernel
def _above_faces(plant, number, local):
    """(greatest distance of a place from a plane of a mesh's faces, the face); none of a foreign Plant may be there."""
    parts, best, most = plant.contacts, -1, -_FAR
    first = parts.mesh_int[number, t.ML_FIRST]
    for i in range(first, first + parts.mesh_int[number, t.ML_COUNT]):
        corner, link = load3(parts.mesh_corner[i], 0), parts.corner_int[i, t.ML_FIRST]
        for j in range(link, link + parts.corner_int[i, t.ML_COUNT]):
            face = parts.mesh_link[j]
            if parts.mesh_link[parts.face_int[face, t.ML_FIRST]] == i:
                gap = dot(load3(parts.mesh_face[face], 0), sub(local, corner))
                if gap > most:
                    best, most = face, gap
    return most, best


@kernel
def _on_face(plant, number, local, gap, n):
    """(distance, normal, face from 1 or 0) of a place out of a mesh, along the way n to it."""
    parts, corner = plant.contacts, mesh_corner(plant, number, n)
    link = parts.corner_int[corner, t.ML_FIRST]
    for i in range(link, link + parts.corner_int[corner, t.ML_COUNT]):
        m = load3(parts.mesh_face[parts.mesh_link[i]], 0)
        if 1.0 - dot(m, n) < _ALONG:
            return dot(m, sub(local, load3(parts.mesh_corner[corner], 0))), m, 1.0 + parts.mesh_link[i]
    return gap, n, 0.0


@kernel
def _from_mesh(plant, s, number, local):
    """(distance, normal, face from 1 or 0) of a place from a mesh, in its axes. s: scratch (SEARCH,) of a search."""
    pair = (number, t.MESH, _UPRIGHT, ZERO, ZERO), (number, t.SPHERE, _UPRIGHT, local, ZERO)
    add_corner(plant, s, 0, pair, local if dot(local, local) > 0.0 else (0.0, 0.0, 1.0))
    _, length, away, _ = approach(plant, s, 1, pair, ZERO, math.inf)
    if length > 0.0:
        return _on_face(plant, number, local, length, away)
    gap, best = _above_faces(plant, number, local)
    return (gap, load3(plant.contacts.mesh_face[best], 0), 1.0 + best) if best >= 0 else (_FAR, (0.0, 0.0, 1.0), 0.0)


@routine(WHOLE, REAL, REAL, REAL)
def from_mesh_routine(ints, floats, vector, number, x, y, z):
    """`_from_mesh` as a call: a search is long code, and circles look at many places. The result is in the scratch."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    found = vector_view(work.contacts.scratch, _FOUND, 5)
    gap, n, face = _from_mesh(plant, vector_view(work.contacts.scratch, _SEARCH, SEARCH), number, (x, y, z))
    found[0], found[1] = gap, face
    store3(found, 2, n)


@kernel
def _leads_back(size, local, middle, side):
    """Whether the way from a place outside of a funnel's wall by `side` to the middle of its body leads back through
    the wall, and not past an end of it."""
    low, high, half = size
    wide, long = high - low, 2.0 * half
    square = wide * wide + long * long
    rho = math.sqrt(middle[0] * middle[0] + middle[1] * middle[1])
    there = ((rho - low) * long - (middle[2] + half) * wide) / math.sqrt(square)
    if there >= 0.0 or side > THROUGH * max(low, high):
        return False
    x = add_scaled(local, side / (side - there), sub(middle, local))
    along = (math.sqrt(x[0] * x[0] + x[1] * x[1]) - low) * wide + (x[2] + half) * long
    return 0.0 <= along <= square


@kernel
def _from_inside(size, rho, local, middle):
    """(distance, its direction along ρ, along z) of a place of a body about a middle that is in a funnel, or outside of
    it, from the wall."""
    low, high, half = size
    wide, long = high - low, 2.0 * half
    slant = math.sqrt(wide * wide + long * long)
    side = ((rho - low) * long - (local[2] + half) * wide) / slant
    along = ((rho - low) * wide + (local[2] + half) * long) / (slant * slant)
    if 0.0 <= along <= 1.0 and (side <= 0.0 or _leads_back(size, local, middle, side)):
        return -side, -long / slant, wide / slant
    return _from_wall(rho, local[2], size)


@kernel
def outside(plant, work, body, x):
    """(distance of the place x from the surface of a shape, normal there, number of the face if it is one, or 0); the
    distance is below 0 inside. body: its number among the colliders, code, R, p, size, and the middle of the body of
    which x is a place."""
    number, shape, R, p, size, middle = body
    if shape == t.PLANE:
        n = column(R, 2)
        return dot(n, sub(x, p)), n, 1.0
    local = unrot(R, sub(x, p))
    face = 0.0
    if shape == t.MESH:
        ints, floats, vector = vectors(plant, work)
        from_mesh_routine(ints, floats, vector, number, local[0], local[1], local[2])
        found = vector_view(work.contacts.scratch, _FOUND, 5)
        return found[0], rot(R, load3(found, 2)), found[1]
    if shape == t.BOX:
        gap, d = to_box(local, size)
        for i in range(3):
            if 1.0 - abs(component(d, i)) < _ON_FACE * _ON_FACE:
                face = (1.0 + i) * (1.0 if component(d, i) > 0.0 else -1.0)
        return gap, neg(rot(R, d)), face
    rho = math.sqrt(local[0] * local[0] + local[1] * local[1])
    if shape == t.INSIDE:
        gap, away, up = _from_inside(size, rho, local, unrot(R, sub(middle, p)))
    else:
        gap, away, up = _from_axis(shape, size, rho, local[2])
    c, e = (local[0] / rho, local[1] / rho) if rho > _NO_LENGTH else (1.0, 0.0)
    if (shape == t.CYLINDER or shape == t.CONE) and abs(away) < _ON_FACE:
        face = 1.0 if up > 0.0 else -1.0
    return gap, rot(R, (away * c, away * e, up)), face
