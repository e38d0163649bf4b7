"""Detects discs that roll until they lie flat, where they have no lowest point."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import cross, dot, load3, load9, rot, sub, unrot
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.loops.routines import place_one
from limberjack.engine.kernels.nodes.tree import sweep_velocities
from limberjack.engine.tables.loops import DISC, F_D, F_R, L_A, L_B, L_KIND, LP_A, LP_B
from limberjack.engine.tables.plant import W_V
from limberjack.engine.tables.reports import FLAT


@kernel
def _turning(plant, work, l):
    """Angular velocity of a wheel against its plane, in the axes of the plane."""
    ints, loop = plant.loops.loop_int[l], plant.loops.loop[l]
    w = unrot(load9(loop, LP_B), load3(work.rows[ints[L_B]], W_V))
    return sub(rot(load9(work.loops.frame[l], F_R), w), unrot(load9(loop, LP_A), load3(work.rows[ints[L_A]], W_V)))


@kernel
def fallen_disc(plant, work, q, v, h):
    """The first loop whose disc, at the end of a step h and before loops are closed, falls flat, or -1.

    Its centre has come down to the plane, or in one step its axle turns by more than its angle to the plane's normal.
    After that, the lowest point is on the other edge, or runs around by more than a radian: closing the loop would find
    the position of a rolling disc, but not the motion of this one. Leaves bodies and such loops placed.
    """
    placed = False
    for l in range(plant.loops.loop_int.shape[0]):
        if plant.loops.loop_int[l, L_KIND] == DISC:
            if not placed:
                sweep_velocities(plant, work, q, v)
                placed = True
            place_one(plant, work, l, q)
            frame = work.loops.frame[l]
            R, w = load9(frame, F_R), _turning(plant, work, l)
            turned, away = cross(w, (R[2], R[5], R[8])), R[2] * R[2] + R[5] * R[5]
            falls = away < FLAT * FLAT and h * h * dot(turned, turned) > away
            if falls or frame[F_D + 2] <= 0.0:
                return l
    return -1
