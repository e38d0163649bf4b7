"""The rows of a group's loops over its velocities: y of `elimination.py`.

A loop's forces on its bodies (loop_rows.py) are propagated down both chains to the last common body, all rows at once.
Their component along a hinge's velocity is its coefficient in the rows: Y = H φ (coblock), the Jacobian J_o - J_p of
001 eq. 58.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import BLOCK, LANES
from limberjack.engine.algebra.blocks import load_block
from limberjack.engine.algebra.lanes import equal_lanes, load_lanes, store_lanes
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.couplings import coefficient
from limberjack.engine.kernels.nodes.dispatch import hinge_out
from limberjack.engine.kernels.nodes.dispatch_loops import trace_entries
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.plant import (
    DI_MEMBER,
)


@kernel
def _fill_chain(plant, work, l, block, start, count, y, first, at):
    """Coefficients along one chain, tip to base."""
    scale = load_lanes(plant.loops.loop[l], lp.LP_SCALE)
    n, f = load_block(work.loops.coblock[l], block)
    n, f = (scale * n[0], scale * n[1], scale * n[2]), (scale * f[0], scale * f[1], scale * f[2])
    for i in range(start, start + count):
        k = plant.loops.walk[i]
        trace_entries(plant, work, k, y, first, at, n, f)
        n, f = hinge_out(plant, work, k, n, f)


@kernel
def _fill_terms(plant, l, q, y, first, at):
    """The one row of a coupling."""
    ints, scale = plant.loops.loop_int[l], plant.loops.loop[l, lp.LP_SCALE]
    for t in range(ints[lp.L_TERM], ints[lp.L_TERM] + ints[lp.L_TERMS]):
        member = plant.dof_int[plant.loops.term_int[t, lp.TM_V], DI_MEMBER]
        y[member, first] = scale * coefficient(plant, l, t, q) * plant.loops.scale[at + member]


@kernel
def fill_right(plant, work, group, which, right):
    """right = -work.loops.row[l, which + i], brought to order one, of all rows of the group."""
    for i in range(group[lp.GI_LOOP], group[lp.GI_LOOP] + group[lp.GI_LOOPS]):
        l = plant.loops.listed[i]
        scale = -1.0 * load_lanes(plant.loops.loop[l], lp.LP_SCALE)
        store_lanes(right, plant.loops.loop_int[l, lp.L_ROW], scale * load_lanes(work.loops.row[l], which))


@kernel
def fill_rows(plant, work, group, parts, q, which):
    """y: all rows of the group, with the right-hand sides -work.loops.row[l, which + i].

    Loops are in the order of their rows, since eight lanes are stored even for a loop with fewer rows.
    """
    y, at, n = parts.y, group[lp.GI_DOF], group[lp.GI_DOFS]
    for j in range(n + 2):
        for b in range(0, group[lp.GI_ROWS], LANES):
            store_lanes(y[j], b, equal_lanes(0.0))
    for i in range(group[lp.GI_LOOP], group[lp.GI_LOOP] + group[lp.GI_LOOPS]):
        l = plant.loops.listed[i]
        ints = plant.loops.loop_int[l]
        first = ints[lp.L_ROW]
        if ints[lp.L_KIND] >= lp.COUPLING:
            _fill_terms(plant, l, q, y, first, at)
        else:
            _fill_chain(plant, work, l, 0, ints[lp.L_CHAIN_A], ints[lp.L_CHAIN_AS], y, first, at)  # 001 eq. 59
            _fill_chain(plant, work, l, BLOCK, ints[lp.L_CHAIN_B], ints[lp.L_CHAIN_BS], y, first, at)  # 001 eq. 59
    fill_right(plant, work, group, which, y[n])
