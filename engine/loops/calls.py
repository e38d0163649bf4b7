"""Calls of routines: three vectors go over, not the hundred arrays that are views of them.

A call hands over every array with its shape; the compiler is slow with a thousand arguments, and so is the call.
"""

from __future__ import annotations

from limberjack.engine.kernel import kernel, routine
from limberjack.engine.layout import HEADER, plant_view, work_view
from limberjack.engine.loops.closures import accelerate_loop, move_loop, place_loop
from limberjack.engine.views import vector_view


@kernel
def vectors(plant, work):
    """(ints, floats, work) that these are views of, for `plant_view` and `work_view`; their lengths are left out."""
    return vector_view(plant.topo, -HEADER, 0), vector_view(plant.gravity, 0, 0), vector_view(work.columns, 0, 0)


@routine
def _place(ints, floats, vector, l, q):
    place_loop(plant_view(ints, floats), work_view(ints, vector), l, q)


@kernel
def place_one(plant, work, l, q):
    """`closures.place_loop` as a call."""
    ints, floats, vector = vectors(plant, work)
    _place(ints, floats, vector, l, q)


@routine
def _move(ints, floats, vector, l, q, v):
    move_loop(plant_view(ints, floats), work_view(ints, vector), l, q, v)


@kernel
def move_one(plant, work, l, q, v):
    """`closures.move_loop` as a call."""
    ints, floats, vector = vectors(plant, work)
    _move(ints, floats, vector, l, q, v)


@routine
def _accelerate(ints, floats, vector, l, q, v, vdot):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    place_loop(plant, work, l, q)
    move_loop(plant, work, l, q, v)
    accelerate_loop(plant, work, l, q, vdot)


@kernel
def accelerate_one(plant, work, l, q, v, vdot):
    """`closures.place_loop`, `move_loop` and `accelerate_loop` as one call."""
    ints, floats, vector = vectors(plant, work)
    _accelerate(ints, floats, vector, l, q, v, vdot)
