"""The rows of a group's loops over its velocities: y of `elimination.py`.

A loop's forces on its bodies (closures.py) go down both chains to the last common body, all rows at once; what a
velocity's hinge sees of them is its coefficient in the rows: Y = H φ (coblock), the Jacobian J_o - J_p of 001 eq. 58.
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import load_block
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.views import BLOCK, LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.couplings import coefficient
from limberjack.engine.kernels.nodes.dispatch import hinge_out
from limberjack.engine.kernels.nodes.dispatch_loops import trace_entries
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
)


@kernel
def _fill_chain(plant, work, l, block, start, count, y, first, at):
    """Coefficients along one chain, tip to base."""
    scale = load_lanes(plant.loops.loop[l], LP_SCALE)
    n, f = load_block(work.loops.coblock[l], block)
    n, f = (scale * n[0], scale * n[1], scale * n[2]), (scale * f[0], scale * f[1], scale * f[2])
    for i in range(start, start + count):
        k = plant.loops.walk[i]
        trace_entries(plant, work, k, y, first, at, n, f)
        n, f = hinge_out(plant, work, k, n, f)


@kernel
def _fill_terms(plant, l, q, y, first, at):
    """The one row of a coupling."""
    ints, scale = plant.loops.loop_int[l], plant.loops.loop[l, LP_SCALE]
    for t in range(ints[L_TERM], ints[L_TERM] + ints[L_TERMS]):
        member = plant.dof_int[plant.loops.term_int[t, TM_V], DI_MEMBER]
        y[member, first] = scale * coefficient(plant, l, t, q) * plant.loops.scale[at + member]


@kernel
def fill_right(plant, work, group, which, right):
    """right = -work.loops.row[l, which + i], brought to order one, of all rows of the group."""
    for i in range(group[GI_LOOP], group[GI_LOOP] + group[GI_LOOPS]):
        l = plant.loops.listed[i]
        scale = -1.0 * load_lanes(plant.loops.loop[l], LP_SCALE)
        store_lanes(right, plant.loops.loop_int[l, L_ROW], scale * load_lanes(work.loops.row[l], which))


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
    fill_right(plant, work, group, which, y[n])
