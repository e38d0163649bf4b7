"""Compiled loops over the engine's kernels: each call takes the next of several states (a row each).

They are entries of a library of their own (`ours.loops`), which is built at first use.
"""

from __future__ import annotations

from benchmarks.engines import STEP_SECONDS
from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.compile.compiled import FLOATS, INTS, MATRIX, VECTOR, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry
from limberjack.engine.kernels.slopes.forward import forward_slopes, write_slopes
from limberjack.engine.kernels.slopes.inverse import inverse_slopes
from limberjack.engine.kernels.step.integrate import step
from limberjack.engine.kernels.sweeps.forward_dynamics import forward_dynamics
from limberjack.engine.kernels.sweeps.inverse_dynamics import inverse_dynamics
from limberjack.engine.kernels.sweeps.mass_matrix import mass_matrix
from limberjack.engine.tables.plant import C_Q, C_V, S_Q, plant_view, work_view
from limberjack.engine.tables.reports import OK, SEMI_IMPLICIT
from limberjack.engine.tables.slopes import slopes_view


@entry(WHOLE, VECTORS, MATRIX, MATRIX, MATRIX, VECTOR)
def forward_loop(calls, ints, floats, work, q, v, tau, out):
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    for i in range(calls):
        k = i % q.shape[0]
        forward_dynamics(plant, scratch, q[k], v[k], tau[k], plant.armature, False, out)


@entry(WHOLE, VECTORS, MATRIX, MATRIX, MATRIX, VECTOR)
def inverse_loop(calls, ints, floats, work, q, v, vdot, out):
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    for i in range(calls):
        k = i % q.shape[0]
        inverse_dynamics(plant, scratch, q[k], v[k], vdot[k], 1.0, False, out)


@entry(WHOLE, VECTORS, MATRIX, MATRIX, wide=True)
def mass_matrix_loop(calls, ints, floats, work, q, out):
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    for i in range(calls):
        mass_matrix(plant, scratch, q[i % q.shape[0]], out)


@entry(WHOLE, VECTORS, FLOATS, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR)
def inverse_slopes_loop(calls, ints, floats, work, slopes, q, v, vdot, spare, out):
    """spare (2, nv): for the forces that come along."""
    plant, scratch, room = plant_view(ints, floats), work_view(ints, work), slopes_view(ints, slopes)
    for i in range(calls):
        k = i % q.shape[0]
        inverse_dynamics(plant, scratch, q[k], v[k], vdot[k], 1.0, False, spare[0])
        inverse_slopes(plant, scratch, room, v[k], vdot[k])
        write_slopes(room, plant.dof.shape[0], 2, out)


@entry(WHOLE, VECTORS, FLOATS, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR)
def forward_slopes_loop(calls, ints, floats, work, slopes, q, v, tau, spare, out):
    """spare (2, nv): for the accelerations that come along, and zeros."""
    plant, scratch, room = plant_view(ints, floats), work_view(ints, work), slopes_view(ints, slopes)
    for i in range(calls):
        k = i % q.shape[0]
        forward_dynamics(plant, scratch, q[k], v[k], tau[k], plant.armature, False, spare[0])
        inverse_slopes(plant, scratch, room, v[k], spare[0])
        forward_slopes(plant, scratch, room, spare[1], spare[1])
        write_slopes(room, plant.dof.shape[0], 3, out)


@entry(WHOLE, VECTORS, MATRIX, MATRIX, MATRIX, INTS, FLOATS)
def step_loop(calls, ints, floats, work, q, v, command, report, state):
    """Each call puts one of the states in place and steps from there: states that drift would end anywhere.

    report (1,): how many steps diverged.
    """
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[C_Q], ints[C_V]
    q_now, v_now = vector_view(state, S_Q, nq), vector_view(state, S_Q + nq, nv)
    held = vector_view(state, S_Q + nq + nv, plant.commands)
    report[0] = 0
    for i in range(calls):
        k = i % q.shape[0]
        for j in range(nq):
            q_now[j] = q[k, j]
        for j in range(nv):
            v_now[j] = v[k, j]
        for j in range(plant.commands):
            held[j] = command[k, j]
        status, _ = step(plant, scratch, state, q_now, v_now, held, STEP_SECONDS, SEMI_IMPLICIT, 1, 1)
        report[0] += status != OK
