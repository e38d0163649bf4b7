"""Sweeps over links of modal bodies, as routines: trees of rigid bodies neither compile nor load them."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import add, force_out, load3, load6, load9, motion_in, store3
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.compile.routine import FLAG, FLOATS, MATRIX, REAL, WHOLE, routine
from limberjack.engine.kernels.nodes.body_inertia import body_force, gather
from limberjack.engine.kernels.nodes.modal_articulated import (
    deformation_bias,
    deformed_inertia,
    inward_modal,
    inward_node,
    modal_forces,
    node_change,
    node_forces,
    outward_modal,
)
from limberjack.engine.kernels.nodes.modal_composite import composite_modal, composite_node
from limberjack.engine.kernels.nodes.modal_nodes import node_coriolis
from limberjack.engine.tables.plant import (
    B_H,
    B_I,
    PATH,
    PATH_MODAL,
    PATH_NODE,
    UP,
    W_ALPHA,
    W_F,
    W_P,
    W_R,
    plant_view,
    vectors,
    work_view,
)


@routine(WHOLE, FLOATS, FLOATS, FLAG)
def inward_flexible_routine(ints, floats, vector, k, tau, add_inertia, external):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    h, I = load3(plant.body[k], B_H), load6(plant.body[k], B_I)
    if plant.topo[k, PATH] == PATH_NODE:
        P, n, f = gather(plant, work, k, h, I, external)
        inward_node(plant, work, k, P, n, f)
        return
    h, I = deformed_inertia(plant, work, k, h, I)
    P, n, f = gather(plant, work, k, h, I, external)
    bn, bf = deformation_bias(plant, work, k)
    inward_modal(plant, work, k, P, add(n, bn), add(f, bf), tau, add_inertia)


@kernel
def inward_flexible(plant, work, k, tau, add_inertia, external):
    """P and z of a link of a modal body, its modes reduced, handed to its parent."""
    ints, floats, vector = vectors(plant, work)
    inward_flexible_routine(ints, floats, vector, k, tau, add_inertia, external)


@kernel
def _carried(work, k, up):
    """α of the parent, seen at body k."""
    row, before = work.rows[k + 1], work.rows[up]
    return motion_in(load9(row, W_R), load3(row, W_P), load3(before, W_ALPHA), load3(before, W_ALPHA + 3))


@kernel
def _accelerate(plant, work, k, w, u, vdot):
    """α of a link of a modal body, of whose parent it sees [w; u]."""
    row = work.rows[k + 1]
    if plant.topo[k, PATH] == PATH_NODE:
        dw, du = node_change(plant, work, k, vdot)
        aw, au = node_coriolis(plant, work, k)
        w, u = add(add(w, aw), dw), add(add(u, au), du)
    store3(row, W_ALPHA, w)
    store3(row, W_ALPHA + 3, u)
    return w, u


@routine(WHOLE, FLOATS)
def outward_flexible_routine(ints, floats, vector, k, vdot):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    w, u = _carried(work, k, plant.topo[k, UP])
    if plant.topo[k, PATH] == PATH_MODAL:
        outward_modal(plant, work, k, vdot, w, u)
    _accelerate(plant, work, k, w, u, vdot)


@kernel
def outward_flexible(plant, work, k, vdot):
    """η̈ and α of a link of a modal body."""
    ints, floats, vector = vectors(plant, work)
    outward_flexible_routine(ints, floats, vector, k, vdot)


@routine(WHOLE, FLOATS)
def accelerate_flexible_routine(ints, floats, vector, k, vdot):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    w, u = _carried(work, k, plant.topo[k, UP])
    _accelerate(plant, work, k, w, u, vdot)


@kernel
def accelerate_flexible(plant, work, k, vdot):
    """α of a link of a modal body whose modes accelerate as given."""
    ints, floats, vector = vectors(plant, work)
    accelerate_flexible_routine(ints, floats, vector, k, vdot)


@routine(WHOLE, FLOATS, FLAG, FLOATS)
def force_flexible_routine(ints, floats, vector, k, vdot, external, tau):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    row, h, I = work.rows[k + 1], load3(plant.body[k], B_H), load6(plant.body[k], B_I)
    w, u = load3(row, W_ALPHA), load3(row, W_ALPHA + 3)
    if plant.topo[k, PATH] == PATH_MODAL:
        h, I = deformed_inertia(plant, work, k, h, I)
    n, f = body_force(plant, work, k, h, I, w, u, external)
    if plant.topo[k, PATH] == PATH_MODAL:
        bn, bf = deformation_bias(plant, work, k)
        mn, mf = modal_forces(plant, work, k, vdot, w, u, tau)
        n, f = add(add(n, bn), mn), add(add(f, bf), mf)
    store3(row, W_F, n)
    store3(row, W_F + 3, f)


@kernel
def force_flexible(plant, work, k, vdot, external, tau):
    """f of a link of a modal body as by its own, and τ of its modes but for what hangs on its nodes."""
    ints, floats, vector = vectors(plant, work)
    force_flexible_routine(ints, floats, vector, k, vdot, external, tau)


@routine(WHOLE, FLOATS)
def project_flexible_routine(ints, floats, vector, k, tau):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    row, n, f = work.rows[k + 1], load3(work.rows[k + 1], W_F), load3(work.rows[k + 1], W_F + 3)
    if plant.topo[k, PATH] == PATH_NODE:
        node_forces(plant, work, k, n, f, tau)
    if plant.topo[k, UP] > 0:
        up = work.rows[plant.topo[k, UP]]
        n, f = force_out(load9(row, W_R), load3(row, W_P), n, f)
        store3(up, W_F, add(load3(up, W_F), n))
        store3(up, W_F + 3, add(load3(up, W_F + 3), f))


@kernel
def project_flexible(plant, work, k, tau):
    """What hangs on a node asks of the modes, and φ f handed to the parent."""
    ints, floats, vector = vectors(plant, work)
    project_flexible_routine(ints, floats, vector, k, tau)


@routine(WHOLE, WHOLE, WHOLE, REAL, FLOATS, FLOATS, MATRIX)
def composite_flexible_routine(ints, floats, vector, k, start, stop, m, h, I, M):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    h, I = load3(h, 0), load6(I, 0)
    if plant.topo[k, PATH] == PATH_NODE:
        composite_node(plant, work, k, start, stop, m, h, I, M)
    else:
        composite_modal(plant, work, k, start, M)


@kernel
def composite_flexible(plant, work, k, start, stop, m, h, I, M):
    """Rows of M and columns X of a link of a modal body; its subtree's columns are at places start … stop - 1.

    m, and the vectors h (3,) and I (6,): its composite.
    """
    ints, floats, vector = vectors(plant, work)
    composite_flexible_routine(ints, floats, vector, k, start, stop, m, h, I, M)
