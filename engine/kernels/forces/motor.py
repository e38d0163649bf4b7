"""A motor with a current loop on a joint: winding, voltage limit, gear, friction, backlash.

Seen at the joint (torques times the ratio N, angles over it; K = N k_t, J = N² J_rotor, φ the rotor's angle over N):

    L di/dt = u - R i - K ω          u = k_p e + k_i ∫e dt,  e = i_wanted - i,  |u| ≤ voltage;  at the limit ∫e waits
    stiff gear     T = K i - friction(v);  J is part of the hinge's armature, ω = v
    elastic gear   J dω/dt = K i - friction(ω) - T,  ω = dφ/dt
                   T = k (x ∓ gap) + c (ω - v) beyond the gap, x = φ - q; pushing only

Over a part h of a step these equations are solved linearly implicitly, which is stable for any h, with the joint's rate
v in that part as the unknown: T = F - C v. F and C act on the mechanism like those of any damper; `finish_motors` then
advances the motor with the resulting rate. At h = 0 the same equations give the torque at a state.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import drives as dr


@kernel
def take_motors(plant, work, drives):
    """work.drives.state from the State's part of drives."""
    for m in range(plant.drives.motor.shape[0]):
        at = plant.drives.motor_int[m, dr.MO_STATE]
        for i in range(dr.MOTOR_STATE):
            work.drives.state[m, i] = drives[at + i]


@kernel
def keep_motors(plant, work, drives):
    """The State's part of drives from work.drives.state."""
    for m in range(plant.drives.motor.shape[0]):
        at = plant.drives.motor_int[m, dr.MO_STATE]
        for i in range(dr.MOTOR_STATE):
            drives[at + i] = work.drives.state[m, i]


@kernel
def rotor_friction(values, rate):
    """(torque against the motion, its slope in the rate) of rotor and bearings."""
    if values[dr.MO_FRICTION] == 0.0:
        return values[dr.MO_DAMPING] * rate, values[dr.MO_DAMPING]
    t = math.tanh(rate / values[dr.MO_FRICTION_RATE])
    slope = values[dr.MO_DAMPING] + values[dr.MO_FRICTION] / values[dr.MO_FRICTION_RATE] * (1.0 - t * t)
    return values[dr.MO_DAMPING] * rate + values[dr.MO_FRICTION] * t, slope


@kernel
def _winding(values, now, x, torque, rate, h):
    """Rows MW_CURRENT, MW_SLOPE, MW_INTEGRAL: the current after h as a function of the rate, for a wanted torque."""
    per, kp, ki = h / values[dr.MO_L], values[dr.MO_KP], values[dr.MO_KI]
    most, limit = values[dr.MO_CURRENT], values[dr.MO_VOLTAGE]
    wanted = max(-most, min(torque / values[dr.MO_K], most))
    i, z, emf = x[dr.MX_CURRENT], x[dr.MX_INTEGRAL], values[dr.MO_K] * rate
    stiff = 1.0 + per * (values[dr.MO_R] + kp + h * ki)
    new = (i + per * ((kp + h * ki) * wanted + ki * z - emf)) / stiff
    integral = z + h * (wanted - new)
    u = kp * (wanted - new) + ki * integral
    if abs(u) > limit:
        stiff, integral = 1.0 + per * values[dr.MO_R], z
        new = (i + per * ((limit if u > 0.0 else -limit) - emf)) / stiff
    slope = per * values[dr.MO_K] / stiff
    now[dr.MW_CURRENT], now[dr.MW_SLOPE], now[dr.MW_INTEGRAL] = new + slope * rate, slope, integral


@kernel
def _touching(values, x, q, v, rate, h):
    """(side, spring torque now): the flank of the gear that touches at the end, if the joint keeps its rate v."""
    for side in (1.0, -1.0):
        depth = x[dr.MX_ANGLE] - q - 0.5 * side * values[dr.MO_PLAY]
        closing = rate - v
        push = values[dr.MO_STIFFNESS] * (depth + h * closing) + values[dr.MO_GEAR_DAMPING] * closing
        if side * (depth + h * closing) > 0.0 and side * push > 0.0:
            return side, values[dr.MO_STIFFNESS] * depth
    return 0.0, 0.0


@kernel
def _gear(values, now, x, q, v, h):
    """MW_F, MW_C, MW_RATE, MW_PER, MW_SIDE of an elastic gear; the winding is done, its current that of the rotor."""
    friction, slope = rotor_friction(values, x[dr.MX_RATE])
    inertia = values[dr.MO_INERTIA] + h * slope
    free = x[dr.MX_RATE] + h * (values[dr.MO_K] * now[dr.MW_CURRENT] - friction) / inertia
    G = values[dr.MO_GEAR_DAMPING] + h * values[dr.MO_STIFFNESS]
    side, spring = _touching(values, x, q, v, free, h)
    per = h / inertia
    share = 1.0 / (1.0 + G * per) if side != 0.0 else 0.0
    now[dr.MW_F], now[dr.MW_C] = share * (spring + G * free), share * G
    now[dr.MW_RATE], now[dr.MW_PER], now[dr.MW_SIDE] = free, per, side


@kernel
def start_motor(plant, work, m, torque, q, v, h):
    """Torque at the joint for a part h of a step, as rows of work.drives.now; wanted: torque."""
    values, x, now = plant.drives.motor[m], work.drives.state[m], work.drives.now[m]
    rate = v[plant.drives.motor_int[m, dr.MO_V]]
    if plant.drives.motor_int[m, dr.MO_ELASTIC] == 0:
        _winding(values, now, x, torque, rate, h)
        now[dr.MW_F], now[dr.MW_C], now[dr.MW_SIDE] = (
            values[dr.MO_K] * now[dr.MW_CURRENT],
            values[dr.MO_K] * now[dr.MW_SLOPE],
            0.0,
        )
        return
    _winding(values, now, x, torque, x[dr.MX_RATE], h)
    now[dr.MW_CURRENT] -= now[dr.MW_SLOPE] * x[dr.MX_RATE]
    now[dr.MW_SLOPE] = 0.0
    _gear(values, now, x, q[plant.drives.motor_int[m, dr.MO_Q]], rate, h)


@kernel
def motor_force(plant, work, m, rate):
    """(torque on the joint, its slope against the rate) at a rate of the joint, after `start_motor`."""
    now = work.drives.now[m]
    force, c = now[dr.MW_F] - now[dr.MW_C] * rate, now[dr.MW_C]
    if plant.drives.motor_int[m, dr.MO_ELASTIC] == 0:
        friction, slope = rotor_friction(plant.drives.motor[m], rate)
        return force - friction, c + slope
    if now[dr.MW_SIDE] * force <= 0.0:  # a flank only pushes
        return 0.0, 0.0
    return force, c


@kernel
def finish_motors(plant, work, v_new, v_mean, h):
    """work.drives.state after a part h of a step.

    v_new : (nv,) rates at its end; v_mean : rates at which torques acted, so that the rotor loses the energy that the
        joint gains
    """
    for m in range(plant.drives.motor.shape[0]):
        row, x, now = plant.drives.motor_int[m], work.drives.state[m], work.drives.now[m]
        j = row[dr.MO_V]
        x[dr.MX_CURRENT] = now[dr.MW_CURRENT] - now[dr.MW_SLOPE] * v_new[j]
        x[dr.MX_INTEGRAL] = now[dr.MW_INTEGRAL]
        if row[dr.MO_ELASTIC] == 1:
            torque = motor_force(plant, work, m, v_mean[j])[0]
            x[dr.MX_RATE] = now[dr.MW_RATE] - now[dr.MW_PER] * torque
            x[dr.MX_ANGLE] += h * x[dr.MX_RATE]
