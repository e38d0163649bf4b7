"""Links of modal bodies placed: where they are, how they move, and the inertia of deformed bodies."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import load3, load9, motion_in, store3, store9
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.compile.routine import FLOATS, WHOLE, routine
from limberjack.engine.kernels.nodes.modal_deformation import deform
from limberjack.engine.kernels.nodes.modal_nodes import place_node
from limberjack.engine.tables.plant import B_P, B_R, PATH, PATH_NODE, UP, W_P, W_R, W_V, plant_view, vectors, work_view


@kernel
def _place_carried(body, row, up):
    """Frames and V of a modal link, which does not move on the link that its hinge moves."""
    R, p = load9(body, B_R), load3(body, B_P)
    store9(row, W_R, R)
    store3(row, W_P, p)
    w, u = motion_in(R, p, load3(up, W_V), load3(up, W_V + 3))
    store3(row, W_V, w)
    store3(row, W_V + 3, u)


@routine(WHOLE, FLOATS, FLOATS)
def place_flexible_routine(ints, floats, vector, k, q, v):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[PATH] == PATH_NODE:
        place_node(plant, work, k, row, work.rows[topo[UP]])
    else:
        _place_carried(plant.body[k], row, work.rows[topo[UP]])
        deform(plant, work, k, q, v)


@kernel
def place_flexible(plant, work, k, q, v):
    """Frames, V(k) and all that depends on the deformation, of a link of a modal body whose parent is done."""
    ints, floats, vector = vectors(plant, work)
    place_flexible_routine(ints, floats, vector, k, q, v)
