"""Articulated bodies: the operations that all kinds of nodes share tip to base: P → P⁺, z → z⁺, handed to the parent.

D = H P H* + armature,   G = P H* D⁻¹,   P⁺ = P - G D G*        (000 eqs. 0.26, .39)
ε = T - H z,   z⁺ = z + P⁺ a + G ε                              (000 eq. .40)
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import less_six
from limberjack.engine.algebra.lanes import load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.spatial import (
    add,
    add6,
    add9,
    add_scaled,
    dot,
    load3,
    load6,
    load9,
    store3,
    store6,
    store9,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import plant as t


@kernel
def hand_in(first, up, P, n, f):
    """Parent's sums of φ P⁺ φ* and φ z⁺: the first child writes them, others add."""
    Pa, Pc, Pl = P
    if not first:
        Pa, Pc, Pl = add6(load6(up, t.A_I), Pa), add9(load9(up, t.A_H), Pc), add6(load6(up, t.A_M), Pl)
        n, f = add(load3(up, t.A_Z), n), add(load3(up, t.A_Z + 3), f)
    store6(up, t.A_I, Pa)
    store9(up, t.A_H, Pc)
    store6(up, t.A_M, Pl)
    store3(up, t.A_Z, n)
    store3(up, t.A_Z + 3, f)


@kernel
def rank_one(P, ua, ul, s):
    """P - s [ua; ul] [ua; ul]*."""
    Pa, Pc, Pl = P
    a, l = (s * ua[0], s * ua[1], s * ua[2]), (s * ul[0], s * ul[1], s * ul[2])
    Pa = (
        Pa[0] - a[0] * ua[0],
        Pa[1] - a[1] * ua[1],
        Pa[2] - a[2] * ua[2],
        Pa[3] - a[0] * ua[1],
        Pa[4] - a[0] * ua[2],
        Pa[5] - a[1] * ua[2],
    )
    Pc = (
        Pc[0] - a[0] * ul[0],
        Pc[1] - a[0] * ul[1],
        Pc[2] - a[0] * ul[2],
        Pc[3] - a[1] * ul[0],
        Pc[4] - a[1] * ul[1],
        Pc[5] - a[1] * ul[2],
        Pc[6] - a[2] * ul[0],
        Pc[7] - a[2] * ul[1],
        Pc[8] - a[2] * ul[2],
    )
    Pl = (
        Pl[0] - l[0] * ul[0],
        Pl[1] - l[1] * ul[1],
        Pl[2] - l[2] * ul[2],
        Pl[3] - l[0] * ul[1],
        Pl[4] - l[0] * ul[2],
        Pl[5] - l[1] * ul[2],
    )
    return Pa, Pc, Pl


@kernel
def store_entry(plant, y, j, first, at, e):
    """Coefficients of velocity j in eight rows of a group, brought to order one."""
    member = plant.dof_int[j, t.DI_MEMBER]
    store_lanes(y[member], first, plant.loops.scale[at + member] * e)


@kernel
def solve_simple(row, w, u):
    """dβ/dt = D⁻¹ (ε - U* α⁺) of a hinge with one velocity (000 eq. .40)."""
    return row[t.W_DINV] * (row[t.W_EPS] - dot(load3(row, t.W_U), w) - dot(load3(row, t.W_U + 3), u))


@kernel
def respond_simple(row, h, n, f):
    """ε = -H z, kept, and z⁺ = z + U D⁻¹ ε, of a hinge with one velocity; h: H z."""
    row[t.W_EPS] = -h
    e = -h * row[t.W_DINV]
    return add_scaled(n, e, load3(row, t.W_U)), add_scaled(f, e, load3(row, t.W_U + 3))  # 000 eq. .40: z⁺


@kernel
def cross_simple(row, path, at, z, h):
    """e = H z + c of eight loop rows, and z⁺ = z - U D⁻¹ e, of a hinge with one velocity; h: H z."""
    e = load_lanes(path, at) + h
    store_lanes(path, at, e)
    return less_six(z, load6(row, t.W_U), row[t.W_DINV] * e)  # 000 eq. 0.36: φ τ̄ z = ψ z


@kernel
def add_innovation(row, path, j, f):
    """ε += e f of a hinge with one velocity, of eight loop rows."""
    row[t.W_EPS] += sum_lanes(load_lanes(path, LANES * j) * f)  # 000 eq. .44: ε
