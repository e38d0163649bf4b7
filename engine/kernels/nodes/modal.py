"""The link of a modal body and its modes in the sweeps (003 eqs. 50, 62, 63), Π at the body's own frame being zero.

For bodies with more modes than the rank of the loads on their nodes, modal_condensed.py solves the same equations in
another way. F = P H* and H of the nodes: attachment.py.

tip→base   D_f = modal masses + Σ H P H*,    μ = [N; S] + Σ φ F,   ε_f = τ - z_f
           P_R = P_rr - μ D_f⁻¹ μ*,   z_R = z_r + μ D_f⁻¹ ε_f
base→tip   η̈ = D_f⁻¹ (ε_f - μ* α)
mass       X(η) += [N; S],   M(η, η) += modal masses
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import block_lane, less_six, set_block_lane
from limberjack.engine.algebra.bounds import fits, is_in
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add6,
    add_scaled,
    dot,
    load3,
    load6,
    load9,
    motion_in,
    store3,
    store9,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import matrix_frame
from limberjack.engine.kernels.nodes.body_inertia import gather
from limberjack.engine.kernels.nodes.modal_condensed import accelerate_condensed, condense, weigh_modes
from limberjack.engine.kernels.nodes.modal_deformation import deform
from limberjack.engine.kernels.nodes.modal_elimination import (
    eliminate,
    products,
    reduce,
    solved_column,
    store_rows,
    substitute,
)
from limberjack.engine.tables import flexible as fl
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.flexible import modal_view
from limberjack.engine.tables.hinge_types import MODAL

HINGES = (MODAL,)
DEFORMS = HAS_MODES = True


@kernel
def trusted(plant, counts, k):
    """Whether a row of a foreign Plant may be of this kind: it moves by as many coordinates as its modes say."""
    body = plant.topo[k]
    if body[t.KIND] != MODAL or not is_in(body[t.SLOT], 0, counts[fl.C_MODAL]):
        return False
    n = plant.flexible.modal_int[body[t.SLOT], fl.MI_MODES]
    return body[t.NV] == n and fits(body[t.QI], n, counts[t.C_Q]) and fits(body[t.VI], n, counts[t.C_V])


@kernel
def _place_carried(body, row, up):
    """Frames and V of a modal link, which does not move on the link that its hinge moves."""
    R, p = load9(body, t.B_R), load3(body, t.B_P)
    store9(row, t.W_R, R)
    store3(row, t.W_P, p)
    w, u = motion_in(R, p, load3(up, t.W_V), load3(up, t.W_V + 3))
    store3(row, t.W_V, w)
    store3(row, t.W_V + 3, u)


@kernel
def place_link(plant, work, k, q, v):
    """Frame, V(k) and all that depends on the deformation of a modal link whose parent is done."""
    _place_carried(plant.body[k], work.rows[k + 1], work.rows[plant.topo[k, t.UP]])
    deform(plant, work, k, q, v)


@kernel
def deformed_inertia(plant, work, k, h, I):
    """First moment and rotational inertia of modal link k at its deformation, from those of the body at rest."""
    rigid = modal_view(plant.flexible.modal_int[plant.topo[k, t.SLOT]], work.modal).rigid
    return add(h, load3(rigid, fl.MR_S)), add6(I, load6(rigid, fl.MR_J))


@kernel
def deformation_bias(plant, work, k):
    """Force on the frame of modal link k that its modes' rates ask for, as (moment, force)."""
    rigid = modal_view(plant.flexible.modal_int[plant.topo[k, t.SLOT]], work.modal).rigid
    return load3(rigid, fl.MR_BIAS), load3(rigid, fl.MR_BIAS + 3)


@kernel
def _fill(parts, n, rank, tau, add_inertia, j):
    """Rows [μ* | ε | 0] of solved, D in factor."""
    for r in range(n):
        block, i = parts.coupling[r // LANES], r % LANES
        for c in range(fl.MS_EPS):
            parts.solved[r, c] = block[LANES * c + i]
        parts.solved[r, fl.MS_EPS], parts.solved[r, fl.MS_EPS + 1] = parts.left[r] + tau[j + r], 0.0
        for b in range(r // LANES * LANES, parts.eta.shape[0], LANES):
            store_lanes(parts.factor[r], b, load_lanes(parts.d[r], b) if rank > 0 else equal_lanes(0.0))
        parts.factor[r, r] += add_inertia[j + r]


@kernel
def modal_column(coupling, r):
    """Column r of μ as (moment, force)."""
    return block_lane(coupling[r // LANES], r % LANES)


@kernel
def _reduce(plant, work, k, P, n, f, tau, add_inertia):
    """P_R and z_R of a modal link, whose nodes have handed in theirs, to the link that carries it (003 eq. 62)."""
    topo, row = plant.topo[k], work.rows[k + 1]
    modal = plant.flexible.modal_int[topo[t.SLOT]]
    parts, modes, rank, j = modal_view(modal, work.modal), modal[fl.MI_MODES], modal[fl.MI_RANK], topo[t.VI]
    if modal[fl.MI_CONDENSED]:
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
    if topo[t.UP] > 0:
        matrix_frame.hand_across(topo[t.FIRST], row, work.acc[topo[t.UP]], P, n, f)


@kernel
def inward_link(plant, work, k, h, I, tau, add_inertia, external):
    """P and z of a modal link, its modes reduced, handed to the link that carries it; h, I: as of the body at rest."""
    h, I = deformed_inertia(plant, work, k, h, I)
    P, n, f = gather(plant, work, k, h, I, external)
    bn, bf = deformation_bias(plant, work, k)
    _reduce(plant, work, k, P, add(n, bn), add(f, bf), tau, add_inertia)


@kernel
def _solve(plant, work, k, vdot, w, u):
    """η̈ of a modal link whose frame accelerates by [w; u] (003 eq. 63)."""
    topo = plant.topo[k]
    modal = plant.flexible.modal_int[topo[t.SLOT]]
    parts, modes, j = modal_view(modal, work.modal), modal[fl.MI_MODES], topo[t.VI]
    if modal[fl.MI_CONDENSED]:
        accelerate_condensed(parts, modes, modal[fl.MI_RANK], w, u, vdot, j)
    else:
        substitute(parts, modes, w, u, vdot, j)


@kernel
def outward_link(plant, work, k, vdot, w, u):
    """η̈, and α of the link, which is [w; u]."""
    _solve(plant, work, k, vdot, w, u)
    return w, u


@kernel
def answer(plant, work, k, out, w, u):
    """The answer of its modes to ε where the link moves by [w; u]."""
    _solve(plant, work, k, out, w, u)
    return w, u


@kernel
def accelerate_link(plant, work, k, vdot, w, u):
    """α of the link, which is [w; u]."""
    return w, u


@kernel
def _modal_forces(plant, work, k, vdot, w, u, tau):
    """τ of the modes of link k, but for what hangs on its nodes, and what η̈ does to the force on its frame."""
    topo = plant.topo[k]
    modal = plant.flexible.modal_int[topo[t.SLOT]]
    parts, modes, j = modal_view(modal, work.modal), modal[fl.MI_MODES], topo[t.VI]
    n, f = ZERO, ZERO
    for r in range(modes):
        a, l = modal_column(parts.coupling, r)
        n, f = add_scaled(n, vdot[j + r], a), add_scaled(f, vdot[j + r], l)
        tau[j + r] = dot(a, w) + dot(l, u) - parts.left[r] + plant.armature[j + r] * vdot[j + r]
    return n, f


@kernel
def add_force(plant, work, k, vdot, w, u, n, f, tau):
    """[n; f] and what the modes add to it on their link, which accelerates by [w; u]; τ of the modes (003 eq. 50)."""
    bn, bf = deformation_bias(plant, work, k)
    mn, mf = _modal_forces(plant, work, k, vdot, w, u, tau)
    return add(add(n, bn), mn), add(add(f, bf), mf)


@kernel
def momentum(plant, work, k):
    """h and ṡ of modal link k: what the modes' rates add to the momentum of its frame."""
    modal = plant.flexible.modal_int[plant.topo[k, t.SLOT]]
    parts, modes = modal_view(modal, work.modal), modal[fl.MI_MODES]
    n, f = ZERO, ZERO
    for r in range(modes):
        a, l = modal_column(parts.coupling, r)
        n, f = add_scaled(n, parts.rate[r], a), add_scaled(f, parts.rate[r], l)
    return n, f


@kernel
def composite_link(plant, work, k, start, stop, m, h, I, M):
    """Columns and rows of the modes of a body: μ, and what hangs on its nodes."""
    modal = plant.flexible.modal_int[plant.topo[k, t.SLOT]]
    parts, v = modal_view(modal, work.modal), plant.topo[k, t.VI]
    for r in range(modal[fl.MI_MODES]):
        n, f = modal_column(parts.coupling, r)
        set_block_lane(work.columns[(start + r) // LANES], (start + r) % LANES, n, f)
        for c in range(modal[fl.MI_MODES]):
            M[v + r, v + c] = parts.d[min(r, c), max(r, c)] if modal[fl.MI_RANK] > 0 else 0.0


@kernel
def clear_shares(plant, work, k):
    """D of modal link k begins at zero: nodes outside the group add to it."""
    d = modal_view(plant.flexible.modal_int[plant.topo[k, t.SLOT]], work.modal).d
    for r in range(d.shape[0]):
        for b in range(0, d.shape[1], LANES):
            store_lanes(d[r], b, equal_lanes(0.0))


@kernel
def cross_hinge(plant, work, k, path, left):
    """y = L⁻¹ e of eight loop rows, whose nodes have handed on theirs; returns z⁺ = z - (μ L⁻*) y, z: `left`."""
    modal = plant.flexible.modal_int[plant.topo[k, t.SLOT]]
    parts, j = modal_view(modal, work.modal), plant.topo[k, t.VI]
    for c in range(modal[fl.MI_MODES]):
        y = load_lanes(path, LANES * (j + c))
        for e in range(c):
            y = y - parts.factor[e, c] * load_lanes(path, LANES * (j + e))
        y = parts.factor[c, c] * y
        store_lanes(path, LANES * (j + c), y)
        w, u = solved_column(parts.solved, c)
        left = less_six(left, (w[0], w[1], w[2], u[0], u[1], u[2]), y)
    return left


@kernel
def largest_weight(plant, work, k, most):
    """The larger of `most` and of the squares of L⁻¹'s diagonal."""
    topo = plant.topo[k]
    modal = modal_view(plant.flexible.modal_int[topo[t.SLOT]], work.modal)
    for r in range(topo[t.NV]):
        most = max(most, modal.factor[r, r] * modal.factor[r, r])
    return most


@kernel
def add_innovation(plant, work, k, path, f):
    """ε += e f of eight loop rows."""
    topo = plant.topo[k]
    modal = modal_view(plant.flexible.modal_int[topo[t.SLOT]], work.modal)
    for r in range(topo[t.NV]):
        modal.solved[r, fl.MS_EPS] += sum_lanes(load_lanes(path, LANES * (topo[t.VI] + r)) * f)


@kernel
def clear_innovation(plant, work, k):
    """ε = 0."""
    topo = plant.topo[k]
    modal = modal_view(plant.flexible.modal_int[topo[t.SLOT]], work.modal)
    for r in range(topo[t.NV]):
        modal.solved[r, fl.MS_EPS] = 0.0
