"""Articulated-body dynamics of modal bodies in two half-steps (003 eqs. 62, 63), Π at the body's own frame being zero.

Bodies with more modes than what hangs on their nodes can tell apart go another way through the same equations
(modal_condensed.py).

nodes      F = P H*,   D_f += H P H*,   μ += φ F,   ε_f -= H (z + P a),   P_rr += φ P φ*,   z_r += φ (z + P a)
body       D_f = modal masses + Σ nodes,    μ = [N; S] + Σ nodes,   ε_f = τ - z_f
           P_R = P_rr - μ D_f⁻¹ μ*,   z_R = z_r + μ D_f⁻¹ ε_f
base→tip   η̈ = D_f⁻¹ (ε_f - μ* α),   α(node) = φ* α + H* η̈ + a
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import block_lane, load_block, store_block
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add6,
    add_scaled,
    dot,
    force_out,
    inertia_mul,
    load3,
    load6,
    load9,
)
from limberjack.engine.algebra.views import BLOCK, LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.articulated import hand_force, hand_inward
from limberjack.engine.kernels.nodes.modal_condensed import accelerate_condensed, condense, condense_node, weigh_modes
from limberjack.engine.kernels.nodes.modal_elimination import eliminate, products, reduce, store_rows, substitute
from limberjack.engine.kernels.nodes.modal_nodes import node_column, node_coriolis, node_map
from limberjack.engine.tables.flexible import (
    AN_COLUMN,
    AN_MODAL,
    MI_CONDENSED,
    MI_MODES,
    MI_RANK,
    MR_BIAS,
    MR_J,
    MR_S,
    MS_EPS,
    modal_view,
)
from limberjack.engine.tables.plant import FIRST, GROUP, SLOT, UP, VI, W_P, W_R


@kernel
def deformed_inertia(plant, work, k, h, I):
    """First moment and rotational inertia of modal link k at its deformation, from those of the body at rest."""
    rigid = modal_view(plant.flexible.modal_int[plant.topo[k, SLOT]], work.modal).rigid
    return add(h, load3(rigid, MR_S)), add6(I, load6(rigid, MR_J))


@kernel
def deformation_bias(plant, work, k):
    """Force on the frame of modal link k that its modes' rates ask for, as (moment, force)."""
    rigid = modal_view(plant.flexible.modal_int[plant.topo[k, SLOT]], work.modal).rigid
    return load3(rigid, MR_BIAS), load3(rigid, MR_BIAS + 3)


@kernel
def _power(w, u, n, f):
    """[w; u] · [n; f], one of them of numbers, the other of lanes."""
    return w[0] * n[0] + w[1] * n[1] + w[2] * n[2] + u[0] * f[0] + u[1] * f[1] + u[2] * f[2]


@kernel
def couple(work, parts, n, h, b, R, p, P, fresh):
    """A block's share of F = P H*, D_f += H P H* (on and above its diagonal) and μ += φ F; fresh: D_f begins here."""
    w, u = load_block(work.modal, h + BLOCK * b)
    a, l = inertia_mul(P, w, u)
    for r in range(min(n, LANES * (b + 1))):
        hw, hu = node_column(work.modal, h, r)
        s = _power(hw, hu, a, l)
        store_lanes(parts.d[r], LANES * b, s if fresh else load_lanes(parts.d[r], LANES * b) + s)
    a, l = force_out(R, p, a, l)
    cw, cu = load_block(parts.coupling[b], 0)
    store_block(
        parts.coupling[b], 0, (cw[0] + a[0], cw[1] + a[1], cw[2] + a[2]), (cu[0] + l[0], cu[1] + l[1], cu[2] + l[2])
    )


@kernel
def load_modes(work, parts, blocks, h, n, f):
    """ε_f -= H [n; f]."""
    for b in range(blocks):
        w, u = load_block(work.modal, h + BLOCK * b)
        store_lanes(parts.left, LANES * b, load_lanes(parts.left, LANES * b) - _power(n, f, w, u))


@kernel
def inward_node(plant, work, k, P, n, f):
    """What hangs on attachment node k, handed to the modes and to the frame of its body."""
    topo, row = plant.topo[k], work.rows[k + 1]
    attached = plant.flexible.attached_int[topo[SLOT]]
    modal, column = plant.flexible.modal_int[attached[AN_MODAL]], attached[AN_COLUMN]
    modes, blocks, _, h = node_map(plant, work, k)
    parts = modal_view(modal, work.modal)
    aw, au = node_coriolis(plant, work, k)
    pn, pf = inertia_mul(P, aw, au)
    n, f = add(n, pn), add(f, pf)
    load_modes(work, parts, blocks, h, n, f)
    R, p, up = load9(row, W_R), load3(row, W_P), work.acc[topo[UP]]
    if column < 0 or modal[MI_CONDENSED]:
        if column >= 0:
            condense_node(work, parts, modes, h, column, R, p, P)
        hand_force(topo[FIRST], row, up, n, f)
        return
    fresh = column == 0 and plant.topo[topo[UP] - 1, GROUP] < 0  # a group has cleared D: not all nodes hand in here
    for b in range(blocks):
        couple(work, parts, modes, h, b, R, p, P, fresh)
    hand_inward(topo[FIRST], row, up, P, n, f)


@kernel
def _fill(parts, n, rank, tau, add_inertia, j):
    """Rows [μ* | ε | 0] of solved, D in factor."""
    for r in range(n):
        block, i = parts.coupling[r // LANES], r % LANES
        for c in range(MS_EPS):
            parts.solved[r, c] = block[LANES * c + i]
        parts.solved[r, MS_EPS], parts.solved[r, MS_EPS + 1] = parts.left[r] + tau[j + r], 0.0
        for b in range(r // LANES * LANES, parts.eta.shape[0], LANES):
            store_lanes(parts.factor[r], b, load_lanes(parts.d[r], b) if rank > 0 else equal_lanes(0.0))
        parts.factor[r, r] += add_inertia[j + r]


@kernel
def modal_column(coupling, r):
    """Column r of μ as (moment, force)."""
    return block_lane(coupling[r // LANES], r % LANES)


@kernel
def inward_modal(plant, work, k, P, n, f, tau, add_inertia):
    """P_R and z_R of a modal link, whose nodes have handed in theirs, to the link that carries it."""
    topo, row = plant.topo[k], work.rows[k + 1]
    modal = plant.flexible.modal_int[topo[SLOT]]
    parts, modes, rank, j = modal_view(modal, work.modal), modal[MI_MODES], modal[MI_RANK], topo[VI]
    if modal[MI_CONDENSED]:
        weigh_modes(parts, modes, tau, add_inertia, j)
        store_rows(parts.whole, 0, 0, products(parts.rows, parts.weight, modes, 0, 0))
        P, n, f = reduce(P, n, f, parts.whole, 1.0)
        if rank > 0:
            condense(parts, modes, rank)
            P, n, f = reduce(P, n, f, parts.whole, -1.0)
    else:
        _fill(parts, modes, rank, tau, add_inertia, j)
        eliminate(parts, modes)
        P, n, f = reduce(P, n, f, parts.whole, 1.0)
    if topo[UP] > 0:
        hand_inward(topo[FIRST], row, work.acc[topo[UP]], P, n, f)


@kernel
def outward_modal(plant, work, k, vdot, w, u):
    """η̈ of a modal link whose frame accelerates by [w; u]."""
    topo = plant.topo[k]
    modal = plant.flexible.modal_int[topo[SLOT]]
    parts, modes, j = modal_view(modal, work.modal), modal[MI_MODES], topo[VI]
    if modal[MI_CONDENSED]:
        accelerate_condensed(parts, modes, modal[MI_RANK], w, u, vdot, j)
    else:
        substitute(parts, modes, w, u, vdot, j)


@kernel
def node_change(plant, work, k, rates):
    """H* rates of attachment node k, as (angular, linear); rates (nv,) of all velocities."""
    modes, _, up, h = node_map(plant, work, k)
    j, w, u = plant.topo[up, VI], ZERO, ZERO
    for r in range(modes):
        a, l = node_column(work.modal, h, r)
        w, u = add_scaled(w, rates[j + r], a), add_scaled(u, rates[j + r], l)
    return w, u


@kernel
def modal_forces(plant, work, k, vdot, w, u, tau):
    """τ of the modes of link k, but for what hangs on its nodes, and what η̈ does to the force on its frame."""
    topo = plant.topo[k]
    modal = plant.flexible.modal_int[topo[SLOT]]
    parts, modes, j = modal_view(modal, work.modal), modal[MI_MODES], topo[VI]
    n, f = ZERO, ZERO
    for r in range(modes):
        a, l = modal_column(parts.coupling, r)
        n, f = add_scaled(n, vdot[j + r], a), add_scaled(f, vdot[j + r], l)
        tau[j + r] = dot(a, w) + dot(l, u) - parts.left[r] + plant.armature[j + r] * vdot[j + r]
    return n, f


@kernel
def node_forces(plant, work, k, n, f, tau):
    """τ of the modes gets what a force on attachment node k asks of them."""
    modes, _, up, h = node_map(plant, work, k)
    j = plant.topo[up, VI]
    for r in range(modes):
        a, l = node_column(work.modal, h, r)
        tau[j + r] += dot(a, n) + dot(l, f)


@kernel
def modal_momentum(plant, work, k):
    """h and ṡ of modal link k: what the modes' rates add to the momentum of its frame."""
    modal = plant.flexible.modal_int[plant.topo[k, SLOT]]
    parts, modes = modal_view(modal, work.modal), modal[MI_MODES]
    n, f = ZERO, ZERO
    for r in range(modes):
        a, l = modal_column(parts.coupling, r)
        n, f = add_scaled(n, parts.rate[r], a), add_scaled(f, parts.rate[r], l)
    return n, f
