"""Articulated bodies: what every kind of node does alike in a step tip to base, P → P⁺, z → z⁺, handed to the parent.

D = H P H* + armature,   G = P H* D⁻¹,   P⁺ = P - G D G*        (000 eqs. 0.26, .39)
ε = T - H z,   z⁺ = z + P⁺ a + G ε                              (000 eq. .40)
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import less_six
from limberjack.engine.algebra.lanes import load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.spatial import add, add6, add9, dot, load3, load6, load9, store3, store6, store9
from limberjack.engine.algebra.views import LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import plant as t

#: D below this share of the inertia across the hinge is rounding (a slender rod of 1 km has 1e-12)
SINGULAR = 1e-14


@kernel
def pivot(D, scale):
    """D, or 0 where rounding leaves no digit of it: the division then gives no finite number, and Python says so."""
    return D if SINGULAR * scale < D else 0.0


@kernel
def hand_in(first, up, P, n, f):
    """Parent's sums of φ P⁺ φ* and φ z⁺: the first child writes them, others add."""
    I, H, M = P
    if not first:
        I, H, M = add6(load6(up, t.A_I), I), add9(load9(up, t.A_H), H), add6(load6(up, t.A_M), M)
        n, f = add(load3(up, t.A_Z), n), add(load3(up, t.A_Z + 3), f)
    store6(up, t.A_I, I)
    store9(up, t.A_H, H)
    store6(up, t.A_M, M)
    store3(up, t.A_Z, n)
    store3(up, t.A_Z + 3, f)


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
def solve_simple(row, w, u):
    """dβ/dt = D⁻¹ (ε - U* α⁺) of a hinge with one velocity (000 eq. .40)."""
    return row[t.W_DINV] * (row[t.W_EPS] - dot(load3(row, t.W_U), w) - dot(load3(row, t.W_U + 3), u))


@kernel
def cross_simple(row, path, at, z, h):
    """e = H z + c of eight loop rows, and z⁺ = z - U D⁻¹ e, of a hinge with one velocity; h: H z."""
    e = load_lanes(path, at) + h
    store_lanes(path, at, e)
    return less_six(z, load6(row, t.W_U), row[t.W_DINV] * e)


@kernel
def add_innovation(row, path, j, f):
    """ε += e f of a hinge with one velocity, of eight loop rows."""
    row[t.W_EPS] += sum_lanes(load_lanes(path, LANES * j) * f)
