"""A hinge that turns about z (002, Table 2.5): H* = [z; 0], R = Rz(turn) Rx(tilt) Rz(q + offset), kept as angles."""

from __future__ import annotations

from limberjack.engine.algebra.lanes import load_lanes
from limberjack.engine.algebra.small_solves import pivot
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_cross,
    add_scaled,
    cross,
    inertia_mul,
    load3,
    shift,
    store3,
)
from limberjack.engine.algebra.turns import spin, spin_flat, tilt, tilt_flat, turn_x, turn_z, turns_matrix
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.articulated import hand_in, rank_one, solve_simple, store_entry
from limberjack.engine.kernels.nodes.composite import pick_row
from limberjack.engine.kernels.nodes.frames import write_column
from limberjack.engine.kernels.nodes.slope_columns import NOTHING, simple_gain, slope_column
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import REVOLUTE

HINGES = (REVOLUTE,)
KEEPS_ANGLES = KEEPS_AXIS = ONE_VELOCITY = True
gain = simple_gain

#: the component of a spatial force that H picks: the moment about z
_PICKED = 2


@kernel
def trusted(plant, counts, k):
    """Whether a row of a foreign Plant may be of this kind."""
    return plant.topo[k, t.KIND] == REVOLUTE


@kernel
def hinge_frame(plant, work, k):
    """R_(parent, k) and the lever p."""
    body, row = plant.body[k], work.rows[k + 1]
    R = turns_matrix(body[t.B_TURN], body[t.B_TURN + 1], body[t.B_TILT], body[t.B_TILT + 1], row[t.W_C], row[t.W_C + 1])
    return R, load3(body, t.B_P)


@kernel
def hinge_in(plant, work, k, w, u):
    """φ*(parent, k) [w; u] (000 eq. 0.1)."""
    topo, body, row = plant.topo[k], plant.body[k], work.rows[k + 1]
    u = add_cross(u, w, load3(body, t.B_P))
    if topo[t.TURN]:
        c, s = body[t.B_TURN], -body[t.B_TURN + 1]
        w, u = turn_z(c, s, w), turn_z(c, s, u)
    c, s = body[t.B_TILT], -body[t.B_TILT + 1]
    w, u = turn_x(c, s, w), turn_x(c, s, u)
    c, s = row[t.W_C], -row[t.W_C + 1]
    return turn_z(c, s, w), turn_z(c, s, u)


@kernel
def _force_out(topo, body, row, n, f):
    n, f = turn_z(row[t.W_C], row[t.W_C + 1], n), turn_z(row[t.W_C], row[t.W_C + 1], f)
    c, s = body[t.B_TILT], body[t.B_TILT + 1]
    n, f = turn_x(c, s, n), turn_x(c, s, f)
    if topo[t.TURN]:
        c, s = body[t.B_TURN], body[t.B_TURN + 1]
        n, f = turn_z(c, s, n), turn_z(c, s, f)
    return add_cross(n, load3(body, t.B_P), f), f


@kernel
def hinge_out(plant, work, k, n, f):
    """φ(parent, k) [n; f] (000 eq. 0.1)."""
    return _force_out(plant.topo[k], plant.body[k], work.rows[k + 1], n, f)


@kernel
def stand(plant, work, k, q, no_rate):
    """The hinge at cosine and sine of its angle."""
    topo, row = plant.topo[k], work.rows[k + 1]
    row[t.W_C], row[t.W_C + 1] = work.cosine[topo[t.QI]], work.sine[topo[t.QI]]


@kernel
def place(plant, work, k, q, v):
    """Its frame, and V(k) = φ* V(parent) + H* β (000 eq. 0.1)."""
    topo = plant.topo[k]
    up = work.rows[topo[t.UP]]
    stand(plant, work, k, q, v)
    w, u = hinge_in(plant, work, k, load3(up, t.W_V), load3(up, t.W_V + 3))
    return (w[0], w[1], w[2] + v[topo[t.VI]]), u


@kernel
def _inward_flat(topo, body, row, up, P, n, f, dinv, eps, rate):
    """A z-turning hinge without armature: the z row and column of P⁺ are zero, and remain zero after its rotation.

    Written out by elements: a = (w_y, -w_x, 0; u_y, -u_x, 0) × rate has two zeros as well.
    """
    Pa, Pc, Pl = P
    gx, gy, g0, g1, g2 = Pa[4] * dinv, Pa[5] * dinv, Pc[6] * dinv, Pc[7] * dinv, Pc[8] * dinv
    xx, yy, xy = Pa[0] - gx * Pa[4], Pa[1] - gy * Pa[5], Pa[3] - gx * Pa[5]
    Pc_plus = (
        Pc[0] - gx * Pc[6],
        Pc[1] - gx * Pc[7],
        Pc[2] - gx * Pc[8],
        Pc[3] - gy * Pc[6],
        Pc[4] - gy * Pc[7],
        Pc[5] - gy * Pc[8],
    )
    Pl = (
        Pl[0] - g0 * Pc[6],
        Pl[1] - g1 * Pc[7],
        Pl[2] - g2 * Pc[8],
        Pl[3] - g0 * Pc[7],
        Pl[4] - g0 * Pc[8],
        Pl[5] - g1 * Pc[8],
    )
    ax, ay = row[t.W_V + 1] * rate, -row[t.W_V] * rate
    bx, by = row[t.W_V + 4] * rate, -row[t.W_V + 3] * rate
    n = (
        n[0] + gx * eps + xx * ax + xy * ay + Pc_plus[0] * bx + Pc_plus[1] * by,
        n[1] + gy * eps + xy * ax + yy * ay + Pc_plus[3] * bx + Pc_plus[4] * by,
        n[2] + eps,
    )
    f = (
        f[0] + g0 * eps + Pc_plus[0] * ax + Pc_plus[3] * ay + Pl[0] * bx + Pl[3] * by,
        f[1] + g1 * eps + Pc_plus[1] * ax + Pc_plus[4] * ay + Pl[3] * bx + Pl[1] * by,
        f[2] + g2 * eps + Pc_plus[2] * ax + Pc_plus[5] * ay + Pl[4] * bx + Pl[5] * by,
    )
    n, f = _force_out(topo, body, row, n, f)
    xx, yy, xy, Pc_plus, Pl = spin_flat(row[t.W_C], row[t.W_C + 1], xx, yy, xy, Pc_plus, Pl)
    P = tilt_flat(body[t.B_TILT], body[t.B_TILT + 1], xx, yy, xy, Pc_plus, Pl)
    if topo[t.TURN]:
        P = spin(body[t.B_TURN], body[t.B_TURN + 1], P)
    hand_in(topo[t.FIRST], up, shift(P, load3(body, t.B_P)), n, f)


@kernel
def _hand(topo, body, row, first, up, P, n, f):
    n, f = _force_out(topo, body, row, n, f)
    P = tilt(body[t.B_TILT], body[t.B_TILT + 1], spin(row[t.W_C], row[t.W_C + 1], P))
    if topo[t.TURN]:
        P = spin(body[t.B_TURN], body[t.B_TURN + 1], P)
    hand_in(first, up, shift(P, load3(body, t.B_P)), n, f)


@kernel
def hand(plant, work, k, first, up, P, n, f):
    """φ P φ* and φ z across a z-turning hinge."""
    _hand(plant.topo[k], plant.body[k], work.rows[k + 1], first, up, P, n, f)


@kernel
def _inward_full(topo, body, row, up, P, n, f, dinv, eps, rate):
    """A z-turning hinge with armature (or what an implicit integrator adds): P⁺ is full."""
    ua, ul = load3(row, t.W_U), load3(row, t.W_U + 3)
    P = rank_one(P, ua, ul, dinv)
    w, u = load3(row, t.W_V), load3(row, t.W_V + 3)
    pn, pf = inertia_mul(P, (w[1] * rate, -w[0] * rate, 0.0), (u[1] * rate, -u[0] * rate, 0.0))
    n, f = add_scaled(add(n, pn), eps * dinv, ua), add_scaled(add(f, pf), eps * dinv, ul)
    _hand(topo, body, row, topo[t.FIRST], up, P, n, f)


@kernel
def _reduce(topo, body, row, up, P, n, f, tau, add_inertia, rate):
    I, H, _ = P
    dinv = 1.0 / pivot(I[2] + add_inertia, I[0] + I[1])
    eps = tau - n[2]
    store3(row, t.W_U, (I[4], I[5], I[2]))
    store3(row, t.W_U + 3, (H[6], H[7], H[8]))
    row[t.W_DINV], row[t.W_EPS] = dinv, eps
    if topo[t.UP] > 0:
        if add_inertia == 0.0:
            _inward_flat(topo, body, row, up, P, n, f, dinv, eps, rate)
        else:
            _inward_full(topo, body, row, up, P, n, f, dinv, eps, rate)


@kernel
def inward(plant, work, k, P, n, f, v, tau, add_inertia):
    """A z-turning hinge: H P H* = I_zz, U = P H* = third column of P."""
    topo = plant.topo[k]
    up, j = work.acc[topo[t.UP]], topo[t.VI]
    _reduce(topo, plant.body[k], work.rows[k + 1], up, P, n, f, tau[j], add_inertia[j], v[j])


@kernel
def outward(plant, work, k, v, vdot, w, u):
    """dβ/dt and α of the body whose parent's motion it sees as [w; u] (000 eq. .40)."""
    row, j = work.rows[k + 1], plant.topo[k, t.VI]
    rate = v[j]
    w = (w[0] + row[t.W_V + 1] * rate, w[1] - row[t.W_V] * rate, w[2])
    u = (u[0] + row[t.W_V + 4] * rate, u[1] - row[t.W_V + 3] * rate, u[2])
    vdot[j] = solve_simple(row, w, u)
    return (w[0], w[1], w[2] + vdot[j]), u


@kernel
def accelerate(plant, work, k, v, vdot, Vw, Vu, w, u):
    """α = φ* α(parent) + a + H* dβ/dt, a = V × z β (000 eqs. 0.1, 0.2)."""
    j = plant.topo[k, t.VI]
    rate, change = v[j], vdot[j]
    w = (w[0] + Vw[1] * rate, w[1] - Vw[0] * rate, w[2] + change)
    return w, (u[0] + Vu[1] * rate, u[1] - Vu[0] * rate, u[2])


@kernel
def picked(plant, work, k, n, f):
    """H [n; f], of numbers or of lanes (000 eq. 0.1)."""
    return n[2]


@kernel
def trace(plant, work, k, n, f, vdot, tau):
    """T = H f + armature dβ/dt."""
    j = plant.topo[k, t.VI]
    tau[j] = n[2] + plant.armature[j] * vdot[j]


@kernel
def _push(x, w, u):
    """[w; u] + H* x, of numbers or of lanes."""
    return (w[0], w[1], w[2] + x), u


@kernel
def push(plant, work, k, x, w, u):
    """[w; u] + H* x for x (nv,) of all velocities."""
    return _push(x[plant.topo[k, t.VI]], w, u)


@kernel
def push_lanes(plant, work, k, x, at, w, u):
    """[w; u] + H* X of the eight columns of X from `at`, whose rows are the velocities of a group."""
    return _push(load_lanes(x[plant.dof_int[plant.topo[k, t.VI], t.DI_MEMBER]], at), w, u)


@kernel
def trace_entries(plant, work, k, y, first, at, n, f):
    """Coefficients H [n; f] of its velocity in eight rows of a group."""
    store_entry(plant, y, plant.topo[k, t.VI], first, at, n[2])


@kernel
def composite(plant, work, k, start, stop, m, h, I, M):
    """Its row of M; the place of its column, and X = R(k) H* as (moment, force) (002, Algorithm 4.1)."""
    n, f = (I[4], I[5], I[2]), (-h[1], h[0], 0.0)
    pick_row(plant, work.columns, start, stop, _PICKED, n[2], plant.topo[k, t.VI], M)
    return start, n, f


@kernel
def write_columns(plant, work, k, J, point):
    """Its column of the Jacobian of a point (000 eq. 0.18)."""
    w, u = _push(1.0, ZERO, ZERO)
    write_column(J, plant.topo[k, t.VI], work.pose[k + 1], w, u, point)


@kernel
def slope_columns(plant, work, k, slopes, v, vdot, V_up, A_up, V, R, p):
    """The column of its velocity, in the tree frame, where the hinge is at p and turned by R."""
    z = (R[2], R[5], R[8])
    slope_column(slopes.column[plant.topo[k, t.VI]], (z, cross(p, z)), V_up, A_up, V, NOTHING)
