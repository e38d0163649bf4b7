"""Elimination with a symmetric matrix in rows of eight lanes, and the sums of products that it leaves.

D = L Δ L*,   rows ← L⁻¹ rows,   Σ_r Δ_r⁻¹ row_r* row_r = rows* D⁻¹ rows
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import LANES, padded
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.several_worlds import several_worlds
from limberjack.engine.algebra.small_solves import pivot
from limberjack.engine.algebra.spatial import add6, add9, add_scaled, dot, load3
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.flexible import MS_EPS


@kernel
def _three_products(rows, weight, n, i, c):
    """Σ_r weight_r row_r[i + e] row_r[c … c + 7], e = 0, 1, 2, of n rows."""
    zero = equal_lanes(0.0)
    s0, s1, s2 = zero, zero, zero
    for r in range(n):
        row = rows[r]
        x = weight[r] * load_lanes(row, c)
        s0, s1, s2 = s0 + row[i] * x, s1 + row[i + 1] * x, s2 + row[i + 2] * x
    return s0, s1, s2


@kernel
def products(rows, weight, n, i, c):
    """Σ_r weight_r row_r[i + e] row_r[c … c + 7], e = 0 … 5, of n rows."""
    if several_worlds():
        a, b = _three_products(rows, weight, n, i, c), _three_products(rows, weight, n, i + 3, c)
        return a[0], a[1], a[2], b[0], b[1], b[2]
    zero = equal_lanes(0.0)
    s0, s1, s2, s3, s4, s5 = zero, zero, zero, zero, zero, zero
    for r in range(n):
        row = rows[r]
        x = weight[r] * load_lanes(row, c)
        s0, s1, s2 = s0 + row[i] * x, s1 + row[i + 1] * x, s2 + row[i + 2] * x
        s3, s4, s5 = s3 + row[i + 3] * x, s4 + row[i + 4] * x, s5 + row[i + 5] * x
    return s0, s1, s2, s3, s4, s5


@kernel
def store_rows(rows, i, c, sums):
    """Rows i … i + 5 from c on."""
    store_lanes(rows[i], c, sums[0])
    store_lanes(rows[i + 1], c, sums[1])
    store_lanes(rows[i + 2], c, sums[2])
    store_lanes(rows[i + 3], c, sums[3])
    store_lanes(rows[i + 4], c, sums[4])
    store_lanes(rows[i + 5], c, sums[5])


@kernel
def subtract_rows(rows, i, sums):
    """Rows i … i + 5 ← sums - rows, of eight numbers each."""
    store_lanes(rows[i], 0, sums[0] - load_lanes(rows[i], 0))
    store_lanes(rows[i + 1], 0, sums[1] - load_lanes(rows[i + 1], 0))
    store_lanes(rows[i + 2], 0, sums[2] - load_lanes(rows[i + 2], 0))
    store_lanes(rows[i + 3], 0, sums[3] - load_lanes(rows[i + 3], 0))
    store_lanes(rows[i + 4], 0, sums[4] - load_lanes(rows[i + 4], 0))
    store_lanes(rows[i + 5], 0, sums[5] - load_lanes(rows[i + 5], 0))


@kernel
def eliminate(parts, n):
    """D = L L* in factor, L* with its diagonal inverted, solved ← L⁻¹ solved, and the sums of its products."""
    factor, solved, inverse = parts.factor, parts.solved, parts.inverse
    width = padded(n)
    for r in range(n):
        pivot_row, right = factor[r], load_lanes(solved[r], 0)
        inverse[r] = 1.0 / pivot(pivot_row[r], 1.0)
        for i in range(r + 1, n):
            f, row = inverse[r] * pivot_row[i], factor[i]
            for b in range(i // LANES * LANES, width, LANES):
                store_lanes(row, b, load_lanes(row, b) - f * load_lanes(pivot_row, b))
            store_lanes(solved[i], 0, load_lanes(solved[i], 0) - f * right)
    store_rows(parts.whole, 0, 0, products(solved, inverse, n, 0, 0))
    for r in range(n):
        s = math.sqrt(inverse[r])
        for b in range(r // LANES * LANES, width, LANES):
            store_lanes(factor[r], b, s * load_lanes(factor[r], b))
        store_lanes(solved[r], 0, s * load_lanes(solved[r], 0))
        factor[r, r] = s


@kernel
def reduce(P, n, f, whole, s):
    """P - s Σ μ D⁻¹ μ* and z + s Σ μ D⁻¹ ε, from the sums of the products of [μ* | ε]."""
    a, b, c, d, e, g = whole[0], whole[1], whole[2], whole[3], whole[4], whole[5]
    I = (-s * a[0], -s * b[1], -s * c[2], -s * a[1], -s * a[2], -s * b[2])
    H = (-s * a[3], -s * a[4], -s * a[5], -s * b[3], -s * b[4], -s * b[5], -s * c[3], -s * c[4], -s * c[5])
    M = (-s * d[3], -s * e[4], -s * g[5], -s * d[4], -s * d[5], -s * e[5])
    n = add_scaled(n, s, (a[MS_EPS], b[MS_EPS], c[MS_EPS]))
    f = add_scaled(f, s, (d[MS_EPS], e[MS_EPS], g[MS_EPS]))
    return (add6(P[0], I), add9(P[1], H), add6(P[2], M)), n, f


@kernel
def solved_column(solved, r):
    """Row r of L⁻¹ μ* as (moment, force)."""
    return load3(solved[r], 0), load3(solved[r], 3)


@kernel
def substitute(parts, n, w, u, out, j):
    """out[j …] = D⁻¹ (ε - μ* [w; u])."""
    for i in range(n):
        r = n - 1 - i
        a, l = solved_column(parts.solved, r)
        s = parts.solved[r, MS_EPS] - dot(a, w) - dot(l, u)
        for e in range(i):
            s -= parts.factor[r, n - 1 - e] * out[j + n - 1 - e]
        out[j + r] = s * parts.factor[r, r]
