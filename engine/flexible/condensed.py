"""Modal bodies with few loaded nodes: D is the modal masses m but for six ranks of each node (003 eq. 62, Woodbury).

node       P = L L*,   V = L* H (six columns of it),   X = φ L
body       D = m + V* V,   K = 1 + V m⁻¹ V*,   U = N m⁻¹ V* - X,   ε' = V m⁻¹ ε
           P_R = P_body - N m⁻¹ N* + U K⁻¹ U*,   z_R = z + N m⁻¹ ε - U K⁻¹ ε'
base→tip   g = K⁻¹ (ε' - U* α),   η̈ = m⁻¹ (ε - N* α - V* g)

It costs 6 n of a node instead of D's n², and nothing of a body that carries nothing. N is [N; S] of deformation.py,
for n modes.
"""

from __future__ import annotations

import math

from limberjack.engine.articulated import pivot
from limberjack.engine.blocks import block_lane, load_block, store_block
from limberjack.engine.flexible.elimination import products, store_rows, substitute, subtract_rows
from limberjack.engine.flexible.layout import MS_EPS, blocks_of
from limberjack.engine.flexible.nodes import node_column
from limberjack.engine.kernel import kernel
from limberjack.engine.lanes import equal_lanes, load_lanes, store_lanes, sum_lanes
from limberjack.engine.spatial import force_out, store3, sym_of_product
from limberjack.engine.views import BLOCK, LANES


@kernel
def _lower3(S, scale):
    """A (xx, yx, yy, zx, zy, zz) of S = A A*, and its inverted diagonal; directions without inertia have zeros."""
    d0 = pivot(S[0], scale[0])
    i0 = 1.0 / d0 if d0 > 0.0 else 0.0
    yx, zx = S[3] * i0, S[4] * i0
    d1 = pivot(S[1] - yx * S[3], scale[1])
    i1 = 1.0 / d1 if d1 > 0.0 else 0.0
    s = S[5] - zx * S[3]
    zy = s * i1
    d2 = pivot(S[2] - zx * S[4] - zy * s, scale[2])
    i2 = 1.0 / d2 if d2 > 0.0 else 0.0
    x, y, z = math.sqrt(d0), math.sqrt(d1), math.sqrt(d2)
    return (x, yx * x, y, zx * x, zy * y, z), (i0 * x, i1 * y, i2 * z)


@kernel
def _forward3(A, inverse, b):
    """A⁻¹ b."""
    x = inverse[0] * b[0]
    y = inverse[1] * (b[1] - A[1] * x)
    return x, y, inverse[2] * (b[2] - A[3] * x - A[4] * y)


@kernel
def lower6(P):
    """A, B, C of P = [[I, H], [H*, M]] = L L*, L = [[A, 0], [B, C]]; P may be singular."""
    I, H, M = P
    A, inverse = _lower3(I, I)
    x, y = _forward3(A, inverse, (H[0], H[3], H[6])), _forward3(A, inverse, (H[1], H[4], H[7]))
    z = _forward3(A, inverse, (H[2], H[5], H[8]))
    B = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    S = sym_of_product(B, B)
    C, _ = _lower3((M[0] - S[0], M[1] - S[1], M[2] - S[2], M[3] - S[3], M[4] - S[4], M[5] - S[5]), M)
    return A, B, C


@kernel
def _store_lower(block, at, P):
    """L of P = L L* as a block of spatial vectors, its columns."""
    A, B, C = lower6(P)
    for i in range(6):
        store_lanes(block, at + LANES * i, equal_lanes(0.0))
    block[at] = A[0]
    block[at + LANES], block[at + LANES + 1] = A[1], A[2]
    store3(block, at + 2 * LANES, (A[3], A[4], A[5]))
    at += 3 * LANES
    store3(block, at, (B[0], B[1], B[2]))
    store3(block, at + LANES, (B[3], B[4], B[5]))
    store3(block, at + 2 * LANES, (B[6], B[7], B[8]))
    block[at + 3] = C[0]
    block[at + LANES + 3], block[at + LANES + 4] = C[1], C[2]
    store3(block, at + 2 * LANES + 3, (C[3], C[4], C[5]))


@kernel
def condense_node(work, parts, n, h, column, R, p, P):
    """V of a loaded node in the modes' rows, X in the rows of solved; H* is at h of work.modal, L behind it."""
    block, at = work.modal, h + BLOCK * blocks_of(n)
    _store_lower(block, at, P)
    x, y = load_block(block, at)
    for r in range(n):
        w, u = node_column(block, h, r)
        v = w[0] * x[0] + w[1] * x[1] + w[2] * x[2] + u[0] * y[0] + u[1] * y[1] + u[2] * y[2]
        store_lanes(parts.rows[r], LANES + column, v)
    x, y = force_out(R, p, x, y)
    store_block(block, at, x, y)
    for c in range(6):
        w, u = block_lane(block, at + c)
        right = parts.solved[column + c]
        store3(right, 0, w)
        store3(right, 3, u)
        right[MS_EPS], right[MS_EPS + 1] = 0.0, 0.0


@kernel
def weigh_modes(parts, n, tau, add_inertia, j):
    """N and ε in the modes' rows, and m⁻¹."""
    for r in range(n):
        row = parts.rows[r]
        w, u = block_lane(parts.coupling[r // LANES], r % LANES)
        store3(row, 0, w)
        store3(row, 3, u)
        row[MS_EPS], row[MS_EPS + 1] = parts.left[r] + tau[j + r], 0.0
        parts.weight[r] = 1.0 / pivot(add_inertia[j + r], 1.0)


@kernel
def condense(parts, n, rank):
    """K in factor, [U* | ε'] in solved, where X is."""
    rows, weight, solved, factor = parts.rows, parts.weight, parts.solved, parts.factor
    for i in range(0, rank, 6):
        subtract_rows(solved, i, products(rows, weight, n, LANES + i, 0))
        for b in range(i // LANES * LANES, rank, LANES):
            store_rows(factor, i, b, products(rows, weight, n, LANES + i, LANES + b))
        for e in range(6):
            factor[i + e, i + e] += 1.0


@kernel
def accelerate_condensed(parts, n, rank, w, u, vdot, j):
    """η̈ of a body whose frame accelerates by [w; u]; the last of its rows is [w; u | -1 | 0 | g]."""
    x, rows = parts.rows[n], parts.rows
    store3(x, 0, w)
    store3(x, 3, u)
    x[MS_EPS], x[MS_EPS + 1] = -1.0, 0.0
    if rank > 0:
        substitute(parts, rank, w, u, x, LANES)
    for r in range(n):
        s = load_lanes(rows[r], 0) * load_lanes(x, 0)
        for b in range(LANES, LANES + rank, LANES):
            s = s + load_lanes(rows[r], b) * load_lanes(x, b)
        vdot[j + r] = -parts.weight[r] * sum_lanes(s)
