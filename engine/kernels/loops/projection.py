"""Closes loops again after a step: first the coordinates, then the velocities.

    by force    the least change, measured by the mass matrix:                   δ = -M⁻¹ J* Λ⁻¹ r
    embedded    Newton on the dependent velocities, the independent ones held:   Y1 δ_D = -r
                next to singular positions, where δ_D may be large, the least change as well
                (with the factors of the last accelerations where these do: `simplified_newton.py`)
    velocities  the least change, with dr/dt in the place of r: that is what impulses of the constraint forces do.
                They conserve momentum, and take energy of second order only

The factors of D and Λ are those of the last accelerations, which belong to a nearby position; they are recomputed if
convergence is too slow with them. The changes are steps on the manifold of the coordinates.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.compiled import FLAG, FLOATS, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.groups.embedding import solve_group
from limberjack.engine.kernels.groups.loop_rows import move_loop, place_loop
from limberjack.engine.kernels.groups.multipliers import answer, clear_right, set_right
from limberjack.engine.kernels.groups.paths import acts
from limberjack.engine.kernels.loops.impulse_response import refresh
from limberjack.engine.kernels.loops.simplified_newton import CLOSED, NEAR, SLOW, close_simply, fastest
from limberjack.engine.kernels.nodes.dispatch import place_body
from limberjack.engine.kernels.nodes.manifold import move
from limberjack.engine.kernels.nodes.tree import begin_sweep
from limberjack.engine.kernels.sweeps.forward_dynamics import least_change
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.loops import group_view
from limberjack.engine.tables.plant import V_CLOSE, plant_view, vectors, work_view

#: scaled residual at which a loop is closed to rounding
TIGHT = 1e-16
#: scaled residual that may remain if no motion reduces it: redundant rows of a model with rounded numbers
BEARABLE = 1e-4
#: largest number of steps, for coordinates and for velocities, with new factors and without
STEPS = 10
#: after a step with new factors that leaves more than this share, no further one is made
STUCK = 0.9

# rows of work.vstage
_DELTA, _OUT = range(V_CLOSE, V_CLOSE + 2)


@kernel
def _belongs(plant, work, l):
    """Whether loop l is brought back: embedded, or by force, closed and to be projected."""
    ints = plant.loops.loop_int[l]
    return ints[lp.L_GROUP] >= 0 or (ints[lp.L_PROJECT] > 0 and acts(plant, work, l))


@kernel
def _place(plant, work, q, v):
    """Hinges and velocities of all bodies."""
    begin_sweep(plant, work, q, 0.0)
    for k in range(plant.topo.shape[0]):
        place_body(plant, work, k, q, v)


@kernel
def _worst(plant, work, which):
    """The largest scaled number at `which` of the rows that are brought back, and its loop."""
    worst, loop = 0.0, 0
    for l in range(plant.loops.loop_int.shape[0]):
        if _belongs(plant, work, l):
            for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
                size = abs(plant.loops.loop[l, lp.LP_SCALE + i] * work.loops.row[l, which + i])
                if not size <= worst:
                    worst, loop = (size if size == size else math.inf), l
    return worst, loop


@kernel
def has_forces(plant, work):
    """Whether any loop acts by force."""
    found = False
    for l in range(plant.loops.loop_int.shape[0]):
        found = found or acts(plant, work, l)
    return found


@kernel
def _correct_by_force(plant, work, which, delta):
    """delta = -M⁻¹ J* Λ⁻¹ of the rows' numbers at `which`; rows that are not projected stay as they are."""
    clear_right(work)
    for l in range(plant.loops.loop_int.shape[0]):
        if plant.loops.loop_int[l, lp.L_FORCED] >= 0 and _belongs(plant, work, l):
            set_right(plant, work, l, which)
    answer(plant, work, delta)


@kernel
def _correct_groups(plant, work, q, which, delta):
    """Adds the groups' corrections; returns whether factors no longer fit: D, or independent velocities changed."""
    changed, out = False, work.vstage[_OUT]
    near = which == lp.R_RATE and plant.loops.group_int.shape[0] > 0
    for g in range(plant.loops.group_int.shape[0]):
        group = plant.loops.group_int[g]
        parts = group_view(group, work.loops.group)
        before = parts.head[lp.GH_SWITCHED]
        solve_group(plant, work, g, q, which)
        changed = changed or before + parts.head[lp.GH_SWITCHED] > 0.0
        near = near or parts.head[lp.GH_PIVOT] < NEAR
    if near:
        least_change(plant, work, q, out)
        for j in range(delta.shape[0]):
            delta[j] += out[j]
        return True
    for g in range(plant.loops.group_int.shape[0]):
        group = plant.loops.group_int[g]
        parts = group_view(group, work.loops.group)
        for i in range(group[lp.GI_DOFS]):
            delta[plant.loops.listed[group[lp.GI_DOF] + i]] += parts.bias[i]
    return changed


@kernel
def _correction(plant, work, q, which, forces, delta):
    """delta (nv,) that removes the numbers at `which`; returns whether the factors no longer fit."""
    for j in range(delta.shape[0]):
        delta[j] = 0.0
    if forces:
        _correct_by_force(plant, work, which, delta)
    return _correct_groups(plant, work, q, which, delta) and forces


@kernel
def _apply(plant, work, q, v, which, delta):
    """Apply the change to the coordinates or the velocities."""
    if which == lp.R_RESIDUAL:
        move(plant, q, delta, 1.0, q)
        return
    for j in range(v.shape[0]):
        v[j] += delta[j]


@kernel
def _largest(delta):
    """The largest change of a velocity or coordinate; a residual that no change reduces remains."""
    size = 0.0
    for j in range(delta.shape[0]):
        if not abs(delta[j]) <= size:
            size = abs(delta[j]) if delta[j] == delta[j] else math.inf
    return size


@kernel
def _measure(plant, work, q, v, which, placed):
    """The largest scaled residual or rate at q, v, and its loop; leaves bodies and loops placed."""
    if not placed:
        _place(plant, work, q, v)
    for l in range(plant.loops.loop_int.shape[0]):
        if _belongs(plant, work, l):
            if which == lp.R_RESIDUAL:
                place_loop(plant, work, l, q)
            else:
                move_loop(plant, work, l, q, v)
    return _worst(plant, work, which)


@routine(FLOATS, FLOATS, FLAG, REAL, returns=WHOLE)
def close_routine(ints, floats, vector, q, v, forces, closed):
    """`close_loops` as a call; forces: whether any loop acts by force; closed: scaled residual that is none.

    Velocities of embedded loops are right after one step: their equations are linear and their factors fresh.
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    delta, stale = work.vstage[_DELTA], forces and work.loops.solve[lp.SO_LEFT, 0] > 0.0
    for which in (lp.R_RESIDUAL, lp.R_RATE):
        limit = closed if which == lp.R_RESIDUAL else closed * fastest(v)
        placed, renewed, tried, before, worst, loop = which == lp.R_RATE, False, False, math.inf, math.inf, 0
        for _ in range(2 * STEPS):
            worst, loop = _measure(plant, work, q, v, which, placed)
            placed = False
            if worst <= limit or (tried and worst > STUCK * before):
                break
            if forces and not renewed and (stale or worst > SLOW * before):
                refresh(plant, work, q)
                renewed = True
                continue
            stale = _correction(plant, work, q, which, forces, delta)
            if _largest(delta) <= 0.1 * closed:
                break
            _apply(plant, work, q, v, which, delta)
            tried, renewed, before = renewed or not forces, False, worst
            if which == lp.R_RATE and not forces:
                break
        if which == lp.R_RESIDUAL and not worst <= BEARABLE:
            return loop
    return -1


@kernel
def close_loops(plant, work, q, v, fine):
    """Bring q and v back onto all closed loops after a step; returns the loop that stays open, or -1.

    Needs the factors of the last accelerations in Work; fine: of `close_simply`.
    """
    forces = has_forces(plant, work)
    if not forces and close_simply(plant, work, q, v, fine):
        return -1
    ints, floats, vector = vectors(plant, work)
    return close_routine(ints, floats, vector, q, v, forces, CLOSED)


@kernel
def close_tightly(plant, work, q, v):
    """The same as far as rounding lets it, for positions where the rows' smallest pivot divides what is left."""
    ints, floats, vector = vectors(plant, work)
    return close_routine(ints, floats, vector, q, v, has_forces(plant, work), TIGHT)
