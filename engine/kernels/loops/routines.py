"""Calls of routines with three vectors instead of the hundred arrays that are views of them.

A call passes every array with its shape. With a thousand arguments both the compiler and the call would be slow.
"""

from __future__ import annotations

from limberjack.engine.compile.compiled import FLOATS, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.groups.loop_rows import move_loop, place_loop
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@routine(WHOLE, FLOATS)
def place_one_routine(ints, floats, vector, l, q):
    place_loop(plant_view(ints, floats), work_view(ints, vector), l, q)


@kernel
def place_one(plant, work, l, q):
    """`loop_rows.place_loop` as a call."""
    ints, floats, vector = vectors(plant, work)
    place_one_routine(ints, floats, vector, l, q)


@routine(WHOLE, FLOATS, FLOATS)
def move_one_routine(ints, floats, vector, l, q, v):
    move_loop(plant_view(ints, floats), work_view(ints, vector), l, q, v)


@kernel
def move_one(plant, work, l, q, v):
    """`loop_rows.move_loop` as a call."""
    ints, floats, vector = vectors(plant, work)
    move_one_routine(ints, floats, vector, l, q, v)
