"""Loops that constrain coordinates instead of joining frames: couplings and locks.

coupling   r = Σ p_i(q_i) - offset,   p(q) = c1 q + c2 q² + c3 q³ + c4 q⁴   (001 §8: direct joint-level constraints)
lock       r_i = q_i - held q_i       (nothing to keep where a velocity is not the rate of a coordinate)
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import loops as lp


@kernel
def term_value(c, x):
    """p(x)."""
    return x * (c[0] + x * (c[1] + x * (c[2] + x * c[3])))


@kernel
def term_slope(c, x):
    """dp/dx."""
    return c[0] + x * (2.0 * c[1] + x * (3.0 * c[2] + x * 4.0 * c[3]))


@kernel
def term_curvature(c, x):
    """d²p/dx²."""
    return 2.0 * c[1] + x * (6.0 * c[2] + x * 12.0 * c[3])


@kernel
def coefficient(plant, l, t, q):
    """Coefficient of the velocity of term t in its row: the row's generalized force along it."""
    if plant.loops.loop_int[l, lp.L_KIND] == lp.LOCK:
        return 1.0
    return term_slope(plant.loops.term[t], q[plant.loops.term_int[t, lp.TM_Q]])


@kernel
def _held(plant, work, l, i, built):
    """Number i that a switched loop holds, else the built one."""
    s = plant.loops.loop_int[l, lp.L_SWITCH]
    return work.loops.switch[s, lp.SW_HELD + i] if s >= 0 else built


@kernel
def _clear(row, start):
    for i in range(start, start + LANES):
        row[i] = 0.0


@kernel
def place_coupling(plant, work, l, q):
    """Residuals. Coblocks stay zero: no row of these puts a force on a body."""
    ints, row, loops = plant.loops.loop_int[l], work.loops.row[l], plant.loops
    _clear(row, lp.R_RESIDUAL)
    for i in range(work.loops.coblock.shape[1]):
        work.loops.coblock[l, i] = 0.0
    if ints[lp.L_KIND] == lp.LOCK:
        for i in range(ints[lp.L_TERMS]):
            t = ints[lp.L_TERM] + i
            if loops.term_int[t, lp.TM_Q] >= 0:
                row[lp.R_RESIDUAL + i] = q[loops.term_int[t, lp.TM_Q]] - _held(plant, work, l, i, loops.term[t, 0])
        return
    s = -_held(plant, work, l, 0, loops.loop[l, lp.LP_X])
    if ints[lp.L_DRIVE] >= 0:
        s -= work.loops.drive[ints[lp.L_DRIVE], lp.PM_NOW]
    for t in range(ints[lp.L_TERM], ints[lp.L_TERM] + ints[lp.L_TERMS]):
        s += term_value(loops.term[t], q[loops.term_int[t, lp.TM_Q]])
    row[lp.R_RESIDUAL] = s


@kernel
def move_coupling(plant, work, l, q, v):
    """Rates, and d²r/dt² without accelerations."""
    ints, row, loops = plant.loops.loop_int[l], work.loops.row[l], plant.loops
    _clear(row, lp.R_RATE)
    _clear(row, lp.R_QUAD)
    if ints[lp.L_KIND] == lp.LOCK:
        for i in range(ints[lp.L_TERMS]):
            row[lp.R_RATE + i] = v[loops.term_int[ints[lp.L_TERM] + i, lp.TM_V]]
        return
    rate, quad = 0.0, 0.0
    if ints[lp.L_DRIVE] >= 0:
        rate, quad = (
            -work.loops.drive[ints[lp.L_DRIVE], lp.PM_NOW + 1],
            -work.loops.drive[ints[lp.L_DRIVE], lp.PM_NOW + 2],
        )
    for t in range(ints[lp.L_TERM], ints[lp.L_TERM] + ints[lp.L_TERMS]):
        x, speed = q[loops.term_int[t, lp.TM_Q]], v[loops.term_int[t, lp.TM_V]]
        rate += term_slope(loops.term[t], x) * speed
        quad += term_curvature(loops.term[t], x) * speed * speed
    row[lp.R_RATE], row[lp.R_QUAD] = rate, quad


@kernel
def accelerate_coupling(plant, work, l, q, vdot):
    """d²r/dt² from the accelerations vdot."""
    ints, row, loops = plant.loops.loop_int[l], work.loops.row[l], plant.loops
    for i in range(LANES):
        row[lp.R_ACCEL + i] = row[lp.R_QUAD + i]
    for i in range(ints[lp.L_TERMS]):
        t = ints[lp.L_TERM] + i
        lane = i if ints[lp.L_KIND] == lp.LOCK else 0
        row[lp.R_ACCEL + lane] += coefficient(plant, l, t, q) * vdot[loops.term_int[t, lp.TM_V]]
