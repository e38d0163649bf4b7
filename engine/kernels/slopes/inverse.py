"""Derivatives of inverse dynamics, T = T(q, v, dβ/dt), along the velocities and in v: O(N²), without differences.

∂_j of any quantity is its rate while hinge coordinates move with velocity j at one unit and all else stands still:
∂T/∂q has nv columns, also for quaternions (δR = R δθ~, δp = R δx in body axes for a free hinge). Where velocities are
rates of coordinates ∂_j is the ordinary partial derivative.

All vectors are seen in the tree frame 𝓣 of `layout.py`, at rest, so that V(k) = V(p) + Σ S_j β_j over the
hinge's columns S_j of φ* H*, and α(k) - α(p) = Σ S_j dβ_j/dt + V(p) × ΔV + (dH*/dt) β (p: the parent of k; the vectors
α are the body-frame derivatives of the numbers V, so they move between frames as V does). Moving along j turns the
subtree of hinge k rigidly with S_j and changes the hinge's own map. With

    η = (∂_j H*) β,   ζ = (∂_j H*) dβ/dt + ∂_j(dH*/dt) β,   κ = ∂((dH*/dt) β)/∂v_j        (zero for constant maps)

every body i of the subtree has (x × y is the motion product; Jacobi's identity puts the terms together)

    ∂_j V(i) = S_j × V(i) + ψ'_j                        ψ'_j = V(p) × S_j + η
    ∂_j α(i) = S_j × α(i) + ψ'_j × V(i) + ψ''_j         ψ''_j = α(p) × S_j + V(p) × ψ'_j + V(k) × η + ζ
    ∂V(i)/∂v_j = S_j
    ∂α(i)/∂v_j = S_j × V(i) + χ_j                       χ_j = V(p) × S_j + V(k) × S_j + κ

f(i) = M α + V × M V, with M carried along by the motion, then gives

    ∂_j f(i) = S_j × f(i) + M ψ''_j + 𝓑 ψ'_j,   ∂f(i)/∂v_j = M χ_j + 𝓑 S_j,   𝓑 x = M (x × V) + x × M V + V × M x

𝓑 is linear in x = [a; b]; for a rigid body all terms in b cancel, and with I' = ½ tr(I) 1 - I, momentum p', V = [w; u]

    𝓑 = 2 [[W, 0], [-p'~, 0]],   W = -w~ I' + (h·u) 1 - u h*

so the derivatives need only the sums over a subtree of M (10 numbers), 𝓑 (12) and f (6). Of the hinges of velocities m
and j let k be the deeper one, and let F, M, 𝓑 be those sums at k:

    j at k, m towards the base     ∂_j T_m = S_m · X_j,   X_j = S_j × F + M ψ''_j + 𝓑 ψ'_j
    m at k, j towards the base     ∂_j T_m = (M S_m) · ψ''_j + (𝓑* S_m) · ψ'_j       (S_j × F and ∂_j S_m · F cancel)
    both at k                      the same, plus (∂_j H*_m) · F
    any, in v                      ∂T_m/∂v_j = S_m · (M χ_j + 𝓑 S_j) = (M S_m) · χ_j + (𝓑* S_m) · S_j

The velocities of a subtree are neighbours. Each hands X_j, M χ_j + 𝓑 S_j, M S_j and 𝓑* S_j to slopes.lanes, eight
velocities to a block; a hinge then writes its rows and columns of both matrices over its subtree, block by block.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.lanes import between_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.spatial import (
    add,
    add_cross,
    cross,
    dot,
    dot6,
    force_cross,
    load3,
    load6,
    load9,
    rigid_mul,
    rot,
    sub,
    unrot,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.hinges import has_changing_map, map_gradient
from limberjack.engine.kernels.slopes.columns import sweep_columns
from limberjack.engine.tables import slopes as sl
from limberjack.engine.tables.plant import KIND, NV, UP, VEND, VI


@kernel
def _put(block, lane, component, n, f):
    at = LANES * component + lane
    block[at], block[at + LANES], block[at + 2 * LANES] = n
    block[at + 3 * LANES], block[at + 4 * LANES], block[at + 5 * LANES] = f


@kernel
def _hand(x, y, block, lane):
    """X_j, M χ_j + 𝓑 S_j, M S_j and 𝓑* S_j of one velocity, from its column x and the sums y of its subtree."""
    m, h, I, W, P = y[sl.Y_M], load3(y, sl.Y_H), load6(y, sl.Y_I), load9(y, sl.Y_W), load3(y, sl.Y_L)
    s, t = load3(x, sl.X_S), load3(x, sl.X_S + 3)
    a = load3(x, sl.X_PSI)
    n, f = rigid_mul(m, h, I, load3(x, sl.X_PSI2), load3(x, sl.X_PSI2 + 3))
    sn, sf = force_cross(s, t, load3(y, sl.Y_F), load3(y, sl.Y_F + 3))
    _put(block, lane, sl.SL_Q, add(add(n, rot(W, a)), sn), add(add_cross(f, a, P), sf))
    n, f = rigid_mul(m, h, I, load3(x, sl.X_PHI), load3(x, sl.X_PHI + 3))
    _put(block, lane, sl.SL_V, add(n, rot(W, s)), add_cross(f, s, P))
    n, f = rigid_mul(m, h, I, s, t)
    _put(block, lane, sl.SL_M, n, f)
    at = LANES * sl.SL_B + lane
    block[at], block[at + LANES], block[at + 2 * LANES] = add_cross(unrot(W, s), P, t)


@kernel
def _load3(block, component):
    at = LANES * component
    return load_lanes(block, at), load_lanes(block, at + LANES), load_lanes(block, at + 2 * LANES)


@kernel
def _load6(block, component):
    a, b = _load3(block, component), _load3(block, component + 3)
    return a[0], a[1], a[2], b[0], b[1], b[2]


@kernel
def _rows(lanes, x, j, start, stop, dq, dv):
    """Row j of both matrices over the velocities start … stop - 1 of the subtree."""
    S = load6(x, sl.X_S)
    for b in range(start // LANES, (stop + LANES - 1) // LANES):
        block, first, last = lanes[b], start - LANES * b, stop - LANES * b
        store_lanes(dq[b], LANES * j, between_lanes(dot6(S, _load6(block, sl.SL_Q)), first, last))
        store_lanes(dv[b], LANES * j, between_lanes(dot6(S, _load6(block, sl.SL_V)), first, last))


@kernel
def _columns(lanes, x, j, start, stop, dq, dv, spare):
    """Column j of both matrices over the velocities start … stop - 1 of the subtree."""
    S, psi, psi2, chi = load3(x, sl.X_S), load3(x, sl.X_PSI), load6(x, sl.X_PSI2), load6(x, sl.X_PHI)
    q, v, at = dq[j // LANES], dv[j // LANES], j % LANES
    for b in range(start // LANES, (stop + LANES - 1) // LANES):
        M, B = _load6(lanes[b], sl.SL_M), _load3(lanes[b], sl.SL_B)
        store_lanes(spare, 0, dot6(psi2, M) + dot(psi, B))
        store_lanes(spare, LANES, dot6(chi, M) + dot(S, B))
        for m in range(max(start, LANES * b), min(stop, LANES * b + LANES)):
            q[LANES * m + at] = spare[m - LANES * b]
            v[LANES * m + at] = spare[m - LANES * b + LANES]


@kernel
def _unit(c):
    return 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2)


@kernel
def _own_map(plant, work, y, k, dq):
    """Adds (∂_j H*_m) · F to the block of a hinge whose map changes with its coordinates."""
    topo, R = plant.topo[k], load9(y, sl.Y_R)
    f = load3(y, sl.Y_F + 3)
    n = unrot(R, sub(load3(y, sl.Y_F), cross(load3(y, sl.Y_P), f)))
    f = unrot(R, f)
    for j in range(topo[NV]):
        for m in range(topo[NV]):
            w, u = map_gradient(plant, work, k, j, _unit(m))
            column = topo[VI] + j
            dq[column // LANES, LANES * (topo[VI] + m) + column % LANES] += dot(w, n) + dot(u, f)


@kernel
def _hand_sums(y, up):
    """Parent's sums of M, 𝓑 and f."""
    for i in range(sl.Y_M, sl.Y_F + 6):
        up[i] += y[i]


@kernel
def _inward(plant, work, slopes, k, dq, dv):
    topo, y = plant.topo[k], slopes.body[k + 1]
    start, own, stop = topo[VI], topo[VI] + topo[NV], topo[VEND]
    for j in range(start, own):
        _hand(slopes.column[j], y, slopes.lanes[j // LANES], j % LANES)
    for j in range(start, own):
        _rows(slopes.lanes, slopes.column[j], j, start, stop, dq, dv)
    for j in range(start, own):
        _columns(slopes.lanes, slopes.column[j], j, start, stop, dq, dv, slopes.force[0])
    if has_changing_map(topo[KIND]):
        _own_map(plant, work, y, k, dq)
    if topo[UP] > 0:
        _hand_sums(y, slopes.body[topo[UP]])


@kernel
def inverse_slopes(plant, work, slopes, v, vdot):
    """∂T/∂q and ∂T/∂v, into the first two matrices of slopes.square.

    Work must hold frames, V and α of all bodies for v and vdot, as forward and inverse dynamics leave them.
    """
    n, blocks = plant.topo.shape[0], slopes.lanes.shape[0]
    for b in range(2 * blocks):
        row = slopes.square[b]
        for i in range(row.shape[0]):
            row[i] = 0.0
    sweep_columns(plant, work, slopes, v, vdot)
    for i in range(n):
        _inward(plant, work, slopes, n - 1 - i, slopes.square[:blocks], slopes.square[blocks : 2 * blocks])
