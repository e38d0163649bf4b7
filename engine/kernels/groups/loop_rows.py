"""Position and motion of the two frames of a loop, and the forces that its rows exert on its two bodies.

    R, d                     frame b in frame a (tables/loops.py); rows a: a · [w; u] = 0
    r = a · [e; d]           residual; e the rotation that is left, as far as the rows forbid it
    dr/dt = J v = a · [w; u],   w = R ω_b - ω_a,   u = R v_b - v_a - ω_a × d
    d²r/dt² = J dv/dt + a · [w × R ω_b; w × R v_b - ω_a × u] + (da/dt) · [w; u]

in the axes of a. The rows are exact for the velocities; the residual has their rates where it vanishes, and that is
where a loop is kept. J is used as the forces that the rows put on bodies A and B (their coblocks): J v is their power.

A wheel of radius x that rolls on the plane z = 0 of a touches it x ρ below its centre, ρ the unit vector up along the
wheel (up, for a ball): the rows are u - x w × ρ = 0 along x, y and z, of which only the last has a residual,
d_z - x ρ_z. Their linear parts f are kept as those of others; the angular ones are x f × ρ.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import BLOCK
from limberjack.engine.algebra.blocks import load_block, store_block
from limberjack.engine.algebra.lanes import between_lanes, equal_lanes, load_lanes, store_lanes
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    load3,
    load9,
    matrix_quaternion,
    mul,
    rot,
    scale,
    store3,
    store9,
    sub,
    unrot,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.groups.couplings import accelerate_coupling, move_coupling, place_coupling
from limberjack.engine.kernels.nodes.dispatch import hinge_frame
from limberjack.engine.tables import hinge_types as ht
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.plant import W_ALPHA, W_V

_TURN = 2.0 * math.pi


@kernel
def frame_b(plant, work, l):
    """R and p of frame b on body B: as built, or as a switched loop holds it."""
    s = plant.loops.loop_int[l, lp.L_SWITCH]
    if s >= 0 and plant.loops.loop_int[l, lp.L_KIND] < lp.DISTANCE:
        held = work.loops.switch[s]
        return load9(held, lp.SW_HELD), load3(held, lp.SW_HELD + 9)
    loop = plant.loops.loop[l]
    return load9(loop, lp.LP_B), load3(loop, lp.LP_B + 9)


@kernel
def _length(plant, work, l):
    """The length of a rod, its rate and acceleration."""
    ints = plant.loops.loop_int[l]
    length, rate, acceleration = plant.loops.loop[l, lp.LP_X], 0.0, 0.0
    if ints[lp.L_SWITCH] >= 0:
        length = work.loops.switch[ints[lp.L_SWITCH], lp.SW_HELD]
    if ints[lp.L_DRIVE] >= 0:
        p, rate, acceleration = load3(work.loops.drive[ints[lp.L_DRIVE]], lp.PM_NOW)
        length += p
    return length, rate, acceleration


@kernel
def _seen_below(plant, work, start, count, R, p):
    """A frame (R, p) on the first body of a chain, in the frame below its last."""
    for i in range(start, start + count):
        Rk, pk = hinge_frame(plant, work, plant.loops.walk[i])
        R, p = mul(Rk, R), add(pk, rot(Rk, p))
    return R, p


@kernel
def _tilt(R):
    """Rotation vector that tilts e_z to R e_z, of length 2 sin(θ/2)."""
    s = math.sqrt(2.0 / max(1.0 + R[8], 1e-9))
    return -s * R[5], s * R[2], 0.0


@kernel
def _angle(R, near):
    """The angle about z, plus the number of whole turns that brings it closest to `near`."""
    angle = math.atan2(R[3] - R[1], R[0] + R[4])
    return angle + _TURN * math.floor((near - angle) / _TURN + 0.5)


@kernel
def _turned(kind, x, R, d):
    """e: the rotation of b against a, in the directions that the rows of this kind forbid."""
    if kind == ht.FIXED or kind == ht.PRISMATIC:
        w = matrix_quaternion(R)
        return 2.0 * w[1], 2.0 * w[2], 2.0 * w[3]
    if kind == ht.REVOLUTE or kind == ht.CYLINDRICAL or kind == ht.PLANAR:
        return _tilt(R)
    if kind == ht.HELICAL:
        e = _tilt(R)
        return e[0], e[1], _angle(R, d[2] / x)
    if kind == ht.ROLLING:
        e = _tilt(R)
        return e[0], e[1], _angle(R, -d[0] / x)
    return ZERO


@kernel
def _only(i, x):
    """The number x in lane i."""
    return between_lanes(equal_lanes(x), i, i + 1)


@kernel
def _add_only(lanes, i, x):
    """lanes + (x in lane i), each of three."""
    return lanes[0] + _only(i, x[0]), lanes[1] + _only(i, x[1]), lanes[2] + _only(i, x[2])


@kernel
def _up_along(kind, R):
    """ρ: unit vector from where a wheel touches the plane to its centre; e_z of b is the axle of a disc."""
    if kind == lp.BALL:
        return 0.0, 0.0, 1.0
    s = math.sqrt(max(R[2] * R[2] + R[5] * R[5], 1e-18))
    return -R[8] * R[2] / s, -R[8] * R[5] / s, s


@kernel
def _up_rate(kind, R, w):
    """dρ/dt of a wheel that turns with w: ρ = (e_z - c n) / s with the axle n, c = n_z, s² = 1 - c²."""
    if kind == lp.BALL:
        return ZERO
    n, c = (R[2], R[5], R[8]), R[8]
    rho, turned = _up_along(kind, R), cross(w, n)
    y = add_scaled(add(scale(-turned[2], n), scale(-c, turned)), c * turned[2] / rho[2], rho)
    return scale(1.0 / rho[2], y)


@kernel
def _constant_rows(plant, l):
    """(angular, linear) parts of the rows a that do not depend on the configuration, in lanes."""
    return load_block(plant.loops.loop[l], lp.LP_ROWS)


@kernel
def joined_rows(plant, l, R, d):
    """(angular, linear) parts of all rows a, in lanes.

    universal: y = R e_y stays normal to e_z, d(y · e_z)/dt = w · (y × e_z);  distance: a = [0; d / L];
    wheels: a = [x f × ρ; f];  custom: rows are given in the axes of b.
    """
    n, f = _constant_rows(plant, l)
    kind, x = plant.loops.loop_int[l, lp.L_KIND], plant.loops.loop[l, lp.LP_X]
    if kind == ht.UNIVERSAL and x >= 0.0:
        n = _add_only(n, int(x), (R[4], -R[1], 0.0))
    elif kind == lp.DISTANCE:
        f = _add_only(f, 0, (d[0] / x, d[1] / x, d[2] / x))
    elif kind == lp.DISC or kind == lp.BALL:
        n = scale(x, cross(f, _up_along(kind, R)))
    elif kind == ht.CUSTOM:
        n, f = rot(R, n), rot(R, f)
    return n, f


@kernel
def first_probe(plant, l):
    """The lane behind the rows where a loop by force with a single row for distances has unit forces along the axes of
    a, -1 for others: beside what they move it shows whether the row vanishes."""
    ints = plant.loops.loop_int[l]
    if ints[lp.L_FORCED] < 0 or (ints[lp.L_KIND] != lp.DISTANCE and ints[lp.L_KIND] != ht.PLANAR):
        return -1
    return ints[lp.L_ROWS]


@kernel
def _store_coblock(plant, work, l, R, d, n, f):
    """Forces of the rows on A and on B, at O in body axes: -[n; f] at b's origin on A, [n; f] on B."""
    loop, coblock = plant.loops.loop[l], work.loops.coblock[l]
    Ra, pa = load9(loop, lp.LP_A), load3(loop, lp.LP_A + 9)
    m, g = rot(Ra, add(n, cross(d, f))), rot(Ra, f)
    m = add(m, cross(pa, g))
    store_block(coblock, 0, (-1.0 * m[0], -1.0 * m[1], -1.0 * m[2]), (-1.0 * g[0], -1.0 * g[1], -1.0 * g[2]))
    Rb, pb = frame_b(plant, work, l)
    m, g = rot(Rb, unrot(R, n)), rot(Rb, unrot(R, f))
    store_block(coblock, BLOCK, add(m, cross(pb, g)), g)


@kernel
def _dot_lanes(x, lanes):
    """x · lanes of a number triple and a triple of lanes."""
    return x[0] * lanes[0] + x[1] * lanes[1] + x[2] * lanes[2]


@kernel
def joined_residual(plant, work, l, R, d):
    """r = a · [e; d] in lanes; the rod (d² - L²) / 2 L; a custom hinge has no positions to keep."""
    kind, x = plant.loops.loop_int[l, lp.L_KIND], plant.loops.loop[l, lp.LP_X]
    if kind == lp.DISTANCE:
        length = _length(plant, work, l)[0]
        return _only(0, 0.5 * (dot(d, d) - length * length) / x)
    if kind == ht.CUSTOM:
        return equal_lanes(0.0)
    n, f = _constant_rows(plant, l)
    if kind == lp.DISC or kind == lp.BALL:
        return (d[2] - x * _up_along(kind, R)[2]) * f[2]
    e = _turned(kind, x, R, d)
    r = _dot_lanes(e, n) + _dot_lanes(d, f)
    if kind == ht.UNIVERSAL and x >= 0.0:
        r = r + _only(int(x), R[7])
    return r


@kernel
def _place_frames(plant, work, l):
    """R and d of a loop that joins frames, whose bodies are placed."""
    ints, loop = plant.loops.loop_int[l], plant.loops.loop[l]
    Ra, pa = load9(loop, lp.LP_A), load3(loop, lp.LP_A + 9)
    Ra, pa = _seen_below(plant, work, ints[lp.L_CHAIN_A], ints[lp.L_CHAIN_AS], Ra, pa)
    Rb, pb = frame_b(plant, work, l)
    Rb, pb = _seen_below(plant, work, ints[lp.L_CHAIN_B], ints[lp.L_CHAIN_BS], Rb, pb)
    R, d = mul((Ra[0], Ra[3], Ra[6], Ra[1], Ra[4], Ra[7], Ra[2], Ra[5], Ra[8]), Rb), unrot(Ra, sub(pb, pa))
    store9(work.loops.frame[l], lp.F_R, R)
    store3(work.loops.frame[l], lp.F_D, d)
    return R, d


@kernel
def place_rows(plant, work, l):
    """Frames and coblocks of a loop that joins frames, whose bodies are placed; returns R and d."""
    R, d = _place_frames(plant, work, l)
    n, f = joined_rows(plant, l, R, d)
    probe = first_probe(plant, l)
    if probe >= 0:
        f = f[0] + _only(probe, 1.0), f[1] + _only(probe + 1, 1.0), f[2] + _only(probe + 2, 1.0)
    _store_coblock(plant, work, l, R, d, n, f)
    return R, d


@kernel
def place_loop(plant, work, l, q):
    """Frames, coblocks and residual of loop l, whose bodies are placed."""
    if plant.loops.loop_int[l, lp.L_KIND] >= lp.COUPLING:
        place_coupling(plant, work, l, q)
    else:
        R, d = place_rows(plant, work, l)
        store_lanes(work.loops.row[l], lp.R_RESIDUAL, joined_residual(plant, work, l, R, d))


@kernel
def power(block, at, w, u):
    """Power of a block of forces at a motion [w; u]: one number a row, in lanes."""
    n, f = load_block(block, at)
    return _dot_lanes(w, n) + _dot_lanes(u, f)


@kernel
def _row_rates(plant, work, l, column):
    """J times the motions that rows of work hold at `column` (V or α), in lanes."""
    ints, coblock = plant.loops.loop_int[l], work.loops.coblock[l]
    a, b = work.rows[ints[lp.L_A]], work.rows[ints[lp.L_B]]
    s = power(coblock, 0, load3(a, column), load3(a, column + 3))
    return s + power(coblock, BLOCK, load3(b, column), load3(b, column + 3))  # 000 eq. 0.20: A V̂


@kernel
def _frame_velocity(row, R, p):
    """[ω; v] of a frame (R, p) on a body, in the frame's axes."""
    w, u = load3(row, W_V), load3(row, W_V + 3)
    return unrot(R, w), unrot(R, add_cross(u, w, p))


@kernel
def _frame_velocities(plant, work, l, R):
    """[ω; v] of frame a and [R ω; R v] of frame b, in the axes of a."""
    ints, loop = plant.loops.loop_int[l], plant.loops.loop[l]
    wa, va = _frame_velocity(work.rows[ints[lp.L_A]], load9(loop, lp.LP_A), load3(loop, lp.LP_A + 9))
    Rb, pb = frame_b(plant, work, l)
    wb, vb = _frame_velocity(work.rows[ints[lp.L_B]], Rb, pb)
    return wa, va, rot(R, wb), rot(R, vb)


@kernel
def measure_loop(plant, work, l, q, v):
    """Residual and dr/dt of loop l, whose bodies are placed; its coblocks stay as they are."""
    row = work.loops.row[l]
    if plant.loops.loop_int[l, lp.L_KIND] >= lp.COUPLING:
        place_coupling(plant, work, l, q)
        move_coupling(plant, work, l, q, v)
        return
    R, d = _place_frames(plant, work, l)
    store_lanes(row, lp.R_RESIDUAL, joined_residual(plant, work, l, R, d))
    n, f = joined_rows(plant, l, R, d)
    wa, va, wb, vb = _frame_velocities(plant, work, l, R)
    rate = _dot_lanes(sub(wb, wa), n) + _dot_lanes(sub(sub(vb, va), cross(wa, d)), f)
    if plant.loops.loop_int[l, lp.L_KIND] == lp.DISTANCE:
        length, speed, _ = _length(plant, work, l)
        rate = rate - _only(0, length * speed / plant.loops.loop[l, lp.LP_X])
    store_lanes(row, lp.R_RATE, rate)


@kernel
def _velocity_terms(plant, work, l):
    """d²r/dt² without accelerations, in lanes; before a rod's prescribed motion."""
    loop, frame = plant.loops.loop[l], work.loops.frame[l]
    kind, x = plant.loops.loop_int[l, lp.L_KIND], loop[lp.LP_X]
    R, d = load9(frame, lp.F_R), load3(frame, lp.F_D)
    wa, va, wb, vb = _frame_velocities(plant, work, l, R)
    w, u = sub(wb, wa), sub(sub(vb, va), cross(wa, d))
    h, g = cross(w, wb), sub(cross(w, vb), cross(wa, u))
    if kind == ht.CUSTOM:
        g = sub(g, cross(w, u))  # rates in the axes of b, where its rows are constant
    elif kind == lp.DISC or kind == lp.BALL:
        g = add_scaled(g, x, cross(_up_rate(kind, R, w), w))
    n, f = joined_rows(plant, l, R, d)
    s = _dot_lanes(h, n) + _dot_lanes(g, f)
    if kind == ht.UNIVERSAL and x >= 0.0:
        y = cross(w, (R[1], R[4], R[7]))
        s = s + _only(int(x), w[0] * y[1] - w[1] * y[0])
    elif kind == lp.DISTANCE:
        s = s + _only(0, dot(u, u) / x)
    return s


@kernel
def move_loop(plant, work, l, q, v):
    """dr/dt and the velocity terms of d²r/dt² of loop l, placed before, from V of its bodies."""
    row = work.loops.row[l]
    if plant.loops.loop_int[l, lp.L_KIND] >= lp.COUPLING:
        move_coupling(plant, work, l, q, v)
        return
    rate, quad = _row_rates(plant, work, l, W_V), _velocity_terms(plant, work, l)
    if plant.loops.loop_int[l, lp.L_KIND] == lp.DISTANCE:
        x = plant.loops.loop[l, lp.LP_X]
        length, speed, acceleration = _length(plant, work, l)
        rate = rate - _only(0, length * speed / x)
        quad = quad - _only(0, (speed * speed + length * acceleration) / x)
    store_lanes(row, lp.R_RATE, rate)
    store_lanes(row, lp.R_QUAD, quad)


@kernel
def accelerate_loop(plant, work, l, q, vdot):
    """d²r/dt² of loop l, moved before, from α of its bodies; the constraint makes it zero."""
    row = work.loops.row[l]
    if plant.loops.loop_int[l, lp.L_KIND] >= lp.COUPLING:
        accelerate_coupling(plant, work, l, q, vdot)
        return
    store_lanes(row, lp.R_ACCEL, load_lanes(row, lp.R_QUAD) + _row_rates(plant, work, l, W_ALPHA))
