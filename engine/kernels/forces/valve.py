"""The valve of a thruster: it follows a command after a delay, and once open stays open for its shortest pulse.

Commands are constant over steps; delayed by d = n h + r, step s is driven by command s - n - 1 for the time r and by
command s - n for the rest. The valve opens and closes at these times and when its shortest pulse ends, so the impulse
of a step, and thus its mean thrust, is exact for any step size.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.forces.link_forces import flow_for
from limberjack.engine.tables import drives as dr
from limberjack.engine.tables.elements import TI_COMMAND


@kernel
def _part(flow, until, wanted, start, end, pulse):
    """(flow, until, impulse) of a valve between two times with one command."""
    if wanted > 0.0:
        return wanted, (start + pulse if flow == 0.0 else until), wanted * (end - start)
    if flow == 0.0 or until <= start:
        return 0.0, until, 0.0
    closing = min(until, end)
    return (0.0 if until <= end else flow), until, flow * (closing - start)


@kernel
def _delayed(plant, i, drives, command, step, dt):
    """(command of the first part of the step, of its rest, length of the first part)."""
    row = plant.drives.valve_int[i]
    delay, at, ring = plant.drives.valve[i, dr.VA_DELAY], row[dr.VA_STATE], row[dr.VA_RING]
    whole = min(math.floor(delay / dt * (1.0 + 1e-12)), ring - 2)
    rest = max(0.0, min(delay - whole * dt, dt))
    # The ring holds commands of the ring's length before this step; its slot of this step is the oldest.
    late = drives[at + dr.U_RING + (step + ring - whole) % ring] if whole > 0 else command
    return drives[at + dr.U_RING + (step + ring - whole - 1) % ring], late, rest


@kernel
def _moved(plant, i, drives, command, step, dt):
    """(flow, until, impulse) of valve i at the end of a step."""
    row = plant.drives.valve_int[i]
    at, thruster, pulse = (
        row[dr.VA_STATE],
        plant.elements.thruster[row[dr.VA_THRUSTER]],
        plant.drives.valve[i, dr.VA_PULSE],
    )
    first, then, rest = _delayed(plant, i, drives, command, step, dt)
    start = step * dt
    flow, until, impulse = drives[at + dr.U_FLOW], drives[at + dr.U_UNTIL], 0.0
    if rest > 0.0:
        flow, until, impulse = _part(flow, until, flow_for(thruster, first), start, start + rest, pulse)
    if rest < dt:
        flow, until, more = _part(flow, until, flow_for(thruster, then), start + rest, start + dt, pulse)
        impulse += more
    return flow, until, impulse


@kernel
def start_valves(plant, work, drives, command, step, dt):
    """Mean thrusts of a step in work.elements.thrust."""
    for i in range(plant.drives.valve.shape[0]):
        thruster = plant.drives.valve_int[i, dr.VA_THRUSTER]
        given = command[plant.elements.thruster_int[thruster, TI_COMMAND]]
        work.elements.thrust[thruster] = _moved(plant, i, drives, given, step, dt)[2] / dt


@kernel
def finish_valves(plant, drives, command, step, dt):
    """The State's part of drives after a step."""
    for i in range(plant.drives.valve.shape[0]):
        row = plant.drives.valve_int[i]
        at, given = row[dr.VA_STATE], command[plant.elements.thruster_int[row[dr.VA_THRUSTER], TI_COMMAND]]
        flow, until, impulse = _moved(plant, i, drives, given, step, dt)
        drives[at + dr.U_FLOW], drives[at + dr.U_UNTIL], drives[at + dr.U_THRUST] = flow, until, impulse / dt
        drives[at + dr.U_RING + step % row[dr.VA_RING]] = given


@kernel
def show_valves(plant, work, drives):
    """Thrusts of the last step in work.elements.thrust."""
    for i in range(plant.drives.valve.shape[0]):
        row = plant.drives.valve_int[i]
        work.elements.thrust[row[dr.VA_THRUSTER]] = drives[row[dr.VA_STATE] + dr.U_THRUST]
