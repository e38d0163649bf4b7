"""The rows of a group's loops over its velocities: y of `elimination.py`.

A loop's forces on its bodies (closures.py) go down both chains to the last common body, all rows at once; what a
velocity's hinge sees of them is its coefficient in the rows: Y = H φ (coblock), the Jacobian J_o - J_p of 001 eq. 58.
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import block_column, load_block
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.spatial import load6
from limberjack.engine.algebra.views import BLOCK, LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.couplings import coefficient
from limberjack.engine.kernels.nodes.attachment import node_map
from limberjack.engine.kernels.nodes.dispatch import hinge_out
from limberjack.engine.tables.loops import (
    COUPLING,
    GI_DOF,
    GI_DOFS,
    GI_LOOP,
    GI_LOOPS,
    GI_ROWS,
    L_CHAIN_A,
    L_CHAIN_AS,
    L_CHAIN_B,
    L_CHAIN_BS,
    L_KIND,
    L_ROW,
    L_TERM,
    L_TERMS,
    LP_SCALE,
    TM_V,
)
from limberjack.engine.tables.plant import (
    DI_MEMBER,
    G_H,
    NV,
    PATH,
    PATH_MODAL,
    PATH_NODE,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    SLOT,
    VI,
)


@kernel
def _store_entry(plant, y, j, first, at, e):
    """Coefficients of velocity j in eight rows, brought to order one."""
    member = plant.dof_int[j, DI_MEMBER]
    store_lanes(y[member], first, plant.loops.scale[at + member] * e)


@kernel
def _node_entries(plant, work, k, y, first, at, n, f):
    """Coefficients of the modes that move attachment node k, which add to those of other nodes of the body."""
    modes, _, up, h = node_map(plant, work, k)
    for r in range(modes):
        a, l = block_column(work.modal, h, r)
        e = a[0] * n[0] + a[1] * n[1] + a[2] * n[2] + l[0] * f[0] + l[1] * f[1] + l[2] * f[2]
        member = plant.dof_int[plant.topo[up, VI] + r, DI_MEMBER]
        store_lanes(y[member], first, load_lanes(y[member], first) + plant.loops.scale[at + member] * e)


@kernel
def _hinge_entries(plant, work, k, y, first, at, n, f):
    """Coefficients H(k) [n; f] of the velocities of hinge k."""
    topo = plant.topo[k]
    j = topo[VI]
    if topo[PATH] == PATH_REVOLUTE:
        _store_entry(plant, y, j, first, at, n[2])
    elif topo[PATH] == PATH_PRISMATIC:
        _store_entry(plant, y, j, first, at, f[2])
    elif topo[PATH] == PATH_NODE:
        _node_entries(plant, work, k, y, first, at, n, f)
    elif topo[PATH] != PATH_MODAL:
        g = work.gen[topo[SLOT]]
        for c in range(topo[NV]):
            h = load6(g, G_H + 6 * c)
            e = h[0] * n[0] + h[1] * n[1] + h[2] * n[2]
            _store_entry(plant, y, j + c, first, at, e + h[3] * f[0] + h[4] * f[1] + h[5] * f[2])


@kernel
def _fill_chain(plant, work, l, block, start, count, y, first, at):
    """Coefficients along one chain, tip to base."""
    scale = load_lanes(plant.loops.loop[l], LP_SCALE)
    n, f = load_block(work.loops.coblock[l], block)
    n, f = (scale * n[0], scale * n[1], scale * n[2]), (scale * f[0], scale * f[1], scale * f[2])
    for i in range(start, start + count):
        k = plant.loops.walk[i]
        _hinge_entries(plant, work, k, y, first, at, n, f)
        n, f = hinge_out(plant, work, k, n, f)


@kernel
def _fill_terms(plant, l, q, y, first, at):
    """The one row of a coupling."""
    ints, scale = plant.loops.loop_int[l], plant.loops.loop[l, LP_SCALE]
    for t in range(ints[L_TERM], ints[L_TERM] + ints[L_TERMS]):
        member = plant.dof_int[plant.loops.term_int[t, TM_V], DI_MEMBER]
        y[member, first] = scale * coefficient(plant, l, t, q) * plant.loops.scale[at + member]


@kernel
def fill_rows(plant, work, group, parts, q, which):
    """y: all rows of the group, with the right-hand sides -work.loops.row[l, which + i].

    Loops come in the order of their rows, since eight lanes are stored for however few rows a loop has.
    """
    y, at, n = parts.y, group[GI_DOF], group[GI_DOFS]
    for j in range(n + 2):
        for b in range(0, group[GI_ROWS], LANES):
            store_lanes(y[j], b, equal_lanes(0.0))
    for i in range(group[GI_LOOP], group[GI_LOOP] + group[GI_LOOPS]):
        l = plant.loops.listed[i]
        ints = plant.loops.loop_int[l]
        first = ints[L_ROW]
        if ints[L_KIND] >= COUPLING:
            _fill_terms(plant, l, q, y, first, at)
        else:
            _fill_chain(plant, work, l, 0, ints[L_CHAIN_A], ints[L_CHAIN_AS], y, first, at)  # 001 eq. 59
            _fill_chain(plant, work, l, BLOCK, ints[L_CHAIN_B], ints[L_CHAIN_BS], y, first, at)  # 001 eq. 59
        scale = -1.0 * load_lanes(plant.loops.loop[l], LP_SCALE)
        store_lanes(y[n], first, scale * load_lanes(work.loops.row[l], which))
