"""M⁻¹ times many columns at once by the articulated-body recursion, O(N) a column (000 eq. 0.30, 002).

With the bodies at rest and without gravity, forward dynamics is M⁻¹; P, D and G do not depend on the right-hand side
and are taken from the run of `forward_dynamics` before. For a column T, seen in the tree frame 𝓣 of `inverse.py`,

    tip to base   ε = T - H z,   z⁺ = z + G ε,   z(parent) = Σ z⁺
    base to tip   x = D⁻¹ ε - G* α(parent),   α = α(parent) + H* x

since frames need no change there. Eight columns are solved together, one per lane. Columns of one velocity act only on
its subtree and its ancestors: tip to base, all other bodies are skipped.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import load_six, store_six
from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.algebra.spatial import (
    add6,
    dot6,
    load6,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.dispatch import prepare_gain
from limberjack.engine.kernels.nodes.kinds import by_kind
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.slopes import X_D, X_G, X_S


@kernel
def prepare_gains(plant, work, slopes):
    """G and D⁻¹ of every hinge in 𝓣, from what `forward_dynamics` left in Work."""
    for k in range(plant.topo.shape[0]):
        prepare_gain(plant, work, k, slopes)


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
    store_six(up, z if first else add6(load_six(up, 0), z))


@kernel
def _inward_many(x, rows, j, leaf, z_row, up, first, spare):
    """Any number of velocities; `spare` (6 LANES,) is overwritten."""
    nv = x.shape[0]
    if leaf:
        _zero(z_row)
    z = load_six(z_row, 0)
    sum_z = z
    for c in range(nv):
        e = load_lanes(rows, LANES * (j + c)) - dot6(load6(x[c], X_S), z)
        sum_z = add6(sum_z, _times(load6(x[c], X_G), e))
        store_lanes(spare, LANES * c, e)
    _hand_force(up, sum_z, first)
    for c in range(nv):
        y = x[c, X_D] * load_lanes(spare, 0)
        for e in range(1, nv):
            y = y + x[c, X_D + e] * load_lanes(spare, LANES * e)
        store_lanes(rows, LANES * (j + c), y)


@kernel
def _usual_inward(plant, slopes, k, i, rows):
    """D⁻¹ ε of body k's velocities in place of T, and z⁺ handed to its parent, for matrix i."""
    topo = plant.topo[k]
    j, nv, z, up = topo[t.VI], topo[t.NV], slopes.force[3 * (k + 1) + i], slopes.force[3 * topo[t.UP] + i]
    x = slopes.column[j : j + nv]
    if nv != 1:
        _inward_many(x, rows, j, topo[t.LEAF], z, up, topo[t.FIRST], slopes.motion[3 * (k + 1) + i])
    else:
        e, G = load_lanes(rows, LANES * j), load6(x[0], X_G)
        if topo[t.LEAF]:
            _hand_force(up, _times(G, e), topo[t.FIRST])
        else:
            f = load_six(z, 0)
            e = e - dot6(load6(x[0], X_S), f)
            _hand_force(up, add6(f, _times(G, e)), topo[t.FIRST])
        store_lanes(rows, LANES * j, x[0, X_D] * e)


@kernel
def _usual_outward(plant, slopes, k, i, rows):
    """x = D⁻¹ ε - G* α(parent) of body k's velocities in place of D⁻¹ ε, and α(k) = α(parent) + H* x, for matrix i."""
    topo = plant.topo[k]
    j, nv, leaf = topo[t.VI], topo[t.NV], topo[t.LEAF]
    up = load_six(slopes.motion[3 * topo[t.UP] + i], 0)
    a = up
    for c in range(j, j + nv):
        x = load_lanes(rows, LANES * c) - dot6(load6(slopes.column[c], X_G), up)
        store_lanes(rows, LANES * c, x)
        if not leaf:
            a = add6(a, _times(load6(slopes.column[c], X_S), x))
    if not leaf:
        store_six(slopes.motion[3 * (k + 1) + i], a)


_inward = by_kind("solve_inward", _usual_inward)
_outward = by_kind("solve_outward", _usual_outward)


@kernel
def _reach(topo, at, nv):
    """One past the last velocity of the subtrees that the velocities at … at + LANES - 1 move."""
    stop = min(at + LANES, nv)
    for k in range(topo.shape[0]):
        if at < topo[k, t.VI] + topo[k, t.NV] and topo[k, t.VI] < at + LANES:
            stop = max(stop, topo[k, t.VEND])
    return stop


@kernel
def solve_columns(plant, slopes, b):
    """Columns of block b of X ← M⁻¹ X for the three matrices of slopes.square, the last of which is the unit matrix.

    The first two have the zeros of derivatives of inverse dynamics: row m of column j is zero unless one of m and j
    lies towards the base of the other. The three are interleaved, because each body soon needs the result of the one
    before.
    """
    n, topo, blocks = plant.topo.shape[0], plant.topo, slopes.lanes.shape[0]
    at = LANES * b
    reach = _reach(topo, at, plant.dof.shape[0])
    for i in range(3):
        _zero(slopes.motion[i])
    for step in range(n):
        k = n - 1 - step
        for i in range(3):
            if at < topo[k, t.VEND] and topo[k, t.VI] < (reach if i < 2 else at + LANES):
                _inward(plant, slopes, k, i, slopes.square[i * blocks + b])
            elif topo[k, t.FIRST]:
                _zero(slopes.force[3 * topo[k, t.UP] + i])
    for k in range(n):
        for i in range(3):
            _outward(plant, slopes, k, i, slopes.square[i * blocks + b])
