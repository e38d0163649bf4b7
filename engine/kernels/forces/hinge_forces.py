"""Forces along hinge coordinates: springs, dampers, friction, stops, actuators; and their derivatives.

    f = -k (q - rest) - c v - F tanh(v / v_F) + stop + actuator
    stop, beyond a limit by d:  -(k_l d + c_l v), never pulling back towards the limit

Every force also adds -∂f/∂q to `stiffness` and -∂f/∂v to `damping`, which the implicit integrator needs.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.compile.compiled import FLOATS, INTS, VECTOR, VECTORS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.forces.motor import motor_force, start_motor, take_motors
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import device_states, plant_view, work_view

#: rows of work.vstage: the forces' derivatives
STIFFNESS, DAMPING = 5, 6
#: tolerance of Coulomb friction at the end of an implicit step of a model with contacts, as a share of its largest
#: force
_FOUND = 1e-6


@kernel
def _friction(dof, rate):
    """(force, -∂f/∂v) of viscous and Coulomb friction."""
    force, slope = -dof[t.D_DAMPING] * rate, dof[t.D_DAMPING]
    if dof[t.D_FRICTION] != 0.0:
        sign = math.tanh(rate / dof[t.D_FRICTION_RATE])
        force -= dof[t.D_FRICTION] * sign
        slope += dof[t.D_FRICTION] / dof[t.D_FRICTION_RATE] * (1.0 - sign * sign)
    return force, slope


@kernel
def end_friction(plant, work, v, ahead):
    """Replace Coulomb friction on hinges by its value at the rates `ahead` at the end of a step, as a damper that stops
    at zero; where these rates are those of the start it is unchanged."""
    for j in range(v.shape[0]):
        dof = plant.dof[j]
        most, scale = dof[t.D_FRICTION], dof[t.D_FRICTION_RATE]
        if most != 0.0 and ahead[j] != v[j]:
            sign, damping = math.tanh(v[j] / scale), most / scale
            work.vstage[DAMPING, j] -= damping * (1.0 - sign * sign)
            if ahead[j] != 0.0:
                damping = most * math.tanh(ahead[j] / scale) / ahead[j]
            work.vstage[DAMPING, j] += damping
            work.tau[j] += most * sign - damping * v[j]


@kernel
def friction_holds(plant, v, ahead, end):
    """Whether friction that `end_friction` found for the rates `ahead` is that at the rates `end`, the next `ahead`."""
    holds = True
    for j in range(v.shape[0]):
        dof = plant.dof[j]
        scale = dof[t.D_FRICTION_RATE]
        if dof[t.D_FRICTION] != 0.0:
            now = math.tanh(v[j] / scale)
            found = now + (1.0 - now * now) * (end[j] - v[j]) / scale
            if ahead[j] != v[j]:
                found = end[j] / scale if ahead[j] == 0.0 else math.tanh(ahead[j] / scale) / ahead[j] * end[j]
            if abs(found - math.tanh(end[j] / scale)) > _FOUND:
                holds = False
        ahead[j] = end[j]
    return holds


@kernel
def _stop(dof, x, rate):
    """(force, -∂f/∂q, -∂f/∂v) of the one-sided stops."""
    if x > dof[t.D_UPPER]:
        force = -dof[t.D_LIMIT_K] * (x - dof[t.D_UPPER]) - dof[t.D_LIMIT_C] * rate
        if force < 0.0:
            return force, dof[t.D_LIMIT_K], dof[t.D_LIMIT_C]
    elif x < dof[t.D_LOWER]:
        force = -dof[t.D_LIMIT_K] * (x - dof[t.D_LOWER]) - dof[t.D_LIMIT_C] * rate
        if force > 0.0:
            return force, dof[t.D_LIMIT_K], dof[t.D_LIMIT_C]
    return 0.0, 0.0, 0.0


@kernel
def hinge_forces(plant, q, v, tau, stiffness, damping):
    """Write the passive forces of all hinges, with their derivatives; each array is (nv,)."""
    for j in range(v.shape[0]):
        dof, i = plant.dof[j], plant.dof_int[j, t.DI_Q]
        force, c = _friction(dof, v[j])
        k = 0.0
        if i >= 0:
            k = dof[t.D_STIFFNESS]
            stop, ks, cs = _stop(dof, q[i], v[j])
            force += stop - k * (q[i] - dof[t.D_REST])
            k, c = k + ks, c + cs
        tau[j], stiffness[j], damping[j] = force, k, c


@kernel
def drive_force(mode, values, x, rate, command, i):
    """(force, -∂f/∂q, -∂f/∂v) of one actuator before its limit; of rates it asks for none beyond its largest."""
    if mode == t.MODE_TORQUE:
        return command[i], 0.0, 0.0
    if mode == t.MODE_VELOCITY:
        wanted = max(-values[t.AC_RATE], min(command[i], values[t.AC_RATE]))
        return values[t.AC_KD] * (wanted - rate) + command[i + 1], 0.0, values[t.AC_KD]
    force = values[t.AC_KP] * (command[i] - x) + values[t.AC_KD] * (command[i + 1] - rate) + command[i + 2]
    return force, values[t.AC_KP], values[t.AC_KD]


@kernel
def spent(values, rate, force):
    """Whether an actuator is at its largest rate, and its force would exceed it."""
    return abs(rate) >= values[t.AC_RATE] and force * rate > 0.0


@kernel
def _limited_force(plant, a, q, v, command):
    """(force, -∂f/∂q, -∂f/∂v) of actuator a within its limit, where it adds no stiffness or damping."""
    drive, values = plant.actuator_int[a], plant.actuator[a]
    x = q[drive[t.AI_Q]] if drive[t.AI_MODE] == t.MODE_SERVO else 0.0
    force, k, c = drive_force(drive[t.AI_MODE], values, x, v[drive[t.AI_V]], command, drive[t.AI_COMMAND])
    limit = values[t.AC_LIMIT]
    if force > limit:
        return limit, 0.0, 0.0
    if force < -limit:
        return -limit, 0.0, 0.0
    return force, k, c


@kernel
def start_motors(plant, work, q, v, command, h):
    """Motors begin a part h of a step, each with the torque that its actuator asks for; h = 0: their torque now."""
    for a in range(plant.actuator.shape[0]):
        motor = plant.actuator_int[a, t.AI_MOTOR]
        if motor >= 0:
            start_motor(plant, work, motor, _limited_force(plant, a, q, v, command)[0], q, v, h)


@kernel
def actuator_forces(plant, work, q, v, command, tau, stiffness, damping):
    """Add the actuators' forces, those of motors as `start_motors` set them."""
    for a in range(plant.actuator.shape[0]):
        drive, values = plant.actuator_int[a], plant.actuator[a]
        j, motor = drive[t.AI_V], drive[t.AI_MOTOR]
        if motor >= 0:
            force, c = motor_force(plant, work, motor, v[j])
            k = 0.0
        else:
            force, k, c = _limited_force(plant, a, q, v, command)
        if spent(values, v[j], force):
            force, k, c = 0.0, 0.0, 0.0
        tau[j] += force
        stiffness[j] += k
        damping[j] += c


@kernel
def _stop_switch(dof, depth, rate):
    """Positive while the stop pushes back, m or rad; depth: how far beyond the limit, rate: how fast further."""
    if dof[t.D_LIMIT_K] == 0.0:
        return -1.0
    # Both conditions at once: beyond the limit, and not yet pulled back faster than the spring pushes.
    return max(-1.0, min(depth, depth + dof[t.D_LIMIT_C] / dof[t.D_LIMIT_K] * rate))


@kernel
def _limit_switch(values, force, rate):
    """Positive where an actuator has more force than its limit, or force beyond its largest rate; both towards plus."""
    limit, fastest, over = values[t.AC_LIMIT], values[t.AC_RATE], -1.0
    if limit - limit == 0.0:
        over = force - limit
    if fastest - fastest == 0.0:
        over = max(over, min(force, rate - fastest))
    return over


@kernel
def switches(plant, q, v, command, out):
    """Event indicators out: stops [upper (nv) | lower (nv)], then actuators' limits [above (na) | below (na)].

    Positive where a stop acts or an actuator is at its limit. -1 where there is none, and -1 at the least for stops,
    so that a limit at infinity stays a number.
    """
    nv, na = v.shape[0], plant.actuator.shape[0]
    for j in range(nv):
        dof, i = plant.dof[j], plant.dof_int[j, t.DI_Q]
        out[j], out[nv + j] = -1.0, -1.0
        if i >= 0:
            out[j] = _stop_switch(dof, q[i] - dof[t.D_UPPER], v[j])
            out[nv + j] = _stop_switch(dof, dof[t.D_LOWER] - q[i], -v[j])
    for a in range(na):
        drive, values = plant.actuator_int[a], plant.actuator[a]
        x = q[drive[t.AI_Q]] if drive[t.AI_MODE] == t.MODE_SERVO else 0.0
        force = drive_force(drive[t.AI_MODE], values, x, v[drive[t.AI_V]], command, drive[t.AI_COMMAND])[0]
        out[2 * nv + a] = _limit_switch(values, force, v[drive[t.AI_V]])
        out[2 * nv + na + a] = _limit_switch(values, -force, -v[drive[t.AI_V]])


@entry(INTS, FLOATS, FLOATS, FLOATS)
def switches_entry(ints, floats, state, out):
    """`switches` at State."""
    plant, nq, nv = plant_view(ints, floats), ints[t.C_Q], ints[t.C_V]
    q, v = vector_view(state, t.S_Q, nq), vector_view(state, t.S_Q + nq, nv)
    switches(plant, q, v, vector_view(state, t.S_Q + nq + nv, plant.commands), out)


@entry(VECTORS, FLOATS, FLOATS)
def forces_entry(ints, floats, work, state, tau):
    """Hinge and actuator forces tau (nv,) at State: what `outputs.observe_entry` gives, without the dynamics."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[t.C_Q], ints[t.C_V]
    q, v = vector_view(state, t.S_Q, nq), vector_view(state, t.S_Q + nq, nv)
    command = vector_view(state, t.S_Q + nq + nv, plant.commands)
    stiffness, damping = scratch.vstage[0], scratch.vstage[1]
    take_motors(plant, scratch, device_states(ints, state)[1])
    start_motors(plant, scratch, q, v, command, 0.0)
    hinge_forces(plant, q, v, tau, stiffness, damping)
    actuator_forces(plant, scratch, q, v, command, tau, stiffness, damping)


@entry(VECTORS, VECTOR, VECTOR, VECTOR)
def passive_forces_entry(ints, floats, work, q, v, tau):
    """The hinges' own forces tau (nv,), for Python callers."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    hinge_forces(plant, q, v, tau, scratch.vstage[0], scratch.vstage[1])
