"""Loops that are closed and released while the model runs (000: time-varying topology).

A loop that closes holds the frames, the length, the offset or the coordinates at that moment. Impulses f of all closed
loops end the velocities that it forbids, and conserve momentum:

    v⁺ = v - M⁻¹ J* Λ⁻¹ dr/dt,    energy lost  -½ f* (dr/dt⁻ + dr/dt⁺)

(of a driven loop, as seen by its drive). The loop stays open while its frames are farther apart than its reach. A loop
that is released gets back the frame, length, offset or coordinates of the model.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import matrix_view, vector_view
from limberjack.engine.algebra.spatial import add, dot, load3, load9, mul_t, neg, quaternion_matrix, rot, store3, store9
from limberjack.engine.compile.compiled import FLAG, FLOATS, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel, routine
from limberjack.engine.kernels.groups.multipliers import answer, clear_right, set_right, share_forces
from limberjack.engine.kernels.groups.paths import acts
from limberjack.engine.kernels.loops.impulse_response import refresh
from limberjack.engine.kernels.loops.prescribed_motion import take_commands
from limberjack.engine.kernels.loops.reactions import largest_residual, loop_wrench
from limberjack.engine.kernels.loops.routines import move_one, place_one
from limberjack.engine.kernels.nodes.tree import sweep_velocities
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import reports as rp
from limberjack.engine.tables.plant import C_COMMANDS, C_Q, C_V, S_Q, plant_view, vectors, work_view


@kernel
def _hold_model(plant, l, held):
    """held ← frame, length, offset or coordinates as the model gives them."""
    ints, loop = plant.loops.loop_int[l], plant.loops.loop[l]
    if ints[lp.L_KIND] == lp.LOCK:
        for i in range(ints[lp.L_TERMS]):
            held[lp.SW_HELD + i] = plant.loops.term[ints[lp.L_TERM] + i, 0]
    elif ints[lp.L_KIND] >= lp.DISTANCE:
        held[lp.SW_HELD] = loop[lp.LP_X]
    else:
        for i in range(12):
            held[lp.SW_HELD + i] = loop[lp.LP_B + i]


@kernel
def _hold_present(plant, work, l, held, q):
    """held ← frame, length, offset or coordinates as they are at q, where the open loop is placed."""
    ints, frame = plant.loops.loop_int[l], work.loops.frame[l]
    drive = work.loops.drive[ints[lp.L_DRIVE], lp.PM_NOW] if ints[lp.L_DRIVE] >= 0 else 0.0
    if ints[lp.L_KIND] == lp.LOCK:
        for i in range(ints[lp.L_TERMS]):
            j = plant.loops.term_int[ints[lp.L_TERM] + i, lp.TM_Q]
            held[lp.SW_HELD + i] = q[j] if j >= 0 else 0.0
    elif ints[lp.L_KIND] == lp.COUPLING:
        held[lp.SW_HELD] += work.loops.row[l, lp.R_RESIDUAL]
    elif ints[lp.L_KIND] == lp.DISTANCE:
        d = load3(frame, lp.F_D)
        held[lp.SW_HELD] = math.sqrt(dot(d, d)) - drive
    else:
        R = mul_t(load9(held, lp.SW_HELD), load9(frame, lp.F_R))
        p = add(load3(held, lp.SW_HELD + 9), neg(rot(R, load3(frame, lp.F_D))))
        store9(held, lp.SW_HELD, R)
        store3(held, lp.SW_HELD + 9, p)


@kernel
def _distance(plant, work, l):
    """How far the frames' origins are apart; 0 for loops that join none."""
    d = load3(work.loops.frame[l], lp.F_D)
    return math.sqrt(dot(d, d)) if plant.loops.loop_int[l, lp.L_KIND] <= lp.DISTANCE else 0.0


@kernel
def _is_near(plant, work, l, q):
    """Whether open loop l, whose bodies are placed, is within reach; places it."""
    place_one(plant, work, l, q)
    return _distance(plant, work, l) <= plant.loops.loop[l, lp.LP_REACH]


@kernel
def _release(plant, work, l):
    held = work.loops.switch[plant.loops.loop_int[l, lp.L_SWITCH]]
    held[lp.SW_CLOSED] = 0.0
    _hold_model(plant, l, held)


@kernel
def _impact(plant, work, q, v):
    """v ← v⁺ of all closed loops at q; R_FORCE then holds the impulses, R_RATE dr/dt before."""
    delta = work.vstage[0]
    refresh(plant, work, q)
    sweep_velocities(plant, work, q, v)
    clear_right(work)
    for l in range(plant.loops.loop_int.shape[0]):
        if acts(plant, work, l):
            move_one(plant, work, l, q, v)
            set_right(plant, work, l, lp.R_RATE)
    answer(plant, work, delta)
    share_forces(plant, work)
    for j in range(v.shape[0]):
        v[j] += delta[j]


@kernel
def _loss(plant, work, l):
    """½ f* Λ f: the energy that the impulses of loop l took; dr/dt is 0 afterwards."""
    loss = 0.0
    for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
        loss -= 0.5 * work.loops.row[l, lp.R_FORCE + i] * work.loops.row[l, lp.R_RATE + i]
    return loss


@kernel
def _follow(plant, work, l, q, wanted):
    """Release loop l, or close it if it is within reach; returns whether it has just closed."""
    held = work.loops.switch[plant.loops.loop_int[l, lp.L_SWITCH]]
    closed = held[lp.SW_CLOSED] > 0.5
    held[lp.SW_WANTED] = 1.0 if wanted else 0.0
    if closed and not wanted:
        _release(plant, work, l)
    if closed or not wanted or not _is_near(plant, work, l, q):
        return False
    _hold_present(plant, work, l, held, q)
    held[lp.SW_CLOSED], held[lp.SW_LOSS] = 1.0, -1.0  # marks it for the impact
    return True


@routine(FLOATS, FLOATS)
def strike_routine(ints, floats, vector, q, v):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    _impact(plant, work, q, v)
    for l in range(plant.loops.loop_int.shape[0]):
        s = plant.loops.loop_int[l, lp.L_SWITCH]
        if s >= 0 and work.loops.switch[s, lp.SW_LOSS] < 0.0:
            work.loops.switch[s, lp.SW_LOSS] = max(0.0, _loss(plant, work, l))


@kernel
def _strike(plant, work, q, v):
    """Apply the impact of the loops that have just closed, and note the energy that each of them took."""
    ints, floats, vector = vectors(plant, work)
    strike_routine(ints, floats, vector, q, v)


@routine(FLOATS, FLOATS, FLOATS)
def follow_routine(ints, floats, vector, q, v, command):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    swept, struck = False, False
    for l in range(plant.loops.loop_int.shape[0]):
        loop = plant.loops.loop_int[l]
        if loop[lp.L_SWITCH] < 0:
            continue
        wanted = command[loop[lp.L_COMMAND]] > 0.5
        if wanted and not swept and work.loops.switch[loop[lp.L_SWITCH], lp.SW_CLOSED] < 0.5:
            sweep_velocities(plant, work, q, v)
            swept = True
        struck = _follow(plant, work, l, q, wanted) or struck
    if struck:
        _strike(plant, work, q, v)


@kernel
def follow_commands(plant, work, q, v, command):
    """At the start of a step: close and open loops as commanded; v changes if one closes."""
    ints, floats, vector = vectors(plant, work)
    follow_routine(ints, floats, vector, q, v, command)


@kernel
def _switch_start(ints):
    """Where the switches (switches, SWITCH) of a State begin."""
    return S_Q + ints[C_Q] + ints[C_V] + ints[C_COMMANDS]


@kernel
def _copy_switches(source, target):
    """Between State and Work."""
    for s in range(source.shape[0]):
        for i in range(lp.SWITCH):
            target[s, i] = source[s, i]


@kernel
def take_state(ints, plant, work, state):
    """Copy the State's switches to Work, set prescribed motions as commanded, and clear what must be zero."""
    for j in range(work.zeros.shape[0]):
        work.zeros[j] = 0.0
    _copy_switches(matrix_view(state, _switch_start(ints), ints[lp.C_SWITCHES], lp.SWITCH), work.loops.switch)
    take_commands(plant, work, vector_view(state, S_Q + ints[C_Q] + ints[C_V], plant.commands))


@kernel
def keep_switches(ints, work, state):
    """Copy the switches from Work to the State."""
    _copy_switches(work.loops.switch, matrix_view(state, _switch_start(ints), ints[lp.C_SWITCHES], lp.SWITCH))


@kernel
def _fill_report(plant, work, l, report):
    ints, loop = plant.loops.loop_int[l], plant.loops.loop[l]
    report[rp.RP_LOSS] = work.loops.switch[ints[lp.L_SWITCH], lp.SW_LOSS]
    if ints[lp.L_KIND] <= lp.DISTANCE:
        R = quaternion_matrix(loop[lp.LP_AXES], loop[lp.LP_AXES + 1], loop[lp.LP_AXES + 2], loop[lp.LP_AXES + 3])
        n, f = loop_wrench(plant, work, l)
        store3(report, rp.RP_IMPULSE, rot(R, n))
        store3(report, rp.RP_IMPULSE + 3, rot(R, f))
    else:
        for i in range(ints[lp.L_ROWS]):
            report[rp.RP_IMPULSE + i] = work.loops.row[l, lp.R_FORCE + i]


@entry(VECTORS, FLOATS, WHOLE, FLAG, FLOATS)
def switch_loop_entry(ints, floats, work, state, loop, close, report):
    """Close or release a loop that may be switched, now; its command follows. Fills report (16,).

    Out of reach nothing changes, its command included.
    """
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[C_Q], ints[C_V]
    q, v = vector_view(state, S_Q, nq), vector_view(state, S_Q + nq, nv)
    take_state(ints, plant, scratch, state)
    for i in range(rp.REPORT):
        report[i] = 0.0
    held = scratch.loops.switch[plant.loops.loop_int[loop, lp.L_SWITCH]]
    sweep_velocities(plant, scratch, q, v)
    near = _is_near(plant, scratch, loop, q)
    joins = plant.loops.loop_int[loop, lp.L_KIND] <= lp.DISTANCE
    report[rp.RP_COUNT] = 6 if joins else plant.loops.loop_int[loop, lp.L_ROWS]
    report[rp.RP_DISTANCE] = _distance(plant, scratch, loop)
    report[rp.RP_RESIDUAL] = largest_residual(plant, scratch, loop)
    closed = held[lp.SW_CLOSED] > 0.5
    if close and not closed and not near:
        report[rp.RP_STATUS] = rp.SWITCH_FAR
        return
    state[S_Q + nq + nv + plant.loops.loop_int[loop, lp.L_COMMAND]] = 1.0 if close else 0.0
    report[rp.RP_STATUS] = rp.SWITCH_DONE if close != closed else rp.SWITCH_SAME
    if _follow(plant, scratch, loop, q, close):
        _strike(plant, scratch, q, v)
        _fill_report(plant, scratch, loop, report)
    keep_switches(ints, scratch, state)
