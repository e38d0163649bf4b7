"""Ideal sensors: what the model's outputs are at a state, its applied forces included."""

from __future__ import annotations

from limberjack.engine.forward_dynamics import forward_dynamics
from limberjack.engine.integrate import applied_forces
from limberjack.engine.inverse_dynamics import inverse_dynamics
from limberjack.engine.kernel import entry, kernel
from limberjack.engine.kinematics import node_acceleration, node_pose, node_velocity, rotor_energy, sweep_poses, totals
from limberjack.engine.layout import (
    C_Q,
    C_V,
    S_Q,
    SI_OUTPUT,
    SI_TARGET,
    SI_TYPE,
    SURVEY_HEAD,
    SURVEY_NODE,
    W_F,
    plant_view,
    work_view,
)
from limberjack.engine.spatial import load3, load9, matrix_quaternion, rot, store3, unrot
from limberjack.engine.tree import sweep_velocities
from limberjack.engine.views import vector_view

# Codes: the order of SENSOR_TYPES in system/system.py.
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
) = range(10)


@kernel
def _node_output(plant, work, kind, node, out, at):
    R, p = node_pose(plant, work, node)
    if kind == NODE_POSITION:
        store3(out, at, p)
    elif kind == NODE_ORIENTATION:
        x = matrix_quaternion(R)
        out[at], out[at + 1], out[at + 2], out[at + 3] = x
    elif kind == ACCELEROMETER:
        # α starts from -g at the ground, so this is the specific force.
        store3(out, at, unrot(R, node_acceleration(plant, work, node)[1]))
    else:
        w, u = node_velocity(plant, work, node)
        if kind == GYRO:
            w = unrot(R, w)
        store3(out, at, u if kind == NODE_LINEAR_VELOCITY else w)


@kernel
def _reactions(plant, work, q, v, out):
    """Forces across hinges: needs one pass of inverse dynamics over the accelerations in work.vdot."""
    found = False
    for s in range(plant.sensor_int.shape[0]):
        sensor = plant.sensor_int[s]
        if sensor[SI_TYPE] == REACTION:
            if not found:
                inverse_dynamics(plant, work, q, v, work.vdot, 1.0, False, work.vstage[0])
                found = True
            row, at, R = work.rows[sensor[SI_TARGET]], sensor[SI_OUTPUT], load9(plant.sensor[s], 0)
            store3(out, at, rot(R, load3(row, W_F)))
            store3(out, at + 3, rot(R, load3(row, W_F + 3)))


@kernel
def observe(plant, work, q, v, command, out):
    """Outputs (noutput,) at a state; leaves applied forces in work.tau and accelerations in work.vdot."""
    applied_forces(plant, work, q, v, command)
    forward_dynamics(plant, work, q, v, work.tau, plant.armature, False, work.vdot)
    sweep_poses(plant, work)
    for s in range(plant.sensor_int.shape[0]):
        sensor = plant.sensor_int[s]
        kind, target, at = sensor[SI_TYPE], sensor[SI_TARGET], sensor[SI_OUTPUT]
        if kind == POSITION:
            out[at] = q[target]
        elif kind == RATE:
            out[at] = v[target]
        elif kind == EFFORT:
            out[at] = work.tau[target]
        elif kind != REACTION:
            _node_output(plant, work, kind, target, out, at)
    _reactions(plant, work, q, v, out)


@entry
def observe_entry(ints, floats, work, state, tau, vdot, out):
    """Applied forces tau (nv,), accelerations vdot (nv,) and outputs out (noutput,) at State."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[C_Q], ints[C_V]
    q, v = vector_view(state, S_Q, nq), vector_view(state, S_Q + nq, nv)
    observe(plant, scratch, q, v, vector_view(state, S_Q + nq + nv, plant.ncommand), out)
    for j in range(nv):
        tau[j], vdot[j] = scratch.tau[j], scratch.vdot[j]


@kernel
def survey(plant, work, q, v, out):
    """Energy, momentum and every node's motion at a state; `layout.py` says where in out."""
    sweep_velocities(plant, work, q, v)
    sweep_poses(plant, work)
    # The twelve totals reach into the nodes' rows, which are written after them.
    totals(plant, work, vector_view(out, 1, 12))
    out[0] = out[1] + rotor_energy(plant, v)
    out[1] = out[2]
    out[2] = out[0] + out[1]
    for node in range(plant.node_row.shape[0]):
        at = SURVEY_HEAD + SURVEY_NODE * node
        R, p = node_pose(plant, work, node)
        w, u = node_velocity(plant, work, node)
        store3(out, at, p)
        x = matrix_quaternion(R)
        out[at + 3], out[at + 4], out[at + 5], out[at + 6] = x
        store3(out, at + 7, w)
        store3(out, at + 10, u)


@entry
def survey_entry(ints, floats, work, state, out):
    """out (9 + 13 nodes,): kinetic (with rotors), potential, total energy; momentum (6); the nodes."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[C_Q], ints[C_V]
    survey(plant, scratch, vector_view(state, S_Q, nq), vector_view(state, S_Q + nq, nv), out)
