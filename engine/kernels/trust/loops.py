"""Closed loops of a foreign Plant: slices, ranks and scratch of groups, what they list, rows and terms of loops."""

from __future__ import annotations

from limberjack.engine.algebra.bounds import fits, is_in
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import HINGE_TYPES

_MOST_IN_GROUP = 2**20  # the scratch of a larger group could not be allocated
_MOST_LOCKED = 6  # velocities of one hinge
_ROWS_OF_WHEEL = 3  # height, and slip in two directions
_N_V = tuple(kind.nv for kind in HINGE_TYPES.values())


@kernel
def _list(c, plant, start, size, end):
    """Whether what a group lists from `start` are numbers of a vector of `end`."""
    if not fits(start, size, c[lp.C_LISTED]):
        return False
    inside = True
    for i in range(start, start + size):
        inside = inside and is_in(plant.loops.listed[i], 0, end)
    return inside


@kernel
def _lists(c, plant, group):
    n = group[lp.GI_DOFS]
    if not _list(c, plant, group[lp.GI_BODY], group[lp.GI_BODIES], c[t.C_BODIES]):
        return False
    if not _list(c, plant, group[lp.GI_DOF], n, c[t.C_V]):
        return False
    if not _list(c, plant, group[lp.GI_DOF] + n, group[lp.GI_RANK], group[lp.GI_ROWS]):  # their rows
        return False
    return _list(c, plant, group[lp.GI_LOOP], group[lp.GI_LOOPS], c[lp.C_LOOPS])


@kernel
def trust_groups(c, plant):
    """Slices, ranges and scratch of the groups; what they list is in range."""
    work = 0
    for g in range(c[lp.C_GROUPS]):
        group = plant.loops.group_int[g]
        n, m, bodies = group[lp.GI_DOFS], group[lp.GI_ROWS], group[lp.GI_BODIES]
        if not _lists(c, plant, group) or not is_in(group[lp.GI_RANK], 0, n + 1) or n > _MOST_IN_GROUP:
            return False
        if not is_in(m, group[lp.GI_RANK], _MOST_IN_GROUP) or group[lp.GI_WORK] != work:
            return False
        work += lp.group_work_size(n, m, bodies)
        if work > c[lp.C_GROUP_WORK]:
            return False
    return work == c[lp.C_GROUP_WORK]


@kernel
def is_member(plant, group, rank, start, size, item):
    """Whether the item is at this rank of a slice of a group's lists. In no group it has rank -1."""
    if group == -1:
        return rank == -1
    if not is_in(group, 0, plant.loops.group_int.shape[0]):
        return False
    row = plant.loops.group_int[group]
    return is_in(rank, 0, row[size]) and plant.loops.listed[row[start] + rank] == item


@kernel
def _body_of_group(plant, g, i):
    """Body i of a group hangs on another one of it or on what carries the group, and moves by its velocities."""
    k = plant.loops.listed[plant.loops.group_int[g, lp.GI_BODY] + i]
    body = plant.topo[k]
    up = body[t.UP]
    if body[t.GROUP] != g or body[t.MEMBER] != i:
        return False
    if up != plant.loops.group_int[g, lp.GI_PARENT] and (up == 0 or plant.topo[up - 1, t.GROUP] != g):
        return False
    own = True
    for j in range(body[t.VI], body[t.VI] + body[t.NV]):
        own = own and plant.dof_int[j, t.DI_BODY] == k
    return own


@kernel
def trust_members(c, plant):
    """Whether all that a group lists belongs to it."""
    for g in range(c[lp.C_GROUPS]):
        group, listed = plant.loops.group_int[g], plant.loops.listed
        for i in range(group[lp.GI_BODIES]):
            if not _body_of_group(plant, g, i):
                return False
        for i in range(group[lp.GI_DOFS]):
            dof = plant.dof_int[listed[group[lp.GI_DOF] + i]]
            if dof[t.DI_MEMBER] != i or plant.topo[dof[t.DI_BODY], t.GROUP] != g:
                return False
        for i in range(group[lp.GI_LOOPS]):
            if plant.loops.loop_int[listed[group[lp.GI_LOOP] + i], lp.L_GROUP] != g:
                return False
    return True


@kernel
def _most_rows(kind):
    """Largest number of rows of a loop of this kind; -1 for an unknown kind."""
    if is_in(kind, 0, len(_N_V)):
        return 6 - _N_V[kind]
    if kind == lp.LOCK:
        return _MOST_LOCKED
    if kind == lp.DISC or kind == lp.BALL:
        return _ROWS_OF_WHEEL
    return 1 if kind == lp.DISTANCE or kind == lp.COUPLING else -1


@kernel
def _rows(c, plant, loop):
    if not is_in(loop[lp.L_ROWS], 0, _most_rows(loop[lp.L_KIND]) + 1):
        return False
    if loop[lp.L_GROUP] >= 0:
        rows = plant.loops.group_int[loop[lp.L_GROUP], lp.GI_ROWS]
        return loop[lp.L_FORCED] == -1 and fits(loop[lp.L_ROW], loop[lp.L_ROWS], rows)
    return is_in(loop[lp.L_FORCED], 0, c[lp.C_FORCED]) and fits(loop[lp.L_ROW], loop[lp.L_ROWS], c[lp.C_FORCE_ROWS])


@kernel
def _coupled(c, plant, loop):
    """Coordinates that a coupling adds up, velocities that a lock holds."""
    if not fits(loop[lp.L_TERM], loop[lp.L_TERMS], c[lp.C_TERMS]):
        return False
    if loop[lp.L_KIND] == lp.LOCK:
        return is_in(loop[lp.L_TERMS], loop[lp.L_ROWS], _MOST_LOCKED + 1)
    if loop[lp.L_KIND] == lp.COUPLING:
        for i in range(loop[lp.L_TERM], loop[lp.L_TERM] + loop[lp.L_TERMS]):
            if plant.loops.term_int[i, lp.TM_Q] < 0:
                return False
    return True


@kernel
def _commands(c, loop):
    taken = (1 if loop[lp.L_SWITCH] >= 0 else 0) + (3 if loop[lp.L_DRIVE] >= 0 else 0)
    if taken == 0:
        return loop[lp.L_COMMAND] == -1
    return fits(loop[lp.L_COMMAND], taken, c[t.C_COMMANDS])


@kernel
def _walks(c, loop):
    walk = c[lp.C_WALK]
    if not fits(loop[lp.L_CHAIN_A], loop[lp.L_CHAIN_AS], walk):
        return False
    return fits(loop[lp.L_CHAIN_B], loop[lp.L_CHAIN_BS], walk) and fits(loop[lp.L_WALK], loop[lp.L_WALKS], walk)


@kernel
def trust_loops(c, plant):
    for l in range(c[lp.C_LOOPS]):
        loop = plant.loops.loop_int[l]
        if not _rows(c, plant, loop) or not _coupled(c, plant, loop):
            return False
        if not _commands(c, loop) or not _walks(c, loop):
            return False
    return True
