"""Propagates forces of a loop's rows from the loop's bodies to the base (000 STEP C, first half).

A unit force of row i acts at the bodies of its loop (its coblock) and along coupled velocities (c). Tip to base,

    e = H z + c,    z⁺ = z - U D⁻¹ e,    z(parent) += φ z⁺        (z⁺ = τ̄ z: 000 eq. 0.36 and ψ = φ τ̄)

so that e, over all velocities, is H ψ B A* of 000, and Λ = Σ e* D⁻¹ e. A loop has at most LANES rows: all go at once,
a lane each. Hinges with several velocities and modes keep L⁻¹ e of D = L L* instead of e, groups of embedded loops
L⁻¹ X* e at their independent velocities and 0 at the dependent ones: these count with the weight 1 instead of D⁻¹.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.blocks import less_six, load_six, store_six
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes, sum_lanes
from limberjack.engine.algebra.spatial import add6
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.couplings import coefficient
from limberjack.engine.kernels.nodes import dispatch_loops
from limberjack.engine.kernels.nodes.dispatch import hinge_out
from limberjack.engine.kernels.nodes.dispatch_loops import add_innovation, collect_body, cross_body
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.loops import group_view


@kernel
def is_closed(plant, work, l):
    """Whether loop l is closed."""
    s = plant.loops.loop_int[l, lp.L_SWITCH]
    return s < 0 or work.loops.switch[s, lp.SW_CLOSED] > 0.5


@kernel
def acts(plant, work, l):
    """Whether loop l acts by force now."""
    return plant.loops.loop_int[l, lp.L_FORCED] >= 0 and is_closed(plant, work, l)


@kernel
def add_to(block, z):
    """block += z."""
    store_six(block, add6(load_six(block, 0), z))


@kernel
def clear_path(plant, work, walk, first, count, path):
    """Set z = 0 at the bodies that the rows move, and c = 0 at their velocities."""
    zero = equal_lanes(0.0)
    for i in range(first, first + count):
        k = walk[i]
        block = work.loops.cross[k + 1]
        for c in range(0, BLOCK, LANES):
            store_lanes(block, c, zero)
        for j in range(plant.topo[k, t.VI], plant.topo[k, t.VI] + plant.topo[k, t.NV]):
            store_lanes(path, LANES * j, zero)


@kernel
def _begin(plant, work, l, q):
    """z of the bodies that the rows' forces act on, and c of coupled velocities."""
    ints = plant.loops.loop_int[l]
    path, coblock = work.loops.path[ints[lp.L_FORCED]], work.loops.coblock[l]
    clear_path(plant, work, plant.loops.walk, ints[lp.L_WALK], ints[lp.L_WALKS], path)
    for term in range(ints[lp.L_TERM], ints[lp.L_TERM] + ints[lp.L_TERMS]):
        row = term - ints[lp.L_TERM] if ints[lp.L_KIND] == lp.LOCK else 0
        path[LANES * plant.loops.term_int[term, lp.TM_V] + row] += coefficient(plant, l, term, q)
    if ints[lp.L_A] > 0:
        add_to(work.loops.cross[ints[lp.L_A]], load_six(coblock, 0))
    if ints[lp.L_B] > 0:
        add_to(work.loops.cross[ints[lp.L_B]], load_six(coblock, BLOCK))


@kernel
def _hand_on(plant, work, k, z):
    """z(parent) += φ z."""
    if plant.topo[k, t.UP] > 0:
        n, f = hinge_out(plant, work, k, (z[0], z[1], z[2]), (z[3], z[4], z[5]))
        add_to(work.loops.cross[plant.topo[k, t.UP]], (n[0], n[1], n[2], f[0], f[1], f[2]))


@kernel
def velocity_of(plant, group, parts, s):
    """The velocity at position s of the group's order, in which dependent ones are first."""
    return plant.loops.listed[group[lp.GI_DOF] + int(parts.pick[s])]


@kernel
def _project(plant, group, parts, path, r):
    """X* e of independent velocity r."""
    n, free = group[lp.GI_DOFS], int(parts.head[lp.GH_FREE])
    y = load_lanes(path, LANES * velocity_of(plant, group, parts, n - free + r))
    for s in range(n - free):
        x = parts.x[int(parts.pick[s]), r]
        y = y + x * load_lanes(path, LANES * velocity_of(plant, group, parts, s))
    return y


@kernel
def _cross_group(plant, work, g, path):
    """All bodies of a group have handed on z: y = L⁻¹ X* e, z(parent) -= (U L⁻*) y."""
    group = plant.loops.group_int[g]
    parts = group_view(group, work.loops.group)
    n, free, up = group[lp.GI_DOFS], int(parts.head[lp.GH_FREE]), group[lp.GI_PARENT]
    for r in range(free):
        y = _project(plant, group, parts, path, r)
        for e in range(r):
            y = y - parts.d[r, e] * load_lanes(path, LANES * velocity_of(plant, group, parts, n - free + e))
        y = parts.d[r, r] * y
        store_lanes(path, LANES * velocity_of(plant, group, parts, n - free + r), y)
        if up > 0:
            u, i, block = parts.u[r // LANES], r % LANES, work.loops.cross[up]
            column = (u[i], u[LANES + i], u[2 * LANES + i], u[3 * LANES + i], u[4 * LANES + i], u[5 * LANES + i])
            store_six(block, less_six(load_six(block, 0), column, y))
    for s in range(n - free):
        store_lanes(path, LANES * velocity_of(plant, group, parts, s), equal_lanes(0.0))


@kernel
def trace_path(plant, work, walk, first, count, path):
    """e of eight forces at all velocities that they move, tip to base; work.loops.cross holds them, path their c."""
    for i in range(first, first + count):
        k = walk[i]
        if plant.topo[k, t.GROUP] >= 0:
            _hand_on(plant, work, k, collect_body(plant, work, k, path))
            if plant.topo[k, t.MEMBER] == 0:
                _cross_group(plant, work, plant.topo[k, t.GROUP], path)
        else:
            _hand_on(plant, work, k, cross_body(plant, work, k, path))


@kernel
def trace(plant, work, l, q):
    """e of loop l, placed before, at all velocities that its rows move: work.loops.path."""
    ints = plant.loops.loop_int[l]
    _begin(plant, work, l, q)
    path = work.loops.path[ints[lp.L_FORCED]]
    trace_path(plant, work, plant.loops.walk, ints[lp.L_WALK], ints[lp.L_WALKS], path)


@kernel
def largest_weight(plant, work, l):
    """The largest D⁻¹ of the velocities that loop l moves: the scale of what its rows can move."""
    ints, most = plant.loops.loop_int[l], 0.0
    for i in range(ints[lp.L_WALK], ints[lp.L_WALK] + ints[lp.L_WALKS]):
        k = plant.loops.walk[i]
        topo = plant.topo[k]
        if topo[t.GROUP] >= 0:
            parts = group_view(plant.loops.group_int[topo[t.GROUP]], work.loops.group)
            for r in range(int(parts.head[lp.GH_FREE])):
                most = max(most, parts.d[r, r] * parts.d[r, r])
        else:
            most = dispatch_loops.largest_weight(plant, work, k, most)
    return most


@kernel
def _push_group(plant, work, g, path, f):
    """ε += e f of a group."""
    group = plant.loops.group_int[g]
    parts = group_view(group, work.loops.group)
    n, free = group[lp.GI_DOFS], int(parts.head[lp.GH_FREE])
    for r in range(free):
        j = velocity_of(plant, group, parts, n - free + r)
        parts.eps[r] += sum_lanes(load_lanes(path, LANES * j) * f)


@kernel
def push(plant, work, l):
    """ε += e f for the forces f of loop l in R_FORCE (000 STEP E, tip to base)."""
    ints = plant.loops.loop_int[l]
    path, f = work.loops.path[ints[lp.L_FORCED]], load_lanes(work.loops.row[l], lp.R_FORCE)
    for i in range(ints[lp.L_WALK], ints[lp.L_WALK] + ints[lp.L_WALKS]):
        k = plant.loops.walk[i]
        if plant.topo[k, t.GROUP] < 0:
            add_innovation(plant, work, k, path, f)
        elif plant.topo[k, t.MEMBER] == 0:
            _push_group(plant, work, plant.topo[k, t.GROUP], path, f)
