"""Composite rigid bodies of the mass matrix: R(k) as ten numbers in work.acc, columns, rows (002, Alg. 4.1)."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import block_lane
from limberjack.engine.algebra.lanes import between_lanes, load_lanes, store_lanes, with_lane
from limberjack.engine.algebra.spatial import add, add6, dot, load3, load6, scale, store3, store6
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import plant as t

#: a composite body in work.acc: I at A_I, h at C_H, m at C_M
C_H, C_M = t.A_Z, t.A_Z + 3


@kernel
def pad_of(columns, nv):
    """Number of unused places before that of the first velocity."""
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
    store6(up, t.A_I, add6(load6(up, t.A_I), I))
    store3(up, C_H, add(load3(up, C_H), h))
    up[C_M] += m


@kernel
def begins_alone(plant, v, nv, pad):
    """Whether row v of M may not begin with the `pad` unused lanes of the first block.

    They are numbers of the rows before, which are written later; but there may be too few of these, or they may be
    rows of modes, which other functions fill.
    """
    return pad > 0 and (v * nv < pad or plant.flexible.modal_int.shape[0] > 0)


@kernel
def pick_row(plant, columns, start, stop, component, x_new, v, M):
    """Row v of M where H picks one component of X; that of the hinge's own column, at `start`, is x_new."""
    row, pad, first = M[v], pad_of(columns, M.shape[0]), start // LANES
    if first == 0 and begins_alone(plant, v, M.shape[0], pad):
        for lane in range(pad, LANES):
            x = x_new if lane == start else columns[0, LANES * component + lane]
            row[lane - pad] = x if lane < stop else 0.0
        first = 1
    for b in range(first, columns.shape[0]):
        at = LANES * b
        x = with_lane(load_lanes(columns[b], LANES * component), start - at, x_new)
        store_lanes(row, at - pad, between_lanes(x, 0, stop - at))


@kernel
def fill_row(columns, start, stop, h_n, h_f, row):
    """A row of M for any H: H X."""
    pad = pad_of(columns, row.shape[0])
    for c in range(start - pad, row.shape[0]):
        n, f = block_lane(columns[(c + pad) // LANES], (c + pad) % LANES)
        row[c] = dot(h_n, n) + dot(h_f, f) if c + pad < stop else 0.0
