"""A hinge that slides along z (002, Table 2.5): H* = [0; z]."""

from __future__ import annotations

from limberjack.engine.algebra.small_solves import pivot
from limberjack.engine.algebra.spatial import ZERO, add, add_scaled, inertia_mul, load3, load9, store3, store9
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import matrix_frame
from limberjack.engine.kernels.nodes.articulated import rank_one, solve_simple
from limberjack.engine.kernels.nodes.slope_columns import NOTHING, slope_column
from limberjack.engine.tables import plant as t

#: the component of a spatial force that H picks: the force along z
PICKED = 5


@kernel
def place(body, distance, row):
    """R and lever p of a body that slides along z."""
    R, p = load9(body, t.B_R), load3(body, t.B_P)
    store9(row, t.W_R, R)
    store3(row, t.W_P, (p[0] + R[2] * distance, p[1] + R[5] * distance, p[2] + R[8] * distance))


@kernel
def velocity(row, up, rate):
    """V(k) = φ* V(parent) + H* β (000 eq. 0.1)."""
    w, u = matrix_frame.motion_of(row, up, t.W_V)
    return w, (u[0], u[1], u[2] + rate)


@kernel
def inward(topo, row, up, P, n, f, tau, add_inertia, rate):
    """A hinge that slides along z: H P H* = M_zz."""
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
    matrix_frame.hand(topo[t.FIRST], row, up, P, n, f)


@kernel
def outward(row, vdot, j, rate, w, u):
    """dβ/dt and α of the body whose parent's motion it sees as [w; u] (000 eq. .40)."""
    u = (u[0] + row[t.W_V + 1] * rate, u[1] - row[t.W_V] * rate, u[2])
    vdot[j] = solve_simple(row, w, u)
    return w, (u[0], u[1], u[2] + vdot[j])


@kernel
def accelerate(rate, change, Vw, w, u):
    """α = φ* α(parent) + a + H* dβ/dt, a = V × z β (000 eqs. 0.1, 0.2)."""
    return w, (u[0] + Vw[1] * rate, u[1] - Vw[0] * rate, u[2] + change)


@kernel
def trace(n, f):
    """H [n; f], of numbers or of lanes (000 eq. 0.1)."""
    return f[2]


@kernel
def push(x, w, u):
    """[w; u] + H* x, of numbers or of lanes."""
    return w, (u[0], u[1], u[2] + x)


@kernel
def composite(m, h):
    """X = R(k) H* as (moment, force) (002, Algorithm 4.1)."""
    return (h[1], -h[0], 0.0), (0.0, 0.0, m)


@kernel
def slopes(x, R, V_up, A_up, V):
    """The column of its velocity, in the tree frame, where the hinge is turned by R."""
    slope_column(x, (ZERO, (R[2], R[5], R[8])), V_up, A_up, V, NOTHING)
