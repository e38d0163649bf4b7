"""Is every index in the ints of a foreign Plant inside the vector that it leads into? Kernels do not ask.

A plant file may be damaged and its checksum right. Counts come first: they are possible, and ask for as many numbers as
there are. Then what each column leads to, as its table declares (`Table.within`), and what hangs together across
tables. Nothing here follows a place that the file names before that place has been looked at.
"""

from __future__ import annotations

from limberjack.engine import layout as t
from limberjack.engine.drives import layout as dr
from limberjack.engine.elements import layout as el
from limberjack.engine.flexible import layout as fl
from limberjack.engine.instruments import layout as it
from limberjack.engine.kernel import entry, kernel
from limberjack.engine.loops import layout as lp
from limberjack.engine.outputs import REACTION, STRAIN_ENERGY
from limberjack.engine.system.devices import SENSOR_TYPES
from limberjack.engine.system.hinge_types import ATTACHED, CUSTOM, FREE, HINGE_TYPES, MODAL, PRISMATIC, REVOLUTE
from limberjack.engine.tables.table import function, within_of

_MOST = 2**30  # of any count: no sum or product of sizes can overflow
_MOST_IN_GROUP = 2**20  # the scratch of a larger group could not be allocated
_MOST_MODES, _MOST_RANK, _NODE_RANK = 2**12, 2**16, 6  # of one body; of all its nodes; of one of them
_MOST_RING, _SMALLEST_RING = 2**20, 2  # samples or commands on their way
_ROWS_OF_WHEEL = 3  # height, and slip in two directions
_MOST_COMMANDS, _MOST_LOOP_COMMANDS, _MOST_OUTPUTS, _MOST_ROWS, _MOST_LOCKED = 3, 4, 6, 6, 6
_LAST_COUNT = max(t.COUNTS.values())
_N_Q, _N_V = (tuple(getattr(kind, size) for kind in HINGE_TYPES.values()) for size in ("nq", "nv"))
#: what a sensor of each type aims at: the count of those, and how many numbers it shows
_AIMS = {"coordinate": t.C_Q, "velocity": t.C_V, "hinge": t.C_BODIES, "flexible body": t.C_BODIES, "node": t.C_NODES}
_AIMS |= {"joining loop": lp.C_LOOPS, "loop": lp.C_LOOPS, "motor": dr.C_MOTORS, "thruster": el.C_THRUSTERS}
_TARGETS = tuple(_AIMS[target] for target, _, _ in SENSOR_TYPES.values())
_SHOWN = tuple(len(shown) for _, shown, _ in SENSOR_TYPES.values())


@kernel
def _is_in(value, first, end):
    return value >= first and value < end


@kernel
def _fits(start, size, count):
    """Whether `size` numbers from `start` lie in a vector of `count`."""
    return start >= 0 and size >= 0 and size <= count and start <= count - size


@kernel
def _counts(c, n):
    """The counts are possible and ask for n numbers.

    What no table lists is bounded by the table that needs it, so that a small file cannot ask for much memory.
    """
    if n < t.HEADER or c[t.C_VERSION] != t.FORMAT_VERSION:
        return False
    for i in range(1, t.HEADER):
        if not _is_in(c[i], 0, _MOST if i <= _LAST_COUNT else 1):
            return False
    commands = _MOST_COMMANDS * c[t.C_ACTUATORS] + _MOST_LOOP_COMMANDS * c[lp.C_LOOPS] + c[el.C_THRUSTERS]
    if c[t.C_GENERAL] > c[t.C_BODIES] or c[t.C_COMMANDS] > commands or c[el.C_CENTRAL] > 1:
        return False
    if c[t.C_OUTPUTS] > _MOST_OUTPUTS * c[t.C_SENSORS] or c[lp.C_ROWS] > _MOST_ROWS * c[lp.C_LOOPS]:
        return False
    if c[lp.C_SWITCHES] > c[lp.C_LOOPS] or c[lp.C_DRIVES] > c[lp.C_LOOPS] or c[lp.C_FORCED] > c[lp.C_LOOPS]:
        return False
    return c[lp.C_FORCE_ROWS] <= c[lp.C_ROWS] and t.vector_sizes(c)[0] == n


# ---- groups of loops


@kernel
def _list(c, plant, start, size, end):
    """Whether what a group lists from `start` are numbers of a vector of `end`."""
    if not _fits(start, size, c[lp.C_LISTED]):
        return False
    inside = True
    for i in range(start, start + size):
        inside = inside and _is_in(plant.loops.listed[i], 0, end)
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
def _groups(c, plant):
    """Slices, ranges and scratch of the groups; what they list is in range."""
    work = 0
    for g in range(c[lp.C_GROUPS]):
        group = plant.loops.group_int[g]
        n, m, bodies = group[lp.GI_DOFS], group[lp.GI_ROWS], group[lp.GI_BODIES]
        if not _lists(c, plant, group) or not _is_in(group[lp.GI_RANK], 0, n + 1) or n > _MOST_IN_GROUP:
            return False
        if not _is_in(m, group[lp.GI_RANK], _MOST_IN_GROUP) or group[lp.GI_WORK] != work:
            return False
        work += lp.group_work_size(n, m, bodies)
        if work > c[lp.C_GROUP_WORK]:
            return False
    return work == c[lp.C_GROUP_WORK]


@kernel
def _is_member(plant, group, rank, start, size, item):
    """Whether the item is at this rank of a slice of a group's lists. In no group it has rank -1."""
    if group == -1:
        return rank == -1
    if not _is_in(group, 0, plant.loops.group_int.shape[0]):
        return False
    row = plant.loops.group_int[group]
    return _is_in(rank, 0, row[size]) and plant.loops.listed[row[start] + rank] == item


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
def _members(c, plant):
    """All that a group lists belongs to it."""
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


# ---- flexible bodies


@kernel
def _follows(c, at_table, at_work, table, table_size, work):
    """Scratch follows scratch; tables do too, but for one that is shared, among those before."""
    if work != at_work or (table != at_table and not _fits(table, table_size, at_table)):
        return False
    return at_table <= c[fl.C_MODAL_TABLE] and at_work <= c[fl.C_MODAL_WORK]


@kernel
def _solution(c, row):
    """Modes, and what their solution needs; condensed it has rows for rank columns in the place of those for n."""
    n, rank = row[fl.MI_MODES], row[fl.MI_RANK]
    if not _is_in(n, 0, _MOST_MODES + 1) or not _is_in(rank, 0, _MOST_RANK + 1) or rank % _NODE_RANK != 0:
        return False
    return row[fl.MI_CONDENSED] == 0 or (rank < n and c[lp.C_LOOPS] == 0)


@kernel
def _modal(c, plant):
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
        modal, column = plant.flexible.modal_int[row[fl.AI_MODAL]], row[fl.AI_COLUMN]
        if column != -1 and (not _fits(column, _NODE_RANK, modal[fl.MI_RANK]) or column % _NODE_RANK != 0):
            return False
        size = fl.attached_table_size(modal[fl.MI_MODES], row[fl.AI_CURVED])
        if not _follows(c, at_table, at_work, row[fl.AI_TABLE], size, row[fl.AI_WORK]):
            return False
        at_table += size if row[fl.AI_TABLE] == at_table else 0
        at_work += fl.attached_work_size(modal[fl.MI_MODES])
    return at_table == c[fl.C_MODAL_TABLE] and at_work == c[fl.C_MODAL_WORK]


@kernel
def _link_of_modes(c, plant, body):
    """A link with modes moves by as many coordinates as its row says."""
    if body[t.KIND] != MODAL or not _is_in(body[t.SLOT], 0, c[fl.C_MODAL]):
        return False
    n = plant.flexible.modal_int[body[t.SLOT], fl.MI_MODES]
    return body[t.NV] == n and _fits(body[t.QI], n, c[t.C_Q]) and _fits(body[t.VI], n, c[t.C_V])


@kernel
def _link_of_node(c, plant, body):
    """An attachment node hangs on the link whose modes move it, and has no coordinates; in a group so are the modes."""
    if body[t.KIND] != ATTACHED or not _is_in(body[t.SLOT], 0, c[fl.C_ATTACHED]):
        return False
    if body[t.UP] == 0 or body[t.NV] != 0:
        return False
    up = plant.topo[body[t.UP] - 1]
    if body[t.GROUP] != -1 and up[t.GROUP] != body[t.GROUP]:
        return False
    if up[t.PATH] != t.PATH_MODAL or up[t.SLOT] != plant.flexible.attached_int[body[t.SLOT], fl.AI_MODAL]:
        return False
    return _fits(body[t.QI], 0, c[t.C_Q]) and _fits(body[t.VI], 0, c[t.C_V])


# ---- the tree


@kernel
def _hinge(c, body):
    """Coordinates and velocities of a hinge of a type: those that it has, and that kernels of its path touch."""
    kind, path = body[t.KIND], body[t.PATH]
    if not _is_in(kind, 0, len(_N_Q)) or not _is_in(path, 0, t.PATH_BASE + 1):
        return False
    if path == t.PATH_GENERAL and not _is_in(body[t.SLOT], 0, c[t.C_GENERAL]):
        return False
    if (path == t.PATH_REVOLUTE and kind != REVOLUTE) or (path == t.PATH_PRISMATIC and kind != PRISMATIC):
        return False
    if path == t.PATH_BASE and (kind != FREE or c[lp.C_LOOPS] > 0):
        return False
    if kind == CUSTOM:
        if not _is_in(body[t.NV], 0, 7) or not _is_in(body[t.MAP], 0, c[t.C_MAPS]):
            return False
    elif body[t.NV] != _N_V[kind]:
        return False
    return _fits(body[t.QI], _N_Q[kind], c[t.C_Q]) and _fits(body[t.VI], body[t.NV], c[t.C_V])


@kernel
def _link(c, plant, body):
    if body[t.PATH] == t.PATH_MODAL:
        return _link_of_modes(c, plant, body)
    return _link_of_node(c, plant, body) if body[t.PATH] == t.PATH_NODE else _hinge(c, body)


@kernel
def _topo(c, plant):
    for k in range(c[t.C_BODIES]):
        body = plant.topo[k]
        if not _is_in(body[t.UP], 0, k + 1) or not _link(c, plant, body):  # parents first: no sweep runs in a ring
            return False
        if not _is_in(body[t.VEND], body[t.VI] + body[t.NV], c[t.C_V] + 1):
            return False
        if not _is_member(plant, body[t.GROUP], body[t.MEMBER], lp.GI_BODY, lp.GI_BODIES, k):
            return False
    return True


@kernel
def _dofs(c, plant):
    for j in range(c[t.C_V]):
        dof = plant.dof_int[j]
        group = plant.topo[dof[t.DI_BODY], t.GROUP]
        if not _is_member(plant, group, dof[t.DI_MEMBER], lp.GI_DOF, lp.GI_DOFS, j):
            return False
    return True


@kernel
def _actuators(c, plant):
    """A servo has three commands, a velocity drive two, a torque one."""
    for a in range(c[t.C_ACTUATORS]):
        drive = plant.actuator_int[a]
        if not _fits(drive[t.AI_COMMAND], drive[t.AI_MODE] + 1, c[t.C_COMMANDS]):
            return False
        if drive[t.AI_MODE] == t.MODE_SERVO and not _is_in(drive[t.AI_Q], 0, c[t.C_Q]):
            return False
    return True


@kernel
def _sensors(c, plant):
    for s in range(c[t.C_SENSORS]):
        sensor = plant.sensor_int[s]
        kind, target = sensor[t.SI_TYPE], sensor[t.SI_TARGET]
        row = 1 if kind == REACTION or kind == STRAIN_ENERGY else 0  # rows of bodies begin at 1
        if not _is_in(target, row, c[_TARGETS[kind]] + row) or not _fits(
            sensor[t.SI_OUTPUT], _SHOWN[kind], c[t.C_OUTPUTS]
        ):
            return False
        if kind == STRAIN_ENERGY and plant.topo[target - 1, t.PATH] != t.PATH_MODAL:
            return False
    return True


# ---- loops


@kernel
def _most_rows(kind):
    """Most rows of a loop of this kind; -1 for a kind that there is not."""
    if _is_in(kind, 0, len(_N_V)):
        return 6 - _N_V[kind]
    if kind == lp.LOCK:
        return _MOST_LOCKED
    if kind == lp.DISC or kind == lp.BALL:
        return _ROWS_OF_WHEEL
    return 1 if kind == lp.DISTANCE or kind == lp.COUPLING else -1


@kernel
def _rows(c, plant, loop):
    if not _is_in(loop[lp.L_ROWS], 0, _most_rows(loop[lp.L_KIND]) + 1):
        return False
    if loop[lp.L_GROUP] >= 0:
        rows = plant.loops.group_int[loop[lp.L_GROUP], lp.GI_ROWS]
        return loop[lp.L_FORCED] == -1 and _fits(loop[lp.L_ROW], loop[lp.L_ROWS], rows)
    return _is_in(loop[lp.L_FORCED], 0, c[lp.C_FORCED]) and _fits(loop[lp.L_ROW], loop[lp.L_ROWS], c[lp.C_FORCE_ROWS])


@kernel
def _coupled(c, plant, loop):
    """Coordinates that a coupling adds up, velocities that a lock holds."""
    if not _fits(loop[lp.L_TERM], loop[lp.L_TERMS], c[lp.C_TERMS]):
        return False
    if loop[lp.L_KIND] == lp.LOCK:
        return _is_in(loop[lp.L_TERMS], loop[lp.L_ROWS], _MOST_LOCKED + 1)
    if loop[lp.L_KIND] == lp.COUPLING:
        for i in range(loop[lp.L_TERM], loop[lp.L_TERM] + loop[lp.L_TERMS]):
            if plant.loops.term_int[i, lp.TI_Q] < 0:
                return False
    return True


@kernel
def _commands(c, loop):
    taken = (1 if loop[lp.L_SWITCH] >= 0 else 0) + (3 if loop[lp.L_DRIVE] >= 0 else 0)
    if taken == 0:
        return loop[lp.L_COMMAND] == -1
    return _fits(loop[lp.L_COMMAND], taken, c[t.C_COMMANDS])


@kernel
def _walks(c, loop):
    walk = c[lp.C_WALK]
    if not _fits(loop[lp.L_CHAIN_A], loop[lp.L_CHAIN_AS], walk):
        return False
    return _fits(loop[lp.L_CHAIN_B], loop[lp.L_CHAIN_BS], walk) and _fits(loop[lp.L_WALK], loop[lp.L_WALKS], walk)


@kernel
def _loops(c, plant):
    for l in range(c[lp.C_LOOPS]):
        loop = plant.loops.loop_int[l]
        if not _rows(c, plant, loop) or not _coupled(c, plant, loop):
            return False
        if not _commands(c, loop) or not _walks(c, loop):
            return False
    return True


# ---- instruments, motors, valves


@kernel
def _shape(row):
    """Outputs and numbers with errors are those of a kind."""
    kind, size, outputs = row[it.NI_KIND], row[it.NI_SIZE], row[it.NI_OUTPUTS]
    if kind == it.PLAIN:
        return _is_in(size, 1, it.MOST_NUMBERS + 1) and outputs == size
    if kind == it.RESOLVER:
        return size == 1 and outputs == 1
    if kind == it.ATTITUDE:
        return size == 3 and outputs == 5
    return kind == it.DIRECTION and size == 3 and outputs == 4


@kernel
def _instruments(c, plant):
    """Outputs and states of instruments; their states follow each other."""
    state = 0
    for i in range(c[it.C_INSTRUMENTS]):
        row = plant.instruments.instrument_int[i]
        if not _shape(row) or not _fits(row[it.NI_OUTPUT], row[it.NI_OUTPUTS], c[t.C_OUTPUTS]):
            return False
        if row[it.NI_STATE] != state or not _is_in(row[it.NI_RING], 0, _MOST_RING):
            return False
        state += it.instrument_size(row[it.NI_OUTPUTS], row[it.NI_SIZE], row[it.NI_RING])
    return state == c[it.C_INSTRUMENT_STATE]


@kernel
def _drives(c, plant):
    """States of motors and valves follow each other."""
    state = 0
    for m in range(c[dr.C_MOTORS]):
        if plant.drives.motor_int[m, dr.MO_STATE] != state:
            return False
        state += dr.MOTOR_STATE
    for i in range(c[dr.C_VALVES]):
        row = plant.drives.valve_int[i]
        if row[dr.VA_STATE] != state or not _is_in(row[dr.VA_RING], _SMALLEST_RING, _MOST_RING):
            return False
        state += dr.U_RING + row[dr.VA_RING]
    return state == c[dr.C_DRIVE_STATE]


@kernel
def _nothing(c, plant):
    """Columns are all that there is to look at."""
    return True


#: in this order, so that nothing is followed before it is looked at: the tables whose columns are looked at, and what
#: hangs together; what may be wrong with them stands in `layout.WRONG`, behind the counts
_STEPS = (
    (("listed", "group_int"), _groups),
    (("modal_int", "attached_int"), _modal),
    ((), _topo),
    (("node_row",), _nothing),
    (("dof_int",), _dofs),
    (("actuator_int",), _actuators),
    (("sensor_int",), _sensors),
    (("part_body",), _nothing),
    (("thruster_int", "rotor_row"), _nothing),
    ((), _instruments),
    (("motor_int", "valve_int"), _drives),
    (("term_int",), _nothing),
    (("walk",), _nothing),
    (("loop_int",), _loops),
    ((), _members),
)


def _all_steps():
    """A kernel `steps(c, plant)`: the number of the first step that fails, 0 where none does."""
    lines, words = list(t.READ), {}
    for i, (tables, check) in enumerate(_STEPS):
        words[f"check{i}"] = check
        columns = [within_of(t.table(name), f"plant.{t.place(name)}") for name in tables]
        lines += [line.replace("WRONG", str(i + 2)) for column in columns for line in column]
        lines.append(f"if not check{i}(c, plant): return {i + 2}")
    return kernel(function("steps(ints, c, plant)", [*lines, "return 0"], **words))


_steps = _all_steps()


@entry
def trust_entry(ints, floats, n, report):
    """report (1,) int64: 0, or 1 + the index in layout.WRONG of what is wrong in these n ints. Reads no floats."""
    report[0] = 1
    if _counts(ints, n):
        report[0] = _steps(ints, ints, t.plant_view(ints, floats))
