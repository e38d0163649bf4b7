"""One step from inside the laws of an island (`interior.py`): equations for all changes, and how far they may go.

The laws at changes of f and of u = h W f, for each block L df + K du = r, with f̂ = f_t / b and K = 1 along the normal:

    normal     (κ + w / f + z / (F - f)) df + du = τ / f - τ / (F - f) - (u + κ f - u₀)
    across     ((s - f̂ u_t*) / b) df_t + (1 - f̂ f̂*) du_t + µ (u_t - s f̂) / b df = -(u_t + s f̂) - f̂ (τ / b - s - f̂·u_t)

Where there is no such law, a force does not change.
"""

from __future__ import annotations

import math

from limberjack.engine.compile.compiled import REAL, WHOLE
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.contacts.low_rank import solve_by_root
from limberjack.engine.kernels.contacts.polish import law_of
from limberjack.engine.tables import contacts as t
from limberjack.engine.tables.plant import plant_view, work_view


@kernel
def lengths_of(plant, work, i):
    """Block of the normal force of block i, its share across, and its share about the normal, 0 of forces."""
    law = plant.contacts.contact[law_of(plant, work, i)]
    if work.contacts.active[i, t.AC_TURNS] > 0.0:
        return i - 1, law[t.K_ROLLING], law[t.K_TORSION]
    return i, law[t.K_FRICTION], 0.0


@kernel
def _no_row(work, row, rank):
    """No change of force `row`."""
    work.contacts.right[row] = 0.0
    for a in range(rank):
        work.contacts.system[row, a] = 0.0


@kernel
def _normal_row(work, i, rank, tau):
    """L⁻¹ K B and L⁻¹ r of a normal force."""
    active, at = work.contacts.active[i], 3 * i
    f, w, z = active[t.AC_FORCE], active[t.AC_SLACK], active[t.AC_UPPER]
    if not w > 0.0:
        _no_row(work, at, rank)
        return
    soft, rest = active[t.AC_SOFT] + w / f, tau / f - work.contacts.speed[at] - active[t.AC_SOFT] * f + active[t.AC_AIM]
    if z > 0.0:
        soft += z / active[t.AC_LEFT]
        rest -= tau / active[t.AC_LEFT]
    work.contacts.right[at] = rest / soft
    for a in range(rank):
        work.contacts.system[at, a] = work.contacts.root[at, a] / soft


@kernel
def _twist_row(work, i, rank, about, tau):
    """The same of a moment about the normal."""
    active, at, s = work.contacts.active[i], 3 * i, work.contacts.active[i, t.AC_TURN]
    if not s > 0.0:
        _no_row(work, at, rank)
        return
    X, B, x = work.contacts.system, work.contacts.root, work.contacts.right
    most = about * work.contacts.active[i - 1, t.AC_FORCE]
    u, m = work.contacts.speed[at], active[t.AC_FORCE] / most
    soft, more = (s - m * u) / most, about * (u - s * m) / most
    x[at] = (-(u + s * m) - m * (tau / most - s - m * u) - more * x[at - 3]) / soft
    for a in range(rank):
        X[at, a] = ((1.0 - m * m) * B[at, a] - more * X[at - 3, a]) / soft


@kernel
def _tangent_rows(work, i, rank, normal, across, tau):
    """The same of friction, or of moments across; normal: the block of the normal force."""
    active, at, s = work.contacts.active[i], 3 * i, work.contacts.active[i, t.AC_CONE]
    if not s > 0.0:
        _no_row(work, at + 1, rank)
        _no_row(work, at + 2, rank)
        return
    X, B, x, bears = work.contacts.system, work.contacts.root, work.contacts.right, 3 * normal
    u, v = work.contacts.speed[at + 1], work.contacts.speed[at + 2]
    most = across * work.contacts.active[normal, t.AC_FORCE]
    f, g = active[t.AC_FORCE + 1] / most, active[t.AC_FORCE + 2] / most
    along = f * u + g * v
    scale = most / (s * (s - along))  # L⁻¹ = scale [[s - g v, f v], [g u, s - f u]]
    a, b, c, d = scale * (s - g * v), scale * f * v, scale * g * u, scale * (s - f * u)
    p, q, rest = across * (u - s * f) / most, across * (v - s * g) / most, tau / most - s - along
    first = -(u + s * f) - f * rest - p * x[bears]
    second = -(v + s * g) - g * rest - q * x[bears]
    x[at + 1], x[at + 2] = a * first + b * second, c * first + d * second
    for j in range(rank):
        across_j = f * B[at + 1, j] + g * B[at + 2, j]
        first = B[at + 1, j] - f * across_j - p * X[bears, j]
        second = B[at + 2, j] - g * across_j - q * X[bears, j]
        X[at + 1, j], X[at + 2, j] = a * first + b * second, c * first + d * second


@kernel
def _changes(plant, work, i, tau):
    """Changes of AC_SLACK, AC_UPPER, AC_CONE and AC_TURN of block i."""
    active, at, (normal, across, about) = work.contacts.active[i], 3 * i, lengths_of(plant, work, i)
    x, speed, slack, upper, cone, turn = work.contacts.right, work.contacts.speed, 0.0, 0.0, 0.0, 0.0
    f, g, h = active[t.AC_FORCE], active[t.AC_FORCE + 1], active[t.AC_FORCE + 2]
    bears, more = work.contacts.active[normal, t.AC_FORCE], x[3 * normal]
    if active[t.AC_SLACK] > 0.0:
        slack = (tau - active[t.AC_SLACK] * x[at]) / f - active[t.AC_SLACK]
    if active[t.AC_UPPER] > 0.0:
        upper = (tau + active[t.AC_UPPER] * x[at]) / active[t.AC_LEFT] - active[t.AC_UPPER]
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
    active, at, (normal, across, about) = work.contacts.active[i], 3 * i, lengths_of(plant, work, i)
    x, u, moved = work.contacts.right, work.contacts.speed, t.AC_MOVED
    slack, upper, cone, turn = _changes(plant, work, i, tau)
    bears, more, room = work.contacts.active[normal, t.AC_FORCE], x[3 * normal], math.inf
    if active[t.AC_SLACK] > 0.0:
        room = min(_until_zero(active[t.AC_FORCE], x[at]), _until_zero(active[t.AC_SLACK], slack))
    if active[t.AC_UPPER] > 0.0:
        left = _until_zero(active[t.AC_LEFT], -x[at])
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
    active[t.AC_LEFT] -= length * work.contacts.right[3 * i]
    active[t.AC_CONE] += length * cone
    active[t.AC_TURN] += length * turn


@routine(WHOLE, WHOLE, REAL, REAL, returns=REAL)
def step_inside_routine(ints, floats, vector, n, rank, tau, nearer):
    """One step of n blocks, whose h W has a rank; returns its length, 0 if there is none. Velocities are not renewed.

    tau : τ at its end; nearer : how near to the border it may come, as a share of the way
    """
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    for i in range(n):
        normal, across, about = lengths_of(plant, work, i)
        if normal == i:
            _normal_row(work, i, rank, tau)
        else:
            _twist_row(work, i, rank, about, tau)
        _tangent_rows(work, i, rank, normal, across, tau)
    if not solve_by_root(work, n, rank):
        return 0.0
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
