"""Forces on links of elements that sit there or join two: thrusters, rotors.

thruster        f = d F                    F commanded, between its limits
rotor           n = -ω × h                 of constant momentum h relative to its link (a gyrostat)
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import ZERO, add, cross, load3, scale, store3
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import elements as t
from limberjack.engine.tables.plant import W_V


@kernel
def flow_for(thruster, command):
    """What an open thruster gives for a command, N."""
    flow = min(command, thruster[t.T_MOST])
    return flow if flow >= thruster[t.T_LEAST] else 0.0


@kernel
def set_inputs(plant, work, command):
    """work.elements.thrust from the commands; those behind valves are as they were set for the step."""
    for i in range(plant.elements.thruster.shape[0]):
        if plant.elements.thruster_int[i, t.TI_VALVE] == 0:
            work.elements.thrust[i] = flow_for(
                plant.elements.thruster[i], command[plant.elements.thruster_int[i, t.TI_COMMAND]]
            )


@kernel
def no_inputs(plant, work):
    """All thrusters off."""
    for i in range(plant.elements.thruster.shape[0]):
        work.elements.thrust[i] = 0.0


@kernel
def push(work, row, n, f):
    """Moment and force, at O in the axes of a link, join work.wrench."""
    wrench = work.wrench[row]
    store3(wrench, 0, add(load3(wrench, 0), n))
    store3(wrench, 3, add(load3(wrench, 3), f))


@kernel
def needs_poses(plant):
    """Whether poses of links in the inertial frame must be known."""
    return plant.elements.central.shape[0] > 0


@kernel
def push_links(plant, work):
    """Forces of all these elements join work.wrench; links are placed and move."""
    for i in range(plant.elements.thruster.shape[0]):
        values = plant.elements.thruster[i]
        f = scale(work.elements.thrust[i], load3(values, t.T_AXIS))
        push(work, plant.elements.thruster_int[i, t.TI_ROW], cross(load3(values, t.T_P), f), f)
    for i in range(plant.elements.rotor.shape[0]):
        row = plant.elements.rotor_row[i]
        push(work, row, cross(load3(plant.elements.rotor[i], 0), load3(work.rows[row], W_V)), ZERO)
