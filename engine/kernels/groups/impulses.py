"""The response of all velocities to a change of dependent ones, with the factors of the last accelerations.

    base to tip   c(k) = φ* c(parent) + H*(k) β(k), 0 at the group's parent, β the change of dependent velocities
    tip to base   z' = P c + Σ φ z⁺,   ε = -X* (armature β) - Σ A* z',   z(parent) += Σ φ z' + U D⁻¹ ε
                  outside of groups   ε = -H z,   z⁺ = z + U D⁻¹ ε
    base to tip   as for any ε (`multipliers.answer_body`), with β

These are the equations of `embedding.py` with constant P, D, U, X and A. The change of all velocities is the smallest
one in the norm of the mass matrix of the last accelerations. It therefore conserves momentum, except for the effect of
the model's motion since then.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.algebra.blocks import load_block
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add6,
    add9,
    inertia_mul,
    load3,
    load6,
    load9,
    rigid,
    scale,
    store3,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.aggregated import share_force, u_column, whiten
from limberjack.engine.kernels.groups.embedding import block_count, is_inside
from limberjack.engine.kernels.groups.multipliers import answer_body
from limberjack.engine.kernels.nodes.dispatch import hinge_in, hinge_out
from limberjack.engine.kernels.nodes.dispatch_loops import push_body, respond_body
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.loops import GH_FREE, GI_BODIES, GI_BODY, GI_DOF, GI_DOFS, GI_PARENT, group_view


@kernel
def _clear_force(sums):
    """Set z = 0 in the sums that children hand to their parent."""
    store3(sums, t.A_Z, ZERO)
    store3(sums, t.A_Z + 3, ZERO)


@kernel
def _add_force(sums, n, f):
    """z += [n; f] in the sums that children hand to their parent."""
    store3(sums, t.A_Z, add(load3(sums, t.A_Z), n))
    store3(sums, t.A_Z + 3, add(load3(sums, t.A_Z + 3), f))


@kernel
def _clear_group(plant, work, g, out):
    """c of the group's bodies; its z and ε begin at zero."""
    group = plant.loops.group_int[g]
    parts = group_view(group, work.loops.group)
    for i in range(group[GI_BODIES]):
        k = plant.loops.listed[group[GI_BODY] + i]
        row, up, w, u = work.rows[k + 1], plant.topo[k, t.UP], ZERO, ZERO
        if is_inside(plant, up, g):
            w, u = hinge_in(plant, work, k, load3(work.rows[up], t.W_ALPHA), load3(work.rows[up], t.W_ALPHA + 3))
        w, u = push_body(plant, work, k, out, w, u)
        store3(row, t.W_ALPHA, w)
        store3(row, t.W_ALPHA + 3, u)
        if plant.topo[k, t.CARRIER]:
            _clear_force(parts.whole[i])
    for b in range(block_count(parts)):
        store_lanes(parts.eps, LANES * b, equal_lanes(0.0))


@kernel
def _member_in(plant, work, k):
    """z' of one body of a group, whose children have handed in theirs; P is that of `body_inertia.gather`."""
    topo, row, sums, body = plant.topo[k], work.rows[k + 1], work.acc[k + 1], plant.body[k]
    group, g = plant.loops.group_int[topo[t.GROUP]], topo[t.GROUP]
    parts = group_view(group, work.loops.group)
    P = rigid(body[t.B_M], load3(body, t.B_H), load6(body, t.B_I))
    if not topo[t.LEAF]:
        P = add6(P[0], load6(sums, t.A_I)), add9(P[1], load9(sums, t.A_H)), add6(P[2], load6(sums, t.A_M))
    n, f = inertia_mul(P, load3(row, t.W_ALPHA), load3(row, t.W_ALPHA + 3))
    if not topo[t.LEAF]:
        n, f = add(n, load3(sums, t.A_Z)), add(f, load3(sums, t.A_Z + 3))
    for b in range(block_count(parts)):
        w, u = load_block(parts.a[parts.u.shape[0] * topo[t.MEMBER] + b], 0)
        share_force(parts, b, w, u, n, f)
    if group[GI_PARENT] == 0:
        return
    if topo[t.CARRIER]:
        whole = parts.whole[topo[t.MEMBER]]
        n, f = add(n, load3(whole, t.A_Z)), add(f, load3(whole, t.A_Z + 3))
    n, f = hinge_out(plant, work, k, n, f)
    if is_inside(plant, topo[t.UP], g):
        _add_force(parts.whole[plant.topo[topo[t.UP] - 1, t.MEMBER]], n, f)
    else:
        _add_force(work.acc[topo[t.UP]], n, f)


@kernel
def _group_in(plant, work, g):
    """ε of a group whose bodies are done, and its share of the parent's z."""
    group = plant.loops.group_int[g]
    parts = group_view(group, work.loops.group)
    free, up = int(parts.head[GH_FREE]), group[GI_PARENT]
    for i in range(group[GI_DOFS]):
        force = -work.inertia_add[plant.loops.listed[group[GI_DOF] + i]] * parts.bias[i]
        if force != 0.0:
            for b in range(block_count(parts)):
                e = load_lanes(parts.eps, LANES * b) + force * load_lanes(parts.x[i], LANES * b)
                store_lanes(parts.eps, LANES * b, e)
    whiten(parts, free)
    for r in range(free if up > 0 else 0):
        a, l = u_column(parts, r)
        _add_force(work.acc[up], scale(parts.eps[r], a), scale(parts.eps[r], l))


@kernel
def _hinge_in(plant, work, k):
    """ε of a hinge outside of groups, and z⁺ to its parent."""
    topo, sums = plant.topo[k], work.acc[k + 1]
    n, f = ZERO, ZERO
    if not topo[t.LEAF]:
        n, f = load3(sums, t.A_Z), load3(sums, t.A_Z + 3)
    n, f = respond_body(plant, work, k, n, f)
    if topo[t.UP] > 0 and not topo[t.LEAF]:
        n, f = hinge_out(plant, work, k, n, f)
        _add_force(work.acc[topo[t.UP]], n, f)


@kernel
def _is_bare(topo):
    """Whether the body only moves with its group: it is not the group's first, and carries none outside of it."""
    return topo[t.GROUP] >= 0 and topo[t.MEMBER] > 0 and topo[t.LEAF] > 0


@kernel
def spread_change(plant, work, out):
    """out (nv,): where it holds the groups' β, and 0 elsewhere, the change of all velocities that comes with them.

    Bodies are placed, and none is a modal one.
    """
    count = plant.topo.shape[0]
    for k in range(count):
        if not plant.topo[k, t.LEAF]:
            _clear_force(work.acc[k + 1])
    for g in range(plant.loops.group_int.shape[0]):
        _clear_group(plant, work, g, out)
    last = 0  # the last body whose motion is needed
    for i in range(count):
        k = count - 1 - i
        last = max(last, 0 if _is_bare(plant.topo[k]) else k)
        if plant.topo[k, t.GROUP] < 0:
            _hinge_in(plant, work, k)
        else:
            _member_in(plant, work, k)
            if plant.topo[k, t.MEMBER] == 0:
                _group_in(plant, work, plant.topo[k, t.GROUP])
    store3(work.rows[0], t.W_ALPHA, ZERO)
    store3(work.rows[0], t.W_ALPHA + 3, ZERO)
    for k in range(last + 1):
        if not (_is_bare(plant.topo[k]) and plant.topo[k, t.CARRIER] == 0):
            answer_body(plant, work, k, out, True)
