"""Fixed-step integrators on the coordinate manifold, and the compiled loop over steps.

rk4            fourth-order Runge-Kutta-Munthe-Kaas in the chart of `manifold.py`
semi_implicit  v⁺ = v + h a(q, v),  q⁺ = q ⊕ h v⁺
implicit       (M + h C + h² K) a = T - h K v - bias,  v⁺ = v + h a,  q⁺ = q ⊕ h v⁺
               with C, K the hinge-diagonal damping and stiffness of `forces.py`: they join the armature inside
               the articulated inertia, so the cost stays O(N)

The last two add h a along the axes of the step's start, and turn velocities of free hinges with their axes afterwards
(`nodes/manifold.py`). They move dependent coordinates of embedded loops with v⁺ - ½ h β (`foresee` in
`loops/simplified_newton.py`).

Loops are switched as commanded before a step (`loops/switching.py`), driven so that they reach their commands at its
end (`loops/prescribed_motion.py`), and closed again after each of its parts (`loops/projection.py`). Motors
(`forces/motor.py`) are solved along with each part, valves of thrusters (`forces/valve.py`) over the whole step;
instruments (`sensors/sampling.py`) sample at its end.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.compile.compiled import FLAG, FLOATS, INTS, REAL, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel, routine
from limberjack.engine.kernels.contacts.account import MOST_SOLUTIONS, add_work_routine, added_energy, close_accounts
from limberjack.engine.kernels.contacts.held import MOST_TRIES, hold_touches
from limberjack.engine.kernels.contacts.touching import (
    AGAIN,
    begin_touches,
    keep_touches,
    restore_touches,
    save_touches,
    take_touches,
    touch,
    wake_all,
)
from limberjack.engine.kernels.forces.applied_forces import applied_forces
from limberjack.engine.kernels.forces.hinge_forces import (
    DAMPING,
    STIFFNESS,
    end_friction,
    friction_holds,
    start_motors,
)
from limberjack.engine.kernels.forces.motor import finish_motors, keep_motors, take_motors
from limberjack.engine.kernels.forces.valve import finish_valves, start_valves
from limberjack.engine.kernels.loops.dynamics import accelerate, choose, close, close_stage, is_near
from limberjack.engine.kernels.loops.prescribed_motion import begin_drives, set_drives, set_mean_drives, take_commands
from limberjack.engine.kernels.loops.rolling import fallen_disc
from limberjack.engine.kernels.loops.simplified_newton import foresee
from limberjack.engine.kernels.loops.switching import follow_commands, keep_switches, take_state
from limberjack.engine.kernels.nodes.manifold import (
    accelerate_along_start,
    accelerate_in_start,
    chart_rates,
    fly_straight,
    is_flat,
    move_to_end,
    retract,
    turn_from_start,
)
from limberjack.engine.kernels.sensors.instruments import take_samples
from limberjack.engine.kernels.step.state_validity import health
from limberjack.engine.tables.contacts import FO_FAILED, FO_TOUCHES
from limberjack.engine.tables.drives import MO_Q, MO_V
from limberjack.engine.tables.loops import AFRESH, HELD
from limberjack.engine.tables.plant import (
    C_Q,
    C_V,
    S_Q,
    S_STEPS,
    S_TIME,
    V_CLOSE,
    device_states,
    plant_view,
    vectors,
    work_view,
)
from limberjack.engine.tables.reports import CROWDED, IMPLICIT, LOOP_OPEN, OK, RK4

#: how often an implicit step of a model with contacts is solved at most, until friction on hinges fits
MOST_PASSES = 20

# rows of work.vstage and work.qstage; _AHEAD is a stage of rk4 as well
_A, _AHEAD, _V, _VSTART = 0, 1, 4, 7
_RATE, _SIGMA, _QS, _QNEW, _QSTART = 0, 4, 5, 6, 7


@kernel
def _accelerate(plant, work, q, v, command, h, implicit, touching, out):
    """Accelerations (nv,) from state and commands; implicit: those of the linearly implicit method for a step h.
    touching: a constant, as in `_integrate`."""
    applied_forces(plant, work, q, v, command)
    if touching and implicit:
        end_friction(plant, work, v, work.vstage[_AHEAD])
    add = work.inertia_add
    for j in range(v.shape[0]):
        add[j] = plant.armature[j]
        if implicit:
            k, c = work.vstage[STIFFNESS, j], work.vstage[DAMPING, j]
            add[j] += h * (c + h * k)
            work.tau[j] -= h * k * v[j]
    accelerate(plant, work, q, v, work.tau, add, False, out)


@routine(FLOATS, FLOATS, FLOATS, REAL, FLAG)
def again_routine(ints, floats, vector, q, v, command, h, implicit):
    """`_accelerate` of the first stage with contact forces; not inlined, since a second copy would slow down all
    steps."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    _accelerate(plant, work, q, v, command, h, implicit, True, work.vstage[_A])


@routine(FLOATS, FLOATS, FLOATS)
def straight_routine(ints, floats, vector, q, v, a):
    """`accelerate_along_start`; not inlined either."""
    accelerate_along_start(plant_view(ints, floats), q, v, a)


@routine(FLOATS, FLOATS, FLOATS)
def from_start_routine(ints, floats, vector, sigma, v, a):
    """`accelerate_in_start`."""
    accelerate_in_start(plant_view(ints, floats), sigma, v, a)


@routine(FLOATS, FLOATS)
def turn_routine(ints, floats, vector, sigma, v):
    """`turn_from_start`."""
    turn_from_start(plant_view(ints, floats), sigma, v)


@kernel
def _stage(plant, work, q, v, h, stage):
    """The state at h along the rates of `stage`: work.qstage[_QS], work.vstage[_V]."""
    sigma, rate, a = work.qstage[_SIGMA], work.qstage[_RATE + stage], work.vstage[_A + stage]
    for i in range(q.shape[0]):
        sigma[i] = h * rate[i]
    for j in range(v.shape[0]):
        work.vstage[_V, j] = v[j] + h * a[j]
    retract(plant, q, sigma, work.qstage[_QS])


@kernel
def _finish_rk4(plant, work, q, v, h):
    """The new state from four stages."""
    sigma, r, a, w = work.qstage[_SIGMA], work.qstage, work.vstage, h / 6.0
    for i in range(q.shape[0]):
        sigma[i] = w * (r[0, i] + 2.0 * (r[1, i] + r[2, i]) + r[3, i])
    for j in range(v.shape[0]):
        a[_V, j] = v[j] + w * (a[0, j] + 2.0 * (a[1, j] + a[2, j]) + a[3, j])
    retract(plant, q, sigma, work.qstage[_QNEW])


@kernel
def _finish_euler(plant, work, q, v, h, straight):
    """The new state from one stage: v⁺ = v + h a, q⁺ = q ⊕ h v⁺; `foresee` has the dependent velocities.

    straight : a constant, whether `accelerate_along_start` has changed a, which contacts must know before
    """
    a, new, way = work.vstage[_A], work.vstage[_V], work.vstage[_V]
    for j in range(v.shape[0]):
        new[j] = v[j] + h * a[j]
    if not straight:
        fly_straight(plant, q, v, a, h, new)
    if plant.loops.group_int.shape[0] > 0:
        way = work.vstage[V_CLOSE]
        foresee(plant, work, q, new, h, way)
    move_to_end(plant, q, way, h, work.qstage[_QNEW], new)


@kernel
def _begin_rk4(plant, work, q, v):
    """The state of the first stage."""
    for i in range(q.shape[0]):
        work.qstage[_SIGMA, i] = 0.0
        work.qstage[_QS, i] = q[i]
    for j in range(v.shape[0]):
        work.vstage[_V, j] = v[j]


@kernel
def _integrate(plant, work, q, v, command, left, h, integrator, touching):
    """One part of a step, `left` seconds before drives are where their commands have them.

    The new state is left in work.qstage[_QNEW], work.vstage[_V]. Returns 0, or how many shapes touch if these are
    more than contacts have room for. touching : a constant, whether the model has contacts.
    """
    staged, looped, near = integrator == RK4, plant.loops.loop_int.shape[0] > 0, False
    touches = 0
    turning = touching and not staged and not is_flat(plant, q)
    if staged:
        _begin_rk4(plant, work, q, v)
    for stage in range(4 if staged else 1):
        part = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        qs, vs = q, v
        if staged:
            qs, vs = work.qstage[_QS], work.vstage[_V]
            if stage > 0:
                _stage(plant, work, q, v, part, stage - 1)
                if touching and touches > 0:
                    ints, floats, vector = vectors(plant, work)
                    turn_routine(ints, floats, vector, work.qstage[_SIGMA], vs)
            set_drives(plant, work, left - part)
            if near and stage > 0:
                close_stage(plant, work, qs, vs)
            chart_rates(plant, qs, work.qstage[_SIGMA], vs, work.qstage[_RATE + stage])
        else:
            set_mean_drives(plant, work, left, h)
        implicit = integrator == IMPLICIT
        if touching and stage == 0:
            hold_touches(plant, work)
        _accelerate(plant, work, qs, vs, command, h, implicit, touching, work.vstage[_A + stage])
        if turning:
            ints, floats, vector = vectors(plant, work)
            straight_routine(ints, floats, vector, q, v, work.vstage[_A])
        if touching and stage == 0:
            for tries in range(MOST_TRIES + 1):
                touches = touch(plant, work, qs, vs, h, 0.5 if staged else 1.0, tries)
                if touches != AGAIN:
                    break
                ints, floats, vector = vectors(plant, work)
                again_routine(ints, floats, vector, qs, vs, command, h, implicit)
                if turning:
                    straight_routine(ints, floats, vector, q, v, work.vstage[_A])
            if touches > work.contacts.active.shape[0]:
                return touches
            if touches > 0:
                ints, floats, vector = vectors(plant, work)
                again_routine(ints, floats, vector, qs, vs, command, h, implicit)
                if turning:
                    straight_routine(ints, floats, vector, q, v, work.vstage[_A])
        if touching and staged and touches > 0:
            ints, floats, vector = vectors(plant, work)
            if work.contacts.opened[0] > 0.0:
                add_work_routine(ints, floats, vector, (1.0 if stage == 0 or stage == 3 else 2.0) / 6.0)
            from_start_routine(ints, floats, vector, work.qstage[_SIGMA], vs, work.vstage[_A + stage])
        if looped and staged and stage == 0:
            near = is_near(plant, work)
            choose(plant, work, HELD)
    if looped:
        choose(plant, work, AFRESH)
    if staged:
        _finish_rk4(plant, work, q, v, h)
        if touching and touches > 0:
            ints, floats, vector = vectors(plant, work)
            turn_routine(ints, floats, vector, work.qstage[_SIGMA], work.vstage[_V])
    else:
        _finish_euler(plant, work, q, v, h, touching)
    return 0


@kernel
def _copy(source, target):
    for i in range(source.shape[0]):
        target[i] = source[i]


@routine(FLOATS, FLOATS, FLOATS, FLOATS, REAL, REAL, WHOLE, returns=WHOLE)
def touching_routine(ints, floats, vector, state, q, v, command, left, h, integrator):
    """`_integrate` of a model with contacts; not inlined, since its code would slow down the steps of all other models.

    A step is solved again, from the touches of the State, if its end shows that it began with something else:
    implicit: an impact changes the rates of hinges, so that Coulomb friction on them is far from its tangent at the
    start. Dampers take its place, with the force of friction at the rates at which the last solution ends.
    rk4: contact forces added energy (`contacts/account.py`).
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    touches, solutions, implicit, found = 0, 0, integrator == IMPLICIT, work.contacts.found
    most = MOST_PASSES if implicit else MOST_SOLUTIONS
    if implicit:
        _copy(v, work.vstage[_AHEAD])
    for solutions in range(1, most + 1):
        touches = _integrate(plant, work, q, v, command, left, h, integrator, True)
        if touches > 0 or solutions == most or (solutions == 1 and found[FO_TOUCHES] == 0.0):
            break
        holds = implicit and friction_holds(plant, v, work.vstage[_AHEAD], work.vstage[_V])
        if holds or (implicit and solutions > 1 and found[FO_FAILED] > 0.0):
            break
        if not implicit and not added_energy(work):
            break
        take_touches(ints, work, state)
        wake_all(work)
    if not implicit:
        close_accounts(plant, work, h, solutions > 1)
    return touches


@kernel
def _part(plant, work, state, q, v, command, left, h, integrator):
    """One part of a step, its loops closed again; returns (status, index: velocity, coordinate, loop or number of
    touches)."""
    if plant.contacts.pair_int.shape[0] > 0:
        ints, floats, vector = vectors(plant, work)
        touches = touching_routine(ints, floats, vector, state, q, v, command, left, h, integrator)
    else:
        touches = _integrate(plant, work, q, v, command, left, h, integrator, False)
    if touches > 0:
        return CROWDED, touches
    q_new, v_new = work.qstage[_QNEW], work.vstage[_V]
    status, index = health(q_new, v_new)
    if status == OK and plant.loops.loop_int.shape[0] > 0:
        set_drives(plant, work, left - h)
        loop = fallen_disc(plant, work, q_new, v_new, h)
        if loop < 0:
            loop = close(plant, work, q_new, v_new, integrator == RK4)
        if loop >= 0:
            return LOOP_OPEN, loop
        return health(q_new, v_new)
    return status, index


@kernel
def _acting_rates(plant, work, q, v, h, integrator):
    """work.vstage[_A] = the rates at which damping acted on joints with motors in the part of a step that is done.

    implicit: those at its end, semi_implicit: at its start, rk4: the mean over its stages, which is (q⁺ - q)/h.
    """
    rates = work.vstage[_A]
    for m in range(plant.drives.motor.shape[0]):
        i, j = plant.drives.motor_int[m, MO_Q], plant.drives.motor_int[m, MO_V]
        if integrator == RK4:
            rates[j] = (work.qstage[_QNEW, i] - q[i]) / h
        else:
            rates[j] = work.vstage[_V, j] if integrator == IMPLICIT else v[j]


@kernel
def step(plant, work, state, q, v, command, dt, integrator, substeps, ahead):
    """One step of dt in `substeps` equal parts; returns (status, index as `_part`). A bad step changes nothing but
    the switches and motors in Work. Drives are where their commands have them at the end of step `ahead`, 1 for this
    one."""
    h, left = dt / substeps, ahead * dt
    keep = substeps > 1 or work.loops.switch.shape[0] > 0  # otherwise q and v do not change until the step is done
    if keep:
        _copy(q, work.qstage[_QSTART])
        _copy(v, work.vstage[_VSTART])
    ints, touching = vectors(plant, work)[0], plant.contacts.pair_int.shape[0] > 0
    if touching and substeps > 1:
        save_touches(ints, work, state)
    driven = work.loops.drive.shape[0] > 0
    if driven:
        take_commands(plant, work, command)
        set_drives(plant, work, left)
    if work.loops.switch.shape[0] > 0:
        follow_commands(plant, work, q, v, command)
    if driven:
        begin_drives(plant, work, q, v, left)
    for i in range(substeps):
        start_motors(plant, work, q, v, command, h)
        status, index = _part(plant, work, state, q, v, command, left - i * h, h, integrator)
        if status != OK:
            if keep:
                _copy(work.qstage[_QSTART], q)
                _copy(work.vstage[_VSTART], v)
            if touching and substeps > 1:
                restore_touches(ints, work, state)
            return status, index
        if touching:
            keep_touches(plant, ints, work, state)
        if plant.drives.motor.shape[0] > 0:
            _acting_rates(plant, work, q, v, h, integrator)
            finish_motors(plant, work, work.vstage[_V], work.vstage[_A], h)
        _copy(work.qstage[_QNEW], q)
        _copy(work.vstage[_V], v)
    state[S_STEPS] += 1.0
    state[S_TIME] = state[S_STEPS] * dt
    return OK, 0


@entry(VECTORS, FLOATS, REAL, WHOLE, WHOLE, WHOLE, WHOLE, INTS, worlds=True)
def advance_entry(ints, floats, work, state, dt, integrator, substeps, steps, ahead, report):
    """Advance State by `steps` steps of dt. report (3,) int64: status, index, steps done.

    ahead : steps from now at whose end prescribed motions are where their commands have them, at least `steps`: those
        that the caller takes together

    The index is that of the velocity j (or -1 - coordinate) that is not finite or too fast, or of the loop that stays
    open.
    """
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    nq, nv = ints[C_Q], ints[C_V]
    q, v = vector_view(state, S_Q, nq), vector_view(state, S_Q + nq, nv)
    command = vector_view(state, S_Q + nq + nv, plant.commands)
    report[0], report[1], report[2] = OK, 0, 0
    readings, drives = device_states(ints, state)
    take_state(ints, plant, scratch, state)
    take_motors(plant, scratch, drives)
    begin_touches(ints, plant, scratch, state)
    take_samples(ints, plant, scratch, state, readings, 0, dt)
    for i in range(steps):
        number = int(state[S_STEPS])
        start_valves(plant, scratch, drives, command, number, dt)
        status, index = step(plant, scratch, state, q, v, command, dt, integrator, substeps, ahead - i)
        if status != OK:
            report[0], report[1] = status, index
            return
        keep_switches(ints, scratch, state)
        keep_motors(plant, scratch, drives)
        finish_valves(plant, drives, command, number, dt)
        take_samples(ints, plant, scratch, state, readings, number + 1, dt)
        report[2] += 1
