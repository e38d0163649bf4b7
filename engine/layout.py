"""Where every number lives: the flat Plant, Work and State vectors, and the views that kernels read them through.

A Plant is two vectors, `ints` and `floats`; Work is one float64 vector; State is one float64 vector. All sizes
follow from the counts at the head of `ints`, so compiled code (and an exported model) needs nothing else.
`section_sizes` and the compiled views must agree; `tests/engine/test_layout.py` checks that they do.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from limberjack.engine.drives.layout import (
    C_DRIVE_STATE,
    drive_float_sections,
    drive_int_sections,
    drive_plant_view,
    drive_work_sections,
    drive_work_view,
)
from limberjack.engine.elements.layout import (
    element_float_sections,
    element_floats_size,
    element_int_sections,
    element_ints_size,
    element_plant_view,
    element_work_sections,
    element_work_size,
    element_work_view,
)
from limberjack.engine.flexible.layout import (
    C_MODAL_TABLE,
    C_MODAL_WORK,
    flexible_float_sections,
    flexible_int_sections,
    flexible_ints_size,
    flexible_plant_view,
    flexible_work_sections,
)
from limberjack.engine.instruments.layout import (
    C_INSTRUMENT_STATE,
    instrument_float_sections,
    instrument_floats_size,
    instrument_int_sections,
    instrument_ints_size,
    instrument_plant_view,
    instrument_work_sections,
    instrument_work_size,
    instrument_work_view,
)
from limberjack.engine.kernel import kernel
from limberjack.engine.loops.layout import (
    C_SWITCHES,
    SWITCH,
    loop_float_sections,
    loop_floats_size,
    loop_int_sections,
    loop_ints_size,
    loop_plant_view,
    loop_work_sections,
    loop_work_size,
    loop_work_view,
)
from limberjack.engine.views import ACC, BLOCK, LANES, Sections, matrix_view, padded, vector_view

FORMAT_VERSION = 4

# ints[0:HEADER]: counts; those of loops/, flexible/, elements/, instruments/ and drives/ follow in their layout.py
HEADER = 40
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
PATH = 1  # which code path a sweep takes, below
KIND = 2  # hinge type code, `system/hinge_types.py`
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

# code paths of the sweeps
PATH_REVOLUTE, PATH_PRISMATIC, PATH_GENERAL, PATH_BASE, PATH_MODAL, PATH_NODE = range(6)

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
A_KP, A_KD, A_LIMIT, A_RATE = range(4)  # A_RATE: no force further from rest beyond this rate
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

# work.rows (bodies + 1, 32): what the sweeps know of body k, row k + 1; row 0 is the ground
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

# work.acc (bodies + 1, ACC): what children hand to their parent
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

# scratch of steps: rows of (nv,) and of (nq,), eight each named in integrate.py, from V_CLOSE and Q_CLOSE on in
# loops/projection.py, from V_PASS and Q_PASS on in loops/passing.py
V_STAGES, Q_STAGES = 14, 12
V_CLOSE, Q_CLOSE, V_PASS, Q_PASS = 8, 8, 10, 10

Plant = namedtuple(
    "Plant",
    "gravity topo body maps node_row node_pose dof_int dof armature angle_offset actuator_int actuator sensor_int "
    "sensor part_body part ncommand noutput flexible loops elements instruments drives",
)
Work = namedtuple(
    "Work",
    "columns rows acc gen pose wrench angle sine cosine tau vdot inertia_add zeros vstage qstage modal loops elements "
    "instruments drives",
)


def int_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of Plant.ints, in order, for the counts at the head of ints."""
    c = [int(count) for count in ints[:HEADER]]
    return [
        ("header", 1, HEADER),
        ("topo", c[C_BODIES], TOPO),
        ("node_row", c[C_NODES], 1),
        ("dof_int", c[C_V], DOF_INT),
        ("actuator_int", c[C_ACTUATORS], ACTUATOR_INT),
        ("sensor_int", c[C_SENSORS], SENSOR_INT),
        ("part_body", c[C_PARTS], 1),
        *flexible_int_sections(c),
        *loop_int_sections(c),
        *element_int_sections(c),
        *instrument_int_sections(c),
        *drive_int_sections(c),
    ]


def float_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of Plant.floats, in order, for the counts at the head of ints."""
    c = [int(count) for count in ints[:HEADER]]
    return [
        ("gravity", 1, 4),
        ("body", c[C_BODIES], BODY),
        ("maps", c[C_MAPS], 36),
        ("node_pose", c[C_NODES], NODE_POSE),
        ("dof", c[C_V], DOF),
        ("armature", c[C_V], 1),
        ("angle_offset", c[C_Q], 1),
        ("actuator", c[C_ACTUATORS], ACTUATOR),
        ("sensor", c[C_SENSORS], SENSOR),
        ("part", c[C_PARTS], PART),
        *flexible_float_sections(c),
        *loop_float_sections(c),
        *element_float_sections(c),
        *instrument_float_sections(c),
        *drive_float_sections(c),
    ]


def work_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of Work, in order, for the counts at the head of ints."""
    c = [int(count) for count in ints[:HEADER]]
    n, nq, nv = c[C_BODIES], c[C_Q], c[C_V]
    return [
        ("columns", padded(nv) // LANES, BLOCK),
        ("rows", n + 1, ROW),
        ("acc", n + 1, ACC),
        ("gen", c[C_GENERAL], GEN),
        ("pose", n + 1, POSE),
        ("wrench", n + 1, 6),
        ("angle", padded(nq), 1),
        ("sine", padded(nq), 1),
        ("cosine", padded(nq), 1),
        ("tau", nv, 1),
        ("vdot", nv, 1),
        ("inertia_add", nv, 1),
        ("zeros", nv, 1),
        ("vstage", V_STAGES, nv),
        ("qstage", Q_STAGES, nq),
        *flexible_work_sections(c),
        *loop_work_sections(c, n, nv),
        *element_work_sections(c, n),
        *instrument_work_sections(c, c[C_OUTPUTS]),
        *drive_work_sections(c),
    ]


def state_sections(ints: Sequence[int] | np.ndarray) -> Sections:
    """(name, rows, columns) of every section of State, in order, for the counts at the head of ints."""
    c = [int(count) for count in ints[:HEADER]]
    sizes = ("q", c[C_Q]), ("v", c[C_V]), ("command", c[C_COMMANDS])
    return [
        ("time", 1, 1),
        ("steps", 1, 1),
        *((name, n, 1) for name, n in sizes),
        ("switch", c[C_SWITCHES], SWITCH),
        ("readings", c[C_INSTRUMENT_STATE], 1),
        ("drives", c[C_DRIVE_STATE], 1),
    ]


@kernel
def plant_view(ints, floats):
    """The named arrays of a Plant."""
    n, nq, nv, nodes = ints[C_BODIES], ints[C_Q], ints[C_V], ints[C_NODES]
    actuators, sensors, maps, parts = ints[C_ACTUATORS], ints[C_SENSORS], ints[C_MAPS], ints[C_PARTS]
    node = HEADER + TOPO * n
    dof_int = node + nodes
    act_int = dof_int + DOF_INT * nv
    sensor_int = act_int + ACTUATOR_INT * actuators
    body = 4
    map_ = body + BODY * n
    pose = map_ + 36 * maps
    dof = pose + NODE_POSE * nodes
    armature = dof + DOF * nv
    actuator = armature + nv + nq
    sensor = actuator + ACTUATOR * actuators
    part_body = sensor_int + SENSOR_INT * sensors
    part = sensor + SENSOR * sensors
    loop_int = part_body + parts + flexible_ints_size(ints)
    loop = part + PART * parts + ints[C_MODAL_TABLE]
    element_int, element = loop_int + loop_ints_size(ints), loop + loop_floats_size(ints)
    instrument_int, instrument = element_int + element_ints_size(ints), element + element_floats_size(ints)
    drive_int, drive = instrument_int + instrument_ints_size(ints), instrument + instrument_floats_size(ints)
    return Plant(
        vector_view(floats, 0, 3),
        matrix_view(ints, HEADER, n, TOPO),
        matrix_view(floats, body, n, BODY),
        matrix_view(floats, map_, maps, 36),
        vector_view(ints, node, nodes),
        matrix_view(floats, pose, nodes, NODE_POSE),
        matrix_view(ints, dof_int, nv, DOF_INT),
        matrix_view(floats, dof, nv, DOF),
        vector_view(floats, armature, nv),
        vector_view(floats, armature + nv, nq),
        matrix_view(ints, act_int, actuators, ACTUATOR_INT),
        matrix_view(floats, actuator, actuators, ACTUATOR),
        matrix_view(ints, sensor_int, sensors, SENSOR_INT),
        matrix_view(floats, sensor, sensors, SENSOR),
        vector_view(ints, part_body, parts),
        matrix_view(floats, part, parts, PART),
        ints[C_COMMANDS],
        ints[C_OUTPUTS],
        flexible_plant_view(ints, floats, part_body + parts, part + PART * parts),
        loop_plant_view(ints, floats, loop_int, loop),
        element_plant_view(ints, floats, element_int, element),
        instrument_plant_view(ints, floats, instrument_int, instrument),
        drive_plant_view(ints, floats, drive_int, drive),
    )


@kernel
def work_view(ints, work):
    """The named scratch arrays of a Work vector."""
    n, nq, nv, general = ints[C_BODIES], ints[C_Q], ints[C_V], ints[C_GENERAL]
    blocks = padded(nv) // LANES
    rows = BLOCK * blocks
    acc = rows + ROW * (n + 1)
    gen = acc + ACC * (n + 1)
    pose = gen + GEN * general
    wrench = pose + POSE * (n + 1)
    angle = wrench + 6 * (n + 1)
    lanes = padded(nq)
    tau = angle + 3 * lanes
    stage = tau + 4 * nv
    modal = stage + V_STAGES * nv + Q_STAGES * nq
    loops = modal + ints[C_MODAL_WORK]
    elements = loops + loop_work_size(ints, n, nv)
    instruments = elements + element_work_size(ints, n)
    drives = instruments + instrument_work_size(ints, ints[C_OUTPUTS])
    return Work(
        matrix_view(work, 0, blocks, BLOCK),
        matrix_view(work, rows, n + 1, ROW),
        matrix_view(work, acc, n + 1, ACC),
        matrix_view(work, gen, general, GEN),
        matrix_view(work, pose, n + 1, POSE),
        matrix_view(work, wrench, n + 1, 6),
        vector_view(work, angle, lanes),
        vector_view(work, angle + lanes, lanes),
        vector_view(work, angle + 2 * lanes, lanes),
        vector_view(work, tau, nv),
        vector_view(work, tau + nv, nv),
        vector_view(work, tau + 2 * nv, nv),
        vector_view(work, tau + 3 * nv, nv),
        matrix_view(work, stage, V_STAGES, nv),
        matrix_view(work, stage + V_STAGES * nv, Q_STAGES, nq),
        vector_view(work, modal, ints[C_MODAL_WORK]),
        loop_work_view(ints, work, loops, n, nv),
        element_work_view(ints, work, elements, n),
        instrument_work_view(ints, work, instruments, ints[C_OUTPUTS]),
        drive_work_view(ints, work, drives),
    )


@kernel
def vectors(plant, work):
    """(ints, floats, work) that these are views of, for `plant_view` and `work_view`; their lengths are left out."""
    return vector_view(plant.topo, -HEADER, 0), vector_view(plant.gravity, 0, 0), vector_view(work.columns, 0, 0)


# State: t, steps, q (nq), v (nv), commands held by the actuators, switches of loops (loops/layout.py), readings of
# instruments (instruments/layout.py), drives (drives/layout.py)
S_TIME, S_STEPS, S_Q = 0, 1, 2


@kernel
def device_states(ints, state):
    """The State's parts of instruments and of drives."""
    at = S_Q + ints[C_Q] + ints[C_V] + ints[C_COMMANDS] + SWITCH * ints[C_SWITCHES]
    readings, drives = ints[C_INSTRUMENT_STATE], ints[C_DRIVE_STATE]
    return vector_view(state, at, readings), vector_view(state, at + readings, drives)
