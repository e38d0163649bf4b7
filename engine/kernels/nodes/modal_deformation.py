"""A modal body's inertia and bias forces at its deformation (003 eqs. 17 to 40, to second order in η).

    T = ½ m v² + v·(ω × s) + v·ṡ + ½ ω·J ω + ω·h + ½ Σ m_r η̇_r²,     s(η), J(η), h = N_r(η) η̇_r,  S_r = ∂s/∂η_r

Modal masses m_r are in the place of armature. Lagrange's equations for quasi-velocities [ω; v] and η:

    n = J ω̇ + s × v̇ + N_r η̈_r + [ω × (J ω + s × v) + v × (m v + ω × s)] + J̇ ω + Ṅ_r η̇_r + ω × h
    f = m v̇ + ω̇ × s + S_r η̈_r + [ω × (m v + ω × s)] + 2 ω × ṡ + Ṡ_r η̇_r
    τ_r = N_r·ω̇ + S_r·v̇ + m_r η̈_r + S_r·(ω × v) + ω·(N1_rs - N1_sr) η̇_s - ½ ω·(∂J/∂η_r) ω

The terms in brackets are those of a rigid body. Ruthlessly linearised, of the others only S_r·(ω × v) is left, which
makes v̇ an acceleration in space, and N, S are constant. Geometric stiffening is in S2, N1 and J2: displacements are of
second order in η, so that loads do work on them.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.blocks import load_block, store_block, sum_triple
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.spatial import add, add_scaled, cross, load3, store3, store6, sym_mul
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.mode_sums import half_suffices, three_sums, three_with_rates
from limberjack.engine.tables import flexible as fl
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.flexible import blocks_of, modal_view


@kernel
def _take(x, w, u, block_w, block_u):
    """[w; u] + x [block], lane by lane; x: lanes."""
    return add_scaled(w, x, block_w), add_scaled(u, x, block_u)


@kernel
def _summed(a):
    """The sums of lanes of a block."""
    return sum_triple(a[0]), sum_triple(a[1])


@kernel
def _half(a, b):
    """½ (a + b) of two blocks, one a half after the other."""
    return (
        (0.5 * (a[0][0] + b[0][0]), 0.5 * (a[0][1] + b[0][1]), 0.5 * (a[0][2] + b[0][2])),
        (0.5 * (a[1][0] + b[1][0]), 0.5 * (a[1][1] + b[1][1]), 0.5 * (a[1][2] + b[1][2])),
    )


@kernel
def _dot(a, lanes):
    """a · lanes, of numbers and of lanes."""
    return a[0] * lanes[0] + a[1] * lanes[1] + a[2] * lanes[2]


@kernel
def _six(a):
    """Six numbers of two triples."""
    return a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2]


@kernel
def take_modes(plant, work, k, q, v):
    """η and η̇ of modal link k into its scratch."""
    topo = plant.topo[k]
    modal = plant.flexible.modal_int[topo[t.SLOT]]
    parts = modal_view(modal, work.modal)
    for r in range(0, parts.eta.shape[0], LANES):
        store_lanes(parts.eta, r, equal_lanes(0.0))
        store_lanes(parts.rate, r, equal_lanes(0.0))
    for r in range(modal[fl.MI_MODES]):
        parts.eta[r], parts.rate[r] = q[topo[t.QI] + r], v[topo[t.VI] + r]


@kernel
def _deformed(table, at, full, n, blocks, b, eta, rate):
    """Block b of [N; S] and of ∂J/∂η at η, of [Ṅ; Ṡ], and of (N1_rs - N1_sr) η̇_s."""
    w, u = load_block(table, at + BLOCK * b)
    J = load_block(table, at + BLOCK * (blocks + b))
    zero = equal_lanes(0.0)
    still = zero, zero, zero
    if not full:
        return (w, u), J, (still, still), still
    step, first = blocks * fl.PER_MODE, at + blocks * 2 * BLOCK
    few = half_suffices(n, b)
    w, dw = three_with_rates(table, first + BLOCK * b, step, n, few, eta, rate, w)
    u, du = three_with_rates(table, first + BLOCK * b + fl.HALF, step, n, few, eta, rate, u)
    m = three_sums(table, first + BLOCK * (blocks + b), step, n, few, eta, J[0])
    p = three_sums(table, first + BLOCK * (blocks + b) + fl.HALF, step, n, few, eta, J[1])
    turning = three_sums(table, first + 2 * BLOCK * blocks + fl.HALF * b, step, n, few, rate, still)
    return (w, u), (m, p), (dw, du), turning


@kernel
def _modal_bias(coupling, J, turning, w, u):
    """S_r·(ω × v) + ω·(N1_rs - N1_sr) η̇_s - ½ ω·(∂J/∂η_r) ω, in lanes."""
    s = _dot(cross(w, u), coupling[1]) + _dot(w, turning)
    s = s - _dot((0.5 * w[0] * w[0], 0.5 * w[1] * w[1], 0.5 * w[2] * w[2]), J[0])
    return s - _dot((w[0] * w[1], w[0] * w[2], w[1] * w[2]), J[1])


@kernel
def deform(plant, work, k, q, v):
    """Scratch of modal link k, whose V is known: coupling, inertia and bias forces at η, η̇."""
    modal = plant.flexible.modal_int[plant.topo[k, t.SLOT]]
    parts, table, at = modal_view(modal, work.modal), plant.flexible.table, modal[fl.MI_TABLE]
    take_modes(plant, work, k, q, v)
    n, blocks, full = modal[fl.MI_MODES], blocks_of(modal[fl.MI_MODES]), modal[fl.MI_FULL] > 0
    row = work.rows[k + 1]
    w, u = load3(row, t.W_V), load3(row, t.W_V + 3)
    zero = equal_lanes(0.0), equal_lanes(0.0), equal_lanes(0.0)
    moved, inertia, h, swelling, fast = (zero, zero), (zero, zero), (zero, zero), (zero, zero), (zero, zero)
    for b in range(blocks):
        eta, rate = load_lanes(parts.eta, LANES * b), load_lanes(parts.rate, LANES * b)
        coupling, J, quick, turning = _deformed(table, at, full, n, blocks, b, parts.eta, parts.rate)
        store_block(parts.coupling[b], 0, coupling[0], coupling[1])
        store_lanes(parts.left, LANES * b, -1.0 * _modal_bias(coupling, J, turning, w, u))
        still = load_block(table, at + BLOCK * b), load_block(table, at + BLOCK * (blocks + b))
        moved = _take(eta, moved[0], moved[1], *_half(coupling, still[0]))
        inertia = _take(eta, inertia[0], inertia[1], *_half(J, still[1]))
        h = _take(rate, h[0], h[1], coupling[0], coupling[1])
        swelling = _take(rate, swelling[0], swelling[1], J[0], J[1])
        fast = _take(rate, fast[0], fast[1], quick[0], quick[1])
    if full:
        sums = sum_triple(moved[1]), _summed(inertia), _summed(h), _summed(swelling), _summed(fast)
        _store_rigid(parts.rigid, w, *sums)
    else:
        for i in range(fl.RIGID):
            parts.rigid[i] = 0.0


@kernel
def _store_rigid(rigid, w, moved, inertia, h, swelling, fast):
    """What deformation and its rate add to the first moment, to the inertia and to the force on the frame."""
    store3(rigid, fl.MR_S, moved)
    store6(rigid, fl.MR_J, _six(inertia))
    store3(rigid, fl.MR_BIAS, add(add(sym_mul(_six(swelling), w), fast[0]), cross(w, h[0])))
    store3(rigid, fl.MR_BIAS + 3, add_scaled(fast[1], 2.0, cross(w, h[1])))
