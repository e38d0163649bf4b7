"""Derivatives that kinds of nodes share: columns of one velocity, and G and D⁻¹ of its hinge, in the tree frame.

Equations and symbols: `slopes/inverse.py`, `slopes/solve.py`.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_cross,
    force_out,
    load3,
    load9,
    motion_cross,
    rot,
    scale,
    store3,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.slopes import X_D, X_G, X_PHI, X_PSI, X_PSI2, X_S, Y_P, Y_R

#: η, ζ and κ of a hinge whose map is constant
NOTHING = ((ZERO, ZERO), (ZERO, ZERO), (ZERO, ZERO))


@kernel
def motion_out(R, p, w, u):
    """A motion at the body's origin, seen at 𝓣's origin in 𝓣's axes: the inverse of `motion_in`."""
    w = rot(R, w)
    return w, add_cross(rot(R, u), p, w)


@kernel
def unit(c):
    """Column c of the unit matrix."""
    return 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2)


@kernel
def slope_column(x, S, V_up, A_up, V, map_slopes):
    """S, ψ', ψ'' and χ of one velocity from S and (η, ζ, κ) of its hinge's map: pairs (angular, linear) in 𝓣."""
    eta, zeta, kappa = map_slopes
    c = motion_cross(V_up[0], V_up[1], S[0], S[1])
    psi = add(c[0], eta[0]), add(c[1], eta[1])
    a = motion_cross(A_up[0], A_up[1], S[0], S[1])
    b = motion_cross(V_up[0], V_up[1], psi[0], psi[1])
    e = motion_cross(V[0], V[1], eta[0], eta[1])
    d = motion_cross(V[0], V[1], S[0], S[1])
    store3(x, X_S, S[0])
    store3(x, X_S + 3, S[1])
    store3(x, X_PSI, psi[0])
    store3(x, X_PSI + 3, psi[1])
    store3(x, X_PSI2, add(add(add(a[0], b[0]), e[0]), zeta[0]))
    store3(x, X_PSI2 + 3, add(add(add(a[1], b[1]), e[1]), zeta[1]))
    store3(x, X_PHI, add(add(c[0], d[0]), kappa[0]))
    store3(x, X_PHI + 3, add(add(c[1], d[1]), kappa[1]))


@kernel
def simple_gain(plant, work, k, slopes):
    """G = U D⁻¹ and D⁻¹ of a kind with one velocity."""
    row, y, x = work.rows[k + 1], slopes.body[k + 1], slopes.column[plant.topo[k, t.VI]]
    dinv = row[t.W_DINV]
    n, f = force_out(load9(y, Y_R), load3(y, Y_P), load3(row, t.W_U), load3(row, t.W_U + 3))
    store3(x, X_G, scale(dinv, n))
    store3(x, X_G + 3, scale(dinv, f))
    x[X_D] = dinv


@kernel
def invert_factor(x):
    """L⁻¹ in place of L, whose diagonal is inverted already."""
    nv = x.shape[0]
    for j in range(nv):
        for i in range(j + 1, nv):
            s = 0.0
            for e in range(j, i):
                s -= x[i, X_D + e] * x[e, X_D + j]
            x[i, X_D + j] = s * x[i, X_D + i]


@kernel
def square_factor(x):
    """D⁻¹ = L⁻* L⁻¹ in place of L⁻¹."""
    nv = x.shape[0]
    for i in range(nv):
        for j in range(i, nv):
            s = 0.0
            for e in range(j, nv):
                s += x[e, X_D + i] * x[e, X_D + j]
            x[i, X_D + j] = s
    for i in range(nv):
        for j in range(i):
            x[i, X_D + j] = x[j, X_D + i]
