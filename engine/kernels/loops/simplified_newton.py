"""Closes embedded loops after a step with the factors of the last accelerations: a simplified Newton method.

Positions and velocities are corrected together; the bodies of the groups are placed once for both:

    δ_D = -Y1⁻¹ r,   the independent velocities held;      δ = -Y1⁻¹ dr/dt, spread as the least change (`impulses.py`)

Y1⁻¹, D, U and X belong to the position of the last accelerations, h v away, so a pass reduces residuals to a share of
the order h v. That share is measured, and predicts the residual after the last pass. Every step computes its factors
before this method takes them, so its result depends on the state alone. Where rows depend on others, the rows that were
chosen there do not ensure the others here.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import cross, load3, store3
from limberjack.engine.compile.compiled import FLAG, FLOATS
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.groups.elimination import solve_again
from limberjack.engine.kernels.groups.group_rows import fill_right
from limberjack.engine.kernels.groups.impulses import spread_change
from limberjack.engine.kernels.groups.loop_rows import measure_loop
from limberjack.engine.kernels.nodes.dispatch import place_body
from limberjack.engine.kernels.nodes.manifold import is_flat, move
from limberjack.engine.kernels.nodes.tree import begin_sweep
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import FREE
from limberjack.engine.tables.loops import group_view
from limberjack.engine.tables.plant import V_CLOSE, plant_view, vectors, work_view

#: scaled residual (of the order of a coordinate, rad or m) at which a loop is closed, and of rates over the fastest
#: velocity; methods of first order may leave larger rates
CLOSED, LEFT = 1e-12, 1e-9
#: passes; the share of what is open that a pass may leave, and of which it is taken to be before it is known; how much
#: larger the share of the next one may be
PASSES, SLOW, MARGIN = 6, 0.1, 10.0
#: larger residuals, and smaller pivots of scaled rows, need new factors: those of the last accelerations do not fit
FAR, NEAR = 1e-3, 0.1


@kernel
def _turnings(plant, group, v, out):
    """out[j] = c of a group's velocities: ω × v, linear, of its free hinges, else 0. Returns whether it has any."""
    found = False
    for i in range(group[lp.GI_DOFS]):
        out[plant.loops.listed[group[lp.GI_DOF] + i]] = 0.0
    for i in range(group[lp.GI_BODIES]):
        topo = plant.topo[plant.loops.listed[group[lp.GI_BODY] + i]]
        if topo[t.KIND] == FREE:
            j = topo[t.VI]
            store3(out, j + 3, cross(load3(v, j), load3(v, j + 3)))
            found = True
    return found


@kernel
def _add_turning(plant, group, parts, c, h, out):
    """out += h (c - X c_R) of a group's dependent velocities."""
    listed, at, n, pick = plant.loops.listed, group[lp.GI_DOF], group[lp.GI_DOFS], parts.pick
    solved = n - int(parts.head[lp.GH_FREE])
    for s in range(solved):
        j = listed[at + int(pick[s])]
        out[j] += h * c[j]
    for r in range(n - solved):
        given = c[listed[at + int(pick[solved + r])]]
        if given != 0.0:
            for s in range(solved):
                d = int(pick[s])
                out[listed[at + d]] -= h * given * parts.x[d, r]


@kernel
def foresee(plant, work, q, v, h, out):
    """out (nv,): v, and v - ½ h β for dependent velocities. From the position of the last accelerations, where v was
    v(0) and is now v(0) + h dv/dt, a step h out stays on the loops to second order.

    Free hinges fly along fixed axes (`manifold.py`), along which they accelerate by dv/dt + c, c = ω × v. For these
    accelerations dv/dt = X (dv/dt)_R + β has β + c - X c_R in the place of β.
    """
    c = work.vstage[V_CLOSE + 1]
    for j in range(v.shape[0]):
        out[j] = v[j]
    for g in range(plant.loops.group_int.shape[0]):
        group = plant.loops.group_int[g]
        parts = group_view(group, work.loops.group)
        if parts.head[lp.GH_PIVOT] >= NEAR:
            for i in range(group[lp.GI_DOFS]):
                out[plant.loops.listed[group[lp.GI_DOF] + i]] -= 0.5 * h * parts.bias[i]
            if not is_flat(plant, q) and _turnings(plant, group, v, c):
                _add_turning(plant, group, parts, c, -0.5 * h, out)


@kernel
def _place(plant, work, q, v):
    """Hinges and velocities of the groups' bodies, as what carries them last moved."""
    begin_sweep(plant, work, q, 0.0)
    for g in range(plant.loops.group_int.shape[0]):
        group = plant.loops.group_int[g]
        for i in range(group[lp.GI_BODY], group[lp.GI_BODY] + group[lp.GI_BODIES]):
            place_body(plant, work, plant.loops.listed[i], q, v)


@kernel
def _measure(plant, work, q, v):
    """The largest scaled residual and rate of all embedded loops at q, v."""
    _place(plant, work, q, v)
    gap, rate = 0.0, 0.0
    for l in range(plant.loops.loop_int.shape[0]):
        if plant.loops.loop_int[l, lp.L_GROUP] >= 0:
            measure_loop(plant, work, l, q, v)
            loop, row = plant.loops.loop[l], work.loops.row[l]
            for i in range(plant.loops.loop_int[l, lp.L_ROWS]):
                r, c = (
                    abs(loop[lp.LP_SCALE + i] * row[lp.R_RESIDUAL + i]),
                    abs(loop[lp.LP_SCALE + i] * row[lp.R_RATE + i]),
                )
                gap = gap if r <= gap else (r if r == r else math.inf)
                rate = rate if c <= rate else (c if c == c else math.inf)
    return gap, rate


@kernel
def _correct(plant, work, change, delta):
    """-Y1⁻¹ of the residuals, change (nv,), and of the rates, delta (nv,), for dependent velocities; 0 for others."""
    for j in range(delta.shape[0]):
        change[j], delta[j] = 0.0, 0.0
    for g in range(plant.loops.group_int.shape[0]):
        group = plant.loops.group_int[g]
        parts, at, n = group_view(group, work.loops.group), group[lp.GI_DOF], group[lp.GI_DOFS]
        fill_right(plant, work, group, lp.R_RESIDUAL, parts.y[n])
        fill_right(plant, work, group, lp.R_RATE, parts.y[n + 1])
        solve_again(parts, n, group[lp.GI_ROWS], plant.loops.scale, at)
        for i in range(n):
            j = plant.loops.listed[at + i]
            change[j], delta[j] = parts.free[i], parts.bias[i]


@kernel
def fastest(v):
    """The scale of rates: the largest velocity, at least 1."""
    most = 1.0
    for j in range(v.shape[0]):
        most = max(most, abs(v[j]))
    return most


@routine(FLOATS, FLOATS, FLAG, returns=FLAG, either=True)
def close_simply_routine(ints, floats, vector, q, v, fine):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    change, delta, scale, share = work.vstage[V_CLOSE], work.vstage[V_CLOSE + 1], fastest(v), SLOW
    gap_before, rate_before, left = FAR, FAR, CLOSED if fine else LEFT
    for i in range(PASSES):
        gap, rate = _measure(plant, work, q, v)
        rate /= scale
        if i > 0:
            share = max(gap / gap_before, rate / rate_before)
        if gap <= CLOSED and rate <= CLOSED:
            return True
        if not max(gap, rate) <= FAR or share > SLOW:
            return False
        _correct(plant, work, change, delta)
        if gap > CLOSED:
            move(plant, q, change, 1.0, q)
        if rate > CLOSED and (fine or i == 0):  # later changes are a small share of the first
            spread_change(plant, work, delta)
        for j in range(v.shape[0]):
            v[j] += delta[j]
        if MARGIN * share * gap <= CLOSED and MARGIN * share * rate <= left:
            return True
        gap_before, rate_before = max(gap, CLOSED / SLOW), max(rate, left / SLOW)
    return False


@kernel
def close_simply(plant, work, q, v, fine):
    """q and v brought back onto embedded loops by the factors of the last accelerations; whether these are close enough
    for that. Else they may have come closer. No loop acts by force.

    fine: rates are left as small as residuals, and each change is spread, for integrators whose own error is that small
    """
    if plant.flexible.modal_int.shape[0] > 0 or plant.loops.group_int.shape[0] == 0:
        return False
    for g in range(plant.loops.group_int.shape[0]):
        group = plant.loops.group_int[g]
        if group[lp.GI_ROWS] > group[lp.GI_RANK] or not group_view(group, work.loops.group).head[lp.GH_PIVOT] >= NEAR:
            return False
    ints, floats, vector = vectors(plant, work)
    return close_simply_routine(ints, floats, vector, q, v, fine)
