"""Rows and columns of the mass matrix that belong to the modes of a body (003 eq. 50).

nodes   X(η) += φ R H*,   M(η, η) += H R H*,   M(η, c) = H X(c) of all that hangs on the node
body    X(η) += [N; S],   M(η, η) += modal masses
"""

from __future__ import annotations

from limberjack.engine.algebra.blocks import block_lane, set_block_lane
from limberjack.engine.algebra.spatial import dot, load3, load9, rigid
from limberjack.engine.algebra.views import LANES
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.modal_articulated import couple, modal_column
from limberjack.engine.kernels.nodes.modal_nodes import node_column, node_map
from limberjack.engine.tables.flexible import AN_COLUMN, AN_MODAL, MI_MODES, MI_RANK, modal_view
from limberjack.engine.tables.plant import SLOT, VI, W_P, W_R


@kernel
def composite_node(plant, work, k, start, stop, m, h, I, M):
    """What hangs on an attachment node joins its modes: H X in their rows, and the composite's share of μ and D."""
    modes, blocks, up, at = node_map(plant, work, k)
    row, first = work.rows[k + 1], plant.topo[up, VI]
    attached = plant.flexible.attached_int[plant.topo[k, SLOT]]
    parts, column = modal_view(plant.flexible.modal_int[attached[AN_MODAL]], work.modal), attached[AN_COLUMN]
    pad = LANES * work.columns.shape[0] - M.shape[0]
    for c in range(start, stop):
        n, f = block_lane(work.columns[c // LANES], c % LANES)
        for r in range(modes):
            h_n, h_f = node_column(work.modal, at, r)
            M[first + r, c - pad] = dot(h_n, n) + dot(h_f, f)
    if column >= 0:
        for b in range(blocks):
            couple(work, parts, modes, at, b, load9(row, W_R), load3(row, W_P), rigid(m, h, I), column == 0)


@kernel
def composite_modal(plant, work, k, start, M):
    """Columns and rows of the modes of a body: μ, and what hangs on its nodes."""
    modal = plant.flexible.modal_int[plant.topo[k, SLOT]]
    parts, v = modal_view(modal, work.modal), plant.topo[k, VI]
    for r in range(modal[MI_MODES]):
        n, f = modal_column(parts.coupling, r)
        set_block_lane(work.columns[(start + r) // LANES], (start + r) % LANES, n, f)
        for c in range(modal[MI_MODES]):
            M[v + r, v + c] = parts.d[min(r, c), max(r, c)] if modal[MI_RANK] > 0 else 0.0
