"""Loops whose motion is prescribed (000: U ≠ 0): the path of a drive between two commands.

A command (p1, v1, a1) holds at the end of the next step, or of several steps taken together. Until then the drive
follows a polynomial of fourth degree in the remaining time x. It begins at the mechanism's present state, the position
p0 and the rate v0 that its loop has at x = T:

    p(x) = p1 - v1 x + a1 x²/2 + c3 x³ + c4 x⁴,    c3 T³ = 4 A - B T,    c4 T⁴ = B T - 3 A
    A = p0 - (p1 - v1 T + a1 T²/2),    B = v1 - a1 T - v0

Its acceleration differs from that of a smooth motion by O(T³), but Simpson's rule (the weights of rk4) integrates it to
v1 - v0 exactly, so all that the drive moves keeps the fourth order. A call of several steps begins a new polynomial at
each of them, which equals the previous one.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.spatial import ZERO, dot, load3, store3
from limberjack.engine.compile.compiled import FLOATS, REAL
from limberjack.engine.compile.kernel import kernel, routine
from limberjack.engine.kernels.groups.couplings import move_coupling, place_coupling
from limberjack.engine.kernels.groups.paths import is_closed
from limberjack.engine.kernels.loops.routines import move_one, place_one
from limberjack.engine.kernels.nodes.tree import sweep_velocities
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.plant import plant_view, vectors, work_view


@kernel
def _moved(drive, x):
    """Position, rate and acceleration of a drive x seconds before its command holds."""
    p, v, a = load3(drive, lp.PM_COMMAND)
    c, d = drive[lp.PM_CUBIC], drive[lp.PM_QUARTIC]
    return (
        p - x * (v - x * (0.5 * a + x * (c + x * d))),
        v - x * (a + x * (3.0 * c + x * 4.0 * d)),
        a + x * (6.0 * c + x * 12.0 * d),
    )


@kernel
def set_drives(plant, work, left):
    """Set all drives to their motion `left` seconds before their commands hold."""
    for i in range(work.loops.drive.shape[0]):
        store3(work.loops.drive[i], lp.PM_NOW, _moved(work.loops.drive[i], left))


@kernel
def set_mean_drives(plant, work, left, h):
    """The same with the mean acceleration over the time h that follows, for integrators of one stage: it takes the
    velocities to where the drives have them then."""
    for i in range(work.loops.drive.shape[0]):
        drive = work.loops.drive[i]
        p, v, _ = _moved(drive, left)
        store3(drive, lp.PM_NOW, (p, v, (_moved(drive, left - h)[1] - v) / h))


@kernel
def take_commands(plant, work, command):
    """Take the commands of all drives, and let them get there as if with a constant acceleration."""
    for l in range(plant.loops.loop_int.shape[0]):
        ints = plant.loops.loop_int[l]
        if ints[lp.L_DRIVE] >= 0:
            drive, at = work.loops.drive[ints[lp.L_DRIVE]], ints[lp.L_COMMAND]
            at += 1 if ints[lp.L_SWITCH] >= 0 else 0
            store3(drive, lp.PM_COMMAND, load3(command, at))
            drive[lp.PM_CUBIC], drive[lp.PM_QUARTIC] = 0.0, 0.0
    set_drives(plant, work, 0.0)


@kernel
def _begin(plant, work, l, p, rate, left):
    """The drive of loop l begins at position p with a rate."""
    drive = work.loops.drive[plant.loops.loop_int[l, lp.L_DRIVE]]
    x, y, _ = _moved(drive, left)
    a, b = p - x, left * (y - rate)
    drive[lp.PM_CUBIC], drive[lp.PM_QUARTIC] = (4.0 * a - b) / left**3, (b - 3.0 * a) / left**4


@kernel
def _begin_coupling(plant, work, l, q, v, left):
    store3(work.loops.drive[plant.loops.loop_int[l, lp.L_DRIVE]], lp.PM_NOW, ZERO)
    place_coupling(plant, work, l, q)
    move_coupling(plant, work, l, q, v)
    _begin(plant, work, l, work.loops.row[l, lp.R_RESIDUAL], work.loops.row[l, lp.R_RATE], left)


@kernel
def _begin_rod(plant, work, l, q, v, left):
    """Of a rod, whose bodies are placed: its length beyond that which it has or holds without a drive."""
    ints, length = plant.loops.loop_int[l], plant.loops.loop[l, lp.LP_X]
    store3(work.loops.drive[ints[lp.L_DRIVE]], lp.PM_NOW, ZERO)
    place_one(plant, work, l, q)
    move_one(plant, work, l, q, v)
    d = load3(work.loops.frame[l], lp.F_D)
    distance = math.sqrt(dot(d, d))
    rate = work.loops.row[l, lp.R_RATE] * length / distance
    if ints[lp.L_SWITCH] >= 0:
        length = work.loops.switch[ints[lp.L_SWITCH], lp.SW_HELD]
    _begin(plant, work, l, distance - length, rate, left)


@kernel
def _is_driven(plant, work, l):
    return plant.loops.loop_int[l, lp.L_DRIVE] >= 0 and is_closed(plant, work, l)


@routine(FLOATS, FLOATS, REAL)
def begin_rods_routine(ints, floats, vector, q, v, left):
    plant, work = plant_view(ints, floats), work_view(ints, vector)
    sweep_velocities(plant, work, q, v)
    for l in range(plant.loops.loop_int.shape[0]):
        if plant.loops.loop_int[l, lp.L_KIND] == lp.DISTANCE and _is_driven(plant, work, l):
            _begin_rod(plant, work, l, q, v, left)


@kernel
def begin_drives(plant, work, q, v, left):
    """The drives begin where the mechanism is, `left` seconds before their commands, which are taken, hold."""
    rods = False
    for l in range(plant.loops.loop_int.shape[0]):
        if _is_driven(plant, work, l):
            if plant.loops.loop_int[l, lp.L_KIND] == lp.COUPLING:
                _begin_coupling(plant, work, l, q, v, left)
            else:
                rods = True
    if rods:
        ints, floats, vector = vectors(plant, work)
        begin_rods_routine(ints, floats, vector, q, v, left)
