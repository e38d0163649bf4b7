"""Bodies of the mass matrix that share a frame: up to SHARED in a row, with revolute hinges and large subtrees.

The frame is that of the first of them, their home. X, H and R of all are expressed there, so that nothing crosses the
hinges between them, which would cost four times as much as their rows. Levers are no longer than so many links, which
limits the digits that their squares lose.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import block_lane, load_block, store_block, with_vector
from limberjack.engine.algebra.lanes import between_lanes, store_lanes
from limberjack.engine.algebra.spatial import (
    add,
    cross,
    dot,
    load3,
    load6,
    load9,
    mul,
    rigid_mul,
    rot,
    store3,
    store6,
    store9,
    turn_sym,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.composite import C_H, C_M, begins_alone, pad_of, shift_composite
from limberjack.engine.kernels.nodes.dispatch import hinge_frame, keeps_axis
from limberjack.engine.tables import plant as t

#: largest number of bodies that share a frame: with more, the squares of their levers take digits from small entries
SHARED = 8
#: size of a subtree, in velocities, from which on carrying its columns across a hinge costs more than sharing a frame
WIDE = 24
#: number of velocities of a model from which on homes are searched
LARGE = 48

# Of a body that shares the frame of its home, in work.rows: R and p of its own there, H* there, how many lie between
# (0: its own home).
_H_R, _H_P, _H_H, H_DEPTH = t.W_V, t.W_ALPHA + 3, t.W_U, t.W_DINV


@kernel
def frame_home(plant, work, k, large):
    """R and p of body k in the home of its parent."""
    up = work.rows[plant.topo[k, t.UP]]
    R, p = hinge_frame(plant, work, k)
    if not large or plant.topo[k, t.UP] == 0 or up[H_DEPTH] == 0.0:
        return R, p
    R_up = load9(up, _H_R)
    return mul(R_up, R), add(load3(up, _H_P), rot(R_up, p))


@kernel
def find_home(plant, work, k):
    """Whether body k, once placed, shares the home of its parent; its R, p, H* and M(k) are then put there."""
    topo, row, acc = plant.topo[k], work.rows[k + 1], work.acc[k + 1]
    depth = work.rows[topo[t.UP], H_DEPTH] + 1.0
    row[H_DEPTH] = 0.0
    if not keeps_axis(topo) or topo[t.UP] == 0 or topo[t.VEND] - topo[t.VI] < WIDE or depth >= SHARED:
        return
    R, p = frame_home(plant, work, k, True)
    axis = R[2], R[5], R[8]
    store9(row, _H_R, R)
    store3(row, _H_P, p)
    store3(row, _H_H, axis)
    store3(row, _H_H + 3, cross(p, axis))
    row[H_DEPTH] = depth
    h, I = shift_composite(acc[C_M], rot(R, load3(acc, C_H)), turn_sym(R, load6(acc, t.A_I)), p)
    store6(acc, t.A_I, I)
    store3(acc, C_H, h)


@kernel
def _row_block(block, h_n, h_f):
    """H X of a block's eight columns."""
    n, f = load_block(block, 0)
    return h_n[0] * n[0] + h_n[1] * n[1] + h_n[2] * n[2] + h_f[0] * f[0] + h_f[1] * f[1] + h_f[2] * f[2]


@kernel
def _put(block, i, n, f):
    """[n; f] in lane i of a block, stored whole: the next load would wait long for a single lane."""
    w, u = load_block(block, 0)
    store_block(block, 0, with_vector(w, i, n), with_vector(u, i, f))


@kernel
def share_row(plant, work, k, m, h, I, M):
    """Column and row of a body that shares the frame of its home."""
    columns, home, v = work.columns, work.rows[k + 1], plant.topo[k, t.VI]
    pad, row = pad_of(columns, M.shape[0]), M[v]
    start, stop = v + pad, plant.topo[k, t.VEND] + pad
    h_n, h_f = load3(home, _H_H), load3(home, _H_H + 3)
    n, f = rigid_mul(m, h, I, h_n, h_f)
    first = start // LANES
    _put(columns[first], start - LANES * first, n, f)
    if first == 0 and begins_alone(plant, v, M.shape[0], pad):
        for lane in range(pad, LANES):
            n, f = block_lane(columns[0], lane)
            row[lane - pad] = dot(h_n, n) + dot(h_f, f) if lane < stop else 0.0
        first = 1
    for b in range(first, columns.shape[0]):
        at = LANES * b
        store_lanes(row, at - pad, between_lanes(_row_block(columns[b], h_n, h_f), 0, stop - at))
