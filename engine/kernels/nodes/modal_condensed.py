"""Modal bodies with few loaded nodes: D is the modal masses m but for six ranks of each node (003 eq. 62, Woodbury).

node       P of what hangs on it,   H*,   φ
body       D = m + H P H*,   S = H* m⁻¹ H,   Z = [N m⁻¹ H - φ | H* m⁻¹ ε]*,   W = (1 + P S)⁻¹ P Z
           P_R = P_body - N m⁻¹ N* + Z* W,   z_R = z + N m⁻¹ ε - Z* W_ε
base→tip   g = W [-α | 1],   η̈ = m⁻¹ (ε - N* α - H g)

(H: a row for each mode, N: [N; S] of modal_deformation.py.) This needs neither an inverse nor a root of P, which may be
singular, and indefinite if attached bodies are bent, as long as D is not. It costs 6 n for each node instead of n² for
D, and nothing for a body that carries nothing.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES, padded
from limberjack.engine.algebra.blocks import block_column, block_lane
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.several_worlds import several_worlds
from limberjack.engine.algebra.small_solves import pivot
from limberjack.engine.algebra.spatial import ZERO, cross, dot, load3, store3
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.modal_elimination import products, store_rows, subtract_rows
from limberjack.engine.tables.flexible import MS_EPS


@kernel
def _store_row(row, at, a, b):
    """Eight numbers [a; b; 0; 0]."""
    store3(row, at, a)
    store3(row, at + 3, b)
    row[at + 6], row[at + 7] = 0.0, 0.0


@kernel
def _store_inertia(rows, i, P):
    """P = [[I, H], [H*, M]] in rows i … i + 5."""
    Pa, Pc, Pl = P
    _store_row(rows[i], 0, (Pa[0], Pa[3], Pa[4]), (Pc[0], Pc[1], Pc[2]))
    _store_row(rows[i + 1], 0, (Pa[3], Pa[1], Pa[5]), (Pc[3], Pc[4], Pc[5]))
    _store_row(rows[i + 2], 0, (Pa[4], Pa[5], Pa[2]), (Pc[6], Pc[7], Pc[8]))
    _store_row(rows[i + 3], 0, (Pc[0], Pc[3], Pc[6]), (Pl[0], Pl[3], Pl[4]))
    _store_row(rows[i + 4], 0, (Pc[1], Pc[4], Pc[7]), (Pl[3], Pl[1], Pl[5]))
    _store_row(rows[i + 5], 0, (Pc[2], Pc[5], Pc[8]), (Pl[4], Pl[5], Pl[2]))


@kernel
def condense_node(work, parts, n, h, column, R, p, P):
    """H* of a loaded node in the modes' rows, φ* in rows of solved, P in rows of d; H* is at h of work.modal."""
    _store_inertia(parts.d, column, P)
    for r in range(n):
        w, u = block_column(work.modal, h, r)
        _store_row(parts.rows[r], LANES + column, w, u)
    for c in range(3):
        axis = R[c], R[3 + c], R[6 + c]
        _store_row(parts.solved[column + c], 0, axis, ZERO)
        _store_row(parts.solved[column + 3 + c], 0, cross(p, axis), axis)


@kernel
def weigh_modes(parts, n, tau, add_inertia, j):
    """N and ε in the modes' rows, and m⁻¹."""
    for r in range(n):
        row = parts.rows[r]
        w, u = block_lane(parts.coupling[r // LANES], r % LANES)
        _store_row(row, 0, w, u)
        row[MS_EPS] = parts.left[r] + tau[j + r]
        parts.weight[r] = 1.0 / pivot(add_inertia[j + r], 1.0)


@kernel
def _six(rows, i, c):
    """Numbers c … c + 7 of rows i … i + 5."""
    return (
        load_lanes(rows[i], c),
        load_lanes(rows[i + 1], c),
        load_lanes(rows[i + 2], c),
        load_lanes(rows[i + 3], c),
        load_lanes(rows[i + 4], c),
        load_lanes(rows[i + 5], c),
    )


@kernel
def _row_times(row, x):
    """Σ row_i x_i of six."""
    return row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] * x[3] + row[4] * x[4] + row[5] * x[5]


@kernel
def _inertia_times(P, i, x):
    """P x, six rows of eight; P in rows i … i + 5."""
    return (
        _row_times(P[i], x),
        _row_times(P[i + 1], x),
        _row_times(P[i + 2], x),
        _row_times(P[i + 3], x),
        _row_times(P[i + 4], x),
        _row_times(P[i + 5], x),
    )


@kernel
def _weigh_nodes(parts, rank):
    """1 + P S in factor, where S is, and P Z in d, where P is."""
    for i in range(0, rank, 6):
        for b in range(0, rank, LANES):
            store_rows(parts.factor, i, b, _inertia_times(parts.d, i, _six(parts.factor, i, b)))
        store_rows(parts.d, i, 0, _inertia_times(parts.d, i, _six(parts.solved, i, 0)))
        for e in range(6):
            parts.factor[i + e, i + e] += 1.0


@kernel
def _swap(a, b, width):
    """Exchange the first `width` numbers of two rows."""
    for c in range(0, width, LANES):
        x, y = load_lanes(a, c), load_lanes(b, c)
        store_lanes(a, c, y)
        store_lanes(b, c, x)


@kernel
def _solve(A, right, inverse, n):
    """right ← A⁻¹ right, rows of eight, by elimination with the largest pivot of each column; A is used up."""
    width = padded(n)
    for r in range(n):
        best = r
        for i in range(r + 1, n):
            best = i if abs(A[i, r]) > abs(A[best, r]) else best
        if best != r:
            _swap(A[r], A[best], width)
            _swap(right[r], right[best], LANES)
        inverse[r] = 1.0 / A[r, r]
        for i in range(r + 1, n):
            f = A[i, r] * inverse[r]
            for b in range(r // LANES * LANES, width, LANES):
                store_lanes(A[i], b, load_lanes(A[i], b) - f * load_lanes(A[r], b))
            store_lanes(right[i], 0, load_lanes(right[i], 0) - f * load_lanes(right[r], 0))
    for k in range(n):
        r = n - 1 - k
        x = load_lanes(right[r], 0)
        for e in range(k):
            x = x - A[r, n - 1 - e] * load_lanes(right[n - 1 - e], 0)
        store_lanes(right[r], 0, inverse[r] * x)


@kernel
def _three_sums(parts, rank, i):
    """Rows i, i + 1, i + 2 of Z* W."""
    zero = equal_lanes(0.0)
    s0, s1, s2 = zero, zero, zero
    for c in range(rank):
        z, w = parts.solved[c], load_lanes(parts.d[c], 0)
        s0, s1, s2 = s0 + z[i] * w, s1 + z[i + 1] * w, s2 + z[i + 2] * w
    return s0, s1, s2


@kernel
def _sum_nodes(parts, rank):
    """Z* W in whole."""
    if several_worlds():
        a, b = _three_sums(parts, rank, 0), _three_sums(parts, rank, 3)
        store_rows(parts.whole, 0, 0, (a[0], a[1], a[2], b[0], b[1], b[2]))
        return
    zero = equal_lanes(0.0)
    s0, s1, s2, s3, s4, s5 = zero, zero, zero, zero, zero, zero
    for c in range(rank):
        z, w = parts.solved[c], load_lanes(parts.d[c], 0)
        s0, s1, s2 = s0 + z[0] * w, s1 + z[1] * w, s2 + z[2] * w
        s3, s4, s5 = s3 + z[3] * w, s4 + z[4] * w, s5 + z[5] * w
    store_rows(parts.whole, 0, 0, (s0, s1, s2, s3, s4, s5))


@kernel
def condense(parts, n, rank):
    """Z, W and Z* W, from what the modes' rows hold."""
    rows, weight = parts.rows, parts.weight
    for i in range(0, rank, 6):
        subtract_rows(parts.solved, i, products(rows, weight, n, LANES + i, 0))
        for b in range(0, rank, LANES):
            store_rows(parts.factor, i, b, products(rows, weight, n, LANES + i, LANES + b))
    _weigh_nodes(parts, rank)
    _solve(parts.factor, parts.d, parts.inverse, rank)
    _sum_nodes(parts, rank)


@kernel
def accelerate_condensed(parts, n, rank, w, u, vdot, j):
    """η̈ of a body whose frame accelerates by [w; u]; the last of its rows is [w; u | -1 | 0 | g]."""
    x, rows = parts.rows[n], parts.rows
    _store_row(x, 0, w, u)
    x[MS_EPS] = -1.0
    for c in range(rank):
        a, l = load3(parts.d[c], 0), load3(parts.d[c], 3)
        x[LANES + c] = parts.d[c, MS_EPS] - dot(a, w) - dot(l, u)
    for r in range(n):
        s = load_lanes(rows[r], 0) * load_lanes(x, 0)
        for b in range(LANES, LANES + rank, LANES):
            s = s + load_lanes(rows[r], b) * load_lanes(x, b)
        vdot[j + r] = -parts.weight[r] * sum_lanes(s)
