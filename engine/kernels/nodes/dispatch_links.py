"""What the sweeps do with a link of a body that deforms, as routines: code for rigid trees does not contain them."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import add, load3, load6, store3
from limberjack.engine.compile.compiled import FLAG, FLOATS, MATRIX, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.nodes import matrix_frame
from limberjack.engine.kernels.nodes.body_inertia import body_force
from limberjack.engine.kernels.nodes.kinds import by_kind, last_two, nothing
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@kernel
def _no_force(plant, work, k, vdot, w, u, n, f, tau):
    return n, f


_place = by_kind("place_link")
_inward = by_kind("inward_link")
_outward = by_kind("outward_link")
_accelerate = by_kind("accelerate_link")
_deformed_inertia = by_kind("deformed_inertia", last_two)
_add_force = by_kind("add_force", _no_force)
_trace = by_kind("trace_link", nothing)
_composite = by_kind("composite_link")


@routine(WHOLE, FLOATS, FLOATS, either=True)
def place_link_routine(ints, floats, vector, k, q, v):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    _place(plant, work, k, q, v)


@kernel
def place_link(plant, work, k, q, v):
    """Frames, V(k) and all that depends on the deformation, of a link whose parent is done."""
    ints, floats, vector = vectors(plant, work)
    place_link_routine(ints, floats, vector, k, q, v)


@kernel
def clear_rows(topo, M):
    """Rows of the mass matrix at zero: the nodes' shares join them."""
    for r in range(topo[t.VI], topo[t.VI] + topo[t.NV]):
        for c in range(topo[t.VI], M.shape[0]):
            M[r, c] = 0.0


@routine(WHOLE, FLOATS, FLOATS, FLAG, unroll=True, either=True)
def inward_link_routine(ints, floats, vector, k, tau, add_inertia, external):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    h, I = load3(plant.body[k], t.B_H), load6(plant.body[k], t.B_I)
    _inward(plant, work, k, h, I, tau, add_inertia, external)


@kernel
def inward_link(plant, work, k, tau, add_inertia, external):
    """P and z of a link, its modes reduced, handed to its parent."""
    ints, floats, vector = vectors(plant, work)
    inward_link_routine(ints, floats, vector, k, tau, add_inertia, external)


@kernel
def _carried(work, k, up):
    """α of the parent, seen at body k."""
    return matrix_frame.motion_of(work.rows[k + 1], work.rows[up], t.W_ALPHA)


@routine(WHOLE, FLOATS, either=True)
def outward_link_routine(ints, floats, vector, k, vdot):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    w, u = _carried(work, k, plant.topo[k, t.UP])
    w, u = _outward(plant, work, k, vdot, w, u)
    store3(work.rows[k + 1], t.W_ALPHA, w)
    store3(work.rows[k + 1], t.W_ALPHA + 3, u)


@kernel
def outward_link(plant, work, k, vdot):
    """η̈ and α of a link."""
    ints, floats, vector = vectors(plant, work)
    outward_link_routine(ints, floats, vector, k, vdot)


@routine(WHOLE, FLOATS)
def accelerate_link_routine(ints, floats, vector, k, vdot):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    w, u = _carried(work, k, plant.topo[k, t.UP])
    w, u = _accelerate(plant, work, k, vdot, w, u)
    store3(work.rows[k + 1], t.W_ALPHA, w)
    store3(work.rows[k + 1], t.W_ALPHA + 3, u)


@kernel
def accelerate_link(plant, work, k, vdot):
    """α of a link whose modes accelerate as given."""
    ints, floats, vector = vectors(plant, work)
    accelerate_link_routine(ints, floats, vector, k, vdot)


@routine(WHOLE, FLOATS, FLAG, FLOATS)
def force_link_routine(ints, floats, vector, k, vdot, external, tau):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    row, h, I = work.rows[k + 1], load3(plant.body[k], t.B_H), load6(plant.body[k], t.B_I)
    w, u = load3(row, t.W_ALPHA), load3(row, t.W_ALPHA + 3)
    h, I = _deformed_inertia(plant, work, k, h, I)
    n, f = body_force(plant, work, k, h, I, w, u, external)
    n, f = _add_force(plant, work, k, vdot, w, u, n, f, tau)
    store3(row, t.W_F, n)
    store3(row, t.W_F + 3, f)


@kernel
def force_link(plant, work, k, vdot, external, tau):
    """f of a link as by its own, and τ of its modes but for what hangs on its nodes."""
    ints, floats, vector = vectors(plant, work)
    force_link_routine(ints, floats, vector, k, vdot, external, tau)


@routine(WHOLE, FLOATS)
def trace_link_routine(ints, floats, vector, k, tau):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    row, n, f = work.rows[k + 1], load3(work.rows[k + 1], t.W_F), load3(work.rows[k + 1], t.W_F + 3)
    _trace(plant, work, k, n, f, tau)
    if plant.topo[k, t.UP] > 0:
        up = work.rows[plant.topo[k, t.UP]]
        n, f = matrix_frame.force_of(row, n, f)
        store3(up, t.W_F, add(load3(up, t.W_F), n))
        store3(up, t.W_F + 3, add(load3(up, t.W_F + 3), f))


@kernel
def trace_link(plant, work, k, tau):
    """Add the effect on the modes of what is attached to a node, and hand φ f to the parent."""
    ints, floats, vector = vectors(plant, work)
    trace_link_routine(ints, floats, vector, k, tau)


@routine(WHOLE, WHOLE, WHOLE, REAL, FLOATS, FLOATS, MATRIX)
def composite_link_routine(ints, floats, vector, k, start, stop, m, h, I, M):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    _composite(plant, work, k, start, stop, m, load3(h, 0), load6(I, 0), M)


@kernel
def composite_link(plant, work, k, start, stop, m, h, I, M):
    """Rows of M and columns X of a link; its subtree's columns are at places start … stop - 1.

    m, and the vectors h (3,) and I (6,): its composite.
    """
    ints, floats, vector = vectors(plant, work)
    composite_link_routine(ints, floats, vector, k, start, stop, m, h, I, M)
