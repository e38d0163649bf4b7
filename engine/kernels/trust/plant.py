"""Checks that every index in the ints of a foreign Plant is inside the vector that it points into; kernels do not
check.

A plant file may be damaged although its checksum is right. Counts are checked first: they must be possible, and must
match the number of values in the file. Then each column, as its table declares (`Table.within`), and relations across
tables. No index of the file is used before it has been checked.
"""

from __future__ import annotations

from limberjack.engine.algebra.bounds import fits, is_in
from limberjack.engine.compile.compiled import FLOATS, INTS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.nodes.dispatch import has_modes
from limberjack.engine.kernels.nodes.kinds import KINDS, by_kind, flag
from limberjack.engine.kernels.nodes.manifold import next_place
from limberjack.engine.kernels.sensors.outputs import REACTION, STRAIN_ENERGY
from limberjack.engine.kernels.trust.contacts import trust_contacts
from limberjack.engine.kernels.trust.flexible import trust_modal
from limberjack.engine.kernels.trust.loops import is_member, trust_groups, trust_loops, trust_members
from limberjack.engine.tables import contacts as ct
from limberjack.engine.tables import drives as dr
from limberjack.engine.tables import elements as el
from limberjack.engine.tables import instruments as it
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import CUSTOM, HINGE_TYPES
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from limberjack.engine.tables.table import function, within_of

_MOST = 2**30  # of any count: no sum or product of sizes can overflow
_MOST_RING, _SMALLEST_RING = 2**20, 2  # samples or commands on their way
_MOST_COMMANDS, _MOST_LOOP_COMMANDS, _MOST_OUTPUTS, _MOST_ROWS = 3, 4, 6, 6
_MOST_TOUCHES, _MOST_ACTIVE = max(ct.TOUCHES.values()), 1024
_LAST_COUNT = max(t.COUNTS.values())
_N_Q, _N_V = (tuple(getattr(kind, size) for kind in HINGE_TYPES.values()) for size in ("nq", "nv"))
#: for each sensor type: the count of possible targets, and how many numbers the sensor shows
_AIMS = {"coordinate": t.C_Q, "velocity": t.C_V, "hinge": t.C_BODIES, "flexible body": t.C_BODIES, "node": t.C_NODES}
_AIMS |= {"joining loop": lp.C_LOOPS, "loop": lp.C_LOOPS, "motor": dr.C_MOTORS, "thruster": el.C_THRUSTERS}
_AIMS |= {"contact": ct.C_CONTACTS}
_TARGETS = tuple(_AIMS[kind.target] for kind in SENSOR_TYPES.values())
_SHOWN = tuple(len(kind.suffixes) for kind in SENSOR_TYPES.values())


_taken = kernel(function("taken(ints)", [*t.READ, f"return {el.COMMANDS}"]))


@kernel
def _counts(c, n):
    """Whether the counts are possible and match n numbers.

    The table that needs a count bounds it if no table lists it, so a small file cannot demand much memory.
    """
    if n < t.HEADER or c[t.C_VERSION] != t.FORMAT_VERSION:
        return False
    for i in range(1, t.HEADER):
        if not is_in(c[i], 0, _MOST if i <= _LAST_COUNT else 1):
            return False
    commands = _MOST_COMMANDS * c[t.C_ACTUATORS] + _MOST_LOOP_COMMANDS * c[lp.C_LOOPS] + _taken(c)
    if c[t.C_GENERAL] > c[t.C_BODIES] or c[t.C_COMMANDS] > commands or c[el.C_CENTRAL] > 1:
        return False
    if c[t.C_OUTPUTS] > _MOST_OUTPUTS * c[t.C_SENSORS] or c[lp.C_ROWS] > _MOST_ROWS * c[lp.C_LOOPS]:
        return False
    if c[lp.C_SWITCHES] > c[lp.C_LOOPS] or c[lp.C_DRIVES] > c[lp.C_LOOPS] or c[lp.C_FORCED] > c[lp.C_LOOPS]:
        return False
    if c[ct.C_TOUCHES] > _MOST_TOUCHES * c[ct.C_PAIRS] or c[ct.C_ACTIVE] > min(2 * c[ct.C_TOUCHES], _MOST_ACTIVE):
        return False
    return c[lp.C_FORCE_ROWS] <= c[lp.C_ROWS] and t.vector_sizes(c)[0] == n


# ---- the tree


_LAST_KIND = len(KINDS) - 1
_deforms = flag("DEFORMS")
_trusted = by_kind("trusted")


@kernel
def _hinge(c, body):
    """Coordinates and velocities of a hinge of a type: those that it has."""
    kind = body[t.KIND]
    if not is_in(kind, 0, len(_N_Q)):
        return False
    if kind == CUSTOM:
        if not is_in(body[t.NV], 0, 7) or not is_in(body[t.MAP], 0, c[t.C_MAPS]):
            return False
    elif body[t.NV] != _N_V[kind]:
        return False
    return fits(body[t.QI], _N_Q[kind], c[t.C_Q]) and fits(body[t.VI], body[t.NV], c[t.C_V])


@kernel
def _link(c, plant, k):
    """Whether kernels of its kind touch only what body k has."""
    body = plant.topo[k]
    if not is_in(body[t.PATH], 0, _LAST_KIND + 1) or not _trusted(plant, c, k):
        return False
    return _deforms(body) or _hinge(c, body)


@kernel
def _topo(c, plant):
    """Bodies, parents first, and their coordinates and velocities in the same order, without gaps."""
    i, j = 0, 0
    for k in range(c[t.C_BODIES]):
        body = plant.topo[k]
        if body[t.QI] != i or body[t.VI] != j:
            return False
        if not is_in(body[t.UP], 0, k + 1) or not _link(c, plant, k):  # parents first: no sweep runs in a cycle
            return False
        if not is_in(body[t.VEND], body[t.VI] + body[t.NV], c[t.C_V] + 1):
            return False
        if not is_member(plant, body[t.GROUP], body[t.MEMBER], lp.GI_BODY, lp.GI_BODIES, k):
            return False
        i, j = next_place(body)
    return i == c[t.C_Q] and j == c[t.C_V]


@kernel
def _dofs(c, plant):
    for j in range(c[t.C_V]):
        dof = plant.dof_int[j]
        group = plant.topo[dof[t.DI_BODY], t.GROUP]
        if not is_member(plant, group, dof[t.DI_MEMBER], lp.GI_DOF, lp.GI_DOFS, j):
            return False
    return True


@kernel
def _actuators(c, plant):
    """A servo has three commands, a velocity drive two, a torque one."""
    for a in range(c[t.C_ACTUATORS]):
        drive = plant.actuator_int[a]
        if not fits(drive[t.AI_COMMAND], drive[t.AI_MODE] + 1, c[t.C_COMMANDS]):
            return False
        if drive[t.AI_MODE] == t.MODE_SERVO and not is_in(drive[t.AI_Q], 0, c[t.C_Q]):
            return False
    return True


@kernel
def _sensors(c, plant):
    for s in range(c[t.C_SENSORS]):
        sensor = plant.sensor_int[s]
        kind, target = sensor[t.SI_TYPE], sensor[t.SI_TARGET]
        row = 1 if kind == REACTION or kind == STRAIN_ENERGY else 0  # rows of bodies begin at 1
        if not is_in(target, row, c[_TARGETS[kind]] + row) or not fits(
            sensor[t.SI_OUTPUT], _SHOWN[kind], c[t.C_OUTPUTS]
        ):
            return False
        if kind == STRAIN_ENERGY and not has_modes(plant.topo[target - 1]):
            return False
    return True


# ---- instruments, motors, valves


@kernel
def _shape(row):
    """Outputs and numbers with errors are those of a kind."""
    kind, size, outputs = row[it.NI_KIND], row[it.NI_SIZE], row[it.NI_OUTPUTS]
    if kind == it.PLAIN:
        return is_in(size, 1, it.MOST_NUMBERS + 1) and outputs == size
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
        if not _shape(row) or not fits(row[it.NI_OUTPUT], row[it.NI_OUTPUTS], c[t.C_OUTPUTS]):
            return False
        if row[it.NI_STATE] != state or not is_in(row[it.NI_RING], 0, _MOST_RING):
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
        if row[dr.VA_STATE] != state or not is_in(row[dr.VA_RING], _SMALLEST_RING, _MOST_RING):
            return False
        state += dr.U_RING + row[dr.VA_RING]
    return state == c[dr.C_DRIVE_STATE]


@kernel
def _nothing(c, plant):
    """For tables of which only the columns are checked."""
    return True


#: the checks in an order in which no index is used before its check: tables whose columns are checked, and relations;
#: `layout.WRONG` lists, after the counts, what may be wrong with them
_STEPS = (
    (("listed", "group_int"), trust_groups),
    (("modal_int", "attached_int"), trust_modal),
    ((), _topo),
    (("node_row",), _nothing),
    (("dof_int",), _dofs),
    (("actuator_int",), _actuators),
    (("sensor_int",), _sensors),
    (("part_body",), _nothing),
    (tuple(table.name for table in el.ELEMENTS.ints), _nothing),
    ((), _instruments),
    (("motor_int", "valve_int"), _drives),
    (tuple(table.name for table in ct.CONTACTS.ints), trust_contacts),
    (("term_int",), _nothing),
    (("walk",), _nothing),
    (("loop_int",), trust_loops),
    ((), trust_members),
)


def _all_steps():
    """A kernel `steps(c, plant)`: the number of the first check that fails, 0 if none does."""
    lines, words = list(t.READ), {}
    for i, (tables, check) in enumerate(_STEPS):
        words[f"check{i}"] = check
        columns = [within_of(t.table(name), f"plant.{t.place(name)}") for name in tables]
        lines += [line.replace("WRONG", str(i + 2)) for column in columns for line in column]
        lines.append(f"if not check{i}(c, plant): return {i + 2}")
    return kernel(function("steps(ints, c, plant)", [*lines, "return 0"], **words))


_steps = _all_steps()


@entry(INTS, FLOATS, WHOLE, INTS)
def trust_entry(ints, floats, n, report):
    """report (1,) int64: 0, or 1 + the index in layout.WRONG of the error in these n ints. Reads no floats."""
    report[0] = 1
    if _counts(ints, n):
        report[0] = _steps(ints, ints, t.plant_view(ints, floats))
