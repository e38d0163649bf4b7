"""Attachment nodes of a modal body: where they are, how they move, and what hangs on them (003 eqs. 3, 9, 62).

p = p0 + Πt η + ½ η* G η,    R = Exp(θ) R0,   θ = Πr η
H* = [R0* J_r(θ) Πr;  R* (Πt + G η)]      velocity [ω; v] of the node against the body, in the node's axes: H* η̇
a  = V × H* η̇ + (dH*/dt) η̇
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import block_lane, load_block, store_block, sum_triple
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes
from limberjack.engine.algebra.rotation_vectors import exponential, exponential_coefficients, right_jacobian
from limberjack.engine.algebra.spatial import (
    add,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    motion_cross,
    motion_in,
    mul,
    rot,
    scale,
    store3,
    store9,
    sub,
    unrot,
)
from limberjack.engine.algebra.views import BLOCK, LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.flexible import (
    AN_CURVED,
    AN_MODAL,
    AN_TABLE,
    AN_WORK,
    ATTACHED_A,
    ATTACHED_HEAD,
    HALF,
    MI_MODES,
    blocks_of,
    modal_view,
)
from limberjack.engine.tables.plant import SLOT, UP, W_P, W_R, W_V


@kernel
def _jacobian_rate(t, rate, b, da, db):
    """(dJ_r/dt) dθ/dt at d²θ/dt² = 0."""
    once = cross(t, rate)
    slope = dot(t, rate)
    return add_scaled(add_scaled(scale(-da * slope, once), db * slope, cross(t, once)), b, cross(rate, once))


@kernel
def _take3(x, a, lanes):
    """x + a lanes, of triples x and a."""
    return x[0] + lanes * a[0], x[1] + lanes * a[1], x[2] + lanes * a[2]


@kernel
def _bent(table, at, curved, n, blocks, b, eta, rate):
    """Block b of Πr and Πt, of Πt + G η, and of G η̇."""
    w, u = load_block(table, at + ATTACHED_HEAD + BLOCK * b)
    flat = u
    quick = (0.0 * u[0], 0.0 * u[1], 0.0 * u[2])
    if curved:
        for s in range(n):
            i = at + ATTACHED_HEAD + blocks * (BLOCK + s * HALF) + HALF * b
            g = load_lanes(table, i), load_lanes(table, i + LANES), load_lanes(table, i + 2 * LANES)
            u = (u[0] + eta[s] * g[0], u[1] + eta[s] * g[1], u[2] + eta[s] * g[2])
            quick = (quick[0] + rate[s] * g[0], quick[1] + rate[s] * g[1], quick[2] + rate[s] * g[2])
    return w, flat, u, quick


@kernel
def place_node(plant, work, k, row, up):
    """Frames, V(k), H* and a(k) of an attachment node, whose modal link is deformed."""
    attached = plant.flexible.attached_int[plant.topo[k, SLOT]]
    modal = plant.flexible.modal_int[attached[AN_MODAL]]
    parts, table, at = modal_view(modal, work.modal), plant.flexible.table, attached[AN_TABLE]
    n, blocks, h = modal[MI_MODES], blocks_of(modal[MI_MODES]), attached[AN_WORK] + ATTACHED_A
    zero = equal_lanes(0.0), equal_lanes(0.0), equal_lanes(0.0)
    theta, turning, moved, speed, fast = zero, zero, zero, zero, zero
    for b in range(blocks):
        eta, rate = load_lanes(parts.eta, LANES * b), load_lanes(parts.rate, LANES * b)
        w, flat, u, quick = _bent(table, at, attached[AN_CURVED] > 0, n, blocks, b, parts.eta, parts.rate)
        store_block(work.modal, h + BLOCK * b, w, u)
        theta, turning = _take3(theta, w, eta), _take3(turning, w, rate)
        half = (0.5 * (flat[0] + u[0]), 0.5 * (flat[1] + u[1]), 0.5 * (flat[2] + u[2]))
        moved, speed, fast = _take3(moved, half, eta), _take3(speed, u, rate), _take3(fast, quick, rate)
    theta, turning = sum_triple(theta), sum_triple(turning)
    moved, speed, fast = sum_triple(moved), sum_triple(speed), sum_triple(fast)
    # Through memory: from sums of lanes the optimiser would go on in vectors, on some processors and not on others.
    store3(work.modal, attached[AN_WORK], theta)
    store3(work.modal, attached[AN_WORK] + 3, turning)
    R0 = load9(table, at)
    a, b2, da, db = exponential_coefficients(dot(theta, theta))
    R, p, Jr = mul(exponential(theta, a, b2), R0), add(load3(table, at + 9), moved), right_jacobian(theta, a, b2)
    store9(row, W_R, R)
    store3(row, W_P, p)
    for b in range(blocks):
        w, u = load_block(work.modal, h + BLOCK * b)
        store_block(work.modal, h + BLOCK * b, unrot(R0, rot(Jr, w)), unrot(R, u))
    theta, turning = load3(work.modal, attached[AN_WORK]), load3(work.modal, attached[AN_WORK] + 3)
    dw, du = unrot(R0, rot(Jr, turning)), unrot(R, speed)
    w, u = motion_in(R, p, load3(up, W_V), load3(up, W_V + 3))
    w, u = add(w, dw), add(u, du)
    aw, au = motion_cross(w, u, dw, du)
    aw = add(aw, unrot(R0, _jacobian_rate(theta, turning, b2, da, db)))
    au = add(au, sub(unrot(R, fast), cross(dw, du)))
    store3(work.modal, attached[AN_WORK], aw)
    store3(work.modal, attached[AN_WORK] + 3, au)
    store3(row, W_V, w)
    store3(row, W_V + 3, u)
    return w, u


@kernel
def node_map(plant, work, k):
    """(n, blocks, first velocity's link, place of H* in work.modal) of attachment node k."""
    attached = plant.flexible.attached_int[plant.topo[k, SLOT]]
    n = plant.flexible.modal_int[attached[AN_MODAL], MI_MODES]
    return n, blocks_of(n), plant.topo[k, UP] - 1, attached[AN_WORK] + ATTACHED_A


@kernel
def node_coriolis(plant, work, k):
    """a(k) as (angular, linear)."""
    at = plant.flexible.attached_int[plant.topo[k, SLOT], AN_WORK]
    return load3(work.modal, at), load3(work.modal, at + 3)


@kernel
def node_column(blocks, at, r):
    """Column r of H* in work.modal as (angular, linear)."""
    return block_lane(blocks, at + r // LANES * BLOCK + r % LANES)
