"""Forces of an island from inside their laws: an interior-point method, for touches that slide and stick at once.

Sweeps come nearer in small steps there, and solutions for all touches take some for sticking that slide, and the other
way round. From inside, no touch has a state before all have. For the force f ≤ F along the normal, and the friction f_t
with b = µ f, of all touches at once

    w - z = u + κ f - u₀        f w = τ        (F - f) z = τ                            (laws.py: nearly rigid)
    b s + f_t·u_t = τ           b u_t + s f_t = 0        s > |u_t|,  b > |f_t|          (Jordan product: 0 on the right)

and likewise for moments. With τ = 0 these are Coulomb's laws: s = |u_t| where a touch slides, u_t = 0 where it sticks.
Newton's method solves them while τ goes to zero; steps end before the border. It begins anywhere, and takes about 20
steps whatever the touches do. Bounds of friction follow the normal forces within each step.

(Alizadeh and Goldfarb 2003, Second-order cone programming, section 7: its search direction "AHO"; Acary, Armand,
Nguyen and Shpakovych 2024, the same for Coulomb's law.) No law adds ½ f_t·u_t to the normal's velocity, as those of a
convex problem would.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.whole_numbers import whole
from limberjack.engine.compile.compiled import FLAG, REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.equations import eliminate, given_row, take_rows
from limberjack.engine.kernels.contacts.laws import STILL
from limberjack.engine.kernels.contacts.polish import law_of
from limberjack.engine.kernels.contacts.push_out import ENDLESS
from limberjack.engine.kernels.contacts.relaxation import near, settled, sweep
from limberjack.engine.kernels.contacts.speeds import start_speeds
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, work_view

#: most steps; the share of the first τ below which sweeps show whether forces are the solution; steps shorter than this
#: end it
_MOST, _ENDS, _STUCK = 50, 1e-9, 1e-6
#: τ as a share of what it is; how near to the border a step may come; and so for steps after one that was long
_LOWER, _NEARER = 0.1, 0.95
_LOWER_FAST, _NEARER_FAST, _LONG = 0.01, 0.995, 0.9
#: τ as a share of what it is after shorter steps, above ½ and below
_HIGHER, _HALF, _SAME = 0.3, 0.5, 0.8


@kernel
def _lengths(plant, work, i):
    """Block of the normal force of block i, its share across, and its share about the normal, 0 of forces."""
    law = plant.contacts.contact[law_of(plant, work, i)]
    if work.contacts.active[i, t.AC_TURNS] > 0.0:
        return i - 1, law[t.K_ROLLING], law[t.K_TORSION]
    return i, law[t.K_FRICTION], 0.0


@kernel
def _fastest(work, n):
    """The largest velocity of n blocks of forces, m/s."""
    most = 0.0
    for i in range(n):
        for c in range(3):
            most = max(most, (1.0 - work.contacts.active[i, t.AC_TURNS]) * abs(work.contacts.speed[3 * i + c]))
    return most


@kernel
def _begin_forces(work, n):
    """Normal forces inside their bounds, and no others; returns a velocity for slacks."""
    for i in range(n):
        active = work.contacts.active[i]
        active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2] = 0.0, 0.0, 0.0
    start_speeds(work, n)
    speed, A = _fastest(work, n), work.contacts.answer
    for i in range(n):
        active, at = work.contacts.active[i], 3 * i
        active[t.AC_SLACK] = 0.0
        if active[t.AC_TURNS] == 0.0 and active[t.AC_SOFT] > 0.0 and active[t.AC_MOST] > 0.0:
            own = A[at, at] + A[at + 1, at + 1] + A[at + 2, at + 2]
            active[t.AC_FORCE], active[t.AC_SLACK] = min(speed / own, 0.5 * active[t.AC_MOST]), 1.0
    start_speeds(work, n)
    return speed


@kernel
def _begin(plant, work, n):
    """Forces and slacks inside the laws of n blocks."""
    speed, A = _begin_forces(work, n), work.contacts.answer
    for i in range(n):
        active, at, (normal, across, about) = work.contacts.active[i], 3 * i, _lengths(plant, work, i)
        u, v, w = work.contacts.speed[at], work.contacts.speed[at + 1], work.contacts.speed[at + 2]
        acts, slides = work.contacts.active[normal, t.AC_SLACK] > 0.0, A[at + 1, at + 1] + A[at + 2, at + 2]
        slack = speed / max(across, about) if active[t.AC_TURNS] > 0.0 else speed
        active[t.AC_UPPER] = active[t.AC_CONE] = active[t.AC_TURN] = 0.0
        if acts and across > 0.0 and slides > STILL * active[t.AC_LIGHT]:
            active[t.AC_CONE] = math.sqrt(v * v + w * w) + slack
        if acts and about > 0.0 and A[at, at] > STILL * slides:
            active[t.AC_TURN] = abs(u) + slack
        if acts and normal == i:
            rest = u + active[t.AC_SOFT] * active[t.AC_FORCE] - active[t.AC_AIM]
            active[t.AC_SLACK] = max(rest, speed)
            if active[t.AC_MOST] < ENDLESS:
                active[t.AC_UPPER] = max(speed, active[t.AC_SLACK] - rest)


@kernel
def _mean(plant, work, n):
    """The mean of the τ of all laws, W."""
    total, count = 0.0, 0.0
    for i in range(n):
        active, at, (normal, across, about) = work.contacts.active[i], 3 * i, _lengths(plant, work, i)
        f, bears = active[t.AC_FORCE], work.contacts.active[normal, t.AC_FORCE]
        if active[t.AC_SLACK] > 0.0:
            total, count = total + f * active[t.AC_SLACK], count + 1.0
        if active[t.AC_UPPER] > 0.0:
            total, count = total + (active[t.AC_MOST] - f) * active[t.AC_UPPER], count + 1.0
        if active[t.AC_CONE] > 0.0:
            slide = active[t.AC_FORCE + 1] * work.contacts.speed[at + 1]
            slide += active[t.AC_FORCE + 2] * work.contacts.speed[at + 2]
            total, count = total + across * bears * active[t.AC_CONE] + slide, count + 1.0
        if active[t.AC_TURN] > 0.0:
            turn = f * work.contacts.speed[at]
            total, count = total + about * bears * active[t.AC_TURN] + turn, count + 1.0
    return total / count if count > 0.0 else 0.0


@kernel
def _normal_row(work, i, tau):
    """The row of the change of a normal force."""
    active, at = work.contacts.active[i], 3 * i
    f, w, z = active[t.AC_FORCE], active[t.AC_SLACK], active[t.AC_UPPER]
    if not w > 0.0:
        given_row(work, at, 0.0)
        return
    rest = work.contacts.speed[at] + active[t.AC_SOFT] * f - active[t.AC_AIM] - w + z
    work.contacts.right[at] = -rest + tau / f - w
    work.contacts.system[at, at] += active[t.AC_SOFT] + w / f
    if z > 0.0:
        left = active[t.AC_MOST] - f
        work.contacts.right[at] -= tau / left - z
        work.contacts.system[at, at] += z / left


@kernel
def _twist_row(work, i, about, tau):
    """The row of the change of a moment about the normal."""
    active, at, s = work.contacts.active[i], 3 * i, work.contacts.active[i, t.AC_TURN]
    if not s > 0.0:
        given_row(work, at, 0.0)
        return
    row, most, u = work.contacts.system[at], about * work.contacts.active[i - 1, t.AC_FORCE], work.contacts.speed[at]
    m = active[t.AC_FORCE] / most
    for j in range(3 * whole(active[t.AC_FIRST]), 3 * whole(active[t.AC_END])):
        row[j] *= 1.0 - m * m
    row[at] += (s - m * u) / most
    row[at - 3] += about * (u - s * m) / most
    work.contacts.right[at] = -(u + s * m) - m * (tau / most - s - m * u)


@kernel
def _tangent_rows(work, i, normal, across, tau):
    """The two rows of the changes of friction, or of moments across; normal: the block of the normal force."""
    active, at, s = work.contacts.active[i], 3 * i, work.contacts.active[i, t.AC_CONE]
    if not s > 0.0:
        given_row(work, at + 1, 0.0)
        given_row(work, at + 2, 0.0)
        return
    first, second, right = work.contacts.system[at + 1], work.contacts.system[at + 2], work.contacts.right
    most = across * work.contacts.active[normal, t.AC_FORCE]
    u, v = work.contacts.speed[at + 1], work.contacts.speed[at + 2]
    f, g = active[t.AC_FORCE + 1] / most, active[t.AC_FORCE + 2] / most
    for j in range(3 * whole(active[t.AC_FIRST]), 3 * whole(active[t.AC_END])):
        along = f * first[j] + g * second[j]
        first[j] -= f * along
        second[j] -= g * along
    first[at + 1] += (s - f * u) / most
    first[at + 2] -= f * v / most
    second[at + 1] -= g * u / most
    second[at + 2] += (s - g * v) / most
    first[3 * normal] += across * (u - s * f) / most
    second[3 * normal] += across * (v - s * g) / most
    rest = tau / most - s - f * u - g * v
    right[at + 1], right[at + 2] = -(u + s * f) - f * rest, -(v + s * g) - g * rest


@kernel
def _find_moves(work, n):
    """AC_MOVED of n blocks: the changes of velocities by the changes of forces in work.contacts.right."""
    x = work.contacts.right
    for i in range(n):
        active = work.contacts.active[i]
        for c in range(3):
            row, moved = work.contacts.answer[3 * i + c], 0.0
            for j in range(3 * whole(active[t.AC_FIRST]), 3 * whole(active[t.AC_END])):
                moved += row[j] * x[j]
            active[t.AC_MOVED + c] = moved


@kernel
def _changes(plant, work, i, tau):
    """Changes of AC_SLACK, AC_UPPER, AC_CONE and AC_TURN of block i."""
    active, at, (normal, across, about) = work.contacts.active[i], 3 * i, _lengths(plant, work, i)
    x, speed, slack, upper, cone, turn = work.contacts.right, work.contacts.speed, 0.0, 0.0, 0.0, 0.0
    f, g, h = active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
    bears, more = work.contacts.active[normal, t.AC_FORCE], x[3 * normal]
    if active[t.AC_SLACK] > 0.0:
        slack = (tau - active[t.AC_SLACK] * x[at]) / f - active[t.AC_SLACK]
    if active[t.AC_UPPER] > 0.0:
        upper = (tau + active[t.AC_UPPER] * x[at]) / (active[t.AC_MOST] - f) - active[t.AC_UPPER]
    if active[t.AC_CONE] > 0.0:
        s, most, u, v = active[t.AC_CONE], across * bears, speed[at + 1], speed[at + 2]
        done = g * (u + active[t.AC_MOVED + 1]) + h * (v + active[t.AC_MOVED + 2]) + u * x[at + 1] + v * x[at + 2]
        cone = (tau - s * across * more - done) / most - s
    if active[t.AC_TURN] > 0.0:
        s, most, u = active[t.AC_TURN], about * bears, speed[at]
        turn = (tau - s * about * more - f * (u + active[t.AC_MOVED]) - u * x[at]) / most - s
    return slack, upper, cone, turn


@kernel
def _until_zero(x, d):
    """The largest a with x + a d ≥ 0, for x > 0."""
    return -x / d if d < 0.0 else math.inf


@kernel
def _until_border(r, x, y, dr, dx, dy):
    """The largest a with r + a dr ≥ |[x; y] + a [dx; dy]|, for r > |[x; y]|."""
    length = math.sqrt(x * x + y * y)
    a, b, c = dr * dr - dx * dx - dy * dy, r * dr - x * dx - y * dy, (r - length) * (r + length)
    square = b * b - a * c
    if square < 0.0 or (b >= 0.0 and a >= 0.0):
        return math.inf
    root = math.sqrt(square)
    return c / (root - b) if b < 0.0 else (b + root) / -a


@kernel
def _room(plant, work, i, tau):
    """How often the changes of block i fit before its border."""
    active, at, (normal, across, about) = work.contacts.active[i], 3 * i, _lengths(plant, work, i)
    x, u, moved = work.contacts.right, work.contacts.speed, t.AC_MOVED
    slack, upper, cone, turn = _changes(plant, work, i, tau)
    bears, more, room = work.contacts.active[normal, t.AC_FORCE], x[3 * normal], math.inf
    if active[t.AC_SLACK] > 0.0:
        room = min(_until_zero(active[t.AC_FORCE], x[at]), _until_zero(active[t.AC_SLACK], slack))
    if active[t.AC_UPPER] > 0.0:
        left = _until_zero(active[t.AC_MOST] - active[t.AC_FORCE], -x[at])
        room = min(room, min(left, _until_zero(active[t.AC_UPPER], upper)))
    if active[t.AC_CONE] > 0.0:
        f, g = active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
        force = _until_border(across * bears, f, g, across * more, x[at + 1], x[at + 2])
        slide = _until_border(active[t.AC_CONE], u[at + 1], u[at + 2], cone, active[moved + 1], active[moved + 2])
        room = min(room, min(force, slide))
    if active[t.AC_TURN] > 0.0:
        force = _until_border(about * bears, active[t.AC_FORCE], 0.0, about * more, x[at], 0.0)
        room = min(room, min(force, _until_border(active[t.AC_TURN], u[at], 0.0, turn, active[moved], 0.0)))
    return room


@kernel
def _move(plant, work, i, tau, length):
    """Add so much of the changes of block i to its slacks; forces follow when all blocks have."""
    active = work.contacts.active[i]
    slack, upper, cone, turn = _changes(plant, work, i, tau)
    active[t.AC_SLACK] += length * slack
    active[t.AC_UPPER] += length * upper
    active[t.AC_CONE] += length * cone
    active[t.AC_TURN] += length * turn


@routine(WHOLE, REAL, REAL, returns=REAL)
def step_inside_routine(ints, floats, vector, n, tau, nearer):
    """One step of n blocks; returns its length, 0 if there is none. Velocities are not renewed."""
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    for i in range(n):
        normal, across, about = _lengths(plant, work, i)
        take_rows(work, i)
        if normal == i:
            _normal_row(work, i, tau)
        else:
            _twist_row(work, i, about, tau)
        _tangent_rows(work, i, normal, across, tau)
    if not eliminate(work, n):
        return 0.0
    _find_moves(work, n)
    room = math.inf
    for i in range(n):
        room = min(room, _room(plant, work, i, tau))
    length = min(1.0, nearer * room)
    for i in range(n):
        _move(plant, work, i, tau, length)
    for i in range(n):
        for c in range(3):
            work.contacts.active[i, t.AC_FORCE + c] += length * work.contacts.right[3 * i + c]
    return length


@kernel
def _copy(work, n, source, target):
    for i in range(n):
        for c in range(3):
            work.contacts.active[i, target + c] = work.contacts.active[i, source + c]


@kernel
def _try_sweep(plant, work, n, least):
    """The smaller one of `least` and the change of a sweep, after which AC_FORCE is what it was; AC_BEST: the forces
    whose sweep changed least."""
    _copy(work, n, t.AC_FORCE, t.AC_INSIDE)
    change = sweep(plant, work, n, False)
    if change < least:
        least = change
        _copy(work, n, t.AC_FORCE, t.AC_BEST)
    _copy(work, n, t.AC_INSIDE, t.AC_FORCE)
    start_speeds(work, n)
    return least


@kernel
def _plan(length):
    """The share of τ that the next step aims at, and how near to the border it may come; length: of the last step."""
    if length > _LONG:
        return _LOWER_FAST, _NEARER_FAST
    return _HIGHER if length > _HALF else _SAME, _NEARER


@routine(WHOLE, REAL, returns=FLAG)
def solve_inside_routine(ints, floats, vector, n, least):
    """AC_FORCE of the n blocks, all nearly rigid, from inside their laws, and work.contacts.speed with it; returns
    whether they are the solution, as far as forces can be told from it.

    least : change of a sweep that led to AC_BEST. Forces that are no solution are those whose sweep changed least
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    _begin(plant, work, n)
    first, lower, nearer = _mean(plant, work, n), _LOWER, _NEARER
    for _ in range(_MOST):
        tau = _mean(plant, work, n)
        if not tau > 0.0:
            break
        if tau < _ENDS * first:
            least = _try_sweep(plant, work, n, least)
            if settled(work, n, least):
                break
        length = step_inside_routine(ints, floats, vector, n, lower * tau, nearer)
        if not length > _STUCK:
            break
        lower, nearer = _plan(length)
        start_speeds(work, n)
    _copy(work, n, t.AC_BEST, t.AC_FORCE)
    start_speeds(work, n)
    return near(work, n, least)
