"""How long the vectors of a model are, for callers that allocate them from the counts at the head of ints (FMU)."""

from __future__ import annotations

from limberjack.engine.derivatives.state import state_slopes_sizes
from limberjack.engine.drives.layout import C_DRIVE_STATE, drive_floats_size, drive_ints_size, drive_work_size
from limberjack.engine.elements.layout import element_floats_size, element_ints_size, element_work_size
from limberjack.engine.flexible.layout import C_MODAL_TABLE, C_MODAL_WORK, flexible_ints_size
from limberjack.engine.instruments.layout import (
    C_INSTRUMENT_STATE,
    instrument_floats_size,
    instrument_ints_size,
    instrument_work_size,
)
from limberjack.engine.kernel import entry, kernel
from limberjack.engine.layout import (
    ACTUATOR,
    ACTUATOR_INT,
    BODY,
    C_ACTUATORS,
    C_BODIES,
    C_COMMANDS,
    C_GENERAL,
    C_MAPS,
    C_NODES,
    C_OUTPUTS,
    C_PARTS,
    C_Q,
    C_SENSORS,
    C_V,
    DOF,
    DOF_INT,
    GEN,
    HEADER,
    NODE_POSE,
    PART,
    POSE,
    Q_STAGES,
    ROW,
    S_Q,
    SENSOR,
    SENSOR_INT,
    SURVEY_HEAD,
    SURVEY_NODE,
    TOPO,
    V_STAGES,
)
from limberjack.engine.loops.layout import C_SWITCHES, SWITCH, loop_floats_size, loop_ints_size, loop_work_size
from limberjack.engine.views import ACC, BLOCK, LANES, padded


@kernel
def vector_sizes(ints):
    """Lengths of ints, floats, work and state that the counts at the head of ints ask for."""
    n, nq, nv, nodes = ints[C_BODIES], ints[C_Q], ints[C_V], ints[C_NODES]
    actuators, sensors, maps, parts = ints[C_ACTUATORS], ints[C_SENSORS], ints[C_MAPS], ints[C_PARTS]
    size_ints = HEADER + TOPO * n + nodes + DOF_INT * nv + ACTUATOR_INT * actuators + SENSOR_INT * sensors + parts
    size_ints += flexible_ints_size(ints) + loop_ints_size(ints) + element_ints_size(ints)
    size_ints += instrument_ints_size(ints) + drive_ints_size(ints)
    floats = 4 + BODY * n + 36 * maps + NODE_POSE * nodes + (DOF + 1) * nv + nq
    floats += ACTUATOR * actuators + SENSOR * sensors + PART * parts + ints[C_MODAL_TABLE] + loop_floats_size(ints)
    floats += element_floats_size(ints) + instrument_floats_size(ints) + drive_floats_size(ints)
    bodies = (n + 1) * (ROW + ACC + POSE + 6) + GEN * ints[C_GENERAL]
    work = BLOCK * (padded(nv) // LANES) + bodies + 3 * padded(nq) + (4 + V_STAGES) * nv + Q_STAGES * nq
    work += ints[C_MODAL_WORK] + loop_work_size(ints, n, nv) + element_work_size(ints, n)
    work += instrument_work_size(ints, ints[C_OUTPUTS]) + drive_work_size(ints)
    state = S_Q + nq + nv + ints[C_COMMANDS] + SWITCH * ints[C_SWITCHES]
    return size_ints, floats, work, state + ints[C_INSTRUMENT_STATE] + ints[C_DRIVE_STATE]


@entry
def sizes_entry(ints, out):
    """out (10,) int64: lengths of ints, floats, work, state, observed, surveyed, switches and commands, and of slopes
    and out of `derivatives.state.state_slopes_entry`."""
    out[0], out[1], out[2], out[3] = vector_sizes(ints)
    nv = ints[C_V]
    out[4] = 2 * nv + ints[C_OUTPUTS]
    out[5] = SURVEY_HEAD + SURVEY_NODE * ints[C_NODES]
    out[6] = 2 * nv + 2 * ints[C_ACTUATORS]
    out[7] = ints[C_COMMANDS]
    out[8], out[9] = state_slopes_sizes(ints)
