"""Passing singular positions: where rows vanish, their effect is interpolated from both sides of the present position.

At a distance s from such a position (a flat parallelogram, a dead centre where two motions meet) a row is of size s. An
error c of the position causes an error 2 c v²/s² of the acceleration, and rounding gives c = eps/s: with 16 digits
little is known below s = 1e-3, and nothing at 0. But along its branch the mechanism moves smoothly. Let ξ be a motion
that leads away from the singular position, let q(σ), v(σ) be q ⊕ σ ξ and v after the loops are closed by the least
change, and let f(σ) be the wanted function there (accelerations, or the coordinates and velocities themselves). Then

    f(0) = Σ w_k [f(k h) + f(-k h)],   k = 1 … 4,   w = 56/70, -28/70, 8/70, -1/70,   error -h⁸ f⁽⁸⁾(0) / 70

which takes eight regular positions and needs no history. ξ is the present velocity of the chains that the vanishing
rows close; at rest, it is the acceleration that these rows, which are exact then, allow. If neither moves, the rows are
used as they are.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import dot, load3
from limberjack.engine.compile.compiled import FLAG, FLOATS, REAL, VECTOR, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel, routine
from limberjack.engine.kernels.forces.link_forces import no_inputs
from limberjack.engine.kernels.groups.admittance import is_linear
from limberjack.engine.kernels.groups.paths import acts
from limberjack.engine.kernels.loops.impulse_response import refresh
from limberjack.engine.kernels.loops.projection import close_loops, close_tightly, has_forces
from limberjack.engine.kernels.nodes.dispatch import accelerate_body
from limberjack.engine.kernels.nodes.manifold import move, unit_quaternions
from limberjack.engine.kernels.nodes.tree import sweep_velocities
from limberjack.engine.kernels.sweeps.forward_dynamics import MOVE, closed_routine, forward_dynamics
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.loops import group_view
from limberjack.engine.tables.plant import NV, Q_PASS, V_PASS, VI, W_V, plant_view, vectors, work_view

#: below these smallest pivots of scaled rows a position is near a singular one, so that the stages of an integrator are
#: closed, and too near to be evaluated itself
NEAR, WINDOW = lp.KEEP, 5e-3
#: h, of the fastest body of the chains: rad, or lengths of the mechanism; it is doubled this often at most
STRIDE, TRIES = 0.0125, 3
#: h away a smallest pivot of less than this is too near as well, one of less than this many times that of the position
#: itself shows that the latter is regular
FAINT, CLEARER = 1e-3, 3.0
#: as a share of h ξ, how far the interpolated position may be from the given one; else they are not of one branch
OFF = 0.05
#: slower chains say nothing of where they go, rad/s or lengths/s; at rest: accelerations
STILL, IDLE = 1e-6, 1e-10

# rows of work.vstage and of work.qstage
_ALONG, _V, _VDOT, _SUM = range(V_PASS, V_PASS + 4)
_Q, _QSUM = range(Q_PASS, Q_PASS + 2)


@kernel
def smallest_pivot(plant, work):
    """Smallest pivot of the last eliminations of all groups and of the last factor of the loops by force."""
    smallest = 1e300
    for g in range(plant.loops.group_int.shape[0]):
        smallest = min(smallest, group_view(plant.loops.group_int[g], work.loops.group).head[lp.GH_PIVOT])
    if work.loops.solve.shape[0] > 0 and has_forces(plant, work):
        smallest = min(smallest, work.loops.solve[lp.SO_LEFT, lp.SO_PIVOT])
    return smallest


@kernel
def choose(plant, work, how):
    """Set how rows and independent velocities are chosen from now on: AFRESH, HELD or KEENLY."""
    for g in range(plant.loops.group_int.shape[0]):
        group_view(plant.loops.group_int[g], work.loops.group).head[lp.GH_CHOICE] = how
    if work.loops.solve.shape[0] > 0:
        work.loops.solve[lp.SO_LEFT, lp.SO_CHOICE] = how


@kernel
def _choice(plant, work):
    """How rows and independent velocities are chosen now."""
    if plant.loops.group_int.shape[0] > 0:
        return int(group_view(plant.loops.group_int[0], work.loops.group).head[lp.GH_CHOICE])
    return int(work.loops.solve[lp.SO_LEFT, lp.SO_CHOICE])


@kernel
def _vanishes(plant, work, l):
    """Whether rows of loop l, or of those that move with it, are about to vanish."""
    g = plant.loops.loop_int[l, lp.L_GROUP]
    if g >= 0:
        return group_view(plant.loops.group_int[g], work.loops.group).head[lp.GH_PIVOT] < WINDOW
    return acts(plant, work, l) and work.loops.solve[lp.SO_LEFT, lp.SO_PIVOT] < WINDOW


@kernel
def _is_weak(plant, work, l):
    """Whether rows of loop l itself last had small pivots, or none."""
    ints, weak = plant.loops.loop_int[l], False
    g = ints[lp.L_GROUP]
    if g >= 0:
        group = plant.loops.group_int[g]
        parts, n = group_view(group, work.loops.group), group[lp.GI_DOFS]
        missing = n - int(parts.head[lp.GH_FREE]) < group[lp.GI_RANK]
        for i in range(ints[lp.L_ROW], ints[lp.L_ROW] + ints[lp.L_ROWS]):
            weak = weak or parts.y[n + 1, i] == 2.0 or (missing and parts.y[n + 1, i] == 0.0)
    elif acts(plant, work, l):
        taken, missing = work.loops.solve[lp.SO_TAKEN], work.loops.solve[lp.SO_LEFT, lp.SO_PIVOT] == 0.0
        for i in range(ints[lp.L_ROW], ints[lp.L_ROW] + ints[lp.L_ROWS]):
            weak = weak or taken[i] == 2.0 or (missing and taken[i] == 0.0)
    return weak


@kernel
def _concerns(plant, work, l, weak):
    return _is_weak(plant, work, l) if weak else _vanishes(plant, work, l)


@kernel
def _take_chain(plant, start, count, along, out):
    """out = along for the velocities of the bodies of one chain."""
    for i in range(start, start + count):
        topo = plant.topo[plant.loops.walk[i]]
        for j in range(topo[VI], topo[VI] + topo[NV]):
            out[j] = along[j]


@kernel
def _chain_pace(plant, work, start, count, scale):
    """The fastest body of one chain, angular or scaled linear."""
    pace = 0.0
    for i in range(start, start + count):
        row = work.rows[plant.loops.walk[i] + 1]
        w, u = load3(row, W_V), load3(row, W_V + 3)
        pace = max(pace, dot(w, w), scale * scale * dot(u, u))
    return pace


@kernel
def _length_scale(plant, l):
    """One over the length that scales the rows of loop l, 0 if none constrains lengths."""
    scale = 0.0
    for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
        if is_linear(plant, l, i):
            scale = max(scale, plant.loops.loop[l, lp.LP_SCALE + i])
    return scale


@routine(FLOATS, FLOATS, REAL, FLAG, returns=FLAG)
def head_routine(ints, floats, vector, q, along, least, weak):
    """ξ: `along` of the chains whose rows vanish, or with `weak` of those of the last factors' weak rows, at unit pace;
    whether their pace is more than `least`."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    out, pace = work.vstage[_ALONG], 0.0
    for j in range(out.shape[0]):
        out[j] = 0.0
    for l in range(plant.loops.loop_int.shape[0]):
        if _concerns(plant, work, l, weak):
            a = plant.loops.loop_int[l]
            _take_chain(plant, a[lp.L_CHAIN_A], a[lp.L_CHAIN_AS], along, out)
            _take_chain(plant, a[lp.L_CHAIN_B], a[lp.L_CHAIN_BS], along, out)
            for t in range(a[lp.L_TERM], a[lp.L_TERM] + a[lp.L_TERMS]):
                out[plant.loops.term_int[t, lp.TM_V]] = along[plant.loops.term_int[t, lp.TM_V]]
                pace = max(pace, along[plant.loops.term_int[t, lp.TM_V]] ** 2)
    sweep_velocities(plant, work, q, out)
    for l in range(plant.loops.loop_int.shape[0]):
        if _concerns(plant, work, l, weak):
            a, scale = plant.loops.loop_int[l], _length_scale(plant, l)
            pace = max(pace, _chain_pace(plant, work, a[lp.L_CHAIN_A], a[lp.L_CHAIN_AS], scale))
            pace = max(pace, _chain_pace(plant, work, a[lp.L_CHAIN_B], a[lp.L_CHAIN_BS], scale))
    pace = math.sqrt(pace)
    if not pace > least:
        return False
    for j in range(out.shape[0]):
        out[j] /= pace
    return True


@routine(FLOATS, FLOATS, REAL, FLAG, returns=FLAG)
def beside_routine(ints, floats, vector, q, v, distance, forces):
    """The position and velocities beside q, v at that distance along ξ, closed: work.qstage[_Q], work.vstage[_V];
    whether the loops do close."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    there, moved, along = work.qstage[_Q], work.vstage[_V], work.vstage[_ALONG]
    for i in range(q.shape[0]):
        there[i] = q[i]
    for j in range(v.shape[0]):
        moved[j] = distance * along[j]
    move(plant, there, moved, 1.0, there)
    for j in range(v.shape[0]):
        moved[j] = v[j]
    if forces:
        refresh(plant, work, there)
    if close_tightly(plant, work, there, moved) >= 0:
        return False
    if forces:  # the least change of velocities is that at the closed position
        for j in range(v.shape[0]):
            moved[j] = v[j]
        refresh(plant, work, there)
        close_tightly(plant, work, there, moved)
    return True


@kernel
def _weight(k):
    near = 0.8 if k == 1 else -0.4
    return near if k < 3 else (8.0 / 70.0 if k == 3 else -1.0 / 70.0)


@kernel
def _clear(work):
    for j in range(work.vstage.shape[1]):
        work.vstage[_SUM, j] = 0.0
    for i in range(work.qstage.shape[1]):
        work.qstage[_QSUM, i] = 0.0


@kernel
def _add(q, v, work, weight, accelerate):
    """w f into the sums: accelerations, or changes of coordinates and velocities."""
    for j in range(v.shape[0]):
        work.vstage[_SUM, j] += weight * (work.vstage[_VDOT, j] if accelerate else work.vstage[_V, j] - v[j])
    for i in range(q.shape[0]):
        work.qstage[_QSUM, i] += weight * (work.qstage[_Q, i] - q[i])


@kernel
def _is_one_branch(work, h):
    """Whether the interpolated position equals the given one, apart from the residuals of its loops."""
    pace, change = 0.0, 0.0
    for j in range(work.vstage.shape[1]):
        pace = max(pace, abs(work.vstage[_ALONG, j]))
    for i in range(work.qstage.shape[1]):
        change = max(change, abs(work.qstage[_QSUM, i]))
    return change <= OFF * h * pace


@routine(FLOATS, FLOATS, FLOATS, FLOATS, FLAG, REAL, FLAG, returns=FLAG)
def both_sides_routine(ints, floats, vector, q, v, tau, add_inertia, external, pivot, accelerate):
    """Sums of w f over the positions beside q, v, whose smallest pivot is given: work.vstage[_SUM],
    work.qstage[_QSUM]; whether these positions are regular."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    forces, h = has_forces(plant, work), STRIDE
    for _ in range(TRIES):
        _clear(work)
        found, farther = True, 0.0
        for i in range(8):
            k = 1 + i // 2
            distance = h * k if i % 2 == 0 else -h * k
            found = beside_routine(ints, floats, vector, q, v, distance, forces)
            there, moved, out = work.qstage[_Q], work.vstage[_V], work.vstage[_VDOT]
            if found and accelerate:
                closed_routine(ints, floats, vector, there, moved, tau, add_inertia, external, out, MOVE)
            elif found and not forces:
                refresh(plant, work, there)
            if not found:
                return False
            farther = max(farther, smallest_pivot(plant, work))
            if i == 1 and not farther > max(FAINT, CLEARER * pivot):
                break
            _add(q, v, work, _weight(k), accelerate)
        if farther > max(FAINT, CLEARER * pivot):
            return _is_one_branch(work, h)
        if farther > FAINT:
            return False
        h *= 2.0
    return False


@routine(FLOATS, FLOATS, REAL, returns=FLAG)
def narrow_routine(ints, floats, vector, q, along, least):
    """ξ of those chains alone whose rows are weak, a step along ξ away, where they do not vanish; whether they move."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    there, moved = work.qstage[_Q], work.vstage[_V]
    for i in range(q.shape[0]):
        there[i] = q[i]
    for j in range(moved.shape[0]):
        moved[j] = STRIDE * work.vstage[_ALONG, j]
    move(plant, there, moved, 1.0, there)
    refresh(plant, work, there)
    return head_routine(ints, floats, vector, q, along, least, True)


@routine(FLOATS, FLOATS, FLOATS, FLOATS, FLAG, FLOATS, REAL, FLAG, returns=FLAG)
def around_routine(ints, floats, vector, q, v, tau, add_inertia, external, along, least, accelerate):
    """`both_sides_routine` with ξ as it is, of more than one loop first of those that must move."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    pivot = smallest_pivot(plant, work)
    if plant.loops.loop_int.shape[0] > 1:
        narrow = narrow_routine(ints, floats, vector, q, along, least)
        if narrow and both_sides_routine(ints, floats, vector, q, v, tau, add_inertia, external, pivot, accelerate):
            return True
        refresh(plant, work, q)
        head_routine(ints, floats, vector, q, along, least, False)
    return both_sides_routine(ints, floats, vector, q, v, tau, add_inertia, external, pivot, accelerate)


@routine(FLOATS, FLOATS, FLOATS, FLOATS, FLAG, FLOATS)
def pass_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot):
    """Accelerations vdot (nv,) of a position too near to a singular one, which has been evaluated itself."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    how, itself = _choice(plant, work), lp.AFRESH
    known = moving = head_routine(ints, floats, vector, q, v, STILL, False)
    if not known:
        itself = lp.KEENLY
        choose(plant, work, lp.KEENLY)
        closed_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot, MOVE)
        known = head_routine(ints, floats, vector, q, vdot, IDLE, False)
    choose(plant, work, lp.AFRESH)
    if moving:
        known = around_routine(ints, floats, vector, q, v, tau, add_inertia, external, v, STILL, True)
    elif known:
        known = around_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot, IDLE, True)
    choose(plant, work, itself)
    closed_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot, MOVE)
    choose(plant, work, how)
    if known:
        for j in range(v.shape[0]):
            vdot[j] = work.vstage[_SUM, j]
        for k in range(plant.topo.shape[0]):
            row = work.rows[k + 1]
            accelerate_body(plant, work, k, v, vdot, load3(row, W_V), load3(row, W_V + 3))


@kernel
def accelerate(plant, work, q, v, tau, add_inertia, external, vdot):
    """`forward_dynamics`; near singular positions interpolated from both sides."""
    forward_dynamics(plant, work, q, v, tau, add_inertia, external, vdot)
    if plant.loops.loop_int.shape[0] > 0 and smallest_pivot(plant, work) < WINDOW:
        ints, floats, vector = vectors(plant, work)
        pass_routine(ints, floats, vector, q, v, tau, add_inertia, external, vdot)


@routine(FLOATS, FLOATS, returns=WHOLE)
def close_near_routine(ints, floats, vector, q, v):
    """`close` where the last position was near a singular one."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    refresh(plant, work, q)
    if smallest_pivot(plant, work) < WINDOW and head_routine(ints, floats, vector, q, v, STILL, False):
        if around_routine(ints, floats, vector, q, v, v, v, False, v, STILL, False):
            for i in range(q.shape[0]):
                q[i] += work.qstage[_QSUM, i]
            unit_quaternions(plant, q)
            for j in range(v.shape[0]):
                v[j] += work.vstage[_SUM, j]
            return -1
        refresh(plant, work, q)
    return close_tightly(plant, work, q, v)


@kernel
def close(plant, work, q, v, fine):
    """`close_loops`, near singular positions interpolated from both sides; returns the loop that stays open, or -1."""
    if smallest_pivot(plant, work) < NEAR:
        ints, floats, vector = vectors(plant, work)
        return close_near_routine(ints, floats, vector, q, v)
    return close_loops(plant, work, q, v, fine)


@kernel
def is_near(plant, work):
    """Whether the last accelerations were those of a position near a singular one."""
    return smallest_pivot(plant, work) < NEAR


@kernel
def close_stage(plant, work, q, v):
    """Closes the loops at a stage of an integrator near a singular position, where what they are open by counts more
    than h⁴; `accelerate` does it itself where they are too near."""
    if smallest_pivot(plant, work) >= WINDOW:
        close_tightly(plant, work, q, v)


@entry(VECTORS, VECTOR, VECTOR, VECTOR, FLAG, VECTOR, worlds=True)
def forward_dynamics_entry(ints, floats, work, q, v, tau, external, vdot):
    """One evaluation of `accelerate` with the model's own armature and thrusters off, for Python callers."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    no_inputs(plant, scratch)
    accelerate(plant, scratch, q, v, tau, plant.armature, external, vdot)
