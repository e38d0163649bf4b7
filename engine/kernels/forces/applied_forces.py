"""All forces along hinges and from thrusters at a state; drives that have states must be prepared before."""

from __future__ import annotations

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.forces.hinge_forces import (
    DAMPING,
    STIFFNESS,
    actuator_forces,
    hinge_forces,
    start_motors,
)
from limberjack.engine.kernels.forces.link_forces import set_inputs
from limberjack.engine.kernels.forces.motor import take_motors
from limberjack.engine.kernels.forces.valve import show_valves
from limberjack.engine.tables.plant import device_states


@kernel
def applied_forces(plant, work, q, v, command):
    """work.tau = all hinge and actuator forces; their derivatives in rows of work.vstage. Thrusts as well.

    Motors and valves act as prepared for this part of a step, or by `drives_now`.
    """
    stiffness, damping = work.vstage[STIFFNESS], work.vstage[DAMPING]
    hinge_forces(plant, q, v, work.tau, stiffness, damping)
    actuator_forces(plant, work, q, v, command, work.tau, stiffness, damping)
    set_inputs(plant, work, command)


@kernel
def drives_now(ints, plant, work, state, q, v, command):
    """Prepare motors, valves and elements with commands to act as they do at State."""
    drives = device_states(ints, state)[1]
    take_motors(plant, work, drives)
    start_motors(plant, work, q, v, command, 0.0)
    show_valves(plant, work, drives)
    set_inputs(plant, work, command)
