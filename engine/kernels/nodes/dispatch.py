"""What the sweeps do with body k, whatever its kind: the functions of its kind (`kinds.py`), and what all kinds share.

Links of bodies that deform: `dispatch_links.py`; what rows of closed loops need: `dispatch_loops.py`.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import ZERO, add, load3, load6, store3, store6
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import matrix_frame
from limberjack.engine.kernels.nodes.body_inertia import body_force, gather
from limberjack.engine.kernels.nodes.composite import C_H, C_M
from limberjack.engine.kernels.nodes.dispatch_links import (
    accelerate_link,
    clear_rows,
    composite_link,
    force_link,
    inward_link,
    outward_link,
    place_link,
    trace_link,
)
from limberjack.engine.kernels.nodes.kinds import by_kind, flag, last_two, nothing
from limberjack.engine.tables import plant as t

deforms = flag("DEFORMS")
#: whether a body deforms by modes, which are its velocities
has_modes = flag("HAS_MODES")
#: whether a body may share the frame of its parent: one velocity, about an axis of both
keeps_axis = flag("KEEPS_AXIS")


#: (plant, work, k, w, u): φ*(parent, k) [w; u], a motion of the parent seen at body k, in its axes
hinge_in = by_kind("hinge_in", matrix_frame.hinge_in)
#: (plant, work, k, n, f): φ(parent, k) [n; f], a force on body k seen at its parent, in the parent's axes
hinge_out = by_kind("hinge_out", matrix_frame.hinge_out)
#: (plant, work, k): R_(parent, k) and the lever p of body k, once it is placed
hinge_frame = by_kind("hinge_frame", matrix_frame.hinge_frame)
#: (plant, work, k, first, up, P, n, f): φ P φ* and φ z of body k, its hinge not reduced, into the sums `up` of its
#: parent; first: it writes them
hand_whole = by_kind("hand", matrix_frame.hand)
#: (plant, work, k, J, point): columns of the Jacobian of a point beyond hinge k (000 eq. 0.18)
write_columns = by_kind("write_columns", nothing)
#: (plant, work, k, slopes, v, vdot, V_up, A_up, V, R, p): the columns of body k's velocities in the tree frame, where
#: it is at p and turned by R
slope_columns = by_kind("slope_columns")
#: (plant, work, k, slopes): G and D⁻¹ of hinge k in the tree frame, from what `forward_dynamics` left in Work
prepare_gain = by_kind("gain")
#: (plant, work, k, v, vdot, Vw, Vu, w, u): α(k) = α⁺ + a + H* dβ/dt for [w; u] = φ* α(parent), with V(k) given; not of
#: links that deform
hinge_acceleration = by_kind("accelerate")

_place = by_kind("place")
_stand = by_kind("stand")
_inward = by_kind("inward")
_outward = by_kind("outward")
_trace = by_kind("trace")
_composite = by_kind("composite")


_rest = by_kind("rest", nothing)
#: (plant, work, k, h, I): first moment and rotational inertia of body k as it is deformed, from those at rest
body_inertia = by_kind("deformed_inertia", last_two)


# ---- base to tip: frames and velocities


@kernel
def place_body(plant, work, k, q, v):
    """Frames and V(k) of body k, whose parent is done; returns V(k) as (angular, linear)."""
    row = work.rows[k + 1]
    if deforms(plant.topo[k]):
        place_link(plant, work, k, q, v)
        return load3(row, t.W_V), load3(row, t.W_V + 3)
    w, u = _place(plant, work, k, q, v)
    store3(row, t.W_V, w)
    store3(row, t.W_V + 3, u)
    return w, u


@kernel
def stand_body(plant, work, k, q, no_rate, M):
    """Frames (and H* of general hinges) of body k, and R(k) = M(k) before its children; rows of modes are zero."""
    topo, body = plant.topo[k], plant.body[k]
    if deforms(topo):
        place_link(plant, work, k, q, no_rate)
        clear_rows(topo, M)
    else:
        _stand(plant, work, k, q, no_rate)
    h, I = body_inertia(plant, work, k, load3(body, t.B_H), load6(body, t.B_I))
    acc = work.acc[k + 1]
    store6(acc, t.A_I, I)
    store3(acc, C_H, h)
    acc[C_M] = body[t.B_M]


@kernel
def rest_body(plant, work, k, q):
    """V and Coriolis acceleration of body k 0; what sweeps add to in modal bodies begins again."""
    row = work.rows[k + 1]
    store3(row, t.W_V, ZERO)
    store3(row, t.W_V + 3, ZERO)
    if deforms(plant.topo[k]):
        place_link(plant, work, k, q, work.zeros)
    else:
        _rest(plant, work, k)


# ---- articulated bodies


@kernel
def inward_body(plant, work, k, v, tau, add_inertia, external):
    """P⁺ and z⁺ of body k, handed to its parent (000 eqs. .39, .40)."""
    body = plant.body[k]
    if deforms(plant.topo[k]):
        inward_link(plant, work, k, tau, add_inertia, external)
        return
    P, n, f = gather(plant, work, k, load3(body, t.B_H), load6(body, t.B_I), external)
    _inward(plant, work, k, P, n, f, v, tau, add_inertia)


@kernel
def outward_body(plant, work, k, v, vdot):
    """α⁺, dβ/dt and α of body k (000 eq. .40)."""
    row = work.rows[k + 1]
    up = work.rows[plant.topo[k, t.UP]]
    if deforms(plant.topo[k]):
        outward_link(plant, work, k, vdot)
        return
    w, u = hinge_in(plant, work, k, load3(up, t.W_ALPHA), load3(up, t.W_ALPHA + 3))
    w, u = _outward(plant, work, k, v, vdot, w, u)
    store3(row, t.W_ALPHA, w)
    store3(row, t.W_ALPHA + 3, u)


# ---- given accelerations, forces


@kernel
def accelerate_body(plant, work, k, v, vdot, Vw, Vu):
    """α(k) from the parent's, with V(k) given; returns it as (angular, linear)."""
    row, up = work.rows[k + 1], work.rows[plant.topo[k, t.UP]]
    if deforms(plant.topo[k]):
        accelerate_link(plant, work, k, vdot)
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
    if deforms(plant.topo[k]):
        force_link(plant, work, k, vdot, external, tau)
        return
    n, f = body_force(plant, work, k, load3(body, t.B_H), load6(body, t.B_I), aw, au, external)
    store3(row, t.W_F, n)
    store3(row, t.W_F + 3, f)


@kernel
def trace_body(plant, work, k, vdot, tau):
    """T = H f + armature dβ/dt, and φ f handed to the parent (000 eq. 0.1)."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if deforms(topo):
        trace_link(plant, work, k, tau)
        return
    n, f = load3(row, t.W_F), load3(row, t.W_F + 3)
    _trace(plant, work, k, n, f, vdot, tau)
    if topo[t.UP] > 0:
        up = work.rows[topo[t.UP]]
        n, f = hinge_out(plant, work, k, n, f)
        store3(up, t.W_F, add(load3(up, t.W_F), n))
        store3(up, t.W_F + 3, add(load3(up, t.W_F + 3), f))


# ---- mass matrix


@kernel
def composite_body(plant, work, k, start, stop, m, h, I, M):
    """Rows of M of hinge k, whose subtree's columns stand at places start … stop - 1; (m, h, I): its composite.

    Returns the place of its column X where that is still to be put there, or -1, and X as (moment, force).
    """
    new, n, f = -1, ZERO, ZERO
    if deforms(plant.topo[k]):
        acc = work.acc[k + 1]
        composite_link(plant, work, k, start, stop, m, acc[C_H : C_H + 3], acc[t.A_I : t.A_I + 6], M)
    else:
        new, n, f = _composite(plant, work, k, start, stop, m, h, I, M)
    return new, n, f
