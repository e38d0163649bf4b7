"""Base to tip: every body in the tree frame 𝓣, and what each velocity does to the motion of its subtree.

Equations and symbols: `inverse.py`.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add9,
    add_cross,
    add_scaled,
    add_tilde_sym,
    cross,
    dot,
    load3,
    load6,
    load9,
    motion_cross,
    mul,
    neg,
    rigid_mul,
    rot,
    scale,
    store3,
    store6,
    store9,
    turn_sym,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.composite import shift_composite
from limberjack.engine.kernels.nodes.tree import hinge_frame, hinge_in
from limberjack.engine.kernels.slopes.hinge_maps import has_changing_map, map_curvature, map_gradient
from limberjack.engine.tables.plant import (
    B_H,
    B_I,
    B_M,
    G_H,
    KIND,
    NV,
    PATH,
    PATH_GENERAL,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    SLOT,
    UP,
    VI,
    W_ALPHA,
    W_V,
)
from limberjack.engine.tables.slopes import (
    X_PHI,
    X_PSI,
    X_PSI2,
    X_S,
    Y_A,
    Y_F,
    Y_H,
    Y_I,
    Y_L,
    Y_M,
    Y_P,
    Y_R,
    Y_V,
    Y_W,
)


@kernel
def motion_out(R, p, w, u):
    """A motion at the body's origin, seen at 𝓣's origin in 𝓣's axes: the inverse of `motion_in`."""
    w = rot(R, w)
    return w, add_cross(rot(R, u), p, w)


@kernel
def _place(plant, work, slopes, k):
    """R_(𝓣, k) and the position of O_k; the first body of a tree is 𝓣 itself."""
    row = slopes.body[k + 1]
    R, p = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), ZERO
    if plant.topo[k, UP] > 0:
        up = slopes.body[plant.topo[k, UP]]
        R_up = load9(up, Y_R)
        R, p = hinge_frame(plant, work, k)
        R, p = mul(R_up, R), add(load3(up, Y_P), rot(R_up, p))
    store9(row, Y_R, R)
    store3(row, Y_P, p)
    return R, p


@kernel
def _body_sums(body, row, R, p, V, A):
    """M(k), 𝓑(k) and f(k) = M α + b of one body, with which the sums over its subtree begin."""
    m = body[B_M]
    h, I = shift_composite(m, rot(R, load3(body, B_H)), turn_sym(R, load6(body, B_I)), p)
    w, u = V
    L, P = rigid_mul(m, h, I, w, u)
    n, f = rigid_mul(m, h, I, A[0], A[1])
    n, f = add_cross(add_cross(n, w, L), u, P), add_cross(f, w, P)
    half = 0.5 * (I[0] + I[1] + I[2])
    J = (half - I[0], half - I[1], half - I[2], -I[3], -I[4], -I[5])
    d = dot(h, u)
    W = (
        d - u[0] * h[0],
        -u[0] * h[1],
        -u[0] * h[2],
        -u[1] * h[0],
        d - u[1] * h[1],
        -u[1] * h[2],
        -u[2] * h[0],
        -u[2] * h[1],
        d - u[2] * h[2],
    )
    W = add_tilde_sym(W, neg(w), J)
    row[Y_M] = m
    store3(row, Y_H, h)
    store6(row, Y_I, I)
    store9(row, Y_W, add9(W, W))
    store3(row, Y_L, scale(2.0, P))
    store3(row, Y_F, n)
    store3(row, Y_F + 3, f)


@kernel
def _column(x, S, V_up, A_up, V, eta, zeta, kappa):
    """S, ψ', ψ'' and χ of one velocity; all arguments are pairs (angular, linear) in 𝓣."""
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
def _rates(values, j, nv):
    """Three values of a hinge, zeros behind its last."""
    return values[j], values[j + 1] if nv > 1 else 0.0, values[j + 2] if nv > 2 else 0.0


@kernel
def _unit(c):
    return 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2)


@kernel
def _map_slopes(plant, work, k, c, v, vdot):
    """η, ζ and κ of velocity c of a hinge whose map changes, in body axes."""
    topo = plant.topo[k]
    j, nv = topo[VI], topo[NV]
    rates = _rates(v, j, nv)
    eta = map_gradient(plant, work, k, c, rates)
    zeta = map_gradient(plant, work, k, c, _rates(vdot, j, nv))
    kappa = eta
    for e in range(nv):
        a = map_curvature(plant, work, k, c, e, rates)
        b = map_gradient(plant, work, k, e, _unit(c))
        zeta = add_scaled(zeta[0], v[j + e], a[0]), add_scaled(zeta[1], v[j + e], a[1])
        kappa = add_scaled(kappa[0], v[j + e], b[0]), add_scaled(kappa[1], v[j + e], b[1])
    return eta, zeta, kappa


@kernel
def _general_columns(plant, work, slopes, k, v, vdot, V_up, A_up, V, R, p):
    """The columns of a hinge with any number of velocities and any map."""
    topo = plant.topo[k]
    g = work.gen[topo[SLOT]]
    zero = (ZERO, ZERO)
    for c in range(topo[NV]):
        S = motion_out(R, p, load3(g, G_H + 6 * c), load3(g, G_H + 6 * c + 3))
        eta, zeta, kappa = zero, zero, zero
        if has_changing_map(topo[KIND]):
            eta, zeta, kappa = _map_slopes(plant, work, k, c, v, vdot)
            eta = motion_out(R, p, eta[0], eta[1])
            zeta = motion_out(R, p, zeta[0], zeta[1])
            kappa = motion_out(R, p, kappa[0], kappa[1])
        _column(slopes.column[topo[VI] + c], S, V_up, A_up, V, eta, zeta, kappa)


@kernel
def _columns(plant, work, slopes, k, v, vdot, V_up, A_up, V, R, p):
    topo, j = plant.topo[k], plant.topo[k, VI]
    zero = (ZERO, ZERO)
    if topo[PATH] == PATH_REVOLUTE:
        z = (R[2], R[5], R[8])
        _column(slopes.column[j], (z, cross(p, z)), V_up, A_up, V, zero, zero, zero)
    elif topo[PATH] == PATH_PRISMATIC:
        _column(slopes.column[j], (ZERO, (R[2], R[5], R[8])), V_up, A_up, V, zero, zero, zero)
    elif topo[PATH] == PATH_GENERAL:
        _general_columns(plant, work, slopes, k, v, vdot, V_up, A_up, V, R, p)
    else:
        for c in range(3):
            _column(slopes.column[j + c], (_unit(c), ZERO), V_up, A_up, V, zero, zero, zero)
            _column(slopes.column[j + 3 + c], (ZERO, _unit(c)), V_up, A_up, V, zero, zero, zero)


@kernel
def sweep_columns(plant, work, slopes, v, vdot):
    """Rows of slopes.body and slopes.column; Work must hold frames, V and α of all bodies for v and vdot."""
    for k in range(plant.topo.shape[0]):
        topo, row, here = plant.topo[k], slopes.body[k + 1], work.rows[k + 1]
        R, p = _place(plant, work, slopes, k)
        V = motion_out(R, p, load3(here, W_V), load3(here, W_V + 3))
        A = motion_out(R, p, load3(here, W_ALPHA), load3(here, W_ALPHA + 3))
        if topo[UP] > 0:
            up = slopes.body[topo[UP]]
            V_up, A_up = (load3(up, Y_V), load3(up, Y_V + 3)), (load3(up, Y_A), load3(up, Y_A + 3))
        else:
            ground = work.rows[0]
            V_up, A_up = (ZERO, ZERO), hinge_in(plant, work, k, load3(ground, W_ALPHA), load3(ground, W_ALPHA + 3))
        store3(row, Y_V, V[0])
        store3(row, Y_V + 3, V[1])
        store3(row, Y_A, A[0])
        store3(row, Y_A + 3, A[1])
        _body_sums(plant.body[k], row, R, p, V, A)
        _columns(plant, work, slopes, k, v, vdot, V_up, A_up, V, R, p)
