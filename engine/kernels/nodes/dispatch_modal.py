"""The dispatch among the nodes of a modal body, as routines, so that code for rigid trees does not contain them."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import add, load3, load6, store3
from limberjack.engine.compile.compiled import FLAG, FLOATS, MATRIX, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.nodes import attachment, matrix_frame, modal
from limberjack.engine.kernels.nodes.body_inertia import body_force
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@routine(WHOLE, FLOATS, FLOATS)
def place_flexible_routine(ints, floats, vector, k, q, v):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[t.PATH] == t.PATH_NODE:
        attachment.place(plant, work, k, row, work.rows[topo[t.UP]])
    else:
        modal.place(plant, work, k, q, v, row, work.rows[topo[t.UP]])


@kernel
def place_flexible(plant, work, k, q, v):
    """Frames, V(k) and all that depends on the deformation, of a link of a modal body whose parent is done."""
    ints, floats, vector = vectors(plant, work)
    place_flexible_routine(ints, floats, vector, k, q, v)


@routine(WHOLE, FLOATS, FLOATS, FLAG, unroll=True)
def inward_flexible_routine(ints, floats, vector, k, tau, add_inertia, external):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    h, I = load3(plant.body[k], t.B_H), load6(plant.body[k], t.B_I)
    if plant.topo[k, t.PATH] == t.PATH_NODE:
        attachment.inward(plant, work, k, h, I, external)
    else:
        modal.inward(plant, work, k, h, I, tau, add_inertia, external)


@kernel
def inward_flexible(plant, work, k, tau, add_inertia, external):
    """P and z of a link of a modal body, its modes reduced, handed to its parent."""
    ints, floats, vector = vectors(plant, work)
    inward_flexible_routine(ints, floats, vector, k, tau, add_inertia, external)


@kernel
def _carried(work, k, up):
    """α of the parent, seen at body k."""
    return matrix_frame.motion_of(work.rows[k + 1], work.rows[up], t.W_ALPHA)


@kernel
def _accelerate(plant, work, k, w, u, vdot):
    """α of a link of a modal body, of whose parent it sees [w; u]."""
    row = work.rows[k + 1]
    if plant.topo[k, t.PATH] == t.PATH_NODE:
        w, u = attachment.accelerate(plant, work, k, vdot, w, u)
    store3(row, t.W_ALPHA, w)
    store3(row, t.W_ALPHA + 3, u)


@routine(WHOLE, FLOATS)
def outward_flexible_routine(ints, floats, vector, k, vdot):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    w, u = _carried(work, k, plant.topo[k, t.UP])
    if plant.topo[k, t.PATH] == t.PATH_MODAL:
        modal.outward(plant, work, k, vdot, w, u)
    _accelerate(plant, work, k, w, u, vdot)


@kernel
def outward_flexible(plant, work, k, vdot):
    """η̈ and α of a link of a modal body."""
    ints, floats, vector = vectors(plant, work)
    outward_flexible_routine(ints, floats, vector, k, vdot)


@routine(WHOLE, FLOATS)
def accelerate_flexible_routine(ints, floats, vector, k, vdot):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    w, u = _carried(work, k, plant.topo[k, t.UP])
    _accelerate(plant, work, k, w, u, vdot)


@kernel
def accelerate_flexible(plant, work, k, vdot):
    """α of a link of a modal body whose modes accelerate as given."""
    ints, floats, vector = vectors(plant, work)
    accelerate_flexible_routine(ints, floats, vector, k, vdot)


@routine(WHOLE, FLOATS, FLAG, FLOATS)
def force_flexible_routine(ints, floats, vector, k, vdot, external, tau):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    row, h, I = work.rows[k + 1], load3(plant.body[k], t.B_H), load6(plant.body[k], t.B_I)
    w, u = load3(row, t.W_ALPHA), load3(row, t.W_ALPHA + 3)
    if plant.topo[k, t.PATH] == t.PATH_MODAL:
        h, I = modal.deformed_inertia(plant, work, k, h, I)
    n, f = body_force(plant, work, k, h, I, w, u, external)
    if plant.topo[k, t.PATH] == t.PATH_MODAL:
        n, f = modal.add_force(plant, work, k, vdot, w, u, n, f, tau)
    store3(row, t.W_F, n)
    store3(row, t.W_F + 3, f)


@kernel
def force_flexible(plant, work, k, vdot, external, tau):
    """f of a link of a modal body as by its own, and τ of its modes but for what hangs on its nodes."""
    ints, floats, vector = vectors(plant, work)
    force_flexible_routine(ints, floats, vector, k, vdot, external, tau)


@routine(WHOLE, FLOATS)
def trace_flexible_routine(ints, floats, vector, k, tau):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    row, n, f = work.rows[k + 1], load3(work.rows[k + 1], t.W_F), load3(work.rows[k + 1], t.W_F + 3)
    if plant.topo[k, t.PATH] == t.PATH_NODE:
        attachment.trace(plant, work, k, n, f, tau)
    if plant.topo[k, t.UP] > 0:
        up = work.rows[plant.topo[k, t.UP]]
        n, f = matrix_frame.force_out(row, n, f)
        store3(up, t.W_F, add(load3(up, t.W_F), n))
        store3(up, t.W_F + 3, add(load3(up, t.W_F + 3), f))


@kernel
def trace_flexible(plant, work, k, tau):
    """Add the effect on the modes of what is attached to a node, and hand φ f to the parent."""
    ints, floats, vector = vectors(plant, work)
    trace_flexible_routine(ints, floats, vector, k, tau)


@routine(WHOLE, WHOLE, WHOLE, REAL, FLOATS, FLOATS, MATRIX)
def composite_flexible_routine(ints, floats, vector, k, start, stop, m, h, I, M):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    h, I = load3(h, 0), load6(I, 0)
    if plant.topo[k, t.PATH] == t.PATH_NODE:
        attachment.composite(plant, work, k, start, stop, m, h, I, M)
    else:
        modal.composite(plant, work, k, start, M)


@kernel
def composite_flexible(plant, work, k, start, stop, m, h, I, M):
    """Rows of M and columns X of a link of a modal body; its subtree's columns are at places start … stop - 1.

    m, and the vectors h (3,) and I (6,): its composite.
    """
    ints, floats, vector = vectors(plant, work)
    composite_flexible_routine(ints, floats, vector, k, start, stop, m, h, I, M)
