"""The search for where two convex shapes are nearest, as one compiled routine: for the shapes of a pair, and for the
first of them and a triangle of a height field."""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import ZERO, cross, dot, load3, load9, rot, scale, store3, sub
from limberjack.engine.compile.compiled import REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.convex import separate
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: the result, at the end of the scratch of pairs: gap, normal 3, places 3 + 3 about the centre of the first shape
_FOUND = t.SCRATCH - 10


@kernel
def corners_of(plant, b, corner, half):
    """Numbers of the corners of a half of a cell of height field b that begins at a corner, counter-clockwise from
    above. Cells are halved from (+x, -y) to (-x, +y)."""
    up = corner + plant.contacts.mesh_int[b, t.ML_ACROSS]
    return (corner, corner + 1, up) if half == 0 else (corner + 1, up + 1, up)


@kernel
def _down(plant, x, y, z):
    """The unit normal of a triangle into the ground, axes of the height field; x, y, z: numbers of its corners."""
    corner = plant.contacts.mesh_corner
    a = load3(corner[x], 0)
    n = cross(sub(load3(corner[z], 0), a), sub(load3(corner[y], 0), a))
    return scale(1.0 / math.sqrt(dot(n, n)), n)


@routine(WHOLE, WHOLE, WHOLE, REAL)
def separate_routine(ints, floats, vector, i, corner, half, enough):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    pair, scratch = plant.contacts.pair_int[i], work.contacts.scratch
    a, b = pair[t.PA_A], pair[t.PA_B]
    there, here = work.contacts.placed[a], work.contacts.placed[b]
    size_a, size_b = load3(plant.contacts.collider[a], t.CL_SIZE), load3(plant.contacts.collider[b], t.CL_SIZE)
    shape, reach = plant.contacts.collider_int[b, t.CO_SHAPE], plant.contacts.collider[a, t.CL_REACH]
    apart = toward = sub(load3(here, t.PC_P), load3(there, t.PC_P))
    if shape == t.HEIGHT_FIELD:
        x, y, z = corners_of(plant, b, corner, half)
        shape, size_b = t.TRIANGLE, (float(x), float(y), float(z))
        toward = rot(load9(here, t.PC_R), _down(plant, x, y, z))
    else:
        reach = min(reach, plant.contacts.collider[b, t.CL_REACH])
    first = a, plant.contacts.collider_int[a, t.CO_SHAPE], load9(there, t.PC_R), ZERO, size_a
    second = b, shape, load9(here, t.PC_R), apart, size_b
    gap, n, x, y = separate(plant, scratch, (first, second), toward, reach, enough)
    scratch[_FOUND] = gap
    store3(scratch, _FOUND + 1, n)
    store3(scratch, _FOUND + 4, x)
    store3(scratch, _FOUND + 7, y)


@kernel
def separated(plant, work, i, corner, half, enough):
    """(gap, normal from the first to the second, places on both where they are nearest) of the cores of pair i, about
    the centre of its first shape. Of a height field: that half of the cell which begins at a corner. enough: from which
    gap on a lower bound of it will do"""
    ints, floats, vector = vectors(plant, work)
    separate_routine(ints, floats, vector, i, corner, half, enough)
    found = work.contacts.scratch
    return found[_FOUND], load3(found, _FOUND + 1), load3(found, _FOUND + 4), load3(found, _FOUND + 7)
