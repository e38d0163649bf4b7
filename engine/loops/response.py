"""Λ and its factor at given coordinates, for velocities that change at a stroke."""

from __future__ import annotations

from limberjack.engine.forward_dynamics import settle
from limberjack.engine.kernel import routine
from limberjack.engine.loops.admittance import factor_admittance
from limberjack.engine.loops.closures import place_loop
from limberjack.engine.loops.paths import acts, trace


@routine
def refresh(plant, work, q):
    """D, U and X of all hinges and groups at q, and Λ of the loops that act by force.

    Velocities in Work are 0 afterwards.
    """
    settle(plant, work, q)
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            place_loop(plant, work, l, q)
            trace(plant, work, l, q)
    factor_admittance(plant, work)
