"""Tip-to-base and base-to-tip steps of aggregated nodes; equations and symbols: `embedding.py`."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import block_lane, load_block, store_block
from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.algebra.small_solves import cholesky
from limberjack.engine.algebra.spatial import (
    add,
    add6,
    add9,
    add_scaled,
    dot,
    inertia_mul,
    load3,
    load6,
    load9,
    store3,
    store6,
    store9,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.embedding import block_count, is_inside
from limberjack.engine.kernels.nodes.articulated import rank_one
from limberjack.engine.kernels.nodes.dispatch import accelerate_body, hand_whole, hinge_out
from limberjack.engine.tables.loops import GH_FREE, GI_BODIES, GI_DOF, GI_DOFS, GI_PARENT, group_view
from limberjack.engine.tables.plant import A_H, A_I, A_M, A_Z, CARRIER, FIRST, GROUP, MEMBER, UP, W_ALPHA, W_V


@kernel
def _add_triples(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def share_force(parts, b, w, u, n, f):
    """A* z' of eight columns [w; u] of A is taken from ε."""
    e = n[0] * w[0] + n[1] * w[1] + n[2] * w[2] + f[0] * u[0] + f[1] * u[1] + f[2] * u[2]
    store_lanes(parts.eps, LANES * b, load_lanes(parts.eps, LANES * b) - e)


@kernel
def share_block(parts, member, b, free, fresh, w, u, fw, fu, n, f):
    """A* F of eight columns [w; u] of A is added to D, which is fresh at the first body, and A* z' taken from ε."""
    stride, at = parts.u.shape[0], LANES * b
    share_force(parts, b, w, u, n, f)
    for r in range(free):
        own, i = parts.a[stride * member + r // LANES], r % LANES
        s = own[i] * fw[0] + own[LANES + i] * fw[1] + own[2 * LANES + i] * fw[2]
        s = s + own[3 * LANES + i] * fu[0] + own[4 * LANES + i] * fu[1] + own[5 * LANES + i] * fu[2]
        store_lanes(parts.d[r], at, s if fresh else load_lanes(parts.d[r], at) + s)


@kernel
def _member_block(parts, member, b, free, fresh, P, n, f):
    """F = P A of eight columns, which is shared."""
    w, u = load_block(parts.a[parts.u.shape[0] * member + b], 0)
    fw, fu = inertia_mul(P, w, u)  # 001 eq. 51: P of the bodies between the columns of A
    share_block(parts, member, b, free, fresh, w, u, fw, fu, n, f)
    return fw, fu


@kernel
def _add_block(block, w, u):
    hw, hu = load_block(block, 0)
    return _add_triples(hw, w), _add_triples(hu, u)


@kernel
def member_column(parts, member, r):
    """Column r of A of a body as (angular, linear)."""
    return block_lane(parts.a[parts.u.shape[0] * member + r // LANES], r % LANES)


@kernel
def hand_columns(plant, work, k, parts, b, inside, w, u):
    """Σ φ F of body k and those that it carries, one block, to its parent in the group, or to U."""
    topo, stride = plant.topo[k], parts.u.shape[0]
    if topo[CARRIER]:
        w, u = _add_block(parts.f[stride * topo[MEMBER] + b], w, u)
    w, u = hinge_out(plant, work, k, w, u)
    to = parts.f[stride * plant.topo[topo[UP] - 1, MEMBER] + b] if inside else parts.u[b]
    if not inside or not topo[FIRST]:
        w, u = _add_block(to, w, u)
    store_block(to, 0, w, u)


@kernel
def hand_on(plant, work, k, parts, inside, P, n, f):
    """Hand P and z of a body, and of those in its group that it carries, to its parent."""
    topo = plant.topo[k]
    if topo[CARRIER]:
        whole = parts.whole[topo[MEMBER]]
        Pa, Pc, Pl = P
        P = add6(load6(whole, A_I), Pa), add9(load9(whole, A_H), Pc), add6(load6(whole, A_M), Pl)  # 001 eq. 54
        n, f = add(n, load3(whole, A_Z)), add(f, load3(whole, A_Z + 3))
    if inside:
        hand_whole(plant, work, k, topo[FIRST], parts.whole[plant.topo[topo[UP] - 1, MEMBER]], P, n, f)
    else:
        hand_whole(plant, work, k, topo[FIRST], work.acc[topo[UP]], P, n, f)


@kernel
def inward_member(plant, work, k, P, n, f):
    """Process one body of a group; P = (Pa, Pc, Pl) and z = [n; f] contain the shares of children outside the group."""
    topo, row = plant.topo[k], work.rows[k + 1]
    g, member = topo[GROUP], topo[MEMBER]
    group = plant.loops.group_int[g]
    parts, inside = group_view(group, work.loops.group), is_inside(plant, topo[UP], g)
    free, fresh = int(parts.head[GH_FREE]), member == group[GI_BODIES] - 1
    bw, bu = member_column(parts, member, free)
    pn, pf = inertia_mul(P, add(load3(row, W_ALPHA), bw), add(load3(row, W_ALPHA + 3), bu))
    n, f = add(n, pn), add(f, pf)
    for b in range(block_count(parts)):
        w, u = _member_block(parts, member, b, free, fresh, P, n, f)
        if group[GI_PARENT] > 0:
            hand_columns(plant, work, k, parts, b, inside, w, u)
    if group[GI_PARENT] > 0:
        hand_on(plant, work, k, parts, inside, P, n, f)


@kernel
def _add_generalized(plant, g, parts, free, tau, add_inertia):
    """ε += X* (T - armature β), D += X* armature X."""
    group = plant.loops.group_int[g]
    for i in range(group[GI_DOFS]):
        j = plant.loops.listed[group[GI_DOF] + i]
        force, x = tau[j] - add_inertia[j] * parts.bias[i], parts.x[i]
        for b in range(block_count(parts)):
            columns = load_lanes(x, LANES * b)
            store_lanes(parts.eps, LANES * b, load_lanes(parts.eps, LANES * b) + force * columns)
            if add_inertia[j] != 0.0:
                for r in range(free):
                    s = add_inertia[j] * x[r]
                    store_lanes(parts.d[r], LANES * b, load_lanes(parts.d[r], LANES * b) + s * columns)


@kernel
def whiten(parts, free):
    """ε ← L⁻¹ ε."""
    for r in range(free):
        s = parts.eps[r]
        for e in range(r):
            s -= parts.d[r, e] * parts.eps[e]
        parts.eps[r] = s * parts.d[r, r]


@kernel
def _whiten_forces(parts, free):
    """U ← U L⁻*."""
    d, u = parts.d, parts.u
    for r in range(free):
        block, i = u[r // LANES], r % LANES
        for c in range(0, 6 * LANES, LANES):
            x = block[c + i]
            for e in range(r):
                x -= d[r, e] * u[e // LANES, c + e % LANES]
            block[c + i] = x * d[r, r]


@kernel
def u_column(parts, r):
    """Column r of the whitened U as (moment, force)."""
    return block_lane(parts.u[r // LANES], r % LANES)


@kernel
def reduce_group(plant, work, g, tau, add_inertia):
    """P(parent) -= U D⁻¹ U*, z(parent) += U D⁻¹ ε, once all bodies of the group have handed in theirs."""
    parts = group_view(plant.loops.group_int[g], work.loops.group)
    free = int(parts.head[GH_FREE])
    _add_generalized(plant, g, parts, free, tau, add_inertia)
    cholesky(parts.d, free)  # 001 eq. 50: D of the aggregated node
    whiten(parts, free)
    up = plant.loops.group_int[g, GI_PARENT]
    if up == 0:
        return
    _whiten_forces(parts, free)
    acc = work.acc[up]
    P = load6(acc, A_I), load9(acc, A_H), load6(acc, A_M)
    n, f = load3(acc, A_Z), load3(acc, A_Z + 3)
    for r in range(free):
        a, l = u_column(parts, r)
        P = rank_one(P, a, l, 1.0)  # 001 eq. 55
        n, f = add_scaled(n, parts.eps[r], a), add_scaled(f, parts.eps[r], l)
    store6(acc, A_I, P[0])
    store9(acc, A_H, P[1])
    store6(acc, A_M, P[2])
    store3(acc, A_Z, n)
    store3(acc, A_Z + 3, f)


@kernel
def solve_node(plant, work, g, parts, vdot, bias):
    """θ̈_R = L⁻* (L⁻¹ε - U* α(parent)), θ̈ = X θ̈_R + β (β left out with bias 0)."""
    group = plant.loops.group_int[g]
    row, free, rates = work.rows[group[GI_PARENT]], int(parts.head[GH_FREE]), parts.free
    w, u = load3(row, W_ALPHA), load3(row, W_ALPHA + 3)
    for i in range(free):
        r = free - 1 - i
        s = parts.eps[r]
        if group[GI_PARENT] > 0:
            a, l = u_column(parts, r)
            s -= dot(a, w) + dot(l, u)
        for e in range(r + 1, free):
            s -= parts.d[e, r] * rates[e]
        rates[r] = s * parts.d[r, r]  # 001 eq. 56
    for i in range(group[GI_DOFS]):
        s = parts.bias[i] if bias else 0.0
        for r in range(free):
            s += parts.x[i, r] * rates[r]
        vdot[plant.loops.listed[group[GI_DOF] + i]] = s


@kernel
def outward_member(plant, work, k, v, vdot):
    """α of one body of a group; for its first body also solve for the accelerations of the whole group."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[MEMBER] == 0:
        parts = group_view(plant.loops.group_int[topo[GROUP]], work.loops.group)
        solve_node(plant, work, topo[GROUP], parts, vdot, True)
    accelerate_body(plant, work, k, v, vdot, load3(row, W_V), load3(row, W_V + 3))
