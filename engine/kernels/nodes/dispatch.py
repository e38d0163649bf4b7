"""Dispatch by the kind of a node (PATH): the sweeps call these functions, which choose among the modules of the kinds.

A kind is a module of this room: `revolute`, `prismatic`, `general` and `base`, and `modal` and `attachment` for bodies
that deform. A new kind needs its module and a branch below. Each module offers those of these functions that are
specific to its kind; `matrix_frame.py`, `articulated.py` and `slope_columns.py` have those that several kinds share:

    place, velocity                      its frame; V(k)
    frame, motion_in, force_out, hand    R and p; φ*; φ; φ P φ* and φ z to the parent
    inward, outward                      articulated bodies: P⁺ and z⁺ to the parent; dβ/dt and α
    accelerate                           α where dβ/dt is given
    trace, push                          H f; H* x
    composite                            its rows and columns of the mass matrix
    slopes, gain                         derivatives: columns of its velocities; G and D⁻¹

Nodes of bodies that deform are in `dispatch_modal.py`, further functions for loops in `dispatch_loops.py`. The order of
reads and sums decides which products the compiler contracts, and thus the last bit.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import ZERO, add, add_cross, load3, load6, load9, rot, store3, store6, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import attachment, base, general, matrix_frame, modal, prismatic, revolute
from limberjack.engine.kernels.nodes.body_inertia import body_force, gather
from limberjack.engine.kernels.nodes.composite import C_H, C_M, pick_row
from limberjack.engine.kernels.nodes.dispatch_modal import (
    accelerate_flexible,
    composite_flexible,
    force_flexible,
    inward_flexible,
    outward_flexible,
    place_flexible,
    trace_flexible,
)
from limberjack.engine.kernels.nodes.hinges import place_frame
from limberjack.engine.kernels.nodes.slope_columns import simple_gain, unit
from limberjack.engine.tables import plant as t

# ---- across a hinge


@kernel
def hinge_in(plant, work, k, w, u):
    """φ*(parent, k) [w; u]: a motion of the parent seen at body k, in its axes."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        return revolute.motion_in(topo, plant.body[k], row, w, u)
    return matrix_frame.motion_in(row, w, u)


@kernel
def hinge_out(plant, work, k, n, f):
    """φ(parent, k) [n; f]: a force on body k seen at its parent, in the parent's axes."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        return revolute.force_out(topo, plant.body[k], row, n, f)
    return matrix_frame.force_out(row, n, f)


@kernel
def hinge_frame(plant, work, k):
    """R_(parent, k) and the lever p of body k, once it is placed."""
    row = work.rows[k + 1]
    if plant.topo[k, t.PATH] != t.PATH_REVOLUTE:
        return matrix_frame.frame(row)
    return revolute.frame(plant.body[k], row)


@kernel
def hand_whole(plant, work, k, first, up, P, n, f):
    """φ P φ* and φ z of body k, its hinge not reduced, into the sums `up` of its parent; first: it writes them."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        revolute.hand(topo, plant.body[k], row, first, up, P, n, f)
    else:
        matrix_frame.hand(first, row, up, P, n, f)


@kernel
def keeps_axis(topo):
    """Whether a body may share the frame of its parent (`shared_frames.py`): one velocity, about an axis of both."""
    return topo[t.PATH] == t.PATH_REVOLUTE


# ---- base to tip: frames and velocities


@kernel
def place_body(plant, work, k, q, v):
    """Frames and V(k) of body k, whose parent is done; returns V(k) as (angular, linear)."""
    topo, body = plant.topo[k], plant.body[k]
    row, up = work.rows[k + 1], work.rows[topo[t.UP]]
    path, j = topo[t.PATH], topo[t.VI]
    if path == t.PATH_REVOLUTE:
        revolute.place(row, work.cosine[topo[t.QI]], work.sine[topo[t.QI]])
        w, u = revolute.velocity(topo, body, row, up, v[j])
    elif path == t.PATH_PRISMATIC:
        prismatic.place(body, q[topo[t.QI]], row)
        w, u = prismatic.velocity(row, up, v[j])
    elif path == t.PATH_BASE:
        place_frame(plant, work, k, q, row)
        w, u = base.velocity(v, j)
    elif path >= t.PATH_MODAL:
        place_flexible(plant, work, k, q, v)
        return load3(row, t.W_V), load3(row, t.W_V + 3)
    else:
        return general.place(plant, work, k, q, v, row, up)
    store3(row, t.W_V, w)
    store3(row, t.W_V + 3, u)
    return w, u


@kernel
def stand_body(plant, work, k, q, no_rate, M):
    """Frames (and H* of general hinges) of body k, and R(k) = M(k) before its children; rows of modes are zero."""
    topo, body, row = plant.topo[k], plant.body[k], work.rows[k + 1]
    path = topo[t.PATH]
    if path == t.PATH_REVOLUTE:
        revolute.place(row, work.cosine[topo[t.QI]], work.sine[topo[t.QI]])
    elif path == t.PATH_PRISMATIC:
        prismatic.place(body, q[topo[t.QI]], row)
    elif path >= t.PATH_MODAL:
        place_flexible(plant, work, k, q, no_rate)
        modal.clear_rows(topo, M)
    else:
        place_frame(plant, work, k, q, row)
        if path == t.PATH_GENERAL:
            general.place_map(plant, work, k, no_rate)
    h, I = body_inertia(plant, work, k, load3(body, t.B_H), load6(body, t.B_I))
    acc = work.acc[k + 1]
    store6(acc, t.A_I, I)
    store3(acc, C_H, h)
    acc[C_M] = body[t.B_M]


@kernel
def rest_body(plant, work, k, q):
    """V and Coriolis acceleration of body k 0; what sweeps add to in modal bodies begins again."""
    row, topo = work.rows[k + 1], plant.topo[k]
    store3(row, t.W_V, ZERO)
    store3(row, t.W_V + 3, ZERO)
    if topo[t.PATH] == t.PATH_GENERAL:
        general.rest(work.gen[topo[t.SLOT]])
    elif topo[t.PATH] >= t.PATH_MODAL:
        place_flexible(plant, work, k, q, work.zeros)


@kernel
def has_modes(topo):
    """Whether a body deforms by modes, which are its velocities."""
    return topo[t.PATH] == t.PATH_MODAL


@kernel
def body_inertia(plant, work, k, h, I):
    """First moment and rotational inertia of body k as it is deformed, from those at rest."""
    if has_modes(plant.topo[k]):
        h, I = modal.deformed_inertia(plant, work, k, h, I)
    return h, I


# ---- articulated bodies


@kernel
def inward_body(plant, work, k, v, tau, add_inertia, external):
    """P⁺ and z⁺ of body k, handed to its parent (000 eqs. .39, .40)."""
    topo, body = plant.topo[k], plant.body[k]
    row, up = work.rows[k + 1], work.acc[topo[t.UP]]
    path, j = topo[t.PATH], topo[t.VI]
    if path >= t.PATH_MODAL:
        inward_flexible(plant, work, k, tau, add_inertia, external)
        return
    P, n, f = gather(plant, work, k, load3(body, t.B_H), load6(body, t.B_I), external)
    if path == t.PATH_REVOLUTE:
        revolute.inward(topo, body, row, up, P, n, f, tau[j], add_inertia[j], v[j])
    elif path == t.PATH_PRISMATIC:
        prismatic.inward(topo, row, up, P, n, f, tau[j], add_inertia[j], v[j])
    elif path == t.PATH_GENERAL:
        general.inward(topo, row, up, P, n, f, work.gen[topo[t.SLOT]], tau, add_inertia)
    else:
        base.inward(plant, row, P, n, f, tau, j)


@kernel
def outward_body(plant, work, k, v, vdot):
    """α⁺, dβ/dt and α of body k (000 eq. .40)."""
    topo, row = plant.topo[k], work.rows[k + 1]
    up = work.rows[topo[t.UP]]
    path, j = topo[t.PATH], topo[t.VI]
    if path >= t.PATH_MODAL:
        outward_flexible(plant, work, k, vdot)
        return
    w, u = hinge_in(plant, work, k, load3(up, t.W_ALPHA), load3(up, t.W_ALPHA + 3))
    if path == t.PATH_REVOLUTE:
        w, u = revolute.outward(row, vdot, j, v[j], w, u)
    elif path == t.PATH_PRISMATIC:
        w, u = prismatic.outward(row, vdot, j, v[j], w, u)
    elif path == t.PATH_BASE:
        w, u = base.outward(row, vdot, j, w, u)
    else:
        w, u = general.outward_biased(work.gen[topo[t.SLOT]], vdot, j, topo[t.NV], w, u)
    store3(row, t.W_ALPHA, w)
    store3(row, t.W_ALPHA + 3, u)


# ---- given accelerations, forces


@kernel
def hinge_acceleration(plant, work, k, v, vdot, Vw, Vu, w, u):
    """α(k) = α⁺ + a + H* dβ/dt for [w; u] = φ* α(parent), with V(k) given; not for nodes of modal bodies."""
    topo = plant.topo[k]
    path, j = topo[t.PATH], topo[t.VI]
    if path == t.PATH_REVOLUTE:
        w, u = revolute.accelerate(v[j], vdot[j], Vw, Vu, w, u)
    elif path == t.PATH_PRISMATIC:
        w, u = prismatic.accelerate(v[j], vdot[j], Vw, w, u)
    elif path == t.PATH_BASE:
        w, u = base.accelerate(vdot, j, w, u)
    else:
        w, u = general.accelerate(work.gen[topo[t.SLOT]], vdot, j, topo[t.NV], w, u)
    return w, u


@kernel
def accelerate_body(plant, work, k, v, vdot, Vw, Vu):
    """α(k) from the parent's, with V(k) given; returns it as (angular, linear)."""
    row, up = work.rows[k + 1], work.rows[plant.topo[k, t.UP]]
    if plant.topo[k, t.PATH] >= t.PATH_MODAL:
        accelerate_flexible(plant, work, k, vdot)
        return load3(row, t.W_ALPHA), load3(row, t.W_ALPHA + 3)
    w, u = hinge_in(plant, work, k, load3(up, t.W_ALPHA), load3(up, t.W_ALPHA + 3))
    w, u = hinge_acceleration(plant, work, k, v, vdot, Vw, Vu, w, u)
    store3(row, t.W_ALPHA, w)
    store3(row, t.W_ALPHA + 3, u)
    return w, u


@kernel
def put_force(plant, work, k, vdot, aw, au, external, tau):
    """f(k) = M α + b - f_external, kept in work.rows; of a modal body τ of its modes as well (000 eq. 0.1)."""
    body, row = plant.body[k], work.rows[k + 1]
    if plant.topo[k, t.PATH] >= t.PATH_MODAL:
        force_flexible(plant, work, k, vdot, external, tau)
        return
    n, f = body_force(plant, work, k, load3(body, t.B_H), load6(body, t.B_I), aw, au, external)
    store3(row, t.W_F, n)
    store3(row, t.W_F + 3, f)


@kernel
def trace_body(plant, work, k, vdot, tau):
    """T = H f + armature dβ/dt, and φ f handed to the parent (000 eq. 0.1)."""
    topo = plant.topo[k]
    row, j, path = work.rows[k + 1], topo[t.VI], topo[t.PATH]
    if path >= t.PATH_MODAL:
        trace_flexible(plant, work, k, tau)
        return
    n, f = load3(row, t.W_F), load3(row, t.W_F + 3)
    if path == t.PATH_REVOLUTE:
        tau[j] = revolute.trace(n, f) + plant.armature[j] * vdot[j]
    elif path == t.PATH_PRISMATIC:
        tau[j] = prismatic.trace(n, f) + plant.armature[j] * vdot[j]
    elif path == t.PATH_BASE:
        base.trace(n, f, tau, j)
    else:
        for c in range(topo[t.NV]):
            H_f = general.trace(work.gen[topo[t.SLOT]], c, n, f)
            tau[j + c] = H_f + plant.armature[j + c] * vdot[j + c]
    if topo[t.UP] > 0:
        up = work.rows[topo[t.UP]]
        n, f = hinge_out(plant, work, k, n, f)
        store3(up, t.W_F, add(load3(up, t.W_F), n))
        store3(up, t.W_F + 3, add(load3(up, t.W_F + 3), f))


# ---- mass matrix and Jacobians


@kernel
def composite_body(plant, work, k, start, stop, m, h, I, M):
    """Rows of M of hinge k, whose subtree's columns stand at places start … stop - 1; (m, h, I): its composite.

    Returns the place of its column X where that is still to be put there, or -1, and X as (moment, force).
    """
    topo, columns, v = plant.topo[k], work.columns, plant.topo[k, t.VI]
    new, n, f = -1, ZERO, ZERO
    if topo[t.PATH] == t.PATH_REVOLUTE:
        new = start
        n, f = revolute.composite(h, I)
        pick_row(columns, start, stop, revolute.PICKED, new, n[2], M[v])
    elif topo[t.PATH] == t.PATH_PRISMATIC:
        new = start
        n, f = prismatic.composite(m, h)
        pick_row(columns, start, stop, prismatic.PICKED, new, f[2], M[v])
    elif topo[t.PATH] == t.PATH_BASE:
        base.composite(columns, start, stop, v, m, h, I, M)
    elif topo[t.PATH] >= t.PATH_MODAL:
        acc = work.acc[k + 1]
        composite_flexible(plant, work, k, start, stop, m, acc[C_H : C_H + 3], acc[t.A_I : t.A_I + 6], M)
    else:
        general.composite(columns, start, stop, v, topo[t.NV], work.gen[topo[t.SLOT]], m, h, I, M)
    return new, n, f


@kernel
def _write_column(J, column, pose, h, u, point):
    """Column of a Jacobian: a hinge direction (h, u) at O_k in body axes, seen at `point` in inertial axes."""
    R = load9(pose, 0)
    w = rot(R, h)
    v = add_cross(rot(R, u), w, sub(point, load3(pose, 9)))
    for i in range(3):
        J[i, column] = w[i]
        J[3 + i, column] = v[i]


@kernel
def write_columns(plant, work, k, J, point):
    """Columns of the Jacobian of a point beyond hinge k (000 eq. 0.18)."""
    topo, pose = plant.topo[k], work.pose[k + 1]
    path, j = topo[t.PATH], topo[t.VI]
    if path == t.PATH_REVOLUTE:
        w, u = revolute.push(1.0, ZERO, ZERO)
        _write_column(J, j, pose, w, u, point)
    elif path == t.PATH_PRISMATIC:
        w, u = prismatic.push(1.0, ZERO, ZERO)
        _write_column(J, j, pose, w, u, point)
    elif path == t.PATH_BASE:
        for c in range(3):
            _write_column(J, j + c, pose, unit(c), ZERO, point)
            _write_column(J, j + 3 + c, pose, ZERO, unit(c), point)
    elif path == t.PATH_NODE:
        modes, _, up, _ = attachment.node_map(plant, work, k)
        for r in range(modes):
            w, u = attachment.column(plant, work, k, r)
            _write_column(J, plant.topo[up, t.VI] + r, pose, w, u, point)
    elif path != t.PATH_MODAL:
        for c in range(topo[t.NV]):
            w, u = general.column(work.gen[topo[t.SLOT]], t.G_H, c)
            _write_column(J, j + c, pose, w, u, point)


# ---- derivatives


@kernel
def slope_columns(plant, work, slopes, k, v, vdot, V_up, A_up, V, R, p):
    """The columns of body k's velocities in the tree frame, where it is at p and turned by R."""
    topo, j = plant.topo[k], plant.topo[k, t.VI]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        revolute.slopes(slopes.column[j], R, p, V_up, A_up, V)
    elif topo[t.PATH] == t.PATH_PRISMATIC:
        prismatic.slopes(slopes.column[j], R, V_up, A_up, V)
    elif topo[t.PATH] == t.PATH_GENERAL:
        general.slopes(plant, work, k, slopes.column[j : j + topo[t.NV]], v, vdot, V_up, A_up, V, R, p)
    else:
        base.slopes(slopes.column[j : j + 6], V_up, A_up, V)


@kernel
def prepare_gain(plant, work, slopes, k):
    """G and D⁻¹ of hinge k in the tree frame, from what `forward_dynamics` left in Work."""
    topo, y, j = plant.topo[k], slopes.body[k + 1], plant.topo[k, t.VI]
    if topo[t.PATH] == t.PATH_BASE:
        base.gain(plant.body[k], work.acc[k + 1], topo[t.LEAF], slopes.column[j : j + 6])
    elif topo[t.PATH] == t.PATH_GENERAL:
        general.gain(work.gen[topo[t.SLOT]], y, slopes.column[j : j + topo[t.NV]])
    else:
        simple_gain(work.rows[k + 1], y, slopes.column[j])


@kernel
def is_base(topo):
    """Whether a body's velocities are V itself and nothing lies between it and the ground."""
    return topo[t.PATH] == t.PATH_BASE
