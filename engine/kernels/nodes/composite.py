"""Composite rigid bodies of the mass matrix: R(k) as ten numbers in work.acc, and the places of columns."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import add, add6, load3, load6, scale, store3, store6
from limberjack.engine.algebra.views import LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.plant import A_I, A_Z

#: a composite body in work.acc: I at A_I, h at C_H, m at C_M
C_H, C_M = A_Z, A_Z + 3


@kernel
def pad_of(columns, nv):
    """Idle places before that of the first velocity."""
    return LANES * columns.shape[0] - nv


@kernel
def shift_composite(m, h, I, p):
    """A rigid body's (h, I) about a point that it sees at lever p: h + m p, I - p~ h~ - h~ p~ - m p~ p~."""
    a = (2.0 * h[0] + m * p[0], 2.0 * h[1] + m * p[1], 2.0 * h[2] + m * p[2])
    x, y, z = p[0] * a[0], p[1] * a[1], p[2] * a[2]
    J = (
        I[0] + y + z,
        I[1] + x + z,
        I[2] + x + y,
        I[3] - 0.5 * (p[0] * a[1] + p[1] * a[0]),
        I[4] - 0.5 * (p[0] * a[2] + p[2] * a[0]),
        I[5] - 0.5 * (p[1] * a[2] + p[2] * a[1]),
    )
    return add(h, scale(m, p)), J


@kernel
def add_composite(m, h, I, up):
    """Parent's R += R(k), seen in the same frame."""
    store6(up, A_I, add6(load6(up, A_I), I))
    store3(up, C_H, add(load3(up, C_H), h))
    up[C_M] += m
