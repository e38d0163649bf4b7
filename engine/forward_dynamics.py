"""O(N) articulated-body forward dynamics (000 eqs. for P, D, G, psi, z, eps, nu, alpha; 002 same).

    base to tip   V(k) = φ* V(parent) + H* β,   b(k) = V × M V,   a(k) = V × ΔV + (dH*/dt) β
    tip to base   P = M + Σ φ P⁺ φ*,   D = H P H* + armature,   G = P H* D⁻¹,   P⁺ = P - G D G*
                  z = b - f_external + Σ φ z⁺,   ε = T - H z,   z⁺ = z + P⁺ a + G ε
    base to tip   α⁺ = φ* α(parent) + a,   dβ/dt = D⁻¹ ε - G* α⁺,   α = α⁺ + H* dβ/dt

The seeds write z with P a inside and ε without it; moving a into α⁺ gives the same numbers (z⁺ and dβ/dt are
equal term by term) and meets the zero rows of P⁺: for a hinge along z without armature P⁺ has no z row or column.
"""

from __future__ import annotations

import math

from limberjack.engine.kernel import entry, kernel
from limberjack.engine.layout import (
    A_H,
    A_I,
    A_M,
    A_Z,
    B_H,
    B_I,
    B_M,
    G_A,
    G_EPS,
    G_H,
    G_L,
    G_U,
    NV,
    PATH,
    PATH_BASE,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    SLOT,
    UP,
    VI,
    W_ALPHA,
    W_DINV,
    W_EPS,
    W_P,
    W_R,
    W_U,
    W_V,
    plant_view,
    work_view,
)
from limberjack.engine.linear import solve6
from limberjack.engine.spatial import (
    add,
    add6,
    add9,
    cross,
    dot,
    force_cross,
    force_out,
    inertia_mul,
    load3,
    load6,
    load9,
    motion_in,
    rigid,
    rigid_mul,
    rot,
    shift,
    store3,
    store6,
    store9,
    sub,
    sym_mul,
    turn,
    unrot,
)
from limberjack.engine.tree import place_body, set_ground


@kernel
def _start_inertia(plant, work, k, w, u, external):
    """P = M and z = b - f_external, before the children add theirs."""
    body, acc = plant.body[k], work.acc[k + 1]
    m, h, I = body[B_M], load3(body, B_H), load6(body, B_I)
    L, p = rigid_mul(m, h, I, w, u)
    n, f = force_cross(w, u, L, p)
    if external:
        wrench = work.wrench[k + 1]
        n, f = sub(n, load3(wrench, 0)), sub(f, load3(wrench, 3))
    P = rigid(m, h, I)
    store6(acc, A_I, P[0])
    store9(acc, A_H, P[1])
    store6(acc, A_M, P[2])
    store3(acc, A_Z, n)
    store3(acc, A_Z + 3, f)


@kernel
def _hand_inward(row, acc, P, n, f):
    """Parent's P += φ P⁺ φ*, z += φ z⁺."""
    R, p = load9(row, W_R), load3(row, W_P)
    I, H, M = shift(turn(R, P), p)
    store6(acc, A_I, add6(load6(acc, A_I), I))
    store9(acc, A_H, add9(load9(acc, A_H), H))
    store6(acc, A_M, add6(load6(acc, A_M), M))
    n, f = force_out(R, p, n, f)
    store3(acc, A_Z, add(load3(acc, A_Z), n))
    store3(acc, A_Z + 3, add(load3(acc, A_Z + 3), f))


@kernel
def _inward_revolute(row, acc, up, has_parent, tau, add_inertia, rate):
    """Tip-to-base step of a z-turning hinge: H P H* = I_zz, U = P H* = third column of P."""
    I, H, M = load6(acc, A_I), load9(acc, A_H), load6(acc, A_M)
    n, f = load3(acc, A_Z), load3(acc, A_Z + 3)
    dinv = 1.0 / (I[2] + add_inertia)
    ua, ul = (I[4], I[5], I[2]), (H[6], H[7], H[8])
    eps = tau - n[2]
    store3(row, W_U, ua)
    store3(row, W_U + 3, ul)
    row[W_DINV], row[W_EPS] = dinv, eps
    if not has_parent:
        return
    ga, gl = (ua[0] * dinv, ua[1] * dinv, ua[2] * dinv), (ul[0] * dinv, ul[1] * dinv, ul[2] * dinv)
    # P⁺ = P - G U*; its z row is (1 - I_zz / D) times that of P: zero without armature.
    kept = add_inertia * dinv
    I = (
        I[0] - ga[0] * ua[0],
        I[1] - ga[1] * ua[1],
        kept * I[2],
        I[3] - ga[0] * ua[1],
        kept * I[4],
        kept * I[5],
    )
    H = (
        H[0] - ga[0] * ul[0],
        H[1] - ga[0] * ul[1],
        H[2] - ga[0] * ul[2],
        H[3] - ga[1] * ul[0],
        H[4] - ga[1] * ul[1],
        H[5] - ga[1] * ul[2],
        kept * H[6],
        kept * H[7],
        kept * H[8],
    )
    M = (
        M[0] - gl[0] * ul[0],
        M[1] - gl[1] * ul[1],
        M[2] - gl[2] * ul[2],
        M[3] - gl[0] * ul[1],
        M[4] - gl[0] * ul[2],
        M[5] - gl[1] * ul[2],
    )
    w, u = load3(row, W_V), load3(row, W_V + 3)
    aw, au = (w[1] * rate, -w[0] * rate, 0.0), (u[1] * rate, -u[0] * rate, 0.0)
    pn, pf = inertia_mul((I, H, M), aw, au)
    n = (n[0] + pn[0] + ga[0] * eps, n[1] + pn[1] + ga[1] * eps, n[2] + pn[2] + ga[2] * eps)
    f = (f[0] + pf[0] + gl[0] * eps, f[1] + pf[1] + gl[1] * eps, f[2] + pf[2] + gl[2] * eps)
    _hand_inward(row, up, (I, H, M), n, f)


@kernel
def _rank_one(P, ua, ul, s):
    """P - s [ua; ul] [ua; ul]*."""
    I, H, M = P
    a, l = (s * ua[0], s * ua[1], s * ua[2]), (s * ul[0], s * ul[1], s * ul[2])
    I = (
        I[0] - a[0] * ua[0],
        I[1] - a[1] * ua[1],
        I[2] - a[2] * ua[2],
        I[3] - a[0] * ua[1],
        I[4] - a[0] * ua[2],
        I[5] - a[1] * ua[2],
    )
    H = (
        H[0] - a[0] * ul[0],
        H[1] - a[0] * ul[1],
        H[2] - a[0] * ul[2],
        H[3] - a[1] * ul[0],
        H[4] - a[1] * ul[1],
        H[5] - a[1] * ul[2],
        H[6] - a[2] * ul[0],
        H[7] - a[2] * ul[1],
        H[8] - a[2] * ul[2],
    )
    M = (
        M[0] - l[0] * ul[0],
        M[1] - l[1] * ul[1],
        M[2] - l[2] * ul[2],
        M[3] - l[0] * ul[1],
        M[4] - l[0] * ul[2],
        M[5] - l[1] * ul[2],
    )
    return I, H, M


@kernel
def _inward_prismatic(row, acc, up, has_parent, tau, add_inertia, rate):
    """Tip-to-base step of a hinge that slides along z: H P H* = M_zz."""
    I, H, M = load6(acc, A_I), load9(acc, A_H), load6(acc, A_M)
    n, f = load3(acc, A_Z), load3(acc, A_Z + 3)
    dinv = 1.0 / (M[2] + add_inertia)
    ua, ul = (H[2], H[5], H[8]), (M[4], M[5], M[2])
    eps = tau - f[2]
    store3(row, W_U, ua)
    store3(row, W_U + 3, ul)
    row[W_DINV], row[W_EPS] = dinv, eps
    if not has_parent:
        return
    P = _rank_one((I, H, M), ua, ul, dinv)
    w = load3(row, W_V)
    pn, pf = inertia_mul(P, (0.0, 0.0, 0.0), (w[1] * rate, -w[0] * rate, 0.0))
    nu = eps * dinv
    n = (n[0] + pn[0] + ua[0] * nu, n[1] + pn[1] + ua[1] * nu, n[2] + pn[2] + ua[2] * nu)
    f = (f[0] + pf[0] + ul[0] * nu, f[1] + pf[1] + ul[1] * nu, f[2] + pf[2] + ul[2] * nu)
    _hand_inward(row, up, P, n, f)


@kernel
def _factor(g, nv):
    """Cholesky factor of D in place, diagonal inverted: D = L L*."""
    for i in range(nv):
        for j in range(i + 1):
            s = g[G_L + 6 * i + j]
            for e in range(j):
                s -= g[G_L + 6 * i + e] * g[G_L + 6 * j + e]
            if i == j:
                g[G_L + 6 * i + i] = 1.0 / math.sqrt(s)
            else:
                g[G_L + 6 * i + j] = s * g[G_L + 6 * j + j]


@kernel
def _hinge_column(g, base, c):
    """Column c of H* (base G_H) or U (base G_U) as (angular, linear)."""
    return load3(g, base + 6 * c), load3(g, base + 6 * c + 3)


@kernel
def _factor_general(g, P, n, f, tau, add_inertia, j, nv):
    """U = P H*, D = H P H* + armature, its factor, and ε = T - H z."""
    for c in range(nv):
        h = _hinge_column(g, G_H, c)
        a, l = inertia_mul(P, h[0], h[1])
        store3(g, G_U + 6 * c, a)
        store3(g, G_U + 6 * c + 3, l)
        for r in range(c, nv):
            h = _hinge_column(g, G_H, r)
            g[G_L + 6 * r + c] = dot(h[0], a) + dot(h[1], l)
    for c in range(nv):
        h = _hinge_column(g, G_H, c)
        g[G_L + 7 * c] += add_inertia[j + c]
        g[G_EPS + c] = tau[j + c] - dot(h[0], n) - dot(h[1], f)
    _factor(g, nv)


@kernel
def _whiten(g, nv):
    """U ← U L⁻*, ε ← L⁻¹ ε, so that G D G* = U U* and G ε = U ε afterwards."""
    for c in range(nv):
        a, l = _hinge_column(g, G_U, c)
        eps = g[G_EPS + c]
        for e in range(c):
            factor = g[G_L + 6 * c + e]
            ea, el = _hinge_column(g, G_U, e)
            a = (a[0] - factor * ea[0], a[1] - factor * ea[1], a[2] - factor * ea[2])
            l = (l[0] - factor * el[0], l[1] - factor * el[1], l[2] - factor * el[2])
            eps -= factor * g[G_EPS + e]
        s = g[G_L + 7 * c]
        store3(g, G_U + 6 * c, (s * a[0], s * a[1], s * a[2]))
        store3(g, G_U + 6 * c + 3, (s * l[0], s * l[1], s * l[2]))
        g[G_EPS + c] = s * eps


@kernel
def _inward_general(row, acc, up, has_parent, g, tau, add_inertia, j, nv):
    """Tip-to-base step of a hinge with any number of dofs (none: P⁺ = P)."""
    P = load6(acc, A_I), load9(acc, A_H), load6(acc, A_M)
    n, f = load3(acc, A_Z), load3(acc, A_Z + 3)
    _factor_general(g, P, n, f, tau, add_inertia, j, nv)
    _whiten(g, nv)
    if not has_parent:
        return
    for c in range(nv):
        a, l = _hinge_column(g, G_U, c)
        eps = g[G_EPS + c]
        P = _rank_one(P, a, l, 1.0)
        n = (n[0] + a[0] * eps, n[1] + a[1] * eps, n[2] + a[2] * eps)
        f = (f[0] + l[0] * eps, f[1] + l[1] * eps, f[2] + l[2] * eps)
    pn, pf = inertia_mul(P, load3(g, G_A), load3(g, G_A + 3))
    _hand_inward(row, up, P, add(n, pn), add(f, pf))


@kernel
def _inward(plant, work, k, v, tau, add_inertia):
    topo = plant.topo[k]
    row, acc, up = work.rows[k + 1], work.acc[k + 1], work.acc[topo[UP]]
    path, j, has_parent = topo[PATH], topo[VI], topo[UP] > 0
    if path == PATH_REVOLUTE:
        _inward_revolute(row, acc, up, has_parent, tau[j], add_inertia[j], v[j])
    elif path == PATH_PRISMATIC:
        _inward_prismatic(row, acc, up, has_parent, tau[j], add_inertia[j], v[j])
    elif path != PATH_BASE:
        _inward_general(row, acc, up, has_parent, work.gen[topo[SLOT]], tau, add_inertia, j, topo[NV])


@kernel
def _outward_general(g, vdot, j, nv, w, u):
    """dβ/dt = L⁻* (L⁻¹ ε - U* α⁺) and H* dβ/dt; U is whitened."""
    for i in range(nv):
        c = nv - 1 - i
        a, l = _hinge_column(g, G_U, c)
        s = g[G_EPS + c] - dot(a, w) - dot(l, u)
        for e in range(c + 1, nv):
            s -= g[G_L + 6 * e + c] * vdot[j + e]
        vdot[j + c] = s * g[G_L + 7 * c]
    for c in range(nv):
        a, l = _hinge_column(g, G_H, c)
        x = vdot[j + c]
        w = (w[0] + a[0] * x, w[1] + a[1] * x, w[2] + a[2] * x)
        u = (u[0] + l[0] * x, u[1] + l[1] * x, u[2] + l[2] * x)
    return w, u


@kernel
def _outward_base(acc, tau, vdot, j, w, u):
    """A free base: P α = T - z, dβ/dt = α - α⁺."""
    P = load6(acc, A_I), load9(acc, A_H), load6(acc, A_M)
    n, f = sub(load3(tau, j), load3(acc, A_Z)), sub(load3(tau, j + 3), load3(acc, A_Z + 3))
    a, l = solve6(P, n, f)
    store3(vdot, j, sub(a, w))
    store3(vdot, j + 3, sub(l, u))
    return a, l


@kernel
def _outward(plant, work, k, v, tau, vdot):
    """α⁺, dβ/dt and α of body k."""
    topo = plant.topo[k]
    row, up = work.rows[k + 1], work.rows[topo[UP]]
    path, j = topo[PATH], topo[VI]
    w, u = motion_in(load9(row, W_R), load3(row, W_P), load3(up, W_ALPHA), load3(up, W_ALPHA + 3))
    if path == PATH_REVOLUTE:
        Vw, Vu, rate = load3(row, W_V), load3(row, W_V + 3), v[j]
        w = (w[0] + Vw[1] * rate, w[1] - Vw[0] * rate, w[2])
        u = (u[0] + Vu[1] * rate, u[1] - Vu[0] * rate, u[2])
        x = row[W_DINV] * (row[W_EPS] - dot(load3(row, W_U), w) - dot(load3(row, W_U + 3), u))
        vdot[j] = x
        w = (w[0], w[1], w[2] + x)
    elif path == PATH_PRISMATIC:
        Vw, rate = load3(row, W_V), v[j]
        u = (u[0] + Vw[1] * rate, u[1] - Vw[0] * rate, u[2])
        x = row[W_DINV] * (row[W_EPS] - dot(load3(row, W_U), w) - dot(load3(row, W_U + 3), u))
        vdot[j] = x
        u = (u[0], u[1], u[2] + x)
    elif path == PATH_BASE:
        w, u = _outward_base(work.acc[k + 1], tau, vdot, j, w, u)
    else:
        g = work.gen[topo[SLOT]]
        w, u = add(w, load3(g, G_A)), add(u, load3(g, G_A + 3))
        w, u = _outward_general(g, vdot, j, topo[NV], w, u)
    store3(row, W_ALPHA, w)
    store3(row, W_ALPHA + 3, u)


@kernel
def forward_dynamics(plant, work, q, v, tau, add_inertia, external, vdot):
    """Accelerations dβ/dt (nv,) from q, v and generalized forces tau (nv,).

    add_inertia (nv,) is the armature, plus what an implicit integrator adds to it; external says whether
    work.wrench holds spatial forces on the bodies. Leaves V and α of every body in work.rows.
    """
    n = plant.topo.shape[0]
    set_ground(plant, work, 1.0)
    for k in range(n):
        w, u = place_body(plant, work, k, q, v)
        _start_inertia(plant, work, k, w, u, external)
    for i in range(n):
        _inward(plant, work, n - 1 - i, v, tau, add_inertia)
    for k in range(n):
        _outward(plant, work, k, v, tau, vdot)


@entry
def forward_dynamics_entry(ints, floats, work, q, v, tau, external, vdot):
    """One evaluation of `forward_dynamics` with the model's own armature, for Python callers."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    forward_dynamics(plant, scratch, q, v, tau, plant.armature, external, vdot)
