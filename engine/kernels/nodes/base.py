"""A free base: H = 1, its velocities are V itself (002, Table 2.6), so that P α = T - z is solved at once."""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import LANES, vector_view
from limberjack.engine.algebra.blocks import load_six, store_six
from limberjack.engine.algebra.lanes import between_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.small_solves import cholesky, is_definite6, solve6
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add6,
    add9,
    dot6,
    load3,
    load6,
    load9,
    rigid,
    store3,
    store6,
    sub,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.composite import pad_of
from limberjack.engine.kernels.nodes.frames import write_column
from limberjack.engine.kernels.nodes.hinges import place_frame
from limberjack.engine.kernels.nodes.slope_columns import NOTHING, invert_factor, slope_column, square_factor, unit
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import FREE
from limberjack.engine.tables.loops import C_LOOPS
from limberjack.engine.tables.slopes import X_D, X_G

HINGES = (FREE,)
FREE_ROOT = True


@kernel
def trusted(plant, counts, k):
    """Whether a row of a foreign Plant may be of this kind."""
    return plant.topo[k, t.KIND] == FREE and counts[C_LOOPS] == 0


@kernel
def stand(plant, work, k, q, no_rate):
    """Its frame."""
    place_frame(plant, work, k, q, work.rows[k + 1])


@kernel
def place(plant, work, k, q, v):
    """Its frame, and V(k) = β."""
    j = plant.topo[k, t.VI]
    stand(plant, work, k, q, v)
    return load3(v, j), load3(v, j + 3)


@kernel
def inward(plant, work, k, P, n, f, v, tau, add_inertia):
    """P α = T - z. Gives infinity or NaN, as with `pivot`, if deformed bodies make P indefinite."""
    row, j = work.rows[k + 1], plant.topo[k, t.VI]
    a, l = solve6(P, sub(load3(tau, j), n), sub(load3(tau, j + 3), f))
    if plant.flexible.modal_int.shape[0] > 0 and not is_definite6(P):
        a = (math.nan, math.nan, math.nan)
    store3(row, t.W_U, a)
    store3(row, t.W_U + 3, l)


@kernel
def outward(plant, work, k, v, vdot, w, u):
    """dβ/dt = α - φ* α(parent), and α of the body whose parent's motion it sees as [w; u]."""
    row, j = work.rows[k + 1], plant.topo[k, t.VI]
    a, l = load3(row, t.W_U), load3(row, t.W_U + 3)
    store3(vdot, j, sub(a, w))
    store3(vdot, j + 3, sub(l, u))
    return a, l


@kernel
def accelerate(plant, work, k, v, vdot, Vw, Vu, w, u):
    """α = φ* α(parent) + dβ/dt."""
    j = plant.topo[k, t.VI]
    return add(w, load3(vdot, j)), add(u, load3(vdot, j + 3))


@kernel
def trace(plant, work, k, n, f, vdot, tau):
    """T = f."""
    j = plant.topo[k, t.VI]
    store3(tau, j, n)
    store3(tau, j + 3, f)


@kernel
def _part(M, v, c, block, stop):
    """A block's part of the six rows of a free base."""
    for i in range(6):
        store_lanes(M[v + i], c, between_lanes(load_lanes(block, LANES * i), 0, stop))


@kernel
def _first_part(M, v, block, pad, stop):
    """The same of a first block whose first `pad` lanes are unused: the row before is already there."""
    for i in range(6):
        for lane in range(pad, LANES):
            M[v + i, lane - pad] = block[LANES * i + lane] if lane < stop else 0.0


@kernel
def _corner(M, v, m, h, I):
    """M(k, k) of a free base is R itself: the upper triangle of [[I, h~], [-h~, m 1]]."""
    a, b, c = M[v], M[v + 1], M[v + 2]
    a[v], a[v + 1], a[v + 2], a[v + 3], a[v + 4], a[v + 5] = I[0], I[3], I[4], 0.0, -h[2], h[1]
    b[v + 1], b[v + 2], b[v + 3], b[v + 4], b[v + 5] = I[1], I[5], h[2], 0.0, -h[0]
    c[v + 2], c[v + 3], c[v + 4], c[v + 5] = I[2], -h[1], h[0], 0.0
    for i in range(v + 3, v + 6):
        for j in range(i, v + 6):
            M[i, j] = m if i == j else 0.0


@kernel
def composite(plant, work, k, start, stop, m, h, I, M):
    """Rows of a free base, H = 1: the columns as they are, and R; no column is still to be put."""
    columns, v = work.columns, plant.topo[k, t.VI]
    pad = pad_of(columns, M.shape[0])
    for b in range((start + 6) // LANES, columns.shape[0]):
        at = LANES * b
        if at >= pad:
            _part(M, v, at - pad, columns[b], stop - at)
        else:
            _first_part(M, v, columns[b], pad, stop)
    _corner(M, v, m, h, I)
    return -1, ZERO, ZERO


@kernel
def write_columns(plant, work, k, J, point):
    """Its columns of the Jacobian of a point (000 eq. 0.18)."""
    j, pose = plant.topo[k, t.VI], work.pose[k + 1]
    for c in range(3):
        write_column(J, j + c, pose, unit(c), ZERO, point)
        write_column(J, j + 3 + c, pose, ZERO, unit(c), point)


@kernel
def slope_columns(plant, work, k, slopes, v, vdot, V_up, A_up, V, R, p):
    """The columns of a base, which is the tree frame itself."""
    j = plant.topo[k, t.VI]
    columns = slopes.column[j : j + 6]
    for c in range(3):
        slope_column(columns[c], (unit(c), ZERO), V_up, A_up, V, NOTHING)
        slope_column(columns[3 + c], (ZERO, unit(c)), V_up, A_up, V, NOTHING)


@kernel
def gain(plant, work, k, slopes):
    """D⁻¹ of a free base, for which D = P; nothing lies beyond it, so G is left zero."""
    body, acc, leaf, j = plant.body[k], work.acc[k + 1], plant.topo[k, t.LEAF], plant.topo[k, t.VI]
    x = slopes.column[j : j + 6]
    Pa, Pc, Pl = rigid(body[t.B_M], load3(body, t.B_H), load6(body, t.B_I))
    if not leaf:
        Pa, Pc, Pl = add6(Pa, load6(acc, t.A_I)), add9(Pc, load9(acc, t.A_H)), add6(Pl, load6(acc, t.A_M))
    store6(x[0], X_D, (Pa[0], 0.0, 0.0, 0.0, 0.0, 0.0))
    store6(x[1], X_D, (Pa[3], Pa[1], 0.0, 0.0, 0.0, 0.0))
    store6(x[2], X_D, (Pa[4], Pa[5], Pa[2], 0.0, 0.0, 0.0))
    store6(x[3], X_D, (Pc[0], Pc[3], Pc[6], Pl[0], 0.0, 0.0))
    store6(x[4], X_D, (Pc[1], Pc[4], Pc[7], Pl[3], Pl[1], 0.0))
    store6(x[5], X_D, (Pc[2], Pc[5], Pc[8], Pl[4], Pl[5], Pl[2]))
    for i in range(6):
        store6(x[i], X_G, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    cholesky(x[:, X_D:], 6)
    invert_factor(x)
    square_factor(x)


@kernel
def solve_inward(plant, slopes, k, i, rows):
    """D⁻¹ (T - z) in place of T, eight right-hand sides of matrix i."""
    j = plant.topo[k, t.VI]
    x, z = slopes.column[j : j + 6], load_six(slopes.force[3 * (k + 1) + i], 0)
    right = (
        load_lanes(rows, LANES * j) - z[0],
        load_lanes(rows, LANES * (j + 1)) - z[1],
        load_lanes(rows, LANES * (j + 2)) - z[2],
        load_lanes(rows, LANES * (j + 3)) - z[3],
        load_lanes(rows, LANES * (j + 4)) - z[4],
        load_lanes(rows, LANES * (j + 5)) - z[5],
    )
    for c in range(6):
        store_lanes(rows, LANES * (j + c), dot6(load6(x[c], X_D), right))


@kernel
def solve_outward(plant, slopes, k, i, rows):
    """α of the base is the solution, for matrix i."""
    j = plant.topo[k, t.VI]
    store_six(slopes.motion[3 * (k + 1) + i], load_six(vector_view(rows, LANES * j, 6 * LANES), 0))
