"""A hinge that slides along z (002, Table 2.5): H* = [0; z]."""

from __future__ import annotations

from limberjack.engine.algebra.lanes import load_lanes
from limberjack.engine.algebra.small_solves import pivot
from limberjack.engine.algebra.spatial import ZERO, add, add_scaled, inertia_mul, load3, load9, store3, store9
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import matrix_frame
from limberjack.engine.kernels.nodes.articulated import rank_one, solve_simple, store_entry
from limberjack.engine.kernels.nodes.composite import pick_row
from limberjack.engine.kernels.nodes.frames import write_column
from limberjack.engine.kernels.nodes.slope_columns import NOTHING, simple_gain, slope_column
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import PRISMATIC

HINGES = (PRISMATIC,)
ONE_VELOCITY = True
gain = simple_gain

#: the component of a spatial force that H picks: the force along z
_PICKED = 5


@kernel
def trusted(plant, counts, k):
    """Whether a row of a foreign Plant may be of this kind."""
    return plant.topo[k, t.KIND] == PRISMATIC


@kernel
def stand(plant, work, k, q, no_rate):
    """R and lever p of a body that slides along z."""
    body, row, distance = plant.body[k], work.rows[k + 1], q[plant.topo[k, t.QI]]
    R, p = load9(body, t.B_R), load3(body, t.B_P)
    store9(row, t.W_R, R)
    store3(row, t.W_P, (p[0] + R[2] * distance, p[1] + R[5] * distance, p[2] + R[8] * distance))


@kernel
def place(plant, work, k, q, v):
    """Its frame, and V(k) = φ* V(parent) + H* β (000 eq. 0.1)."""
    topo = plant.topo[k]
    stand(plant, work, k, q, v)
    w, u = matrix_frame.motion_of(work.rows[k + 1], work.rows[topo[t.UP]], t.W_V)
    return w, (u[0], u[1], u[2] + v[topo[t.VI]])


@kernel
def _reduce(topo, row, up, P, n, f, tau, add_inertia, rate):
    _, Pc, Pl = P
    dinv = 1.0 / pivot(Pl[2] + add_inertia, Pl[0] + Pl[1])
    ua, ul = (Pc[2], Pc[5], Pc[8]), (Pl[4], Pl[5], Pl[2])
    eps = tau - f[2]
    store3(row, t.W_U, ua)
    store3(row, t.W_U + 3, ul)
    row[t.W_DINV], row[t.W_EPS] = dinv, eps
    if topo[t.UP] == 0:
        return
    P = rank_one(P, ua, ul, dinv)
    w = load3(row, t.W_V)
    pn, pf = inertia_mul(P, (0.0, 0.0, 0.0), (w[1] * rate, -w[0] * rate, 0.0))
    n, f = add_scaled(add(n, pn), eps * dinv, ua), add_scaled(add(f, pf), eps * dinv, ul)
    matrix_frame.hand_across(topo[t.FIRST], row, up, P, n, f)


@kernel
def inward(plant, work, k, P, n, f, v, tau, add_inertia):
    """A hinge that slides along z: H P H* = M_zz."""
    topo = plant.topo[k]
    j = topo[t.VI]
    _reduce(topo, work.rows[k + 1], work.acc[topo[t.UP]], P, n, f, tau[j], add_inertia[j], v[j])


@kernel
def outward(plant, work, k, v, vdot, w, u):
    """dβ/dt and α of the body whose parent's motion it sees as [w; u] (000 eq. .40)."""
    row, j = work.rows[k + 1], plant.topo[k, t.VI]
    rate = v[j]
    u = (u[0] + row[t.W_V + 1] * rate, u[1] - row[t.W_V] * rate, u[2])
    vdot[j] = solve_simple(row, w, u)
    return w, (u[0], u[1], u[2] + vdot[j])


@kernel
def accelerate(plant, work, k, v, vdot, Vw, Vu, w, u):
    """α = φ* α(parent) + a + H* dβ/dt, a = V × z β (000 eqs. 0.1, 0.2)."""
    j = plant.topo[k, t.VI]
    rate, change = v[j], vdot[j]
    return w, (u[0] + Vw[1] * rate, u[1] - Vw[0] * rate, u[2] + change)


@kernel
def picked(plant, work, k, n, f):
    """H [n; f], of numbers or of lanes (000 eq. 0.1)."""
    return f[2]


@kernel
def trace(plant, work, k, n, f, vdot, tau):
    """T = H f + armature dβ/dt."""
    j = plant.topo[k, t.VI]
    tau[j] = f[2] + plant.armature[j] * vdot[j]


@kernel
def _push(x, w, u):
    """[w; u] + H* x, of numbers or of lanes."""
    return w, (u[0], u[1], u[2] + x)


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
    store_entry(plant, y, plant.topo[k, t.VI], first, at, f[2])


@kernel
def composite(plant, work, k, start, stop, m, h, I, M):
    """Its row of M; the place of its column, and X = R(k) H* as (moment, force) (002, Algorithm 4.1)."""
    n, f = (h[1], -h[0], 0.0), (0.0, 0.0, m)
    pick_row(plant, work.columns, start, stop, _PICKED, f[2], plant.topo[k, t.VI], M)
    return start, n, f


@kernel
def write_columns(plant, work, k, J, point):
    """Its column of the Jacobian of a point (000 eq. 0.18)."""
    w, u = _push(1.0, ZERO, ZERO)
    write_column(J, plant.topo[k, t.VI], work.pose[k + 1], w, u, point)


@kernel
def slope_columns(plant, work, k, slopes, v, vdot, V_up, A_up, V, R, p):
    """The column of its velocity, in the tree frame, where the hinge is turned by R."""
    slope_column(slopes.column[plant.topo[k, t.VI]], (ZERO, (R[2], R[5], R[8])), V_up, A_up, V, NOTHING)
