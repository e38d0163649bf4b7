"""Forces and accelerations at a State, and the slopes of springs, dampers, friction, stops and drives there."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import matrix_view, vector_view
from limberjack.engine.compile.compiled import FLOATS, VECTOR, VECTORS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.forces.hinge_forces import actuator_forces, drive_force, hinge_forces, spent
from limberjack.engine.kernels.forces.link_forces import set_inputs
from limberjack.engine.kernels.sweeps.forward_dynamics import forward_dynamics
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import plant_view, work_view


@kernel
def drive_slopes(plant, q, v, command, out):
    """out (nv, commands), zero on entry: ∂τ/∂command, which is zero for an actuator at a limit."""
    for a in range(plant.actuator.shape[0]):
        drive, values = plant.actuator_int[a], plant.actuator[a]
        mode, j, c = drive[t.AI_MODE], drive[t.AI_V], drive[t.AI_COMMAND]
        x = q[drive[t.AI_Q]] if mode == t.MODE_SERVO else 0.0
        force = drive_force(mode, values, x, v[j], command, c)[0]
        if abs(force) > values[t.AC_LIMIT] or spent(values, v[j], force):
            continue
        if mode == t.MODE_TORQUE:
            out[j, c] = 1.0
        elif mode == t.MODE_SERVO:
            out[j, c], out[j, c + 1], out[j, c + 2] = values[t.AC_KP], values[t.AC_KD], 1.0
        else:
            out[j, c], out[j, c + 1] = values[t.AC_KD] if abs(command[c]) <= values[t.AC_RATE] else 0.0, 1.0


@entry(VECTORS, FLOATS, VECTOR)
def force_slopes_entry(ints, floats, work, state, out):
    """Forces and accelerations at State; leaves Work for `slopes_entry`.

    out ((4 + commands) nv,): hinge and actuator forces τ, -∂τ/∂q, -∂τ/∂v, accelerations, (nv,) each, then ∂τ/∂command
    (nv, commands), row by row.
    """
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv, nu = ints[t.C_Q], ints[t.C_V], plant.commands
    q, v = vector_view(state, t.S_Q, nq), vector_view(state, t.S_Q + nq, nv)
    command = vector_view(state, t.S_Q + nq + nv, nu)
    tau, stiffness, damping = vector_view(out, 0, nv), vector_view(out, nv, nv), vector_view(out, 2 * nv, nv)
    hinge_forces(plant, q, v, tau, stiffness, damping)
    actuator_forces(plant, scratch, q, v, command, tau, stiffness, damping)
    set_inputs(plant, scratch, command)
    forward_dynamics(plant, scratch, q, v, tau, plant.armature, False, vector_view(out, 3 * nv, nv))
    for i in range(4 * nv, (4 + nu) * nv):
        out[i] = 0.0
    drive_slopes(plant, q, v, command, matrix_view(out, 4 * nv, nv, nu))
