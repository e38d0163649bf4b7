"""Mass matrix by composite rigid bodies (002 Algorithm 4.1; 000 eq. 0.14).

    R(k) = M(k) + Σ φ R(child) φ*,   X = R(k) H*(k),   M(k, k) = H X + armature,   M(j, k) = H(j) φ(j, k) X

The composite of a rigid subtree is a rigid body, so R travels as ten numbers: m, h, I.

In large models neighbours share frames (`shared_frames.py`): nothing crosses the hinges between them.

The bodies of a subtree are neighbours, and so are their velocities. Their columns X, all seen at body k or at its home,
give row k of M, and cross hinge k together where the frame changes, eight at a time: a block of work.columns holds
eight columns component by component, so that one vector instruction works on all eight. Velocity v has place v + pad
in the blocks, so that the last block is full. Lanes before the subtree's belong to bodies that follow and may hold
anything: they, and the lower triangle of M, are overwritten later. Lanes after it belong to bodies that are done: they
keep their values, and row k is zero there.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import load_block, store_block, with_vector
from limberjack.engine.algebra.lanes import split_lanes
from limberjack.engine.algebra.spatial import force_out, load3, load6, rot, turn_sym
from limberjack.engine.algebra.symmetric_fill import mirror, mirror_strip
from limberjack.engine.compile.compiled import MATRIX, VECTOR, VECTORS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.nodes.composite import C_H, C_M, add_composite, pad_of, shift_composite
from limberjack.engine.kernels.nodes.dispatch import composite_body, stand_body
from limberjack.engine.kernels.nodes.shared_frames import H_DEPTH, LARGE, find_home, frame_home, share_row
from limberjack.engine.kernels.nodes.tree import begin_sweep
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import plant_view, work_view


@kernel
def _hand_composite(R, p, m, h, I, up):
    """Parent's R += φ R(k) φ*."""
    h, I = shift_composite(m, rot(R, h), turn_sym(R, I), p)
    add_composite(m, h, I, up)


@kernel
def _before(x, y, stop):
    """The triple of lanes x before lane `stop`, y from there on."""
    return split_lanes(x[0], y[0], stop), split_lanes(x[1], y[1], stop), split_lanes(x[2], y[2], stop)


@kernel
def _carry_block(block, new, stop, n_new, f_new, R, p):
    """X ← φ X in the lanes before `stop`, with the new column in lane `new` (none if it is not in the block).

    The new column is passed in registers: loading a block right after one lane was stored would wait for the store.
    """
    n, f = load_block(block, 0)
    if new >= 0:
        n, f = with_vector(n, new, n_new), with_vector(f, new, f_new)
    n_out, f_out = force_out(R, p, n, f)
    if stop < LANES:
        n_out, f_out = _before(n_out, n, stop), _before(f_out, f, stop)
    store_block(block, 0, n_out, f_out)


@kernel
def _carry(columns, start, stop, new, n, f, R, p):
    """The columns at places start … stop - 1 cross a hinge; the one at `new`, if not -1, is [n; f] before."""
    for b in range(start // LANES, (stop - 1) // LANES + 1):
        _carry_block(columns[b], new - LANES * b, stop - LANES * b, n, f, R, p)


@kernel
def _inward(plant, work, k, M, large):
    """Rows of M of hinge k; then its subtree's columns and composite cross it to the parent."""
    topo, acc, columns = plant.topo[k], work.acc[k + 1], work.columns
    m, h, I = acc[C_M], load3(acc, C_H), load6(acc, t.A_I)
    if large and work.rows[k + 1, H_DEPTH] > 0.0:
        share_row(plant, work, k, m, h, I, M)
        add_composite(m, h, I, work.acc[topo[t.UP]])
        return
    pad = pad_of(columns, M.shape[0])
    start, stop = topo[t.VI] + pad, topo[t.VEND] + pad
    new, n, f = composite_body(plant, work, k, start, stop, m, h, I, M)
    if topo[t.UP] > 0:
        R, p = frame_home(plant, work, k, large)
        _carry(columns, start, stop, new, n, f, R, p)
        _hand_composite(R, p, m, h, I, work.acc[topo[t.UP]])


@kernel
def _sweep(plant, work, M, large):
    """All rows of M, tip to base, and the lower triangle of what is done."""
    n, left, pad = plant.topo.shape[0], work.columns.shape[0], pad_of(work.columns, M.shape[0])
    for i in range(n):
        k = n - 1 - i
        v = plant.topo[k, t.VI]
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
        stand_body(plant, work, k, q, work.zeros, M)
    if M.shape[0] >= LARGE:
        for k in range(plant.topo.shape[0]):
            find_home(plant, work, k)
        _sweep(plant, work, M, True)
    else:
        _sweep(plant, work, M, False)
        mirror(M)
    for i in range(M.shape[0]):
        M[i, i] += plant.armature[i]


@entry(VECTORS, VECTOR, MATRIX, worlds=True, wide=True)
def mass_matrix_entry(ints, floats, work, q, M):
    """One evaluation of `mass_matrix`, for Python callers."""
    mass_matrix(plant_view(ints, floats), work_view(ints, work), q, M)
