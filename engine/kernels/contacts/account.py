"""The work that contact forces do over a step with rk4, as its stages add it up.

`rebound.py` and `laws.py` predict that work with velocities that are linear over the step and with one W. Where shapes
turn, neither is so: a rod at 20 rad/s gained up to 1.5 % of its energy, a box on a spring 3e-4. The sum over the stages

    h Σ w (f·u + m·ω)        w = 1/6, 1/3, 1/3, 1/6;  u, ω relative, at the place where f acts

is what the forces add to the energy, up to the error of rk4. Accounts are kept of islands with restitution, which may
do no positive work, and of normal forces of compliant touches of shapes that turn, which may return what they stored.
If one has done more, the step is solved again, and what the prediction missed is added to it. Each time leaves about
ω h of what was missed.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import dot, load3, sub
from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.compiled import REAL
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.broad_phase import velocity_at
from limberjack.engine.kernels.contacts.islands import spin
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, work_view

#: how often a step is solved at most
MOST_SOLUTIONS = 4
#: gains below this share of the work that is done are rounding
ROUNDING = 1e-9
#: angle of a step, rad, below which shapes hardly turn
_STRAIGHT = 1e-4
#: work over stiffness of at most so much is none: a force that returns what rounding left of it would get ever smaller,
#: until numbers end, m^(p + 1)
_NO_WORK = 1e-40


@kernel
def open_account(work, i, island, own):
    """Open an account of block i with nothing in it: the last row of work.contacts.account. island, own: its columns"""
    active, row = work.contacts.active[i], whole(work.contacts.opened[0])
    account = work.contacts.account[row]
    account[t.WK_TOUCH], account[t.WK_PAIR] = active[t.AC_TOUCH], active[t.AC_PAIR]
    account[t.WK_ISLAND], account[t.WK_OWN] = island, own
    account[t.WK_SIZE], account[t.WK_EXPECTED], account[t.WK_DONE] = 0.0, 0.0, 0.0
    work.contacts.opened[0] = row + 1


@kernel
def open_own(plant, work, i, stored, both, h):
    """Open an account of the normal force of the compliant block i, if its shapes turn.

    stored : work that it may return, over half of the step;  both : u₋ + u, predicted
    """
    active, row = work.contacts.active[i], whole(work.contacts.opened[0])
    pair, placed = plant.contacts.pair_int[int(active[t.AC_PAIR])], work.contacts.placed
    if (placed[pair[t.PA_A], t.PC_W] + placed[pair[t.PA_B], t.PC_W]) * h > _STRAIGHT:
        open_account(work, i, row, 1.0)
        account, f = work.contacts.account[row], active[t.AC_FORCE]
        account[t.WK_SIZE] = f * (abs(both) + abs(active[t.AC_CAME]))
        account[t.WK_EXPECTED], account[t.WK_DONE] = f * both - stored, -stored


@kernel
def _power(plant, work, account):
    """f·u + m·ω of a touch, or that of its normal force alone; its links placed and moving."""
    known, pair = work.contacts.touch[int(account[t.WK_TOUCH])], plant.contacts.pair_int[int(account[t.WK_PAIR])]
    x, f, n = load3(known, t.TO_POINT), load3(known, t.TO_FORCE), load3(known, t.TO_NORMAL)
    a, b = plant.contacts.collider_int[pair[t.PA_A], t.CO_ROW], plant.contacts.collider_int[pair[t.PA_B], t.CO_ROW]
    u = sub(velocity_at(work, b, x), velocity_at(work, a, x))
    if account[t.WK_OWN] > 0.0:
        return dot(f, n) * dot(n, u)
    return dot(f, u) + dot(load3(known, t.TO_MOMENT), sub(spin(work, b), spin(work, a)))


@routine(REAL)
def add_work_routine(ints, floats, vector, weight):
    """Add the work of a stage, of this weight, to all accounts."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    for row in range(whole(work.contacts.opened[0])):
        account = work.contacts.account[row]
        account[t.WK_DONE] += 2.0 * weight * _power(plant, work, account)


@kernel
def _note_missed(work, first, end):
    for row in range(first, end):
        account = work.contacts.account[row]
        missed = work.contacts.missed[int(account[t.WK_TOUCH])]
        missed[t.MI_OWN if account[t.WK_OWN] > 0.0 else t.MI_ISLAND] = account[t.WK_DONE] - account[t.WK_EXPECTED]


@kernel
def added_energy(work):
    """Whether forces did more work than they may in the step that is done; what was missed is noted then."""
    found, first, done, size, count = False, 0, 0.0, 0.0, whole(work.contacts.opened[0])
    for row in range(count):
        account, last = work.contacts.account[row], row + 1 == count
        done, size = done + account[t.WK_DONE], size + account[t.WK_SIZE]
        if last or work.contacts.account[row + 1, t.WK_ISLAND] != account[t.WK_ISLAND]:
            if done > ROUNDING * size:
                _note_missed(work, first, row + 1)
                found = True
            first, done, size = row + 1, 0.0, 0.0
    return found


@kernel
def missed_by(work, n):
    """By how much more than predicted the forces of n blocks did when the step was last solved."""
    missed = 0.0
    for i in range(n):
        active = work.contacts.active[i]
        missed += (1.0 - active[t.AC_TURNS]) * work.contacts.missed[int(active[t.AC_TOUCH]), t.MI_ISLAND]
    return missed


@kernel
def forget_missed(work):
    """Nothing is missed at the start of a step."""
    for j in range(work.contacts.missed.shape[0]):
        work.contacts.missed[j, t.MI_ISLAND], work.contacts.missed[j, t.MI_OWN] = 0.0, 0.0


@kernel
def work_left(rate, h, stiffness):
    """What a compliant touch stores of the work ½ h rate, over its stiffness; 0 where that is only rounding."""
    left = 0.5 * h * rate / stiffness
    return left if left > _NO_WORK else 0.0


@kernel
def close_accounts(plant, work, h, again):
    """At the end of a step: compliant touches store what their accounts leave. again : the step was solved again"""
    for row in range(whole(work.contacts.opened[0])):
        account = work.contacts.account[row]
        if account[t.WK_OWN] > 0.0:
            law = plant.contacts.contact[plant.contacts.pair_int[int(account[t.WK_PAIR]), t.PA_CONTACT]]
            left = work_left(-account[t.WK_DONE], h, law[t.K_STIFFNESS])
            work.contacts.touch[int(account[t.WK_TOUCH]), t.TO_STORED] = left
    if again:
        forget_missed(work)
