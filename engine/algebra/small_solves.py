"""Small symmetric solves: of three and six rows on tuples, of any number in place."""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import rot, sub, sym_mul, sym_of_product, unrot
from limberjack.engine.compile.kernel import kernel

#: D below this share of the inertia across the hinge is rounding (a slender rod of 1 km has 1e-12)
SINGULAR = 1e-14


@kernel
def pivot(D, scale):
    """D, or 0 if D is only rounding: the division then gives infinity or NaN, which Python reports."""
    return D if SINGULAR * scale < D else 0.0


@kernel
def cholesky(D, n):
    """Overwrite the lower triangle of the first n rows of D by L, D = L L*, with inverted diagonal."""
    for i in range(n):
        for j in range(i + 1):
            s = D[i, j]
            for e in range(j):
                s -= D[i, e] * D[j, e]
            D[i, j] = 1.0 / math.sqrt(pivot(s, D[i, i])) if i == j else s * D[j, j]


@kernel
def sym_inverse(S):
    """Inverse of a symmetric positive definite 3×3 matrix, by cofactors."""
    xx = S[1] * S[2] - S[5] * S[5]
    xy = S[4] * S[5] - S[3] * S[2]
    xz = S[3] * S[5] - S[4] * S[1]
    d = 1.0 / (S[0] * xx + S[3] * xy + S[4] * xz)
    return (
        xx * d,
        (S[0] * S[2] - S[4] * S[4]) * d,
        (S[0] * S[1] - S[3] * S[3]) * d,
        xy * d,
        xz * d,
        (S[3] * S[4] - S[0] * S[5]) * d,
    )


@kernel
def _mat_sym(H, S):
    """H S for a symmetric S."""
    x = sym_mul(S, (H[0], H[1], H[2]))
    y = sym_mul(S, (H[3], H[4], H[5]))
    z = sym_mul(S, (H[6], H[7], H[8]))
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@kernel
def _is_definite(S):
    """Whether a symmetric 3×3 matrix is positive definite: its leading minors are positive."""
    minor = S[0] * S[1] - S[3] * S[3]
    xx = S[1] * S[2] - S[5] * S[5]
    d = S[0] * xx + S[3] * (S[4] * S[5] - S[3] * S[2]) + S[4] * (S[3] * S[5] - S[4] * S[1])
    return S[0] > 0.0 and minor > 0.0 and d > 0.0


@kernel
def is_definite6(P):
    """Whether [[Pa, Pc], [Pc*, Pl]] is positive definite; that of a deformed body may not be."""
    Pa, Pc, Pl = P
    if not _is_definite(Pl):
        return False
    C = sym_of_product(_mat_sym(Pc, sym_inverse(Pl)), Pc)
    return _is_definite((Pa[0] - C[0], Pa[1] - C[1], Pa[2] - C[2], Pa[3] - C[3], Pa[4] - C[4], Pa[5] - C[5]))


@kernel
def solve6(P, n, f):
    """Solve [[Pa, Pc], [Pc*, Pl]] [a; l] = [n; f] by the Schur complement Pa - Pc Pl⁻¹ Pc*."""
    Pa, Pc, Pl = P
    Minv = sym_inverse(Pl)
    T = _mat_sym(Pc, Minv)
    C = sym_of_product(T, Pc)
    S = (Pa[0] - C[0], Pa[1] - C[1], Pa[2] - C[2], Pa[3] - C[3], Pa[4] - C[4], Pa[5] - C[5])
    a = sym_mul(sym_inverse(S), sub(n, rot(T, f)))
    return a, sym_mul(Minv, sub(f, unrot(Pc, a)))
