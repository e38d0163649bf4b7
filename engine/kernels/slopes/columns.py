"""Base to tip: every body in the tree frame 𝓣, and the effect of each velocity on the motion of its subtree.

Equations and symbols: `inverse.py`.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add9,
    add_cross,
    add_tilde_sym,
    dot,
    load3,
    load6,
    load9,
    mul,
    neg,
    rigid_mul,
    rot,
    scale,
    store3,
    store6,
    store9,
    turn_sym,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.composite import shift_composite
from limberjack.engine.kernels.nodes.dispatch import hinge_frame, hinge_in, slope_columns
from limberjack.engine.kernels.nodes.slope_columns import motion_out
from limberjack.engine.tables import plant as t
from limberjack.engine.tables import slopes as sl


@kernel
def _place(plant, work, slopes, k):
    """R_(𝓣, k) and the position of O_k; the first body of a tree is 𝓣 itself."""
    row = slopes.body[k + 1]
    R, p = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), ZERO
    if plant.topo[k, t.UP] > 0:
        up = slopes.body[plant.topo[k, t.UP]]
        R_up = load9(up, sl.Y_R)
        R, p = hinge_frame(plant, work, k)
        R, p = mul(R_up, R), add(load3(up, sl.Y_P), rot(R_up, p))
    store9(row, sl.Y_R, R)
    store3(row, sl.Y_P, p)
    return R, p


@kernel
def _body_sums(body, row, R, p, V, A):
    """M(k), 𝓑(k) and f(k) = M α + b of one body, with which the sums over its subtree begin."""
    m = body[t.B_M]
    h, I = shift_composite(m, rot(R, load3(body, t.B_H)), turn_sym(R, load6(body, t.B_I)), p)
    w, u = V
    L, P = rigid_mul(m, h, I, w, u)
    n, f = rigid_mul(m, h, I, A[0], A[1])
    n, f = add_cross(add_cross(n, w, L), u, P), add_cross(f, w, P)
    half = 0.5 * (I[0] + I[1] + I[2])
    J = (half - I[0], half - I[1], half - I[2], -I[3], -I[4], -I[5])
    d = dot(h, u)
    W = (
        d - u[0] * h[0],
        -u[0] * h[1],
        -u[0] * h[2],
        -u[1] * h[0],
        d - u[1] * h[1],
        -u[1] * h[2],
        -u[2] * h[0],
        -u[2] * h[1],
        d - u[2] * h[2],
    )
    W = add_tilde_sym(W, neg(w), J)
    row[sl.Y_M] = m
    store3(row, sl.Y_H, h)
    store6(row, sl.Y_I, I)
    store9(row, sl.Y_W, add9(W, W))
    store3(row, sl.Y_L, scale(2.0, P))
    store3(row, sl.Y_F, n)
    store3(row, sl.Y_F + 3, f)


@kernel
def sweep_columns(plant, work, slopes, v, vdot):
    """Rows of slopes.body and slopes.column; Work must hold frames, V and α of all bodies for v and vdot."""
    for k in range(plant.topo.shape[0]):
        topo, row, here = plant.topo[k], slopes.body[k + 1], work.rows[k + 1]
        R, p = _place(plant, work, slopes, k)
        V = motion_out(R, p, load3(here, t.W_V), load3(here, t.W_V + 3))
        A = motion_out(R, p, load3(here, t.W_ALPHA), load3(here, t.W_ALPHA + 3))
        if topo[t.UP] > 0:
            up = slopes.body[topo[t.UP]]
            V_up, A_up = (load3(up, sl.Y_V), load3(up, sl.Y_V + 3)), (load3(up, sl.Y_A), load3(up, sl.Y_A + 3))
        else:
            ground = work.rows[0]
            V_up, A_up = (ZERO, ZERO), hinge_in(plant, work, k, load3(ground, t.W_ALPHA), load3(ground, t.W_ALPHA + 3))
        store3(row, sl.Y_V, V[0])
        store3(row, sl.Y_V + 3, V[1])
        store3(row, sl.Y_A, A[0])
        store3(row, sl.Y_A + 3, A[1])
        _body_sums(plant.body[k], row, R, p, V, A)
        slope_columns(plant, work, k, slopes, v, vdot, V_up, A_up, V, R, p)
