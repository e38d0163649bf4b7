"""Flexible bodies of a foreign Plant: modes, and places of tables and scratch, one behind the other."""

from __future__ import annotations

from limberjack.engine.algebra.bounds import fits, is_in
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import flexible as fl
from limberjack.engine.tables import loops as lp

_MOST_MODES, _MOST_RANK, _NODE_RANK = 2**12, 2**16, 6  # of one body; of all its nodes; of one of them


@kernel
def _follows(c, at_table, at_work, table, table_size, work):
    """Whether scratch follows scratch, and each table the one before, unless it is shared with an earlier body."""
    if work != at_work or (table != at_table and not fits(table, table_size, at_table)):
        return False
    return at_table <= c[fl.C_MODAL_TABLE] and at_work <= c[fl.C_MODAL_WORK]


@kernel
def _solution(c, row):
    """Modes, and what their solution needs; condensed it has rows for rank columns in the place of those for n."""
    n, rank = row[fl.MI_MODES], row[fl.MI_RANK]
    if not is_in(n, 0, _MOST_MODES + 1) or not is_in(rank, 0, _MOST_RANK + 1) or rank % _NODE_RANK != 0:
        return False
    return row[fl.MI_CONDENSED] == 0 or (rank < n and c[lp.C_LOOPS] == 0)


@kernel
def trust_modal(c, plant):
    """Modes, and places of tables and scratch of modal links and attachment nodes: one behind the other."""
    at_table, at_work = 0, 0
    for i in range(c[fl.C_MODAL]):
        row = plant.flexible.modal_int[i]
        if not _solution(c, row):
            return False
        size = fl.modal_table_size(row[fl.MI_MODES], row[fl.MI_FULL])
        if not _follows(c, at_table, at_work, row[fl.MI_TABLE], size, row[fl.MI_WORK]):
            return False
        at_table += size if row[fl.MI_TABLE] == at_table else 0
        at_work += fl.modal_work_size(row[fl.MI_MODES], row[fl.MI_RANK], row[fl.MI_CONDENSED])
    for i in range(c[fl.C_ATTACHED]):
        row = plant.flexible.attached_int[i]
        modal, column = plant.flexible.modal_int[row[fl.AN_MODAL]], row[fl.AN_COLUMN]
        if column != -1 and (not fits(column, _NODE_RANK, modal[fl.MI_RANK]) or column % _NODE_RANK != 0):
            return False
        size = fl.attached_table_size(modal[fl.MI_MODES], row[fl.AN_CURVED])
        if not _follows(c, at_table, at_work, row[fl.AN_TABLE], size, row[fl.AN_WORK]):
            return False
        at_table += size if row[fl.AN_TABLE] == at_table else 0
        at_work += fl.attached_work_size(modal[fl.MI_MODES])
    return at_table == c[fl.C_MODAL_TABLE] and at_work == c[fl.C_MODAL_WORK]
