"""Tables of closed loops of every kind on a tree, as a model could have them: for checks that only look at indices."""

from __future__ import annotations

import numpy as np

from limberjack.engine.kernels.nodes.kinds import NUMBERS
from limberjack.engine.model.plant import Plant, empty_plant
from limberjack.engine.tables import loops
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.hinge_types import REVOLUTE
from limberjack.engine.tables.loops import group_work_size


def looped(tree: Plant) -> Plant:
    """The tree with its last body and that one's siblings in a group of one embedded loop, and three loops by force: a
    switched hinge, a lock and a driven coupling. Only the indices make sense."""
    topo = tree.sections["topo"]
    parent = int(topo[-1, layout.UP])
    members = [k for k in range(len(topo)) if topo[k, layout.UP] == parent]
    dofs = [j for k in members for j in range(topo[k, layout.VI], topo[k, layout.VI] + topo[k, layout.NV])]
    rank = min(5, len(dofs))
    listed = [*members, *dofs, *range(rank), 0]
    terms = _terms(tree)
    walk = [*members, 0]
    head = {which: tree.count(which) for which in range(layout.C_BODIES, loops.C_FORCE_ROWS + 1)}
    head |= {
        layout.C_COMMANDS: tree.count(layout.C_COMMANDS) + 4,
        layout.C_GENERAL: tree.count(layout.C_BODIES),
        loops.C_LOOPS: 4,
        loops.C_ROWS: rank + 7,
        loops.C_TERMS: len(terms),
        loops.C_WALK: len(walk),
        loops.C_GROUPS: 1,
        loops.C_LISTED: len(listed),
        loops.C_GROUP_WORK: int(group_work_size.py_func(len(dofs), rank, len(members))),
        loops.C_SWITCHES: 1,
        loops.C_DRIVES: 1,
        loops.C_FORCED: 3,
        loops.C_FORCE_ROWS: 7,
    }
    made = empty_plant(head)
    for name in ("topo", "node_row", "dof_int", "actuator_int", "sensor_int", "part_body"):
        made.sections[name][:] = tree.sections[name]
    _leave_the_base_path(made)
    made.sections["topo"][members, layout.GROUP], made.sections["topo"][members, layout.MEMBER] = 0, range(len(members))
    made.sections["dof_int"][dofs, layout.DI_MEMBER] = range(len(dofs))
    made.sections["term_int"][:] = terms
    made.sections["walk"][:, 0], made.sections["listed"][:, 0] = walk, listed
    b, d = len(members), len(dofs)
    made.sections["group_int"][0] = 0, b, b, d, rank, b + d + rank, 1, parent, 0, rank
    made.sections["loop_int"][:] = _loops(tree.count(layout.C_COMMANDS), rank, len(terms), b)
    return made


def _leave_the_base_path(plant: Plant) -> None:
    """A free base takes the general path, as in every model with loops."""
    topo = plant.sections["topo"]
    for k in np.flatnonzero(topo[:, layout.PATH] == NUMBERS["base"]):
        topo[k, layout.PATH], topo[k, layout.SLOT] = NUMBERS["general"], plant.count(layout.C_GENERAL) - 1


def _terms(tree: Plant) -> list[tuple[int, int, int]]:
    """Every velocity that is the rate of a coordinate, after one that a lock holds."""
    rows = [(int(q), j, int(k) + 1) for j, (q, k, _) in enumerate(tree.sections["dof_int"])]
    return [(-1, *rows[0][1:]), *(row for row in rows if row[0] >= 0)][:4]


def _loops(commands: int, rank: int, terms: int, members: int) -> list[list[int]]:
    """Rows of loop_int: embedded and three by force; their paths are all of walk, or none."""
    path = [0, members, members, 1, 0, members + 1, 0]
    common = {"embedded": [0, rank, 0, 0, 0, -1, -1, -1, -1, 1], "switched": [0, 5, 0, 0, -1, 0, -1, commands, 0, 1]}
    lock = [5, 1, 0, 1, -1, -1, -1, -1, 1, 0]
    coupling = [6, 1, 1, terms - 1, -1, -1, 0, commands + 1, 2, 1]
    rows = ((REVOLUTE, common["embedded"]), (REVOLUTE, common["switched"]), (loops.LOCK, lock))
    return [[kind, 1, 0, *row, *path] for kind, row in (*rows, (loops.COUPLING, coupling))]
