"""The dispatch for loops: the functions of a node that rows of closed loops need, by kind as in `dispatch.py`.

A kind with velocities of its own offers

    trace_lanes, push_lanes, push        H z and H* x of eight rows or columns; H* x of all velocities
    cross_hinge                          e = H z + c and z⁺ = z - U D⁻¹ e of eight rows, tip to base
    clear_innovation, add_innovation     ε = 0; ε += e f
    respond                              ε = -H z and z⁺ = z + U D⁻¹ ε of one force, tip to base; not of modal bodies
    largest_weight                       the largest D⁻¹ of its velocities
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import load_six
from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.algebra.spatial import load3
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes import articulated, attachment, general, modal, prismatic, revolute
from limberjack.engine.kernels.nodes.dispatch import hinge_acceleration
from limberjack.engine.tables import plant as t


@kernel
def bias_body(plant, work, k, v, still, w, u):
    """α' of body k for [w; u] of its parent, seen there: with its velocities steady."""
    row, path = work.rows[k + 1], plant.topo[k, t.PATH]
    if path < t.PATH_MODAL:
        w, u = hinge_acceleration(plant, work, k, v, still, load3(row, t.W_V), load3(row, t.W_V + 3), w, u)
    elif path == t.PATH_NODE:
        w, u = attachment.bias(plant, work, k, w, u)
    return w, u


@kernel
def push_body(plant, work, k, x, w, u):
    """[w; u] + H*(k) x for x (nv,) of all velocities."""
    topo = plant.topo[k]
    j = topo[t.VI]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        return revolute.push(x[j], w, u)
    if topo[t.PATH] < t.PATH_GENERAL:
        return prismatic.push(x[j], w, u)
    if topo[t.PATH] == t.PATH_NODE:
        return attachment.push(plant, work, k, x, w, u)
    if topo[t.PATH] == t.PATH_MODAL:
        return w, u
    return general.push(work.gen[topo[t.SLOT]], x, j, topo[t.NV], w, u)


@kernel
def push_lanes(plant, work, k, x, at, w, u):
    """[w; u] + H*(k) X(k) for the eight columns from `at` of X, whose rows are the velocities of a group."""
    topo, dof = plant.topo[k], plant.dof_int
    j = topo[t.VI]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        return revolute.push(load_lanes(x[dof[j, t.DI_MEMBER]], at), w, u)
    if topo[t.PATH] == t.PATH_PRISMATIC:
        return prismatic.push(load_lanes(x[dof[j, t.DI_MEMBER]], at), w, u)
    if topo[t.PATH] == t.PATH_NODE:
        return attachment.push_lanes(plant, work, k, x, at, w, u)
    if topo[t.PATH] == t.PATH_MODAL:
        return w, u
    return general.push_lanes(plant, work.gen[topo[t.SLOT]], j, topo[t.NV], x, at, w, u)


@kernel
def _store_entry(plant, y, j, first, at, e):
    """Coefficients of velocity j in eight rows, brought to order one."""
    member = plant.dof_int[j, t.DI_MEMBER]
    store_lanes(y[member], first, plant.loops.scale[at + member] * e)


@kernel
def trace_entries(plant, work, k, y, first, at, n, f):
    """Coefficients H(k) [n; f] of the velocities of hinge k in eight rows of a group, which begin at `first`."""
    topo = plant.topo[k]
    j = topo[t.VI]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        _store_entry(plant, y, j, first, at, revolute.trace(n, f))
    elif topo[t.PATH] == t.PATH_PRISMATIC:
        _store_entry(plant, y, j, first, at, prismatic.trace(n, f))
    elif topo[t.PATH] == t.PATH_NODE:
        attachment.add_entries(plant, work, k, y, first, at, n, f)
    elif topo[t.PATH] != t.PATH_MODAL:
        for c in range(topo[t.NV]):
            _store_entry(plant, y, j + c, first, at, general.trace_lanes(work.gen[topo[t.SLOT]], c, n, f))


@kernel
def _trace_simple(topo, z):
    """H z of a hinge with one velocity, in eight rows."""
    n, f = (z[0], z[1], z[2]), (z[3], z[4], z[5])
    return revolute.trace(n, f) if topo[t.PATH] == t.PATH_REVOLUTE else prismatic.trace(n, f)


@kernel
def cross_body(plant, work, k, path):
    """e of body k's velocities in eight rows; returns z⁺ (000 eq. 0.36)."""
    topo, z = plant.topo[k], load_six(work.loops.cross[k + 1], 0)
    if topo[t.PATH] < t.PATH_GENERAL:
        return articulated.cross_simple(work.rows[k + 1], path, LANES * topo[t.VI], z, _trace_simple(topo, z))
    if topo[t.PATH] == t.PATH_NODE:
        return attachment.cross_hinge(plant, work, k, path, z)
    if topo[t.PATH] == t.PATH_MODAL:
        return modal.cross_hinge(plant, work, k, path, z)
    return general.cross_hinge(work.gen[topo[t.SLOT]], topo, path, z)


@kernel
def collect_body(plant, work, k, path):
    """e of the velocities of a body inside a group, as it is; returns z, which stays."""
    topo, z = plant.topo[k], load_six(work.loops.cross[k + 1], 0)
    if topo[t.PATH] == t.PATH_NODE:
        attachment.cross_hinge(plant, work, k, path, z)
    elif topo[t.PATH] < t.PATH_GENERAL:
        at = LANES * topo[t.VI]
        store_lanes(path, at, load_lanes(path, at) + _trace_simple(topo, z))
    elif topo[t.PATH] != t.PATH_MODAL:
        general.collect(work.gen[topo[t.SLOT]], topo, path, z)
    return z


@kernel
def weight(plant, work, k):
    """Weight of e* e in Λ at the hinge of body k."""
    topo = plant.topo[k]
    return work.rows[k + 1, t.W_DINV] if topo[t.PATH] < t.PATH_GENERAL and topo[t.GROUP] < 0 else 1.0


@kernel
def largest_weight(plant, work, k, most):
    """The larger of `most` and of D⁻¹ of the velocities of body k, outside of groups."""
    topo = plant.topo[k]
    if topo[t.PATH] < t.PATH_GENERAL:
        return max(most, work.rows[k + 1, t.W_DINV])
    if topo[t.PATH] == t.PATH_MODAL:
        return modal.largest_weight(plant, work, topo, most)
    if topo[t.PATH] != t.PATH_NODE:
        return general.largest_weight(work.gen[topo[t.SLOT]], topo[t.NV], most)
    return most


@kernel
def add_innovation(plant, work, k, path, f):
    """ε += e f at one hinge, f the rows' forces in lanes."""
    topo = plant.topo[k]
    if topo[t.PATH] < t.PATH_GENERAL:
        articulated.add_innovation(work.rows[k + 1], path, topo[t.VI], f)
    elif topo[t.PATH] == t.PATH_MODAL:
        modal.add_innovation(plant, work, topo, path, f)
    elif topo[t.PATH] != t.PATH_NODE:
        general.add_innovation(work.gen[topo[t.SLOT]], topo, path, f)


@kernel
def clear_innovation(plant, work, k):
    """ε = 0 at the hinge of body k."""
    topo = plant.topo[k]
    if topo[t.PATH] < t.PATH_GENERAL:
        work.rows[k + 1, t.W_EPS] = 0.0
    elif topo[t.PATH] == t.PATH_MODAL:
        modal.clear_innovation(plant, work, topo)
    elif topo[t.PATH] != t.PATH_NODE:
        general.clear_innovation(work.gen[topo[t.SLOT]], topo[t.NV])


@kernel
def respond_body(plant, work, k, n, f):
    """ε of body k's velocities to the force z = [n; f] on it, and z⁺; not in a group, nor of modal bodies."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[t.PATH] == t.PATH_REVOLUTE:
        return articulated.respond_simple(row, revolute.trace(n, f), n, f)
    if topo[t.PATH] == t.PATH_PRISMATIC:
        return articulated.respond_simple(row, prismatic.trace(n, f), n, f)
    return general.respond(work.gen[topo[t.SLOT]], topo[t.NV], n, f)


@kernel
def answer_body(plant, work, k, out, w, u):
    """The answer of body k's velocities to ε where it sees [w; u] of its parent, and its own motion; not in a group."""
    topo = plant.topo[k]
    if topo[t.PATH] < t.PATH_GENERAL:
        out[topo[t.VI]] = articulated.solve_simple(work.rows[k + 1], w, u)
        return push_body(plant, work, k, out, w, u)
    if topo[t.PATH] == t.PATH_MODAL:
        modal.outward(plant, work, k, out, w, u)
        return w, u
    if topo[t.PATH] == t.PATH_NODE:
        return attachment.push(plant, work, k, out, w, u)
    return general.outward(work.gen[topo[t.SLOT]], out, topo[t.VI], topo[t.NV], w, u)
