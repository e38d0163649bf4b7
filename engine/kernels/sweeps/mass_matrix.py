"""Mass matrix by composite rigid bodies (002 Algorithm 4.1 and the mass-matrix recursion).

    R(k) = M(k) + Σ φ R(child) φ*,   X = R(k) H*(k),   M(k, k) = H X + armature,   M(j, k) = H(j) φ(j, k) X

The composite of a rigid subtree is a rigid body, so R travels as ten numbers: m, h, I.

In large models neighbours share frames (`nodes/shared_frames.py`): nothing crosses the hinges between them.

The bodies of a subtree are neighbours, and so are their velocities. Their columns X, all seen at body k or at its home,
give row k of M, and cross hinge k together where the frame changes, eight at a time: a block of work.columns holds
eight columns component by component, so that one vector instruction works on all eight. Velocity v has place v + pad
in the blocks, so that the last block is full. Loops over a block run over all of its lanes, because the compiler makes
vector instructions of loops with fixed bounds. Lanes before the subtree's belong to bodies that are still to come and
may hold anything: they, and the lower triangle of M, are written over later. Lanes behind it belong to bodies that are
done: they keep their values, and row k is zero there.
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import block_lane, set_block_lane
from limberjack.engine.algebra.spatial import (
    ZERO,
    dot,
    force_out,
    load3,
    load6,
    rigid_mul,
    rot,
    store3,
    store6,
    turn_sym,
)
from limberjack.engine.algebra.symmetric_fill import mirror, mirror_strip
from limberjack.engine.algebra.views import LANES
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.nodes.composite import C_H, C_M, add_composite, pad_of, shift_composite
from limberjack.engine.kernels.nodes.hinges import hinge_map, place_frame
from limberjack.engine.kernels.nodes.modal_articulated import deformed_inertia
from limberjack.engine.kernels.nodes.modal_placing import place_flexible
from limberjack.engine.kernels.nodes.modal_routines import composite_flexible
from limberjack.engine.kernels.nodes.shared_frames import H_DEPTH, LARGE, find_home, frame_home, share_row
from limberjack.engine.kernels.nodes.tree import begin_sweep, place_prismatic
from limberjack.engine.tables.plant import (
    A_I,
    B_H,
    B_I,
    B_M,
    G_H,
    NV,
    PATH,
    PATH_BASE,
    PATH_GENERAL,
    PATH_MODAL,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    QI,
    SLOT,
    UP,
    VEND,
    VI,
    W_C,
    plant_view,
    work_view,
)

# The component of X that H picks: moment about z of a revolute hinge, force along z of a prismatic one.
_MOMENT_Z, _FORCE_Z = 2, 5


@kernel
def _place(plant, work, k, q, no_rate, M):
    """Frames (and H* on the general path) of body k, and R(k) = M(k) before its children; rows of modes are zero."""
    topo, body, row = plant.topo[k], plant.body[k], work.rows[k + 1]
    path = topo[PATH]
    if path == PATH_REVOLUTE:
        row[W_C], row[W_C + 1] = work.cosine[topo[QI]], work.sine[topo[QI]]
    elif path == PATH_PRISMATIC:
        place_prismatic(body, q[topo[QI]], row)
    elif path >= PATH_MODAL:
        place_flexible(plant, work, k, q, no_rate)
        for r in range(topo[VI], topo[VI] + topo[NV]):
            for c in range(topo[VI], M.shape[0]):
                M[r, c] = 0.0
    else:
        place_frame(plant, work, k, q, row)
        if path == PATH_GENERAL:
            hinge_map(plant, work, k, no_rate, work.gen[topo[SLOT]])
    h, I = load3(body, B_H), load6(body, B_I)
    if path == PATH_MODAL:
        h, I = deformed_inertia(plant, work, k, h, I)
    acc = work.acc[k + 1]
    store6(acc, A_I, I)
    store3(acc, C_H, h)
    acc[C_M] = body[B_M]


@kernel
def _hand_composite(R, p, m, h, I, up):
    """Parent's R += φ R(k) φ*."""
    h, I = shift_composite(m, rot(R, h), turn_sym(R, I), p)
    add_composite(m, h, I, up)


@kernel
def _choose(condition, a, b):
    """a or b, without a jump."""
    return a[0] if condition else b[0], a[1] if condition else b[1], a[2] if condition else b[2]


@kernel
def _carry_whole(block, R, p):
    """X ← φ X in every lane."""
    for lane in range(LANES):
        n, f = block_lane(block, lane)
        n, f = force_out(R, p, n, f)
        set_block_lane(block, lane, n, f)


@kernel
def _carry_part(block, new, stop, n_new, f_new, R, p):
    """X ← φ X in the lanes before `stop`, with the new column in lane `new` (none if it is not in the block).

    The new column comes in registers: loading a block just after one lane was stored would wait for the store.
    """
    for lane in range(LANES):
        n, f = block_lane(block, lane)
        n, f = _choose(lane == new, n_new, n), _choose(lane == new, f_new, f)
        n_out, f_out = force_out(R, p, n, f)
        set_block_lane(block, lane, _choose(lane < stop, n_out, n), _choose(lane < stop, f_out, f))


@kernel
def _carry(columns, start, stop, new, n, f, R, p):
    """The columns at places start … stop - 1 cross a hinge; the one at `new`, if not -1, is [n; f] before."""
    first, last = start // LANES, (stop - 1) // LANES
    for b in range(first, last + 1):
        if first < b < last:
            _carry_whole(columns[b], R, p)
        else:
            _carry_part(columns[b], new - LANES * b, stop - LANES * b, n, f, R, p)


@kernel
def _row_part(row, c, block, component, new, x_new, stop, begin):
    """A block's part of a row of M: one component of its columns, zero from lane `stop` on."""
    for lane in range(begin, LANES):
        x = x_new if lane == new else block[LANES * component + lane]
        row[c + lane] = x if lane < stop else 0.0


@kernel
def _row(columns, start, stop, component, new, x_new, row):
    """A row of M where H picks one component of X; that of the column at `new`, if not -1, is x_new."""
    pad = pad_of(columns, row.shape[0])
    for b in range(start // LANES, columns.shape[0]):
        block, at = columns[b], LANES * b
        if start < at and at + LANES <= stop:
            for lane in range(LANES):
                row[at - pad + lane] = block[LANES * component + lane]
        elif at >= pad:
            _row_part(row, at - pad, block, component, new - at, x_new, stop - at, 0)
        else:
            _row_part(row, at - pad, block, component, new - at, x_new, stop - at, pad)


@kernel
def _row_general(columns, start, stop, h_n, h_f, row):
    """A row of M for any H: H X."""
    pad = pad_of(columns, row.shape[0])
    for c in range(start - pad, row.shape[0]):
        n, f = block_lane(columns[(c + pad) // LANES], (c + pad) % LANES)
        row[c] = dot(h_n, n) + dot(h_f, f) if c + pad < stop else 0.0


@kernel
def _base_part(M, v, c, block, stop, begin):
    """A block's part of the six rows of a free base."""
    for i in range(6):
        for lane in range(begin, LANES):
            M[v + i, c + lane] = block[LANES * i + lane] if lane < stop else 0.0


@kernel
def _base_corner(M, v, m, h, I):
    """M(k, k) of a free base is R itself: the upper triangle of [[I, h~], [-h~, m 1]]."""
    a, b, c = M[v], M[v + 1], M[v + 2]
    a[v], a[v + 1], a[v + 2], a[v + 3], a[v + 4], a[v + 5] = I[0], I[3], I[4], 0.0, -h[2], h[1]
    b[v + 1], b[v + 2], b[v + 3], b[v + 4], b[v + 5] = I[1], I[5], h[2], 0.0, -h[0]
    c[v + 2], c[v + 3], c[v + 4], c[v + 5] = I[2], -h[1], h[0], 0.0
    for i in range(v + 3, v + 6):
        for j in range(i, v + 6):
            M[i, j] = m if i == j else 0.0


@kernel
def _base(columns, start, stop, v, m, h, I, M):
    """Rows of a free base, H = 1: the columns as they are, and R."""
    pad = pad_of(columns, M.shape[0])
    for b in range((start + 6) // LANES, columns.shape[0]):
        at = LANES * b
        if at >= pad:
            _base_part(M, v, at - pad, columns[b], stop - at, 0)
        else:
            _base_part(M, v, at - pad, columns[b], stop - at, pad)
    _base_corner(M, v, m, h, I)


@kernel
def _general(columns, start, stop, v, nv, g, m, h, I, M):
    """Columns and rows of a hinge with any number of velocities."""
    for c in range(nv):
        n, f = rigid_mul(m, h, I, load3(g, G_H + 6 * c), load3(g, G_H + 6 * c + 3))
        set_block_lane(columns[(start + c) // LANES], (start + c) % LANES, n, f)
    for c in range(nv):
        _row_general(columns, start + c, stop, load3(g, G_H + 6 * c), load3(g, G_H + 6 * c + 3), M[v + c])


@kernel
def _inward(plant, work, k, M, large):
    """Rows of M of hinge k; then its subtree's columns and composite cross it to the parent."""
    topo, acc, columns = plant.topo[k], work.acc[k + 1], work.columns
    m, h, I = acc[C_M], load3(acc, C_H), load6(acc, A_I)
    if large and work.rows[k + 1, H_DEPTH] > 0.0:
        share_row(plant, work, k, m, h, I, M)
        add_composite(m, h, I, work.acc[topo[UP]])
        return
    v, pad = topo[VI], pad_of(columns, M.shape[0])
    start, stop, new, n, f = v + pad, topo[VEND] + pad, -1, ZERO, ZERO
    if topo[PATH] == PATH_REVOLUTE:
        new, n, f = start, (I[4], I[5], I[2]), (-h[1], h[0], 0.0)
        _row(columns, start, stop, _MOMENT_Z, new, n[2], M[v])
    elif topo[PATH] == PATH_PRISMATIC:
        new, n, f = start, (h[1], -h[0], 0.0), (0.0, 0.0, m)
        _row(columns, start, stop, _FORCE_Z, new, f[2], M[v])
    elif topo[PATH] == PATH_BASE:
        _base(columns, start, stop, v, m, h, I, M)
    elif topo[PATH] >= PATH_MODAL:
        composite_flexible(plant, work, k, start, stop, m, acc[C_H : C_H + 3], acc[A_I : A_I + 6], M)
    else:
        _general(columns, start, stop, v, topo[NV], work.gen[topo[SLOT]], m, h, I, M)
    if topo[UP] > 0:
        R, p = frame_home(plant, work, k, large)
        _carry(columns, start, stop, new, n, f, R, p)
        _hand_composite(R, p, m, h, I, work.acc[topo[UP]])


@kernel
def _sweep(plant, work, M, large):
    """All rows of M, tip to base, and the lower triangle of what is done."""
    n, left, pad = plant.topo.shape[0], work.columns.shape[0], pad_of(work.columns, M.shape[0])
    for i in range(n):
        k = n - 1 - i
        v = plant.topo[k, VI]
        _inward(plant, work, k, M, large)
        while large and left > 0 and LANES * (left - 1) >= v + pad:
            left -= 1
            mirror_strip(M, LANES * left - pad)
    if large and left > 0:
        mirror_strip(M, 0)


@kernel
def mass_matrix(plant, work, q, M):
    """M (nv, nv), symmetric, both triangles written."""
    begin_sweep(plant, work, q, 0.0)
    for k in range(plant.topo.shape[0]):
        _place(plant, work, k, q, work.zeros, M)
    if M.shape[0] >= LARGE:
        for k in range(plant.topo.shape[0]):
            find_home(plant, work, k)
        _sweep(plant, work, M, True)
    else:
        _sweep(plant, work, M, False)
        mirror(M)
    for i in range(M.shape[0]):
        M[i, i] += plant.armature[i]


@entry
def mass_matrix_entry(ints, floats, work, q, M):
    """One evaluation of `mass_matrix`, for Python callers."""
    mass_matrix(plant_view(ints, floats), work_view(ints, work), q, M)
