"""Constraint forces in the accelerations (000 STEPs A to F), and the impulses that change velocities instantaneously.

    A, B  accelerations without the loops by force (`forward_dynamics`), and d²r/dt² of the loops there
    C     Λ = J M⁻¹ J* (`paths.py`, `admittance.py`)
    D     Λ f = -(d²r/dt² + 2 γ dr/dt + γ² r),   γ the rate at which errors fade
    E, F  ε ← ε + e f, and the sweep base to tip once more

f is the force of body A on body B along a row: v changes by M⁻¹ J* f.
"""

from __future__ import annotations

from limberjack.engine.algebra.lanes import equal_lanes, store_lanes
from limberjack.engine.algebra.spatial import ZERO, load3, store3
from limberjack.engine.compile.compiled import FLAG, FLOATS
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.groups.admittance import COAST, RANK, factor_admittance, least_forces, solve_admittance
from limberjack.engine.kernels.groups.aggregated import solve_node
from limberjack.engine.kernels.groups.loop_rows import accelerate_loop, move_loop, place_loop
from limberjack.engine.kernels.groups.paths import acts, push, trace
from limberjack.engine.kernels.nodes import dispatch_loops
from limberjack.engine.kernels.nodes.dispatch import hinge_in
from limberjack.engine.kernels.nodes.dispatch_loops import clear_innovation, push_body
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.loops import group_view
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@kernel
def clear_right(work):
    """Set all right-hand sides to 0, the value for rows that do not act."""
    for i in range(work.loops.admittance.shape[0]):
        work.loops.solve[lp.SO_RIGHT, i] = 0.0


@kernel
def set_right(plant, work, l, which):
    """Right-hand sides of loop l: minus what work.loops.row holds at `which`."""
    for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
        work.loops.solve[lp.SO_RIGHT, plant.loops.loop_int[l, lp.L_ROW] + i] = -work.loops.row[l, which + i]


@kernel
def read_forces(plant, work, l):
    """R_FORCE of loop l from the solution; 0 in lanes without a row."""
    row = work.loops.row[l]
    store_lanes(row, lp.R_FORCE, equal_lanes(0.0))
    if acts(plant, work, l):
        for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
            row[lp.R_FORCE + i] = work.loops.solve[lp.SO_FORCE, plant.loops.loop_int[l, lp.L_ROW] + i]


@kernel
def _ask(plant, work, l):
    """STEP D, right-hand sides of loop l."""
    row, fade = work.loops.row[l], plant.loops.loop[l, lp.LP_FADE]
    for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
        c = row[lp.R_ACCEL + i] + fade * (2.0 * row[lp.R_RATE + i] + fade * row[lp.R_RESIDUAL + i])
        work.loops.solve[lp.SO_RIGHT, plant.loops.loop_int[l, lp.L_ROW] + i] = -c  # 000 eq. 0.35


@routine(FLOATS, FLAG)
def prepare_routine(ints, floats, vector, q, coast):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            trace(plant, work, l, q)
    factor_admittance(plant, work, COAST if coast else RANK)  # 000 eq. 0.34


@kernel
def prepare(plant, work, q, coast):
    """STEP C: Λ and its factor, of the loops that act by force and are placed; coast: for accelerations."""
    ints, floats, vector = vectors(plant, work)
    prepare_routine(ints, floats, vector, q, coast)


@routine()
def solve_routine(ints, floats, vector):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    solve_admittance(work)  # 000 eq. 0.35
    for l in range(plant.loops.loop_int.shape[0]):
        read_forces(plant, work, l)
        if acts(plant, work, l):
            push(plant, work, l)  # 000 eq. 0.36


@kernel
def solve(plant, work):
    """STEPs D and E: R_FORCE of all loops by force, 0 of those that do not act, and ε += e f."""
    ints, floats, vector = vectors(plant, work)
    solve_routine(ints, floats, vector)


@routine(FLOATS, FLOATS, FLOATS, returns=FLAG)
def constrain_routine(ints, floats, vector, q, v, vdot):
    plant, work, found = plant_view(ints, floats), work_view(ints, vector), False
    clear_right(work)
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            found = True
            place_loop(plant, work, l, q)
            move_loop(plant, work, l, q, v)
            accelerate_loop(plant, work, l, q, vdot)
            _ask(plant, work, l)
    if found:
        prepare(plant, work, q, True)
        solve(plant, work)
    return found


@kernel
def constrain(plant, work, q, v, vdot):
    """STEPs B to E after the free accelerations vdot; whether the sweep base to tip is to be repeated.

    Leaves R_FORCE of every loop that acts.
    """
    ints, floats, vector = vectors(plant, work)
    return plant.loops.loop_int.shape[0] > 0 and constrain_routine(ints, floats, vector, q, v, vdot)


@kernel
def share_forces(plant, work):
    """R_FORCE of all loops by force: of least norm, where others move the same; 0 of those that do not act.

    They replace the forces solved last, and have the same effect.
    """
    found = False
    for l in range(plant.loops.loop_int.shape[0]):
        found = found or acts(plant, work, l)
    if found:
        least_forces(work)
    for l in range(plant.loops.loop_int.shape[0]):
        if plant.loops.loop_int[l, lp.L_FORCED] >= 0:
            read_forces(plant, work, l)


@kernel
def _clear_innovations(plant, work):
    """ε = 0 at every hinge and group."""
    for k in range(plant.topo.shape[0]):
        clear_innovation(plant, work, k)
    for g in range(plant.loops.group_int.shape[0]):
        parts = group_view(plant.loops.group_int[g], work.loops.group)
        for r in range(parts.eps.shape[0]):
            parts.eps[r] = 0.0


@kernel
def answer_body(plant, work, k, out, bias):
    """The answer of body k's velocities to ε, with β of groups if bias, and its motion in the place of α."""
    topo, row = plant.topo[k], work.rows[k + 1]
    up = work.rows[topo[t.UP]]
    w, u = hinge_in(plant, work, k, load3(up, t.W_ALPHA), load3(up, t.W_ALPHA + 3))
    if topo[t.GROUP] >= 0:
        if topo[t.MEMBER] == 0:
            parts = group_view(plant.loops.group_int[topo[t.GROUP]], work.loops.group)
            solve_node(plant, work, topo[t.GROUP], parts, out, bias)
        w, u = push_body(plant, work, k, out, w, u)
    else:
        w, u = dispatch_loops.answer_body(plant, work, k, out, w, u)
    store3(row, t.W_ALPHA, w)
    store3(row, t.W_ALPHA + 3, u)


@routine(FLOATS)
def answer_routine(ints, floats, vector, out):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    _clear_innovations(plant, work)
    solve(plant, work)
    store3(work.rows[0], t.W_ALPHA, ZERO)
    store3(work.rows[0], t.W_ALPHA + 3, ZERO)
    for k in range(plant.topo.shape[0]):
        answer_body(plant, work, k, out, False)


@kernel
def answer(plant, work, out):
    """out (nv,) = M⁻¹ J* f, the forces f solved for the right-hand sides as they are; R_FORCE keeps them."""
    ints, floats, vector = vectors(plant, work)
    answer_routine(ints, floats, vector, out)
