"""All that the response to impulses needs, at given coordinates: D, U and X at rest, Λ and its factor."""

from __future__ import annotations

from limberjack.engine.compile.compiled import FLOATS
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.groups.multipliers import prepare
from limberjack.engine.kernels.groups.paths import acts
from limberjack.engine.kernels.loops.routines import place_one
from limberjack.engine.kernels.sweeps.forward_dynamics import settle
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@routine(FLOATS)
def refresh_routine(ints, floats, vector, q):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    settle(plant, work, q)
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            place_one(plant, work, l, q)
    if work.loops.solve.shape[0] > 0:
        prepare(plant, work, q, False)


@kernel
def refresh(plant, work, q):
    """D, U and X of all hinges and groups at q, and Λ of the loops that act by force.

    Velocities in Work are 0 afterwards.
    """
    ints, floats, vector = vectors(plant, work)
    refresh_routine(ints, floats, vector, q)
