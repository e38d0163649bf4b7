"""Contact forces of a step: found implicitly at its end, constant over it.

0. touches that have acted for more than a step are held: a goes with their last forces, so that what rests is at rest.
   Those that turn out to be at another corner at the end of the step are not, and a is found again
1. the end of the step: v' = v + h a; for rk4 q' = q ⊕ ½ h (v + v'), for Euler's methods, which move along
   J(q) v', q' = q
2. gaps, normals and velocities of all touches there (`meeting.py`); Euler: g + h u
3. touches that act on each other are an island (`islands.py`); of each
4. what these velocities answer to forces: h W at q' (`answers.py`)
5. forces by which laws hold at the end of the step (`laws.py`, `solution.py`), a second time where shapes overlap
   deeply (`push_out.py`), and once more where restitution would add energy (`rebound.py`)
6. with rk4, accounts of the work that these forces are to do (`account.py`): if the stages then find that they added
   energy, the step is solved again

The forces then act on both links at one place of the inertial frame in every stage of the integrator
(`forces/contact_forces.py`), so that they do no more to momentum than the integrator does.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import matrix_view, vector_view
from limberjack.engine.algebra.spatial import ZERO, add_scaled, dot, load3, scale, store3
from limberjack.engine.compile.compiled import FLOATS, REAL, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel, routine
from limberjack.engine.kernels.contacts.account import forget_missed, open_own, work_left
from limberjack.engine.kernels.contacts.answers import find_answers, place_of, prepare_loops
from limberjack.engine.kernels.contacts.held import MOST_TRIES, let_go
from limberjack.engine.kernels.contacts.islands import (
    find_islands,
    forget,
    is_first,
    list_touches,
    note_motion,
    take_island,
)
from limberjack.engine.kernels.contacts.laws import LEVER, SOFT, STILL, depth_at, law_force, stiffness, stored
from limberjack.engine.kernels.contacts.meeting import carry_on, find_touches, note_start, wake_pairs
from limberjack.engine.kernels.contacts.polish import law_of
from limberjack.engine.kernels.contacts.push_out import PUSH, hold, limit, push_out, unbound
from limberjack.engine.kernels.contacts.pushed_work import tame
from limberjack.engine.kernels.contacts.rebound import lively, rebound_speed
from limberjack.engine.kernels.contacts.solution import solve_touches_routine
from limberjack.engine.kernels.contacts.speeds import copy_forces
from limberjack.engine.kernels.nodes.manifold import accelerate_along_start, move_to_end
from limberjack.engine.kernels.nodes.tree import sweep_poses, sweep_velocities
from limberjack.engine.kernels.sweeps.forward_dynamics import settle_with
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import (
    B_M,
    C_Q,
    C_V,
    Q_PASS,
    S_Q,
    V_PASS,
    plant_view,
    touch_place,
    vectors,
    work_view,
)

#: returned by `touch` if accelerations have to be computed again
AGAIN = -1
# rows of work.vstage and work.qstage; accelerations of a step's start
_A, _NEXT, _MEAN, _THERE = 0, V_PASS, V_PASS + 1, Q_PASS
#: smaller errors of a predicted gap are rounding, m: forces of what rests would change with them
_ROUNDED = 1e-10
#: a normal force that is more than twice that of the step before, and would alone change the speed of its touch by so
#: much more, is a jolt, as of an impact elsewhere, m/s
_JOLT = 0.1


@kernel
def _copy_touches(source, target):
    for i in range(source.shape[0]):
        for c in range(t.TOUCH):
            target[i, c] = source[i, c]


@kernel
def take_touches(ints, work, state):
    """Copy the touches from the State to work.contacts.touch."""
    _copy_touches(matrix_view(state, touch_place(ints), ints[t.C_TOUCHES], t.TOUCH), work.contacts.touch)


@kernel
def begin_touches(ints, plant, work, state):
    """The same at the start of a call, of which nothing is known yet."""
    take_touches(ints, work, state)
    forget_missed(work)
    wake_pairs(plant, work)


@kernel
def save_touches(ints, work, state):
    """Copy the touches from the State, at the start of a step whose parts change them, to work.contacts.before."""
    _copy_touches(matrix_view(state, touch_place(ints), ints[t.C_TOUCHES], t.TOUCH), work.contacts.before)


@kernel
def restore_touches(ints, work, state):
    """Copy those back."""
    _copy_touches(work.contacts.before, matrix_view(state, touch_place(ints), ints[t.C_TOUCHES], t.TOUCH))


@kernel
def _keep_touch(row, known):
    acts = row[t.TO_ACTS] != 0.0 or known[t.TO_ACTS] != 0.0
    if acts or row[t.TO_LAW] != 0.0 or known[t.TO_LAW] != 0.0 or row[t.TO_STORED] != known[t.TO_STORED]:
        for c in range(t.TOUCH):
            known[c] = row[c]


@kernel
def keep_touches(plant, ints, work, state):
    """Copy the touches from work.contacts.touch to the State; of pairs that sleep only the gap."""
    known = matrix_view(state, touch_place(ints), ints[t.C_TOUCHES], t.TOUCH)
    for i in range(plant.contacts.pair_int.shape[0]):
        pair, awake = plant.contacts.pair_int[i], work.contacts.awake[i]
        first, end, gap = pair[t.PA_TOUCH], pair[t.PA_TOUCH] + pair[t.PA_TOUCHES], awake[t.AW_GAP]
        if awake[t.AW_NEAR] == 0.0:
            for j in range(first, end):
                work.contacts.touch[j, t.TO_GAP] = gap
        for j in range(first, end):
            known[j, t.TO_GAP] = work.contacts.touch[j, t.TO_GAP]
        if awake[t.AW_LIVE] > 0.0 or awake[t.AW_KEPT] > 0.0:
            awake[t.AW_KEPT] = awake[t.AW_LIVE]
            for j in range(first, end):
                _keep_touch(work.contacts.touch[j], known[j])


@kernel
def wake_all(work):
    """No pair sleeps."""
    for i in range(work.contacts.awake.shape[0]):
        awake = work.contacts.awake[i]
        awake[t.AW_NEAR], awake[t.AW_BEGAN], awake[t.AW_LIVE], awake[t.AW_KEPT] = 1.0, 1.0, 1.0, 1.0


@kernel
def _predict(plant, work, q, v, h, share):
    """Compute the end of the step with the held forces: poses and velocities of the links, and touches there."""
    ahead, mean, there, a = work.vstage[_NEXT], work.vstage[_MEAN], work.qstage[_THERE], work.vstage[_A]
    for j in range(v.shape[0]):
        mean[j] = a[j]
    if share < 1.0:
        accelerate_along_start(plant, q, v, mean)
    for j in range(v.shape[0]):
        ahead[j] = v[j] + h * mean[j]
        mean[j] = 0.5 * (v[j] + ahead[j])
    if share < 1.0:
        move_to_end(plant, q, mean, h, there, ahead)
    else:
        for i in range(q.shape[0]):
            there[i] = q[i]
    sweep_velocities(plant, work, there, ahead)
    sweep_poses(plant, work)
    find_touches(plant, work, h, (2.0 - 2.0 * share) * h, True)
    if share == 1.0:
        carry_on(plant, work, h)


@kernel
def _stored(work, active, law, h):
    """Work that the normal force of a compliant touch may return, over half of the step: what it took up, or where that
    is not known, what its law stores as deep as it is at the start of the step."""
    met, known = work.contacts.met[int(active[t.AC_TOUCH])], work.contacts.touch[int(active[t.AC_TOUCH])]
    held = known[t.TO_STORED]
    if held < 0.0:
        held = stored(law, -met[t.ME_START]) if met[t.ME_BEGAN] > 0.0 else 0.0
    return 2.0 * law[t.K_STIFFNESS] * held / h


@kernel
def _keep_stored(plant, work, i, law, speed, h, share):
    """Subtract the work that the normal force of the compliant block i did from the work that it stores."""
    active = work.contacts.active[i]
    held, both = _stored(work, active, law, h), active[t.AC_CAME] + speed
    left = work_left(held - active[t.AC_FORCE] * both, h, law[t.K_STIFFNESS])
    work.contacts.touch[int(active[t.AC_TOUCH]), t.TO_STORED] = left
    if share < 1.0 and active[t.AC_FORCE] > 0.0:
        open_own(plant, work, i, held, both, h)


@kernel
def _missed(active, known, met, h):
    """How much faster a gap closed in the last step than Euler's methods predict along J(q) v', if its touch acted.

    The normal turns with the shapes: a cylinder that spins about an axis beside its own sinks by ½ ω² r h² a step.
    """
    missed = known[t.TO_GAP] - met[t.ME_START]
    if active[t.AC_STEPS] < 2.0 or met[t.ME_BEGAN] == 0.0 or abs(missed) < _ROUNDED:
        return 0.0
    return max(-PUSH, min(PUSH, missed / h))


@kernel
def _prepare(plant, work, i, n, h, share, light):
    """Prepare the numbers that the laws of the forces in block i, one of n, need besides their velocity.

    light : AC_LIGHT
    """
    active = work.contacts.active[i]
    j = int(active[t.AC_TOUCH])
    unbound(active)
    if active[t.AC_TURNS] > 0.0:
        return
    law, met = plant.contacts.contact[law_of(plant, work, i)], work.contacts.met[j]
    gap, free, own = met[t.ME_GAP], active[t.AC_FREE], work.contacts.answer[3 * i, 3 * i]
    came = dot(load3(active, t.AC_BASIS), load3(met, t.ME_ONCE)) if met[t.ME_BEGAN] > 0.0 else free
    active[t.AC_CAME], active[t.AC_LIGHT] = came, light
    if law[t.K_STIFFNESS] > 0.0:
        z = h * own * stiffness(law, max(0.0, -gap))
        full = z * z / (1.0 + z * z)
        active[t.AC_SHARE], active[t.AC_MOVE] = 1.0 - share + share * full, h * (share + (1.0 - share) * full)
        active[t.AC_STORED] = max(0.0, _stored(work, active, law, h) - work.contacts.missed[j, t.MI_OWN])
        return
    start = met[t.ME_START] if met[t.ME_BEGAN] > 0.0 else gap - h * free
    A = work.contacts.answer
    across = A[3 * i + 1, 3 * i + 1] + A[3 * i + 2, 3 * i + 2]
    active[t.AC_MOVE] = h * share
    active[t.AC_SOFT] = SOFT * max(own, LEVER * light) if own > STILL * max(across, light) else 0.0
    active[t.AC_AIM] = min(0.0, free - gap / (h * share))
    if start < 0.0:
        hold(active, own, -start, h)
    limit(active, own, h)
    if share == 1.0:
        active[t.AC_AIM] += _missed(active, work.contacts.touch[j], met, h)
    active[t.AC_CALM], e = active[t.AC_AIM], law[t.K_RESTITUTION]
    if e > 0.0 and free < 0.0 and gap < 0.0 and work.contacts.touch[j, t.TO_LAW] == 0.0:
        rebound = rebound_speed(gap, free, came, e, h, share)
        if n == 1:  # there is no touch beside it for which it would have to be soft
            rebound += SOFT * (rebound - free)
        active[t.AC_AIM] = max(active[t.AC_AIM], rebound)


@kernel
def _along(active):
    """The forces or moments of a block, inertial axes."""
    force = scale(active[t.AC_FORCE], load3(active, t.AC_BASIS))
    force = add_scaled(force, active[t.AC_FORCE + 1], load3(active, t.AC_BASIS + 3))
    return add_scaled(force, active[t.AC_FORCE + 2], load3(active, t.AC_BASIS + 6))


@kernel
def _steps(active, known, own):
    """For how many steps a touch has acted, counted from the last jolt; own: its answer to its own force."""
    before, force = known[t.TO_LAW], active[t.AC_FORCE]
    jolted = force > 2.0 * before and own * (force - before) > _JOLT
    return 1.0 if jolted else active[t.AC_STEPS] + 1.0


@kernel
def _keep(plant, work, i, h, share):
    """Forces of block i, and their law at the end of the step, for the next one; or its moments."""
    active = work.contacts.active[i]
    j = int(active[t.AC_TOUCH])
    known, met, speed = work.contacts.touch[j], work.contacts.met[j], work.contacts.speed[3 * i]
    if active[t.AC_TURNS] > 0.0:
        store3(known, t.TO_MOMENT, _along(active) if known[t.TO_ACTS] > 0.0 else ZERO)
        return
    law, own = plant.contacts.contact[law_of(plant, work, i)], work.contacts.answer[3 * i, 3 * i]
    depth, steps = depth_at(active, met[t.ME_GAP], speed), _steps(active, known, own)
    known[t.TO_LAW] = active[t.AC_FORCE]
    if law[t.K_STIFFNESS] > 0.0:
        known[t.TO_LAW] = law_force(law, depth, speed)
        _keep_stored(plant, work, i, law, speed, h, share)
    acts = not active[t.AC_FORCE] <= 0.0  # one at NaN too, so that the step fails
    known[t.TO_GAP], known[t.TO_ACTS] = -depth, steps if acts else 0.0
    store3(known, t.TO_FORCE, _along(active) if acts else ZERO)
    store3(known, t.TO_MOMENT, ZERO)
    if acts:  # the rest stays as it was in the last step with a force, which the State has as well
        known[t.TO_SLIP] = math.sqrt(work.contacts.speed[3 * i + 1] ** 2 + work.contacts.speed[3 * i + 2] ** 2)
        store3(known, t.TO_POINT, place_of(met, share))
        store3(known, t.TO_NORMAL, load3(active, t.AC_BASIS))


@kernel
def _whole_mass(plant):
    """The mass of all bodies, kg."""
    mass = 0.0
    for k in range(plant.body.shape[0]):
        mass += plant.body[k, B_M]
    return mass


@routine(WHOLE, FLOATS, REAL, REAL)
def islands_routine(ints, floats, vector, count, q, h, share):
    """Forces of the islands of `count` touches at the end q of a step, where P, D and G of the links are known."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    looped = work.loops.path.shape[0] > 0 and prepare_loops(plant, work, q)
    light = h / _whole_mass(plant)
    for first in range(count):
        if is_first(work, first):
            n = take_island(plant, work, first)
            find_answers(plant, work, n, h, looped)
            for i in range(n):
                _prepare(plant, work, i, n, h, share, light)
            most, pushed = 0.0, False
            for _ in range(3):
                solved = solve_touches_routine(ints, floats, vector, n)
                if solved and push_out(plant, work, n, h):  # else it is not known what presses on a touch
                    copy_forces(work, n, t.AC_FORCE, t.AC_BORNE)
                    pushed = True
                    continue
                if solved and pushed:
                    tame(plant, work, n, h)
                most = lively(plant, work, n, h, share, looped, most)
                if most == 0.0:
                    break
            for i in range(n):
                _keep(plant, work, i, h, share)


@routine(FLOATS, FLOATS, REAL, REAL, WHOLE, returns=WHOLE)
def touch_routine(ints, floats, vector, q, v, h, share, tries):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    work.contacts.opened[0] = 0.0
    find_touches(plant, work, h, share * h, False)
    note_start(plant, work)
    _predict(plant, work, q, v, h, share)
    if tries < MOST_TRIES and let_go(plant, work, h, share, tries):
        return AGAIN
    count = list_touches(plant, work, h)
    work.contacts.found[t.FO_TOUCHES], work.contacts.found[t.FO_FAILED] = count, 0.0
    if count == 0:
        return 0
    blocks = find_islands(plant, work, count)
    if blocks <= work.contacts.active.shape[0]:
        note_motion(plant, work, count, 4.0 * share * (1.0 - share) * h)
        settle_with(plant, work, work.qstage[_THERE], work.inertia_add)
        islands_routine(ints, floats, vector, count, work.qstage[_THERE], h, share)
    return blocks


@kernel
def touch(plant, work, q, v, h, share, tries):
    """work.contacts.touch for a step of h from q, v, whose accelerations with the forces that are held are in
    work.vstage[0]; returns how many blocks the largest island has, which may be more than there is room for. share: c.

    AGAIN: fewer forces are held than these accelerations have; tries: how often that was so, MOST_TRIES times at most.
    """
    ints, floats, vector = vectors(plant, work)
    return touch_routine(ints, floats, vector, q, v, h, share, tries)


@entry(VECTORS, FLOATS)
def gaps_entry(ints, floats, work, state):
    """Gaps of all touches at State, which has no contact forces then; of shapes far apart at least so much."""
    plant, scratch, nq = plant_view(ints, floats), work_view(ints, work), ints[C_Q]
    sweep_velocities(plant, scratch, vector_view(state, S_Q, nq), vector_view(state, S_Q + nq, ints[C_V]))
    sweep_poses(plant, scratch)
    wake_all(scratch)
    for j in range(scratch.contacts.touch.shape[0]):
        forget(scratch, j, 0.0)  # so that no touch has a row yet
    find_touches(plant, scratch, 0.0, 0.0, False)
    for j in range(scratch.contacts.touch.shape[0]):
        known = scratch.contacts.touch[j]
        known[t.TO_GAP], known[t.TO_STORED] = scratch.contacts.met[j, t.ME_GAP], -1.0
    keep_touches(plant, ints, scratch, state)
