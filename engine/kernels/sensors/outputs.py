"""The model's outputs at a state, including applied forces: ideal sensors, and instruments with errors.

Ideal values are computed first, those of motion by `look`, all by `observe`; the readings of instruments then replace
theirs (`sensors/sampling.py`).
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    dot,
    load3,
    load9,
    matrix_quaternion,
    rot,
    scale,
    store3,
    sub,
    unrot,
)
from limberjack.engine.compile.compiled import FLOATS, VECTORS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.contacts.meeting import wake_pairs
from limberjack.engine.kernels.contacts.touching import take_touches
from limberjack.engine.kernels.forces.applied_forces import applied_forces, drives_now
from limberjack.engine.kernels.forces.body_forces import attraction
from limberjack.engine.kernels.groups.paths import is_closed
from limberjack.engine.kernels.loops.dynamics import accelerate
from limberjack.engine.kernels.loops.reactions import find_forces, largest_residual, loop_force, loop_wrench
from limberjack.engine.kernels.loops.routines import place_one
from limberjack.engine.kernels.loops.switching import take_state
from limberjack.engine.kernels.nodes.frames import node_pose, node_velocity
from limberjack.engine.kernels.nodes.tree import sweep_poses, sweep_velocities
from limberjack.engine.kernels.sensors.sampling import show_readings
from limberjack.engine.kernels.sweeps.inverse_dynamics import inverse_dynamics
from limberjack.engine.kernels.sweeps.kinematics import (
    node_acceleration,
    rotor_energy,
    strain_energies,
    strain_energy,
    totals,
)
from limberjack.engine.tables import contacts as ct
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.drives import MO_ELASTIC, MO_Q, MO_RATIO, MO_V, MX_ANGLE, MX_CURRENT, MX_RATE
from limberjack.engine.tables.instruments import SUN
from limberjack.engine.tables.loops import L_SWITCH, SW_LOSS
from limberjack.engine.tables.plant import device_states, plant_view, work_view
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

# Codes: the order of SENSOR_TYPES (tables/sensor_types.py). A type that has no name here makes the import fail.
(
    POSITION,
    RATE,
    EFFORT,
    REACTION,
    NODE_POSITION,
    NODE_ORIENTATION,
    NODE_ANGULAR_VELOCITY,
    NODE_LINEAR_VELOCITY,
    GYRO,
    ACCELEROMETER,
    STRAIN_ENERGY,
    LOOP_WRENCH,
    LOOP_FORCE,
    LOOP_RESIDUAL,
    LOOP_CLOSED,
    LOOP_ENERGY_LOSS,
    MOTOR_CURRENT,
    MOTOR_POSITION,
    MOTOR_RATE,
    THRUST,
    STAR_TRACKER,
    SUN_SENSOR,
    MAGNETOMETER,
    CONTACT_FORCE,
    CONTACT_GAP,
    CONTACT_SLIP,
    CONTACT_TOUCHING,
) = range(len(SENSOR_TYPES))


@kernel
def _node_output(plant, work, kind, node, out, at):
    R, p = node_pose(plant, work, node)
    if kind == NODE_POSITION:
        store3(out, at, p)
    elif kind == NODE_ORIENTATION:
        x = matrix_quaternion(R)
        out[at], out[at + 1], out[at + 2], out[at + 3] = x
    elif kind == ACCELEROMETER:
        # α starts from -g at the ground, so this is the specific force, but for a central field.
        a = node_acceleration(plant, work, node)[1]
        if plant.elements.central.shape[0] > 0:
            a = sub(a, attraction(plant.elements.central[0], p))
        store3(out, at, unrot(R, a))
    else:
        w, u = node_velocity(plant, work, node)
        if kind == GYRO:
            w = unrot(R, w)
        store3(out, at, u if kind == NODE_LINEAR_VELOCITY else w)


@kernel
def sun_seen(plant, R):
    """Direction to the sun, of unit length, in the axes of a node."""
    sun = load3(plant.instruments.surroundings, SUN)
    return unrot(R, scale(1.0 / math.sqrt(dot(sun, sun)), sun))


@kernel
def _magnetic_field(plant, work, R):
    """All fields together in the axes of a node."""
    B = ZERO
    for i in range(plant.elements.magnetic_field.shape[0]):
        B = add(B, load3(work.elements.magnetism[i], 0))
    return unrot(R, B)


@kernel
def _optical_output(plant, work, s, out):
    """The readings of star trackers and sun sensors, and whether these are valid; their boresight is z of the node."""
    sensor, values = plant.sensor_int[s], plant.sensor[s]
    node, at = sensor[t.SI_TARGET], sensor[t.SI_OUTPUT]
    R = node_pose(plant, work, node)[0]
    sun = sun_seen(plant, R)
    if sensor[t.SI_TYPE] == SUN_SENSOR:
        store3(out, at, sun)
        out[at + 3] = 1.0 if sun[2] >= values[0] else 0.0
        return
    out[at], out[at + 1], out[at + 2], out[at + 3] = matrix_quaternion(R)
    w = node_velocity(plant, work, node)[0]
    slow = dot(w, w) <= values[0] * values[0]
    out[at + 4] = 1.0 if slow and sun[2] <= values[1] else 0.0


@kernel
def _drive_output(plant, work, kind, target, q, v):
    """The value of a sensor of a motor, at the rotor, or of a thruster."""
    if kind == THRUST:
        return work.elements.thrust[target]
    row, x, ratio = plant.drives.motor_int[target], work.drives.state[target], plant.drives.motor[target, MO_RATIO]
    if kind == MOTOR_CURRENT:
        return x[MX_CURRENT]
    elastic = row[MO_ELASTIC] == 1
    if kind == MOTOR_POSITION:
        return ratio * (x[MX_ANGLE] if elastic else q[row[MO_Q]])
    return ratio * (x[MX_RATE] if elastic else v[row[MO_V]])


@kernel
def _loop_output(plant, work, kind, l, R, q, out, at):
    """The value of a sensor of loop l, whose force is known. R: from canonical axes to the user's."""
    switch = plant.loops.loop_int[l, L_SWITCH]
    if kind == LOOP_WRENCH:
        n, f = loop_wrench(plant, work, l)
        store3(out, at, rot(R, n))
        store3(out, at + 3, rot(R, f))
    elif kind == LOOP_FORCE:
        out[at] = loop_force(plant, work, l)
    elif kind == LOOP_RESIDUAL:
        place_one(plant, work, l, q)
        out[at] = largest_residual(plant, work, l)
    elif kind == LOOP_CLOSED:
        out[at] = 1.0 if is_closed(plant, work, l) else 0.0
    else:
        out[at] = work.loops.switch[switch, SW_LOSS] if switch >= 0 else 0.0


@kernel
def _contact_output(plant, work, kind, target, out, at):
    """The value of a sensor of a contact: all its touches together, at the end of the last step."""
    ints, force, gap, slip, acts = plant.contacts.contact_int[target], ZERO, ct.APART, 0.0, 0.0
    for i in range(ints[ct.CI_PAIR], ints[ct.CI_PAIR] + ints[ct.CI_PAIRS]):
        pair = plant.contacts.pair_int[i]
        for j in range(pair[ct.PA_TOUCH], pair[ct.PA_TOUCH] + pair[ct.PA_TOUCHES]):
            row = work.contacts.touch[j]
            gap = min(gap, row[ct.TO_GAP])
            if row[ct.TO_ACTS] > 0.0:
                f = load3(row, ct.TO_FORCE)
                force = sub(force, f) if pair[ct.PA_FLIP] == 1 else add(force, f)
                if dot(f, f) > 0.0:
                    slip, acts = max(slip, row[ct.TO_SLIP]), 1.0
    if kind == CONTACT_FORCE:
        store3(out, at, force)
    else:
        out[at] = gap if kind == CONTACT_GAP else (slip if kind == CONTACT_SLIP else acts)


@kernel
def _forces_between(plant, work, q, v, out):
    """Outputs that need the forces of loops and, by one pass of inverse dynamics with these, of hinges."""
    closed, spare = plant.loops.loop_int.shape[0] > 0, work.vstage[0]
    if closed:
        find_forces(plant, work, q, v, work.tau, work.vdot, False, spare)
    for s in range(plant.sensor_int.shape[0]):
        sensor = plant.sensor_int[s]
        if LOOP_WRENCH <= sensor[t.SI_TYPE] <= LOOP_ENERGY_LOSS:
            R = load9(plant.sensor[s], 0)
            _loop_output(plant, work, sensor[t.SI_TYPE], sensor[t.SI_TARGET], R, q, out, sensor[t.SI_OUTPUT])
    inverse_dynamics(plant, work, q, v, work.vdot, 1.0, closed, spare)
    for s in range(plant.sensor_int.shape[0]):
        sensor = plant.sensor_int[s]
        if sensor[t.SI_TYPE] == REACTION:
            row, at, R = work.rows[sensor[t.SI_TARGET]], sensor[t.SI_OUTPUT], load9(plant.sensor[s], 0)
            store3(out, at, rot(R, load3(row, t.W_F)))
            store3(out, at + 3, rot(R, load3(row, t.W_F + 3)))


@kernel
def _see(plant, work, q, v, out):
    """Outputs of all sensors but those of forces between bodies, and whether there are such; velocities and poses are
    known."""
    between = False
    for s in range(plant.sensor_int.shape[0]):
        sensor = plant.sensor_int[s]
        kind, target, at = sensor[t.SI_TYPE], sensor[t.SI_TARGET], sensor[t.SI_OUTPUT]
        if kind == POSITION:
            out[at] = q[target]
        elif kind == RATE:
            out[at] = v[target]
        elif kind == EFFORT:
            out[at] = work.tau[target]
        elif kind == STRAIN_ENERGY:
            out[at] = strain_energy(plant, q, target - 1)
        elif kind == REACTION or LOOP_WRENCH <= kind <= LOOP_ENERGY_LOSS:
            between = True
        elif CONTACT_FORCE <= kind <= CONTACT_TOUCHING:
            _contact_output(plant, work, kind, target, out, at)
        elif kind == MAGNETOMETER:
            store3(out, at, _magnetic_field(plant, work, node_pose(plant, work, target)[0]))
        elif STAR_TRACKER <= kind <= SUN_SENSOR:
            _optical_output(plant, work, s, out)
        elif MOTOR_CURRENT <= kind <= THRUST:
            out[at] = _drive_output(plant, work, kind, target, q, v)
        else:
            _node_output(plant, work, kind, target, out, at)
    return between


@kernel
def look(plant, work, q, v, out):
    """Outputs (noutput,) of motion at a state; those of accelerations and forces are not meaningful."""
    sweep_velocities(plant, work, q, v)
    sweep_poses(plant, work)
    _see(plant, work, q, v, out)


@kernel
def observe(plant, work, q, v, command, out):
    """Outputs (noutput,) at a state; leaves applied forces in work.tau and accelerations in work.vdot.

    Motors and valves act as `drives_now` has them.
    """
    applied_forces(plant, work, q, v, command)
    accelerate(plant, work, q, v, work.tau, plant.armature, False, work.vdot)
    sweep_poses(plant, work)
    if _see(plant, work, q, v, out):
        _forces_between(plant, work, q, v, out)


@entry(VECTORS, FLOATS, FLOATS, FLOATS, FLOATS, worlds=True)
def observe_entry(ints, floats, work, state, tau, vdot, out):
    """Applied forces tau (nv,), accelerations vdot (nv,) and outputs out (noutput,) at State."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[t.C_Q], ints[t.C_V]
    q, v = vector_view(state, t.S_Q, nq), vector_view(state, t.S_Q + nq, nv)
    command = vector_view(state, t.S_Q + nq + nv, plant.commands)
    take_state(ints, plant, scratch, state)
    take_touches(ints, scratch, state)
    wake_pairs(plant, scratch)
    drives_now(ints, plant, scratch, state, q, v, command)
    observe(plant, scratch, q, v, command, out)
    for j in range(nv):
        tau[j], vdot[j] = scratch.tau[j], scratch.vdot[j]
    show_readings(plant, scratch, device_states(ints, state)[0], out)


@kernel
def survey(plant, work, q, v, out):
    """Energy, momentum and every node's motion at a state; `tables/plant.py` says where in out."""
    sweep_velocities(plant, work, q, v)
    sweep_poses(plant, work)
    # The twelve totals reach into the nodes' rows, which are written after them.
    totals(plant, work, vector_view(out, 1, 12))
    out[0] = out[1] + rotor_energy(plant, v)
    out[1] = out[2]
    out[9] = strain_energies(plant, q)
    out[2] = out[0] + out[1] + out[9]
    for node in range(plant.node_row.shape[0]):
        at = t.SURVEY_HEAD + t.SURVEY_NODE * node
        R, p = node_pose(plant, work, node)
        w, u = node_velocity(plant, work, node)
        store3(out, at, p)
        x = matrix_quaternion(R)
        out[at + 3], out[at + 4], out[at + 5], out[at + 6] = x
        store3(out, at + 7, w)
        store3(out, at + 10, u)


@entry(VECTORS, FLOATS, FLOATS, worlds=True)
def survey_entry(ints, floats, work, state, out):
    """out (10 + 13 nodes,): kinetic (with rotors), potential, total energy; momentum (6); strain energy; the nodes."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[t.C_Q], ints[t.C_V]
    survey(plant, scratch, vector_view(state, t.S_Q, nq), vector_view(state, t.S_Q + nq, nv), out)
