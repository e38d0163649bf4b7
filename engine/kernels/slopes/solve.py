"""M⁻¹ times many columns at once by the articulated-body recursion, O(N) a column (000 "mass matrix inverse", 002).

With the bodies at rest and without gravity, forward dynamics is M⁻¹; P, D and G do not depend on the right-hand side
and are taken from the run of `forward_dynamics` before. For a column T, seen in the tree frame 𝓣 of `inverse.py`,

    tip to base   ε = T - H z,   z⁺ = z + G ε,   z(parent) = Σ z⁺
    base to tip   x = D⁻¹ ε - G* α(parent),   α = α(parent) + H* x

since frames need no change there. Eight columns go together, a lane each. Columns of one velocity act on its subtree
and its ancestors only: tip to base, bodies that are neither are passed over.
"""

from __future__ import annotations

from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.algebra.small_solves import cholesky
from limberjack.engine.algebra.spatial import (
    add6,
    add9,
    dot6,
    force_out,
    load3,
    load6,
    load9,
    rigid,
    scale,
    store3,
    store6,
)
from limberjack.engine.algebra.views import LANES, vector_view
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.plant import (
    A_H,
    A_I,
    A_M,
    B_H,
    B_I,
    B_M,
    FIRST,
    G_L,
    G_U,
    LEAF,
    NV,
    PATH,
    PATH_BASE,
    PATH_GENERAL,
    SLOT,
    UP,
    VEND,
    VI,
    W_DINV,
    W_U,
)
from limberjack.engine.tables.slopes import X_D, X_G, X_S, Y_P, Y_R


@kernel
def _simple_gain(row, y, x):
    """G = U D⁻¹ and D⁻¹ of a hinge with one velocity on a fast path."""
    dinv = row[W_DINV]
    n, f = force_out(load9(y, Y_R), load3(y, Y_P), load3(row, W_U), load3(row, W_U + 3))
    store3(x, X_G, scale(dinv, n))
    store3(x, X_G + 3, scale(dinv, f))
    x[X_D] = dinv


@kernel
def _invert_factor(x):
    """L⁻¹ in place of L, whose diagonal is inverted already."""
    nv = x.shape[0]
    for j in range(nv):
        for i in range(j + 1, nv):
            s = 0.0
            for e in range(j, i):
                s -= x[i, X_D + e] * x[e, X_D + j]
            x[i, X_D + j] = s * x[i, X_D + i]


@kernel
def _square_factor(x):
    """D⁻¹ = L⁻* L⁻¹ in place of L⁻¹."""
    nv = x.shape[0]
    for i in range(nv):
        for j in range(i, nv):
            s = 0.0
            for e in range(j, nv):
                s += x[e, X_D + i] * x[e, X_D + j]
            x[i, X_D + j] = s
    for i in range(nv):
        for j in range(i):
            x[i, X_D + j] = x[j, X_D + i]


@kernel
def _general_gain(g, y, x):
    """G = (U L⁻*) L⁻¹ and D⁻¹ of a hinge with any number of velocities; x holds its columns, a row each."""
    nv = x.shape[0]
    R, p = load9(y, Y_R), load3(y, Y_P)
    for c in range(nv):
        for e in range(c + 1):
            x[c, X_D + e] = g[G_L + 6 * c + e]
        n, f = force_out(R, p, load3(g, G_U + 6 * c), load3(g, G_U + 6 * c + 3))
        store3(x[c], X_G, n)
        store3(x[c], X_G + 3, f)
    _invert_factor(x)
    for c in range(nv):
        for s in range(X_G, X_G + 6):
            value = 0.0
            for e in range(c, nv):
                value += x[e, s] * x[e, X_D + c]
            x[c, s] = value
    _square_factor(x)


@kernel
def _base_gain(body, acc, leaf, x):
    """D⁻¹ of a free base, for which D = P; nothing lies beyond it, so G is left zero."""
    Pa, Pc, Pl = rigid(body[B_M], load3(body, B_H), load6(body, B_I))
    if not leaf:
        Pa, Pc, Pl = add6(Pa, load6(acc, A_I)), add9(Pc, load9(acc, A_H)), add6(Pl, load6(acc, A_M))
    store6(x[0], X_D, (Pa[0], 0.0, 0.0, 0.0, 0.0, 0.0))
    store6(x[1], X_D, (Pa[3], Pa[1], 0.0, 0.0, 0.0, 0.0))
    store6(x[2], X_D, (Pa[4], Pa[5], Pa[2], 0.0, 0.0, 0.0))
    store6(x[3], X_D, (Pc[0], Pc[3], Pc[6], Pl[0], 0.0, 0.0))
    store6(x[4], X_D, (Pc[1], Pc[4], Pc[7], Pl[3], Pl[1], 0.0))
    store6(x[5], X_D, (Pc[2], Pc[5], Pc[8], Pl[4], Pl[5], Pl[2]))
    for i in range(6):
        store6(x[i], X_G, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    cholesky(x[:, X_D:], 6)
    _invert_factor(x)
    _square_factor(x)


@kernel
def prepare_gains(plant, work, slopes):
    """G and D⁻¹ of every hinge in 𝓣, from what `forward_dynamics` left in Work."""
    for k in range(plant.topo.shape[0]):
        topo, y, j = plant.topo[k], slopes.body[k + 1], plant.topo[k, VI]
        if topo[PATH] == PATH_BASE:
            _base_gain(plant.body[k], work.acc[k + 1], topo[LEAF], slopes.column[j : j + 6])
        elif topo[PATH] == PATH_GENERAL:
            _general_gain(work.gen[topo[SLOT]], y, slopes.column[j : j + topo[NV]])
        else:
            _simple_gain(work.rows[k + 1], y, slopes.column[j])


@kernel
def _load(a):
    """Eight spatial vectors."""
    return (
        load_lanes(a, 0),
        load_lanes(a, LANES),
        load_lanes(a, 2 * LANES),
        load_lanes(a, 3 * LANES),
        load_lanes(a, 4 * LANES),
        load_lanes(a, 5 * LANES),
    )


@kernel
def _store(a, x):
    store_lanes(a, 0, x[0])
    store_lanes(a, LANES, x[1])
    store_lanes(a, 2 * LANES, x[2])
    store_lanes(a, 3 * LANES, x[3])
    store_lanes(a, 4 * LANES, x[4])
    store_lanes(a, 5 * LANES, x[5])


@kernel
def _zero(a):
    for i in range(6 * LANES):
        a[i] = 0.0


@kernel
def _times(G, e):
    """G e in every lane."""
    return G[0] * e, G[1] * e, G[2] * e, G[3] * e, G[4] * e, G[5] * e


@kernel
def _hand_force(up, z, first):
    """z of the parent: the first child writes it, others add."""
    _store(up, z if first else add6(_load(up), z))


@kernel
def _inward_base(x, rows, j, z):
    """A free base: D⁻¹ (T - z)."""
    z = _load(z)
    t = (
        load_lanes(rows, LANES * j) - z[0],
        load_lanes(rows, LANES * (j + 1)) - z[1],
        load_lanes(rows, LANES * (j + 2)) - z[2],
        load_lanes(rows, LANES * (j + 3)) - z[3],
        load_lanes(rows, LANES * (j + 4)) - z[4],
        load_lanes(rows, LANES * (j + 5)) - z[5],
    )
    for c in range(6):
        store_lanes(rows, LANES * (j + c), dot6(load6(x[c], X_D), t))


@kernel
def _inward_many(x, rows, j, leaf, z_row, up, first, spare):
    """Any number of velocities; `spare` (6 LANES,) is overwritten."""
    nv = x.shape[0]
    if leaf:
        _zero(z_row)
    z = _load(z_row)
    sum_z = z
    for c in range(nv):
        e = load_lanes(rows, LANES * (j + c)) - dot6(load6(x[c], X_S), z)
        sum_z = add6(sum_z, _times(load6(x[c], X_G), e))
        store_lanes(spare, LANES * c, e)
    _hand_force(up, sum_z, first)
    for c in range(nv):
        t = x[c, X_D] * load_lanes(spare, 0)
        for e in range(1, nv):
            t = t + x[c, X_D + e] * load_lanes(spare, LANES * e)
        store_lanes(rows, LANES * (j + c), t)


@kernel
def _inward(topo, slopes, k, i, rows):
    """D⁻¹ ε of body k's velocities in place of T, and z⁺ handed to its parent, for matrix i."""
    j, nv, z, up = topo[VI], topo[NV], slopes.force[3 * (k + 1) + i], slopes.force[3 * topo[UP] + i]
    x = slopes.column[j : j + nv]
    if topo[PATH] == PATH_BASE:
        _inward_base(x, rows, j, z)
    elif nv != 1:
        _inward_many(x, rows, j, topo[LEAF], z, up, topo[FIRST], slopes.motion[3 * (k + 1) + i])
    else:
        e, G = load_lanes(rows, LANES * j), load6(x[0], X_G)
        if topo[LEAF]:
            _hand_force(up, _times(G, e), topo[FIRST])
        else:
            f = _load(z)
            e = e - dot6(load6(x[0], X_S), f)
            _hand_force(up, add6(f, _times(G, e)), topo[FIRST])
        store_lanes(rows, LANES * j, x[0, X_D] * e)


@kernel
def _outward(topo, slopes, k, i, rows):
    """x = D⁻¹ ε - G* α(parent) of body k's velocities in place of D⁻¹ ε, and α(k) = α(parent) + H* x, for matrix i."""
    j, nv, leaf = topo[VI], topo[NV], topo[LEAF]
    if topo[PATH] == PATH_BASE:
        _store(slopes.motion[3 * (k + 1) + i], _load(vector_view(rows, LANES * j, 6 * LANES)))
        return
    up = _load(slopes.motion[3 * topo[UP] + i])
    a = up
    for c in range(j, j + nv):
        x = load_lanes(rows, LANES * c) - dot6(load6(slopes.column[c], X_G), up)
        store_lanes(rows, LANES * c, x)
        if not leaf:
            a = add6(a, _times(load6(slopes.column[c], X_S), x))
    if not leaf:
        _store(slopes.motion[3 * (k + 1) + i], a)


@kernel
def _reach(topo, at, nv):
    """One past the last velocity of the subtrees that the velocities at … at + LANES - 1 move."""
    stop = min(at + LANES, nv)
    for k in range(topo.shape[0]):
        if at < topo[k, VI] + topo[k, NV] and topo[k, VI] < at + LANES:
            stop = max(stop, topo[k, VEND])
    return stop


@kernel
def solve_columns(plant, slopes, b):
    """Columns of block b of X ← M⁻¹ X for the three matrices of slopes.square, the last of which is the unit matrix.

    The first two have the zeros of derivatives of inverse dynamics: row m of column j is zero unless one of m and j
    lies towards the base of the other. The three run side by side: a body's results are soon waited for by the next.
    """
    n, topo, blocks = plant.topo.shape[0], plant.topo, slopes.lanes.shape[0]
    at = LANES * b
    reach = _reach(topo, at, plant.dof.shape[0])
    for i in range(3):
        _zero(slopes.motion[i])
    for step in range(n):
        k = n - 1 - step
        for i in range(3):
            if at < topo[k, VEND] and topo[k, VI] < (reach if i < 2 else at + LANES):
                _inward(topo[k], slopes, k, i, slopes.square[i * blocks + b])
            elif topo[k, FIRST]:
                _zero(slopes.force[3 * topo[k, UP] + i])
    for k in range(n):
        for i in range(3):
            _outward(topo[k], slopes, k, i, slopes.square[i * blocks + b])
