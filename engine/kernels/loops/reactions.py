"""Forces in loops: those of embedded loops, the wrenches of all loops on bodies, and the values of their sensors.

Constraint embedding does not compute the forces of its loops. With T(dv/dt) the hinge forces that the accelerations
require of the tree alone, and ε those that act,

    Y* f = T(dv/dt) - ε - Σ J* f (loops by force)         at the group's dependent velocities, one a solved row.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.blocks import load_block
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.spatial import ZERO, add, add_cross, dot, load3, load9, rot, store3, unrot
from limberjack.engine.compile.compiled import FLAG, FLOATS, MATRIX, VECTOR, VECTORS
from limberjack.engine.compile.kernel import entry, kernel, routine
from limberjack.engine.kernels.forces.link_forces import no_inputs
from limberjack.engine.kernels.groups.couplings import coefficient
from limberjack.engine.kernels.groups.group_rows import fill_rows
from limberjack.engine.kernels.groups.loop_rows import frame_b
from limberjack.engine.kernels.groups.multipliers import share_forces
from limberjack.engine.kernels.groups.paths import acts
from limberjack.engine.kernels.loops.dynamics import accelerate
from limberjack.engine.kernels.sweeps.inverse_dynamics import inverse_dynamics
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.loops import group_view
from limberjack.engine.tables.plant import plant_view, vectors, work_view

#: an equation with a smaller coefficient, of scaled rows, does not determine a force
UNSAID = 1e-9


@kernel
def _body_force(coblock, at, f):
    """[n; f] at O in body axes that a loop's forces f, in lanes, put on one of its bodies."""
    n, g = load_block(coblock, at)
    n = sum_lanes(n[0] * f), sum_lanes(n[1] * f), sum_lanes(n[2] * f)
    return n, (sum_lanes(g[0] * f), sum_lanes(g[1] * f), sum_lanes(g[2] * f))


@kernel
def _add_wrench(wrench, n, f):
    store3(wrench, 0, add(load3(wrench, 0), n))
    store3(wrench, 3, add(load3(wrench, 3), f))


@kernel
def _spread(plant, work, l):
    """Add the loop's forces to work.wrench of its two bodies."""
    ints, f = plant.loops.loop_int[l], load_lanes(work.loops.row[l], lp.R_FORCE)
    if ints[lp.L_KIND] <= lp.DISTANCE:
        for row, at in ((ints[lp.L_A], 0), (ints[lp.L_B], BLOCK)):
            n, g = _body_force(work.loops.coblock[l], at, f)
            _add_wrench(work.wrench[row], n, g)


@kernel
def _take_coupled(plant, work, l, q, tau):
    """Subtract from tau the forces of a coupling or lock on its velocities."""
    ints = plant.loops.loop_int[l]
    for i in range(ints[lp.L_TERMS]):
        t, row = ints[lp.L_TERM] + i, i if ints[lp.L_KIND] == lp.LOCK else 0
        tau[plant.loops.term_int[t, lp.TM_V]] -= coefficient(plant, l, t, q) * work.loops.row[l, lp.R_FORCE + row]


@kernel
def _solve_rows(y, n, m, pair, solved, right, done, forces):
    """forces (m,) with Σ_c y[i, c] forces[c] = y[i, right] in all n equations, which agree; 0 where nothing is said,
    and of rows that are not among the `solved` ones of pair."""
    for i in range(n):
        y[i, done] = -1.0
    for s in range(solved):
        c, best, size = int(pair[s]), 0, 0.0
        for i in range(n):
            if y[i, done] < 0.0 and abs(y[i, c]) > size:
                best, size = i, abs(y[i, c])
        if not size > UNSAID:
            continue
        y[best, done] = float(c)
        for i in range(n):
            share = y[i, c] / y[best, c] if i != best else 0.0
            if share != 0.0:
                for e in range(m):
                    y[i, e] -= share * y[best, e]
                y[i, right] -= share * y[best, right]
    for c in range(m):
        forces[c] = 0.0
    for i in range(n):
        if y[i, done] >= 0.0:
            c = int(y[i, done])
            forces[c] = y[i, right] / y[i, c]


@kernel
def _group_forces(plant, work, g, q, missing):
    """R_FORCE of a group's loops from the hinge forces `missing` (nv,) that nothing else gives."""
    group = plant.loops.group_int[g]
    parts = group_view(group, work.loops.group)
    n, m, y = group[lp.GI_DOFS], group[lp.GI_ROWS], parts.y
    solved = n - int(parts.head[lp.GH_FREE])
    right = y.shape[1] - LANES  # behind the rows: fill_rows stores eight lanes for however few rows
    fill_rows(plant, work, group, parts, q, lp.R_FORCE)
    for i in range(n):
        at = group[lp.GI_DOF] + i
        y[i, right] = plant.loops.scale[at] * missing[plant.loops.listed[at]]
    _solve_rows(y, n, m, parts.pair, solved, right, right + 1, y[n])
    for i in range(group[lp.GI_LOOP], group[lp.GI_LOOP] + group[lp.GI_LOOPS]):
        l = plant.loops.listed[i]
        ints, row = plant.loops.loop_int[l], work.loops.row[l]
        store_lanes(row, lp.R_FORCE, equal_lanes(0.0))
        for c in range(ints[lp.L_ROWS]):
            row[lp.R_FORCE + c] = plant.loops.loop[l, lp.LP_SCALE + c] * y[n, ints[lp.L_ROW] + c]


@kernel
def _clear_wrenches(work):
    for k in range(work.wrench.shape[0]):
        store3(work.wrench[k], 0, ZERO)
        store3(work.wrench[k], 3, ZERO)


@routine(FLOATS, FLOATS, FLOATS, FLOATS, FLAG, FLOATS)
def forces_routine(ints, floats, vector, q, v, tau, vdot, external, spare):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    if not external:
        _clear_wrenches(work)
    share_forces(plant, work)
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            _spread(plant, work, l)
        else:
            store_lanes(work.loops.row[l], lp.R_FORCE, equal_lanes(0.0))
    if plant.loops.group_int.shape[0] == 0:
        return
    inverse_dynamics(plant, work, q, v, vdot, 1.0, True, spare)
    for j in range(spare.shape[0]):
        spare[j] -= tau[j]
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            _take_coupled(plant, work, l, q, spare)
    for g in range(plant.loops.group_int.shape[0]):
        _group_forces(plant, work, g, q, spare)
    for l in range(plant.loops.loop_int.shape[0]):
        if plant.loops.loop_int[l, lp.L_GROUP] >= 0:
            _spread(plant, work, l)


@kernel
def find_forces(plant, work, q, v, tau, vdot, external, spare):
    """R_FORCE of all loops at the accelerations vdot, which the forces tau gave; work.wrench then holds their wrenches,
    with `external` on top of those that it holds already. spare (nv,) is overwritten; so are U and ε of all hinges.
    """
    ints, floats, vector = vectors(plant, work)
    forces_routine(ints, floats, vector, q, v, tau, vdot, external, spare)


@kernel
def loop_wrench(plant, work, l):
    """(moment, force) of body A on body B at b's origin, in the canonical axes of frame a."""
    R, p = frame_b(plant, work, l)
    n, f = _body_force(work.loops.coblock[l], BLOCK, load_lanes(work.loops.row[l], lp.R_FORCE))
    n = add_cross(n, f, p)
    Rab = load9(work.loops.frame[l], lp.F_R)
    return rot(Rab, unrot(R, n)), rot(Rab, unrot(R, f))


@kernel
def loop_force(plant, work, l):
    """The force of a loop's only row; else the size of the force between its bodies, or of those on its hinge."""
    row, ints = work.loops.row[l], plant.loops.loop_int[l]
    if ints[lp.L_ROWS] == 1:
        return row[lp.R_FORCE]
    if ints[lp.L_KIND] < lp.DISTANCE:
        f = loop_wrench(plant, work, l)[1]
        return math.sqrt(dot(f, f))
    square = 0.0
    for i in range(ints[lp.L_ROWS]):
        square += row[lp.R_FORCE + i] * row[lp.R_FORCE + i]
    return math.sqrt(square)


@kernel
def largest_residual(plant, work, l):
    """The largest residual of loop l, placed before, m or rad."""
    worst = 0.0
    for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
        worst = max(worst, abs(work.loops.row[l, lp.R_RESIDUAL + i]))
    return worst


@entry(VECTORS, VECTOR, VECTOR, VECTOR, FLAG, MATRIX)
def loop_forces_entry(ints, floats, work, q, v, tau, external, out):
    """out (loops, 6) at q, v, tau: the wrench [moment; force] of body A on body B at b's origin, in the canonical axes
    of frame a; of couplings and locks the forces of their rows. external: `spread_wrenches_entry` came before."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    spare, vdot = scratch.vstage[0], scratch.vdot
    no_inputs(plant, scratch)
    accelerate(plant, scratch, q, v, tau, plant.armature, external, vdot)
    find_forces(plant, scratch, q, v, tau, vdot, external, spare)
    for l in range(out.shape[0]):
        if plant.loops.loop_int[l, lp.L_KIND] <= lp.DISTANCE:
            n, f = loop_wrench(plant, scratch, l)
            store3(out[l], 0, n)
            store3(out[l], 3, f)
        else:
            for i in range(6):
                out[l, i] = scratch.loops.row[l, lp.R_FORCE + i]
