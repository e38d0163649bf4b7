"""One tip-to-base step of articulated-body dynamics for each code path: P → P⁺, z → z⁺, handed to the parent.

D = H P H* + armature,   G = P H* D⁻¹,   P⁺ = P - G D G*,   ε = T - H z,   z⁺ = z + P⁺ a + G ε
"""

from __future__ import annotations

from limberjack.engine.algebra.small_solves import cholesky, pivot
from limberjack.engine.algebra.spatial import (
    add,
    add6,
    add9,
    add_scaled,
    dot,
    force_out,
    inertia_mul,
    load3,
    load6,
    load9,
    shift,
    store3,
    store6,
    store9,
    turn,
)
from limberjack.engine.algebra.turns import spin, spin_flat, tilt, tilt_flat
from limberjack.engine.algebra.views import matrix_view
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.tree import revolute_out
from limberjack.engine.tables.plant import (
    A_H,
    A_I,
    A_M,
    A_Z,
    B_P,
    B_TILT,
    B_TURN,
    FIRST,
    G_A,
    G_EPS,
    G_H,
    G_L,
    G_U,
    NV,
    PATH,
    PATH_REVOLUTE,
    TURN,
    UP,
    VI,
    W_C,
    W_DINV,
    W_EPS,
    W_P,
    W_R,
    W_U,
    W_V,
)


@kernel
def _hand_in(first, up, P, n, f):
    """Parent's sums of φ P⁺ φ* and φ z⁺: the first child writes them, others add."""
    I, H, M = P
    if not first:
        I, H, M = add6(load6(up, A_I), I), add9(load9(up, A_H), H), add6(load6(up, A_M), M)
        n, f = add(load3(up, A_Z), n), add(load3(up, A_Z + 3), f)
    store6(up, A_I, I)
    store9(up, A_H, H)
    store6(up, A_M, M)
    store3(up, A_Z, n)
    store3(up, A_Z + 3, f)


@kernel
def rank_one(P, ua, ul, s):
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
def _revolute_flat(topo, body, row, up, P, n, f, dinv, eps, rate):
    """A z-turning hinge without armature: the z row and column of P⁺ are zero, and so stay those of its rotation.

    Written out by elements: a = (w_y, -w_x, 0; u_y, -u_x, 0) × rate has two zeros as well.
    """
    I, H, M = P
    gx, gy, g0, g1, g2 = I[4] * dinv, I[5] * dinv, H[6] * dinv, H[7] * dinv, H[8] * dinv
    xx, yy, xy = I[0] - gx * I[4], I[1] - gy * I[5], I[3] - gx * I[5]
    Hp = (
        H[0] - gx * H[6],
        H[1] - gx * H[7],
        H[2] - gx * H[8],
        H[3] - gy * H[6],
        H[4] - gy * H[7],
        H[5] - gy * H[8],
    )
    M = (
        M[0] - g0 * H[6],
        M[1] - g1 * H[7],
        M[2] - g2 * H[8],
        M[3] - g0 * H[7],
        M[4] - g0 * H[8],
        M[5] - g1 * H[8],
    )
    ax, ay = row[W_V + 1] * rate, -row[W_V] * rate
    bx, by = row[W_V + 4] * rate, -row[W_V + 3] * rate
    n = (
        n[0] + gx * eps + xx * ax + xy * ay + Hp[0] * bx + Hp[1] * by,
        n[1] + gy * eps + xy * ax + yy * ay + Hp[3] * bx + Hp[4] * by,
        n[2] + eps,
    )
    f = (
        f[0] + g0 * eps + Hp[0] * ax + Hp[3] * ay + M[0] * bx + M[3] * by,
        f[1] + g1 * eps + Hp[1] * ax + Hp[4] * ay + M[3] * bx + M[1] * by,
        f[2] + g2 * eps + Hp[2] * ax + Hp[5] * ay + M[4] * bx + M[5] * by,
    )
    n, f = revolute_out(topo, body, row, n, f)
    xx, yy, xy, Hp, M = spin_flat(row[W_C], row[W_C + 1], xx, yy, xy, Hp, M)
    P = tilt_flat(body[B_TILT], body[B_TILT + 1], xx, yy, xy, Hp, M)
    if topo[TURN]:
        P = spin(body[B_TURN], body[B_TURN + 1], P)
    _hand_in(topo[FIRST], up, shift(P, load3(body, B_P)), n, f)


@kernel
def _hand_turned(topo, body, row, first, up, P, n, f):
    """φ P φ* and φ z across a z-turning hinge."""
    n, f = revolute_out(topo, body, row, n, f)
    P = tilt(body[B_TILT], body[B_TILT + 1], spin(row[W_C], row[W_C + 1], P))
    if topo[TURN]:
        P = spin(body[B_TURN], body[B_TURN + 1], P)
    _hand_in(first, up, shift(P, load3(body, B_P)), n, f)


@kernel
def _revolute_full(topo, body, row, up, P, n, f, dinv, eps, rate):
    """A z-turning hinge with armature (or what an implicit integrator adds): P⁺ is full."""
    ua, ul = load3(row, W_U), load3(row, W_U + 3)
    P = rank_one(P, ua, ul, dinv)
    w, u = load3(row, W_V), load3(row, W_V + 3)
    pn, pf = inertia_mul(P, (w[1] * rate, -w[0] * rate, 0.0), (u[1] * rate, -u[0] * rate, 0.0))
    n, f = add_scaled(add(n, pn), eps * dinv, ua), add_scaled(add(f, pf), eps * dinv, ul)
    _hand_turned(topo, body, row, topo[FIRST], up, P, n, f)


@kernel
def inward_revolute(topo, body, row, up, P, n, f, tau, add_inertia, rate):
    """A z-turning hinge: H P H* = I_zz, U = P H* = third column of P."""
    I, H, _ = P
    dinv = 1.0 / pivot(I[2] + add_inertia, I[0] + I[1])
    eps = tau - n[2]
    store3(row, W_U, (I[4], I[5], I[2]))
    store3(row, W_U + 3, (H[6], H[7], H[8]))
    row[W_DINV], row[W_EPS] = dinv, eps
    if topo[UP] > 0:
        if add_inertia == 0.0:
            _revolute_flat(topo, body, row, up, P, n, f, dinv, eps, rate)
        else:
            _revolute_full(topo, body, row, up, P, n, f, dinv, eps, rate)


@kernel
def hand_inward(first, row, up, P, n, f):
    """φ P⁺ φ* and φ z⁺ for a hinge that keeps its rotation matrix."""
    R, p = load9(row, W_R), load3(row, W_P)
    n, f = force_out(R, p, n, f)
    _hand_in(first, up, shift(turn(R, P), p), n, f)


@kernel
def hand_force(first, row, up, n, f):
    """φ z of a link that hands no inertia to its parent."""
    n, f = force_out(load9(row, W_R), load3(row, W_P), n, f)
    if first:
        for i in range(A_Z):
            up[i] = 0.0
    else:
        n, f = add(load3(up, A_Z), n), add(load3(up, A_Z + 3), f)
    store3(up, A_Z, n)
    store3(up, A_Z + 3, f)


@kernel
def inward_prismatic(topo, row, up, P, n, f, tau, add_inertia, rate):
    """A hinge that slides along z: H P H* = M_zz."""
    _, H, M = P
    dinv = 1.0 / pivot(M[2] + add_inertia, M[0] + M[1])
    ua, ul = (H[2], H[5], H[8]), (M[4], M[5], M[2])
    eps = tau - f[2]
    store3(row, W_U, ua)
    store3(row, W_U + 3, ul)
    row[W_DINV], row[W_EPS] = dinv, eps
    if topo[UP] == 0:
        return
    P = rank_one(P, ua, ul, dinv)
    w = load3(row, W_V)
    pn, pf = inertia_mul(P, (0.0, 0.0, 0.0), (w[1] * rate, -w[0] * rate, 0.0))
    n, f = add_scaled(add(n, pn), eps * dinv, ua), add_scaled(add(f, pf), eps * dinv, ul)
    hand_inward(topo[FIRST], row, up, P, n, f)


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
    cholesky(matrix_view(g, G_L, 6, 6), nv)


@kernel
def _whiten(g, nv):
    """U ← U L⁻*, ε ← L⁻¹ ε, so that G D G* = U U* and G ε = U ε afterwards."""
    for c in range(nv):
        a, l = _hinge_column(g, G_U, c)
        eps = g[G_EPS + c]
        for e in range(c):
            factor = -g[G_L + 6 * c + e]
            ea, el = _hinge_column(g, G_U, e)
            a, l = add_scaled(a, factor, ea), add_scaled(l, factor, el)
            eps += factor * g[G_EPS + e]
        s = g[G_L + 7 * c]
        store3(g, G_U + 6 * c, (s * a[0], s * a[1], s * a[2]))
        store3(g, G_U + 6 * c + 3, (s * l[0], s * l[1], s * l[2]))
        g[G_EPS + c] = s * eps


@kernel
def inward_general(topo, row, up, P, n, f, g, tau, add_inertia):
    """A hinge with any number of dofs (none: P⁺ = P)."""
    nv = topo[NV]
    _factor_general(g, P, n, f, tau, add_inertia, topo[VI], nv)
    _whiten(g, nv)
    if topo[UP] == 0:
        return
    for c in range(nv):
        a, l = _hinge_column(g, G_U, c)
        eps = g[G_EPS + c]
        P = rank_one(P, a, l, 1.0)
        n, f = add_scaled(n, eps, a), add_scaled(f, eps, l)
    pn, pf = inertia_mul(P, load3(g, G_A), load3(g, G_A + 3))
    hand_inward(topo[FIRST], row, up, P, add(n, pn), add(f, pf))


@kernel
def outward_general(g, vdot, j, nv, w, u):
    """dβ/dt = L⁻* (L⁻¹ ε - U* α⁺), U whitened; returns α = α⁺ + H* dβ/dt."""
    for i in range(nv):
        c = nv - 1 - i
        a, l = _hinge_column(g, G_U, c)
        s = g[G_EPS + c] - dot(a, w) - dot(l, u)
        for e in range(c + 1, nv):
            s -= g[G_L + 6 * e + c] * vdot[j + e]
        vdot[j + c] = s * g[G_L + 7 * c]
    for c in range(nv):
        a, l = _hinge_column(g, G_H, c)
        w, u = add_scaled(w, vdot[j + c], a), add_scaled(u, vdot[j + c], l)
    return w, u


@kernel
def hand_whole(plant, work, k, first, up, P, n, f):
    """φ P φ* and φ z of body k, its hinge not reduced, into the sums `up` of its parent; first: it writes them."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[PATH] == PATH_REVOLUTE:
        _hand_turned(topo, plant.body[k], row, first, up, P, n, f)
    else:
        hand_inward(first, row, up, P, n, f)
