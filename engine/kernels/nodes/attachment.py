"""Attachment nodes of a modal body: their position and motion, and the bodies attached to them (003 eqs. 3, 9, 62).

p = p0 + Πt η + ½ η* G η,    R = Exp(θ) R0,   θ = Πr η
H* = [R0* J_r(θ) Πr;  R* (Πt + G η)]      velocity [ω; v] of the node against the body, in the node's axes: H* η̇
a  = V × H* η̇ + (dH*/dt) η̇

tip→base   F = P H*,   D_f += H P H*,   μ += φ F,   ε_f -= H (z + P a),   P_rr += φ P φ*,   z_r += φ (z + P a)
base→tip   α = φ* α(body) + H* η̈ + a
mass       X(η) += φ R H*,   M(η, η) += H R H*,   M(η, c) = H X(c) of all that hangs on the node      (003 eq. 50)
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.blocks import block_column, block_lane, load_block, store_block, sum_triple
from limberjack.engine.algebra.bounds import fits, is_in
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.rotation_vectors import exponential, exponential_coefficients, right_jacobian
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_scaled,
    cross,
    dot,
    dot6,
    force_out,
    inertia_mul,
    load3,
    load9,
    motion_cross,
    motion_in,
    mul,
    rigid,
    rot,
    scale,
    store3,
    store9,
    sub,
    unrot,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import matrix_frame
from limberjack.engine.kernels.nodes.body_inertia import gather
from limberjack.engine.kernels.nodes.frames import write_column
from limberjack.engine.kernels.nodes.modal_condensed import condense_node
from limberjack.engine.kernels.nodes.mode_sums import half_suffices, three_with_rates
from limberjack.engine.tables import flexible as fl
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.flexible import blocks_of, modal_view
from limberjack.engine.tables.hinge_types import ATTACHED, MODAL

HINGES = (ATTACHED,)
DEFORMS = True


@kernel
def trusted(plant, counts, k):
    """Whether a row of a foreign Plant may be of this kind: it hangs on the link whose modes move it, and has no
    coordinates; in a group so are the modes."""
    body = plant.topo[k]
    if body[t.KIND] != ATTACHED or not is_in(body[t.SLOT], 0, counts[fl.C_ATTACHED]):
        return False
    if body[t.UP] == 0 or body[t.NV] != 0:
        return False
    up = plant.topo[body[t.UP] - 1]
    if body[t.GROUP] != -1 and up[t.GROUP] != body[t.GROUP]:
        return False
    if up[t.KIND] != MODAL or up[t.SLOT] != plant.flexible.attached_int[body[t.SLOT], fl.AN_MODAL]:
        return False
    return fits(body[t.QI], 0, counts[t.C_Q]) and fits(body[t.VI], 0, counts[t.C_V])


@kernel
def _jacobian_rate(theta, rate, b, da, db):
    """(dJ_r/dt) dθ/dt at d²θ/dt² = 0."""
    once = cross(theta, rate)
    slope = dot(theta, rate)
    return add_scaled(add_scaled(scale(-da * slope, once), db * slope, cross(theta, once)), b, cross(rate, once))


@kernel
def _bent(table, at, curved, n, blocks, b, eta, rate):
    """Block b of Πr and Πt, of Πt + G η, and of G η̇."""
    w, flat = load_block(table, at + fl.ATTACHED_HEAD + BLOCK * b)
    first = at + fl.ATTACHED_HEAD + blocks * BLOCK + fl.HALF * b
    few = half_suffices(n, b)
    u, quick = three_with_rates(table, first, blocks * fl.HALF, n if curved else 0, few, eta, rate, flat)
    return w, flat, u, quick


@kernel
def place_link(plant, work, k, q, v):
    """Frames, V(k), H* and a(k) of an attachment node, whose modal link is deformed."""
    row, up = work.rows[k + 1], work.rows[plant.topo[k, t.UP]]
    attached = plant.flexible.attached_int[plant.topo[k, t.SLOT]]
    modal = plant.flexible.modal_int[attached[fl.AN_MODAL]]
    parts, table, at = modal_view(modal, work.modal), plant.flexible.table, attached[fl.AN_TABLE]
    n, blocks, h = modal[fl.MI_MODES], blocks_of(modal[fl.MI_MODES]), attached[fl.AN_WORK] + fl.ATTACHED_A
    zero = equal_lanes(0.0), equal_lanes(0.0), equal_lanes(0.0)
    theta, turning, moved, speed, fast = zero, zero, zero, zero, zero
    for b in range(blocks):
        eta, rate = load_lanes(parts.eta, LANES * b), load_lanes(parts.rate, LANES * b)
        w, flat, u, quick = _bent(table, at, attached[fl.AN_CURVED] > 0, n, blocks, b, parts.eta, parts.rate)
        store_block(work.modal, h + BLOCK * b, w, u)
        theta, turning = add_scaled(theta, eta, w), add_scaled(turning, rate, w)
        half = (0.5 * (flat[0] + u[0]), 0.5 * (flat[1] + u[1]), 0.5 * (flat[2] + u[2]))
        moved, speed, fast = add_scaled(moved, eta, half), add_scaled(speed, rate, u), add_scaled(fast, rate, quick)
    theta, turning = sum_triple(theta), sum_triple(turning)
    moved, speed, fast = sum_triple(moved), sum_triple(speed), sum_triple(fast)
    # Through memory: otherwise the optimiser would continue with vectors of lanes on some processors and not on others.
    store3(work.modal, attached[fl.AN_WORK], theta)
    store3(work.modal, attached[fl.AN_WORK] + 3, turning)
    R0 = load9(table, at)
    a, b2, da, db = exponential_coefficients(dot(theta, theta))
    R, p, Jr = mul(exponential(theta, a, b2), R0), add(load3(table, at + 9), moved), right_jacobian(theta, a, b2)
    store9(row, t.W_R, R)
    store3(row, t.W_P, p)
    for b in range(blocks):
        w, u = load_block(work.modal, h + BLOCK * b)
        store_block(work.modal, h + BLOCK * b, unrot(R0, rot(Jr, w)), unrot(R, u))
    theta, turning = load3(work.modal, attached[fl.AN_WORK]), load3(work.modal, attached[fl.AN_WORK] + 3)
    dw, du = unrot(R0, rot(Jr, turning)), unrot(R, speed)
    w, u = motion_in(R, p, load3(up, t.W_V), load3(up, t.W_V + 3))
    w, u = add(w, dw), add(u, du)
    aw, au = motion_cross(w, u, dw, du)
    aw = add(aw, unrot(R0, _jacobian_rate(theta, turning, b2, da, db)))
    au = add(au, sub(unrot(R, fast), cross(dw, du)))
    store3(work.modal, attached[fl.AN_WORK], aw)
    store3(work.modal, attached[fl.AN_WORK] + 3, au)
    store3(row, t.W_V, w)
    store3(row, t.W_V + 3, u)


@kernel
def node_map(plant, work, k):
    """(n, blocks, first velocity's link, place of H* in work.modal) of attachment node k."""
    attached = plant.flexible.attached_int[plant.topo[k, t.SLOT]]
    n = plant.flexible.modal_int[attached[fl.AN_MODAL], fl.MI_MODES]
    return n, blocks_of(n), plant.topo[k, t.UP] - 1, attached[fl.AN_WORK] + fl.ATTACHED_A


@kernel
def node_coriolis(plant, work, k):
    """a(k) as (angular, linear)."""
    at = plant.flexible.attached_int[plant.topo[k, t.SLOT], fl.AN_WORK]
    return load3(work.modal, at), load3(work.modal, at + 3)


@kernel
def _column(plant, work, k, r):
    """Column r of H* of attachment node k as (angular, linear)."""
    return block_column(work.modal, plant.flexible.attached_int[plant.topo[k, t.SLOT], fl.AN_WORK] + fl.ATTACHED_A, r)


@kernel
def _power(w, u, n, f):
    """[w; u] · [n; f], one of them of numbers, the other of lanes."""
    return w[0] * n[0] + w[1] * n[1] + w[2] * n[2] + u[0] * f[0] + u[1] * f[1] + u[2] * f[2]


@kernel
def _couple(work, parts, n, h, b, R, p, P, fresh):
    """A block's share of F = P H*, D_f += H P H* (on and above its diagonal) and μ += φ F; fresh: D_f begins here."""
    w, u = load_block(work.modal, h + BLOCK * b)
    a, l = inertia_mul(P, w, u)
    for r in range(min(n, LANES * (b + 1))):
        hw, hu = block_column(work.modal, h, r)
        s = _power(hw, hu, a, l)
        store_lanes(parts.d[r], LANES * b, s if fresh else load_lanes(parts.d[r], LANES * b) + s)
    a, l = force_out(R, p, a, l)
    cw, cu = load_block(parts.coupling[b], 0)
    store_block(
        parts.coupling[b], 0, (cw[0] + a[0], cw[1] + a[1], cw[2] + a[2]), (cu[0] + l[0], cu[1] + l[1], cu[2] + l[2])
    )


@kernel
def _load_modes(work, parts, blocks, h, n, f):
    """ε_f -= H [n; f]."""
    for b in range(blocks):
        w, u = load_block(work.modal, h + BLOCK * b)
        store_lanes(parts.left, LANES * b, load_lanes(parts.left, LANES * b) - _power(n, f, w, u))


@kernel
def inward_link(plant, work, k, h, I, tau, add_inertia, external):
    """Hand P and z of what is attached to node k to the modes and to the frame of its body (003 eq. 62)."""
    P, n, f = gather(plant, work, k, h, I, external)
    topo, row = plant.topo[k], work.rows[k + 1]
    attached = plant.flexible.attached_int[topo[t.SLOT]]
    modal, column = plant.flexible.modal_int[attached[fl.AN_MODAL]], attached[fl.AN_COLUMN]
    modes, blocks, _, h = node_map(plant, work, k)
    parts = modal_view(modal, work.modal)
    aw, au = node_coriolis(plant, work, k)
    pn, pf = inertia_mul(P, aw, au)
    n, f = add(n, pn), add(f, pf)
    _load_modes(work, parts, blocks, h, n, f)
    R, p, up = load9(row, t.W_R), load3(row, t.W_P), work.acc[topo[t.UP]]
    if column < 0 or modal[fl.MI_CONDENSED]:
        if column >= 0:
            condense_node(work, parts, modes, h, column, R, p, P)
        matrix_frame.hand_force(topo[t.FIRST], row, up, n, f)
        return
    fresh = column == 0 and plant.topo[topo[t.UP] - 1, t.GROUP] < 0  # a group has cleared D: not all nodes hand in here
    for b in range(blocks):
        _couple(work, parts, modes, h, b, R, p, P, fresh)
    matrix_frame.hand_across(topo[t.FIRST], row, up, P, n, f)


@kernel
def node_change(plant, work, k, rates):
    """H* rates of attachment node k, as (angular, linear); rates (nv,) of all velocities."""
    modes, _, up, h = node_map(plant, work, k)
    j, w, u = plant.topo[up, t.VI], ZERO, ZERO
    for r in range(modes):
        a, l = block_column(work.modal, h, r)
        w, u = add_scaled(w, rates[j + r], a), add_scaled(u, rates[j + r], l)
    return w, u


@kernel
def bias(plant, work, k, w, u):
    """[w; u] + a(k)."""
    aw, au = node_coriolis(plant, work, k)
    return add(w, aw), add(u, au)


@kernel
def push(plant, work, k, x, w, u):
    """[w; u] + H* x for x (nv,) of all velocities."""
    dw, du = node_change(plant, work, k, x)
    return add(w, dw), add(u, du)


answer = push


@kernel
def accelerate_link(plant, work, k, vdot, w, u):
    """α = φ* α + H* η̈ + a of attachment node k, which sees that of its body as [w; u] (003 eq. 63)."""
    dw, du = node_change(plant, work, k, vdot)
    aw, au = node_coriolis(plant, work, k)
    return add(add(w, aw), dw), add(add(u, au), du)


outward_link = accelerate_link


@kernel
def trace_link(plant, work, k, n, f, tau):
    """Add to τ of the modes the effect of a force on attachment node k."""
    modes, _, up, h = node_map(plant, work, k)
    j = plant.topo[up, t.VI]
    for r in range(modes):
        a, l = block_column(work.modal, h, r)
        tau[j + r] += dot(a, n) + dot(l, f)


@kernel
def write_columns(plant, work, k, J, point):
    """Columns, of the modes that move it, of the Jacobian of a point (000 eq. 0.18)."""
    modes, _, up, _ = node_map(plant, work, k)
    for r in range(modes):
        w, u = _column(plant, work, k, r)
        write_column(J, plant.topo[up, t.VI] + r, work.pose[k + 1], w, u, point)


@kernel
def composite_link(plant, work, k, start, stop, m, h, I, M):
    """What hangs on an attachment node joins its modes: H X in their rows, and the composite's share of μ and D."""
    modes, blocks, up, at = node_map(plant, work, k)
    row, first = work.rows[k + 1], plant.topo[up, t.VI]
    attached = plant.flexible.attached_int[plant.topo[k, t.SLOT]]
    parts, column = modal_view(plant.flexible.modal_int[attached[fl.AN_MODAL]], work.modal), attached[fl.AN_COLUMN]
    pad = LANES * work.columns.shape[0] - M.shape[0]
    for c in range(start, stop):
        n, f = block_lane(work.columns[c // LANES], c % LANES)
        for r in range(modes):
            h_n, h_f = block_column(work.modal, at, r)
            M[first + r, c - pad] = dot(h_n, n) + dot(h_f, f)
    if column >= 0:
        for b in range(blocks):
            _couple(work, parts, modes, at, b, load9(row, t.W_R), load3(row, t.W_P), rigid(m, h, I), column == 0)


@kernel
def trace_entries(plant, work, k, y, first, at, n, f):
    """Coefficients of the modes that move attachment node k, which add to those of other nodes of the body."""
    modes, _, up, h = node_map(plant, work, k)
    for r in range(modes):
        a, l = block_column(work.modal, h, r)
        e = a[0] * n[0] + a[1] * n[1] + a[2] * n[2] + l[0] * f[0] + l[1] * f[1] + l[2] * f[2]
        member = plant.dof_int[plant.topo[up, t.VI] + r, t.DI_MEMBER]
        store_lanes(y[member], first, load_lanes(y[member], first) + plant.loops.scale[at + member] * e)


@kernel
def push_lanes(plant, work, k, x, at, w, u):
    """[w; u] + H*(k) X(η) of attachment node k, which its body's modes move."""
    modes, _, up, h = node_map(plant, work, k)
    j = plant.topo[up, t.VI]
    for r in range(modes):
        a, l = block_column(work.modal, h, r)
        column = load_lanes(x[plant.dof_int[j + r, t.DI_MEMBER]], at)
        w = w[0] + a[0] * column, w[1] + a[1] * column, w[2] + a[2] * column
        u = u[0] + l[0] * column, u[1] + l[1] * column, u[2] + l[2] * column
    return w, u


@kernel
def cross_hinge(plant, work, k, path, z):
    """e += H z of the modes of its body, eight loop rows; returns z, which stays."""
    modes, _, up, h = node_map(plant, work, k)
    j = plant.topo[up, t.VI]
    for r in range(modes):
        w, u = block_column(work.modal, h, r)
        at = LANES * (j + r)
        store_lanes(path, at, load_lanes(path, at) + dot6((w[0], w[1], w[2], u[0], u[1], u[2]), z))
    return z


@kernel
def collect(plant, work, k, path, z):
    """e += H z of the modes of its body, which are in its group."""
    cross_hinge(plant, work, k, path, z)
