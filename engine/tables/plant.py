"""Where every number lives: the flat Plant, Work and State vectors, and the views that kernels read them through.

A Plant is two vectors, `ints` and `floats`; Work is one float64 vector; State is one float64 vector. All sizes
follow from the counts at the head of `ints`, so compiled code (and an exported model) needs nothing else.
`section_sizes` and the compiled views must agree; `tests/engine/tables/test_layout.py` checks that they do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limberjack.engine.algebra.array_views import ACC, BLOCK, Sections, vector_view
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import contacts, drives, elements, flexible, instruments, loops
from limberjack.engine.tables.contacts import CONTACTS, TOUCH
from limberjack.engine.tables.drives import C_DRIVE_STATE, DRIVES
from limberjack.engine.tables.elements import ELEMENTS
from limberjack.engine.tables.flexible import FLEXIBLE
from limberjack.engine.tables.instruments import C_INSTRUMENT_STATE, INSTRUMENTS
from limberjack.engine.tables.loops import C_SWITCHES, LOOPS, SWITCH
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from limberjack.engine.tables.table import Family, Table, sections, sizes_of, view_of

FORMAT_VERSION = 8

# ints[0:HEADER]: counts; those of the other families follow in the modules beside this one
HEADER = 48
(
    C_VERSION,
    C_BODIES,
    C_Q,
    C_V,
    C_GENERAL,
    C_NODES,
    C_ACTUATORS,
    C_COMMANDS,
    C_SENSORS,
    C_OUTPUTS,
    C_MAPS,
    C_PARTS,
) = range(12)

# topo (bodies, 16): topology of body k, counted base to tip; the bodies of a subtree are neighbours
TOPO = 16
UP = 0  # row of the parent in per-body work arrays: parent + 1; 0 is the ground row
PATH = 1  # its kind, `kernels/nodes/kinds.py`
KIND = 2  # hinge type code, `hinge_types.py`
QI, VI = 3, 4  # first coordinate and first velocity of the hinge
NV = 5  # number of velocities
SLOT = 6  # row in work.gen for hinges on the general path, in modal_int or attached_int for modal bodies, else -1
MAP = 7  # row in plant.maps for custom hinges, else -1
TURN = 8  # 1 for a z-turning hinge whose B_TURN is not the identity
LEAF = 9  # 1 for a body to which no children outside its group hand their sums
FIRST = 10  # 1 for the child that a tip-to-base sweep meets first: it writes the parent's sums, others add; children in
# the parent's group have sums of their own
GROUNDED = 11  # 1 for a body that only unmerged fixed hinges join to the ground: it does not count as moving mass
VEND = 12  # one past the last velocity of the body's subtree, which are VI … VEND - 1
GROUP = 13  # group of embedded loops that the body belongs to, or -1
MEMBER = 14  # its rank in the group's list of bodies; 0 is the first that a base-to-tip sweep meets
CARRIER = 15  # 1 for a body that carries others of its group

# body (bodies, 24): constants of body k, in its own frame O_k (= outboard hinge frame, axis along z)
BODY = 24
B_R = 0  # 9: R from the inboard hinge frame O+ to the parent frame; for a z-turning hinge instead:
B_TILT = 0  # 2: cosine and sine of the tilt, R = Rz(turn) Rx(tilt) Rz(q + angle_offset)
B_TURN = 2  # 2: cosine and sine of the turn
B_P = 9  # 3: position of O+ in the parent frame, m
B_M = 12  # mass, kg
B_H = 13  # 3: first moment m c, kg·m
B_I = 16  # 6: rotational inertia about O_k (xx, yy, zz, xy, xz, yz), kg·m²
B_X = 22  # hinge parameter: pitch (m/rad), radius (m) or handedness of a gimbal (±1)

# dof_int (nv, 3), dof (nv, 12)
DOF_INT = 3
DI_Q = 0  # coordinate whose rate this velocity is, or -1 for a quasi-velocity
DI_BODY = 1  # body whose hinge it belongs to
DI_MEMBER = 2  # its rank in the group's list of velocities, or -1
DOF = 12
(D_STIFFNESS, D_REST, D_DAMPING, D_FRICTION, D_FRICTION_RATE, D_LOWER, D_UPPER, D_LIMIT_K, D_LIMIT_C) = range(9)

# actuator_int (actuators, 5), actuator (actuators, 4)
ACTUATOR_INT, ACTUATOR = 5, 4
AI_MODE, AI_V, AI_Q, AI_COMMAND, AI_MOTOR = range(5)  # AI_MOTOR: the motor that gives its force, or -1
AC_KP, AC_KD, AC_LIMIT, AC_RATE = range(4)  # AC_RATE: no force further from rest beyond this rate
MODE_TORQUE, MODE_VELOCITY, MODE_SERVO = range(3)

# sensor_int (sensors, 4); sensor (sensors, 9): rotation from engine axes to the axes a reaction is reported in; of star
# trackers the largest rate (rad/s) and the cosine of the nearest sun, of sun sensors the cosine of half the view
SENSOR_INT, SENSOR = 4, 9
SI_TYPE, SI_TARGET, SI_OUTPUT, SI_SIZE = range(4)

# part_body (parts, 1): the body k that a part belongs to; part (parts, 12): one of the user's bodies with mass, of
# which the fixed ones share a body k. Its mass may change while its shape stays, `masses.py`.
PART = 12
P_MASS = 0  # mass now, kg
P_M = 1  # 10: mass as loaded (kg), first moment (kg·m) and rotational inertia (kg·m²) as in B_M, B_H, B_I
P_H = 2
P_I = 5

NODE_POSE = 12  # R (9) body ← node, p (3) of the node in the body frame, m

# work.columns (blocks, 48): a spatial force for each velocity j, LANES to a block, component by component:
# component i at [j // LANES, LANES i + j % LANES]. First in Work, so that blocks start on cache lines.

# work.rows (bodies + 1, 32): intermediate results of the sweeps for body k, row k + 1; row 0 is the ground
ROW = 32
W_R = 0  # 9: R_(parent, k); for a z-turning hinge instead:
W_C = 0  # 2: cosine and sine of q + angle_offset
W_P = 9  # 3: lever from the parent's origin to O_k in the parent's axes; not written for a z-turning hinge
W_V = 12  # 6: spatial velocity V(k)
W_ALPHA = 18  # 6: spatial acceleration alpha(k), body-frame derivative
W_U = 24  # 6: U = P H* of a 1-dof hinge
W_DINV = 30  # D⁻¹
W_EPS = 31  # innovation ε
W_F = 24  # 6: spatial force f(k), inverse dynamics (shares the place of U)

# work.acc (bodies + 1, ACC): sums that children hand to their parent
A_I, A_H, A_M = 0, 6, 15  # articulated (or composite) inertia P = [[I, H], [H*, M]]
A_Z = 21  # 6: residual force z

# work.gen (general hinges, 120)
GEN = 120
G_H = 0  # 36: H*, column j at 6 j
G_U = 36  # 36: U = P H*, column j at 6 j
G_L = 72  # 36: Cholesky factor of D, row i at 6 i; diagonal inverted
G_A = 108  # 6: Coriolis acceleration a(k)
G_EPS = 114  # 6: innovation ε, one a dof

POSE = 12  # R (9) inertial ← body, p (3) of the body's origin, m

# what `outputs.survey_entry` writes: kinetic, potential and total energy, momentum (6), strain energy, then a row for
# each node:
# position (3), quaternion (4), angular and linear velocity (6), inertial axes
SURVEY_HEAD, SURVEY_NODE = 10, 13

# scratch of steps: rows of (nv,) and of (nq,), eight each named in integrate.py, from V_CLOSE on in
# loops/projection.py, from V_PASS and Q_PASS on in loops/dynamics.py
V_STAGES, Q_STAGES = 14, 10
V_CLOSE, V_PASS, Q_PASS = 8, 10, 8

TREE = Family(
    "tree",
    ints=(
        Table("topo", "bodies", TOPO),
        Table("node_row", "nodes", within={0: (0, "bodies + 1")}),
        Table("dof_int", "v", DOF_INT, within={DI_Q: (-1, "q"), DI_BODY: (0, "bodies")}),
        Table(
            "actuator_int",
            "actuators",
            ACTUATOR_INT,
            within={AI_MODE: (0, MODE_SERVO + 1), AI_V: (0, "v"), AI_MOTOR: (-1, "motors")},
        ),
        Table("sensor_int", "sensors", SENSOR_INT, within={SI_TYPE: (0, len(SENSOR_TYPES))}),
        Table("part_body", "parts", within={0: (0, "bodies")}),
    ),
    floats=(
        Table("gravity", 1, 4, seen=3),
        Table("body", "bodies", BODY),
        Table("maps", "maps", 36),
        Table("node_pose", "nodes", NODE_POSE),
        Table("dof", "v", DOF),
        Table("armature", "v"),
        Table("angle_offset", "q"),
        Table("actuator", "actuators", ACTUATOR),
        Table("sensor", "sensors", SENSOR),
        Table("part", "parts", PART),
    ),
    work=(
        Table("columns", "padded(v) // LANES", BLOCK),
        Table("rows", "bodies + 1", ROW),
        Table("acc", "bodies + 1", ACC),
        Table("gen", "general", GEN),
        Table("pose", "bodies + 1", POSE),
        Table("wrench", "bodies + 1", 6),
        Table("angle", "padded(q)"),
        Table("sine", "padded(q)"),
        Table("cosine", "padded(q)"),
        Table("tau", "v"),
        Table("vdot", "v"),
        Table("inertia_add", "v"),
        Table("zeros", "v"),
        Table("vstage", V_STAGES, "v"),
        Table("qstage", Q_STAGES, "q"),
        Table("modal", "modal_work"),
    ),
    numbers=("commands", "outputs"),
)
FAMILIES = TREE, FLEXIBLE, LOOPS, ELEMENTS, INSTRUMENTS, DRIVES, CONTACTS
#: State: time, s; steps; coordinates; velocities; commands; switches of loops; readings of instruments; drives; touches
STATE = (
    Table("time", 1),
    Table("steps", 1),
    Table("q", "q"),
    Table("v", "v"),
    Table("command", "commands"),
    Table("switch", "switches", SWITCH),
    Table("readings", "instrument_state"),
    Table("drives", "drive_state"),
    Table("touch", "touches", TOUCH),
)
#: name of a count in the tables' expressions → its place in ints
COUNTS: dict[str, int] = {
    name.removeprefix("C_").lower(): place
    for module in (
        globals(),
        vars(flexible),
        vars(loops),
        vars(elements),
        vars(instruments),
        vars(drives),
        vars(contacts),
    )
    for name, place in module.items()
    if name.startswith("C_")
}
#: statements that read the counts by name from ints
READ = [f"{name} = ints[{place}]" for name, place in COUNTS.items() if name != "version"]
READ.append(f"acting = {elements.ACTING}")


#: possible errors in the ints of a foreign Plant, in the order in which `kernels/trust/plant.py` checks
WRONG = (
    "counts",
    "groups of loops",
    "flexible bodies",
    "topology",
    "nodes",
    "velocities",
    "actuators",
    "sensors",
    "bodies with mass",
    "force elements",
    "instruments",
    "motors and valves",
    "contacts",
    "coupled coordinates",
    "paths of loops",
    "loops",
    "groups of loops",
)


def tables_of(vector: str) -> list[Table]:
    """All tables of "ints" (without its header), "floats", "work" or "state", in order."""
    return list(STATE) if vector == "state" else [table for family in FAMILIES for table in getattr(family, vector)]


def place(table: str) -> str:
    """Position of a table of ints in the view of a Plant."""
    for family in FAMILIES:
        for each in family.ints:
            if each.name == table:
                return each.shown if family is TREE else f"{family.name}.{each.shown}"
    raise KeyError(table)


def table(name: str) -> Table:
    """A table of ints."""
    return next(each for each in tables_of("ints") if each.name == name)


def _sections(vector: str, ints: Sequence[int] | np.ndarray) -> Sections:
    return sections(tables_of(vector), {name: int(ints[place]) for name, place in COUNTS.items()})


def int_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of Plant.ints, in order, for the counts at the head of ints."""
    return [("header", 1, HEADER), *_sections("ints", ints)]


def float_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of Plant.floats, in order, for the counts at the head of ints."""
    return _sections("floats", ints)


def work_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of Work, in order, for the counts at the head of ints."""
    return _sections("work", ints)


def state_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of State, in order, for the counts at the head of ints."""
    return _sections("state", ints)


#: the named arrays of a Plant, `plant_view(ints, floats)`, and of a Work vector, `work_view(ints, work)`
Plant, plant_view = view_of("Plant", {"ints": HEADER, "floats": 0}, FAMILIES, READ)
Work, work_view = view_of("Work", {"work": 0}, FAMILIES, READ)
#: lengths of ints, floats, work and state for the counts at the head of ints: `vector_sizes(ints)`
vector_sizes = sizes_of(READ, {vector: tables_of(vector) for vector in ("ints", "floats", "work", "state")}, HEADER)


@kernel
def vectors(plant, work):
    """(ints, floats, work) that these are views of, for `plant_view` and `work_view`; their lengths are left out."""
    return vector_view(plant.topo, -HEADER, 0), vector_view(plant.gravity, 0, 0), vector_view(work.columns, 0, 0)


# first places of State
S_TIME, S_STEPS, S_Q = 0, 1, 2


@kernel
def device_states(ints, state):
    """The State's parts of instruments and of drives."""
    at = S_Q + ints[C_Q] + ints[C_V] + ints[C_COMMANDS] + SWITCH * ints[C_SWITCHES]
    readings, drives = ints[C_INSTRUMENT_STATE], ints[C_DRIVE_STATE]
    return vector_view(state, at, readings), vector_view(state, at + readings, drives)


@kernel
def touch_place(ints):
    """Index at which the State's part of contacts begins."""
    at = S_Q + ints[C_Q] + ints[C_V] + ints[C_COMMANDS] + SWITCH * ints[C_SWITCHES]
    return at + ints[C_INSTRUMENT_STATE] + ints[C_DRIVE_STATE]
