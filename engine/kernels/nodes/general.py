"""A hinge with any number of velocities, or none (002, Table 2.6): H* in columns; D = L L*."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES, matrix_view
from limberjack.engine.algebra.blocks import less_six, set_block_lane
from limberjack.engine.algebra.bounds import is_in
from limberjack.engine.algebra.lanes import load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.small_solves import cholesky
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_scaled,
    dot,
    dot6,
    force_out,
    inertia_mul,
    load3,
    load6,
    load9,
    motion_cross,
    motion_in,
    rigid_mul,
    store3,
    store6,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import matrix_frame
from limberjack.engine.kernels.nodes.articulated import rank_one, store_entry
from limberjack.engine.kernels.nodes.composite import fill_row
from limberjack.engine.kernels.nodes.frames import write_column
from limberjack.engine.kernels.nodes.hinges import (
    has_changing_map,
    hinge_map,
    map_curvature,
    map_gradient,
    place_frame,
    relative_velocity,
)
from limberjack.engine.kernels.nodes.slope_columns import (
    NOTHING,
    invert_factor,
    motion_out,
    slope_column,
    square_factor,
    unit,
)
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import ATTACHED, MODAL
from limberjack.engine.tables.slopes import X_D, X_G, Y_P, Y_R

HINGES = ()  # all that no other kind serves
HAS_WORK = True


@kernel
def trusted(plant, counts, k):
    """Whether a row of a foreign Plant may be of this kind."""
    kind = plant.topo[k, t.KIND]
    return kind != MODAL and kind != ATTACHED and is_in(plant.topo[k, t.SLOT], 0, counts[t.C_GENERAL])


@kernel
def stand(plant, work, k, q, no_rate):
    """Frame and H* of a body, without velocities."""
    place_frame(plant, work, k, q, work.rows[k + 1])
    hinge_map(plant, work, k, no_rate, work.gen[plant.topo[k, t.SLOT]])


@kernel
def place(plant, work, k, q, v):
    """Frames, V(k), H* and a(k) of a body whose parent is done (000 eqs. 0.1, 0.2)."""
    topo, row = plant.topo[k], work.rows[k + 1]
    up, g = work.rows[topo[t.UP]], work.gen[topo[t.SLOT]]
    R, p = place_frame(plant, work, k, q, row)
    cw, cu = hinge_map(plant, work, k, v, g)
    dw, du = relative_velocity(g, v, topo[t.VI], topo[t.NV])
    w, u = motion_in(R, p, load3(up, t.W_V), load3(up, t.W_V + 3))
    w, u = add(w, dw), add(u, du)
    aw, au = motion_cross(w, u, dw, du)
    aw, au = add(aw, cw), add(au, cu)
    store6(g, t.G_A, (aw[0], aw[1], aw[2], au[0], au[1], au[2]))
    return w, u


@kernel
def rest(plant, work, k):
    """a = 0."""
    g = work.gen[plant.topo[k, t.SLOT]]
    store3(g, t.G_A, ZERO)
    store3(g, t.G_A + 3, ZERO)


@kernel
def _column(g, base, c):
    """Column c of H* (base G_H) or U (base G_U) as (angular, linear)."""
    return load3(g, base + 6 * c), load3(g, base + 6 * c + 3)


@kernel
def _prepare(g, P, n, f, tau, add_inertia, j, nv):
    """U = P H*, D = H P H* + armature, its factor, and ε = T - H z."""
    for c in range(nv):
        h = _column(g, t.G_H, c)
        a, l = inertia_mul(P, h[0], h[1])
        store3(g, t.G_U + 6 * c, a)
        store3(g, t.G_U + 6 * c + 3, l)
        for r in range(c, nv):
            h = _column(g, t.G_H, r)
            g[t.G_L + 6 * r + c] = dot(h[0], a) + dot(h[1], l)
    for c in range(nv):
        h = _column(g, t.G_H, c)
        g[t.G_L + 7 * c] += add_inertia[j + c]
        g[t.G_EPS + c] = tau[j + c] - dot(h[0], n) - dot(h[1], f)
    cholesky(matrix_view(g, t.G_L, 6, 6), nv)


@kernel
def _whiten(g, nv):
    """U ← U L⁻*, ε ← L⁻¹ ε, so that G D G* = U U* and G ε = U ε afterwards."""
    for c in range(nv):
        a, l = _column(g, t.G_U, c)
        eps = g[t.G_EPS + c]
        for e in range(c):
            factor = -g[t.G_L + 6 * c + e]
            ea, el = _column(g, t.G_U, e)
            a, l = add_scaled(a, factor, ea), add_scaled(l, factor, el)
            eps += factor * g[t.G_EPS + e]
        s = g[t.G_L + 7 * c]
        store3(g, t.G_U + 6 * c, (s * a[0], s * a[1], s * a[2]))
        store3(g, t.G_U + 6 * c + 3, (s * l[0], s * l[1], s * l[2]))
        g[t.G_EPS + c] = s * eps


@kernel
def inward(plant, work, k, P, n, f, v, tau, add_inertia):
    """A hinge with any number of dofs (none: P⁺ = P)."""
    topo, row = plant.topo[k], work.rows[k + 1]
    up, g, nv = work.acc[topo[t.UP]], work.gen[topo[t.SLOT]], topo[t.NV]
    _prepare(g, P, n, f, tau, add_inertia, topo[t.VI], nv)
    _whiten(g, nv)
    if topo[t.UP] == 0:
        return
    for c in range(nv):
        a, l = _column(g, t.G_U, c)
        eps = g[t.G_EPS + c]
        P = rank_one(P, a, l, 1.0)
        n, f = add_scaled(n, eps, a), add_scaled(f, eps, l)
    pn, pf = inertia_mul(P, load3(g, t.G_A), load3(g, t.G_A + 3))
    matrix_frame.hand_across(topo[t.FIRST], row, up, P, add(n, pn), add(f, pf))


@kernel
def _solve(g, vdot, j, nv, w, u):
    """dβ/dt = L⁻* (L⁻¹ ε - U* α⁺), U whitened; returns α = α⁺ + H* dβ/dt."""
    for i in range(nv):
        c = nv - 1 - i
        a, l = _column(g, t.G_U, c)
        s = g[t.G_EPS + c] - dot(a, w) - dot(l, u)
        for e in range(c + 1, nv):
            s -= g[t.G_L + 6 * e + c] * vdot[j + e]
        vdot[j + c] = s * g[t.G_L + 7 * c]
    for c in range(nv):
        a, l = _column(g, t.G_H, c)
        w, u = add_scaled(w, vdot[j + c], a), add_scaled(u, vdot[j + c], l)
    return w, u


@kernel
def outward(plant, work, k, v, vdot, w, u):
    """dβ/dt and α from [w; u] = φ* α(parent): α⁺ = φ* α(parent) + a."""
    topo, g = plant.topo[k], work.gen[plant.topo[k, t.SLOT]]
    return _solve(g, vdot, topo[t.VI], topo[t.NV], add(w, load3(g, t.G_A)), add(u, load3(g, t.G_A + 3)))


@kernel
def answer(plant, work, k, out, w, u):
    """The answer of its velocities to ε where it sees [w; u] of its parent, and its own motion."""
    topo = plant.topo[k]
    return _solve(work.gen[topo[t.SLOT]], out, topo[t.VI], topo[t.NV], w, u)


@kernel
def accelerate(plant, work, k, v, vdot, Vw, Vu, w, u):
    """α = φ* α(parent) + a + H* dβ/dt (000 eq. 0.1)."""
    g, j, nv = work.gen[plant.topo[k, t.SLOT]], plant.topo[k, t.VI], plant.topo[k, t.NV]
    dw, du = relative_velocity(g, vdot, j, nv)
    return add(add(w, load3(g, t.G_A)), dw), add(add(u, load3(g, t.G_A + 3)), du)


@kernel
def _trace(g, c, n, f):
    """H [n; f] of velocity c (000 eq. 0.1)."""
    h = t.G_H + 6 * c
    return dot(load3(g, h), n) + dot(load3(g, h + 3), f)


@kernel
def trace(plant, work, k, n, f, vdot, tau):
    """T = H f + armature dβ/dt."""
    topo, j = plant.topo[k], plant.topo[k, t.VI]
    for c in range(topo[t.NV]):
        H_f = _trace(work.gen[topo[t.SLOT]], c, n, f)
        tau[j + c] = H_f + plant.armature[j + c] * vdot[j + c]


@kernel
def write_columns(plant, work, k, J, point):
    """Its columns of the Jacobian of a point (000 eq. 0.18)."""
    topo, pose = plant.topo[k], work.pose[k + 1]
    for c in range(topo[t.NV]):
        w, u = _column(work.gen[topo[t.SLOT]], t.G_H, c)
        write_column(J, topo[t.VI] + c, pose, w, u, point)


@kernel
def composite(plant, work, k, start, stop, m, h, I, M):
    """Columns and rows of a hinge with any number of velocities; no column is still to be put."""
    columns, v, nv, g = work.columns, plant.topo[k, t.VI], plant.topo[k, t.NV], work.gen[plant.topo[k, t.SLOT]]
    for c in range(nv):
        n, f = rigid_mul(m, h, I, load3(g, t.G_H + 6 * c), load3(g, t.G_H + 6 * c + 3))
        set_block_lane(columns[(start + c) // LANES], (start + c) % LANES, n, f)
    for c in range(nv):
        fill_row(columns, start + c, stop, load3(g, t.G_H + 6 * c), load3(g, t.G_H + 6 * c + 3), M[v + c])
    return -1, ZERO, ZERO


@kernel
def _rates(values, j, nv):
    """Three values of a hinge, zeros behind its last."""
    return values[j], values[j + 1] if nv > 1 else 0.0, values[j + 2] if nv > 2 else 0.0


@kernel
def _map_slopes(plant, work, k, c, v, vdot):
    """η, ζ and κ of velocity c of a hinge whose map changes, in body axes."""
    topo = plant.topo[k]
    j, nv = topo[t.VI], topo[t.NV]
    rates = _rates(v, j, nv)
    eta = map_gradient(plant, work, k, c, rates)
    zeta = map_gradient(plant, work, k, c, _rates(vdot, j, nv))
    kappa = eta
    for e in range(nv):
        a = map_curvature(plant, work, k, c, e, rates)
        b = map_gradient(plant, work, k, e, unit(c))
        zeta = add_scaled(zeta[0], v[j + e], a[0]), add_scaled(zeta[1], v[j + e], a[1])
        kappa = add_scaled(kappa[0], v[j + e], b[0]), add_scaled(kappa[1], v[j + e], b[1])
    return eta, zeta, kappa


@kernel
def slope_columns(plant, work, k, slopes, v, vdot, V_up, A_up, V, R, p):
    """The columns of the hinge's velocities."""
    topo = plant.topo[k]
    g, columns = work.gen[topo[t.SLOT]], slopes.column[topo[t.VI] : topo[t.VI] + topo[t.NV]]
    for c in range(topo[t.NV]):
        h, u = _column(g, t.G_H, c)
        changes = NOTHING
        if has_changing_map(topo[t.KIND]):
            eta, zeta, kappa = _map_slopes(plant, work, k, c, v, vdot)
            eta = motion_out(R, p, eta[0], eta[1])
            zeta = motion_out(R, p, zeta[0], zeta[1])
            changes = eta, zeta, motion_out(R, p, kappa[0], kappa[1])
        slope_column(columns[c], motion_out(R, p, h, u), V_up, A_up, V, changes)


@kernel
def gain(plant, work, k, slopes):
    """G = (U L⁻*) L⁻¹ and D⁻¹ of a hinge with any number of velocities; x holds its columns, a row each."""
    topo, j = plant.topo[k], plant.topo[k, t.VI]
    g, y, x = work.gen[topo[t.SLOT]], slopes.body[k + 1], slopes.column[j : j + topo[t.NV]]
    nv = x.shape[0]
    R, p = load9(y, Y_R), load3(y, Y_P)
    for c in range(nv):
        for e in range(c + 1):
            x[c, X_D + e] = g[t.G_L + 6 * c + e]
        n, f = force_out(R, p, load3(g, t.G_U + 6 * c), load3(g, t.G_U + 6 * c + 3))
        store3(x[c], X_G, n)
        store3(x[c], X_G + 3, f)
    invert_factor(x)
    for c in range(nv):
        for s in range(X_G, X_G + 6):
            value = 0.0
            for e in range(c, nv):
                value += x[e, s] * x[e, X_D + c]
            x[c, s] = value
    square_factor(x)


@kernel
def _trace_lanes(g, c, n, f):
    """H [n; f] of velocity c, n and f of eight rows."""
    h = load6(g, t.G_H + 6 * c)
    return h[0] * n[0] + h[1] * n[1] + h[2] * n[2] + h[3] * f[0] + h[4] * f[1] + h[5] * f[2]


@kernel
def trace_entries(plant, work, k, y, first, at, n, f):
    """Coefficients H [n; f] of its velocities in eight rows of a group."""
    topo, j = plant.topo[k], plant.topo[k, t.VI]
    for c in range(topo[t.NV]):
        store_entry(plant, y, j + c, first, at, _trace_lanes(work.gen[topo[t.SLOT]], c, n, f))


@kernel
def push(plant, work, k, x, w, u):
    """[w; u] + H* x for x (nv,) of all velocities."""
    g, j, nv = work.gen[plant.topo[k, t.SLOT]], plant.topo[k, t.VI], plant.topo[k, t.NV]
    for c in range(nv):
        a, l = _column(g, t.G_H, c)
        w, u = add_scaled(w, x[j + c], a), add_scaled(u, x[j + c], l)
    return w, u


@kernel
def push_lanes(plant, work, k, x, at, w, u):
    """[w; u] + H* X of eight columns from `at`."""
    g, j, nv = work.gen[plant.topo[k, t.SLOT]], plant.topo[k, t.VI], plant.topo[k, t.NV]
    for c in range(nv):
        own = load_lanes(x[plant.dof_int[j + c, t.DI_MEMBER]], at)
        h = load6(g, t.G_H + 6 * c)
        w = w[0] + h[0] * own, w[1] + h[1] * own, w[2] + h[2] * own
        u = u[0] + h[3] * own, u[1] + h[4] * own, u[2] + h[5] * own
    return w, u


@kernel
def cross_hinge(plant, work, k, path, z):
    """y = L⁻¹ (H z + c) of eight loop rows in the place of e; returns z⁺ = z - (U L⁻*) y."""
    topo, g = plant.topo[k], work.gen[plant.topo[k, t.SLOT]]
    left, j = z, topo[t.VI]
    for c in range(topo[t.NV]):
        y = load_lanes(path, LANES * (j + c)) + dot6(load6(g, t.G_H + 6 * c), z)
        for e in range(c):
            y = y - g[t.G_L + 6 * c + e] * load_lanes(path, LANES * (j + e))
        y = g[t.G_L + 7 * c] * y
        store_lanes(path, LANES * (j + c), y)
        left = less_six(left, load6(g, t.G_U + 6 * c), y)  # 000 eq. 0.36
    return left


@kernel
def collect(plant, work, k, path, z):
    """e = H z + c of eight loop rows."""
    topo, g = plant.topo[k], work.gen[plant.topo[k, t.SLOT]]
    for c in range(topo[t.NV]):
        at = LANES * (topo[t.VI] + c)
        store_lanes(path, at, load_lanes(path, at) + dot6(load6(g, t.G_H + 6 * c), z))


@kernel
def largest_weight(plant, work, k, most):
    """The larger of `most` and of the squares of L⁻¹'s diagonal."""
    g, nv = work.gen[plant.topo[k, t.SLOT]], plant.topo[k, t.NV]
    for c in range(nv):
        most = max(most, g[t.G_L + 7 * c] * g[t.G_L + 7 * c])
    return most


@kernel
def add_innovation(plant, work, k, path, f):
    """ε += e f of eight loop rows."""
    topo, g = plant.topo[k], work.gen[plant.topo[k, t.SLOT]]
    for c in range(topo[t.NV]):
        g[t.G_EPS + c] += sum_lanes(load_lanes(path, LANES * (topo[t.VI] + c)) * f)


@kernel
def clear_innovation(plant, work, k):
    """ε = 0."""
    g, nv = work.gen[plant.topo[k, t.SLOT]], plant.topo[k, t.NV]
    for c in range(nv):
        g[t.G_EPS + c] = 0.0


@kernel
def respond(plant, work, k, n, f):
    """L⁻¹ε with ε = -H z, kept, and z⁺ = z + (U L⁻*) L⁻¹ε."""
    g, nv = work.gen[plant.topo[k, t.SLOT]], plant.topo[k, t.NV]
    left_n, left_f = n, f
    for c in range(nv):
        e = -_trace(g, c, n, f)
        for i in range(c):
            e -= g[t.G_L + 6 * c + i] * g[t.G_EPS + i]
        e *= g[t.G_L + 7 * c]
        g[t.G_EPS + c] = e
        a, l = _column(g, t.G_U, c)
        left_n, left_f = add_scaled(left_n, e, a), add_scaled(left_f, e, l)  # 000 eq. .40: z⁺
    return left_n, left_f
