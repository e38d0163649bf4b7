"""Coordinates that are not a vector space: a step uses a chart around the coordinates at its start.

A chart vector sigma has nq places. For a quaternion the first three of its four hold the rotation vector of
R = R0 exp(sigma~), the fourth is unused; all other places are plain differences q - q0. With ω in body axes

    d sigma/dt = J_r⁻¹(sigma) ω = ω + ½ sigma × ω + 1/12 sigma × (sigma × ω) + O(sigma⁴),

enough for a fourth-order Runge-Kutta-Munthe-Kaas method. In a step in which shapes touch, free hinges sum the changes
of their velocities along the axes of its start (`accelerate_in_start`, `turn_from_start`). Forces that hold over the
step are constant in these axes, so their effect on the momentum of a body is exact, however far an impact turns it.

Methods of first order must not treat the rotation of a free hinge's axes as a part of its acceleration: a body in
straight flight would become faster in every step, since v + h (a - ω × v) is longer than v. They add h (a + ω × v)
along the axes of the step's start (`fly_straight`; `accelerate_along_start` where contacts ask for it before) and then
turn the sum to those of its end (`move_to_end`), so that R v is kept exactly.
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.algebra.sine_cosine import sine_cosine
from limberjack.engine.algebra.spatial import (
    add,
    add_cross,
    add_scaled,
    cross,
    load3,
    quaternion_matrix,
    rot,
    scale,
    store3,
    unrot,
)
from limberjack.engine.compile.compiled import FLOATS, INTS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import CUSTOM, FREE, SPHERICAL
from limberjack.engine.tables.plant import plant_view


@kernel
def _turns_follow(plant, q, i, j):
    """Whether a hinge from coordinate i and velocity j on has a quaternion.

    If none has, each velocity from j on is the rate of the coordinate at the same place from i on.
    """
    return q.shape[0] - i > plant.dof.shape[0] - j


@kernel
def is_flat(plant, q):
    """Whether no hinge has a quaternion."""
    return not _turns_follow(plant, q, 0, 0)


@kernel
def has_quaternion(kind):
    """Whether hinges of this type have one among their coordinates, which comes first."""
    return kind == SPHERICAL or kind == FREE or kind == CUSTOM


@kernel
def next_place(topo):
    """(coordinate, velocity) after those of a hinge."""
    kind, i, j = topo[t.KIND], topo[t.QI], topo[t.VI] + topo[t.NV]
    if has_quaternion(kind):
        return i + (4 if kind == SPHERICAL else 7), j
    return i + topo[t.NV], j


@kernel
def _rotation_rate(sigma, w):
    """J_r⁻¹(sigma) ω to fourth order."""
    a = cross(sigma, w)
    return add_scaled(add_scaled(w, 0.5, a), 1.0 / 12.0, cross(sigma, a))


@kernel
def _relative_motion(plant, topo, v):
    """Relative angular and linear velocity of a quaternion hinge in body axes."""
    kind, j = topo[t.KIND], topo[t.VI]
    if kind == SPHERICAL:
        return load3(v, j), (0.0, 0.0, 0.0)
    if kind == FREE:
        return load3(v, j), load3(v, j + 3)
    w, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for c in range(topo[t.NV]):
        h = plant.maps[topo[t.MAP]]
        w = add_scaled(w, v[j + c], load3(h, 6 * c))
        u = add_scaled(u, v[j + c], load3(h, 6 * c + 3))
    return w, u


@kernel
def chart_rates(plant, q, sigma, v, out):
    """d sigma/dt (nq,) at the coordinates q, which lie at sigma in the chart."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, q, i, j):
        topo = plant.topo[k]
        kind, i, j = topo[t.KIND], topo[t.QI], topo[t.VI]
        if has_quaternion(kind):
            w, u = _relative_motion(plant, topo, v)
            store3(out, i, _rotation_rate(load3(sigma, i), w))
            out[i + 3] = 0.0
            if kind != SPHERICAL:
                R = quaternion_matrix(q[i], q[i + 1], q[i + 2], q[i + 3])
                store3(out, i + 4, rot(R, u))
        else:
            for c in range(topo[t.NV]):
                out[i + c] = v[j + c]
        i, j = next_place(topo)
        k += 1
    for c in range(v.shape[0] - j):
        out[i + c] = v[j + c]


@kernel
def _exponential(s):
    """The unit quaternion exp(s/2) of the rotation vector s."""
    angle = 0.5 * math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
    sine, w = sine_cosine(angle)
    f = 0.5 * (sine / angle if angle > 1e-8 else 1.0)
    return w, f * s[0], f * s[1], f * s[2]


@kernel
def _times(q0, i, turn):
    """The quaternion q0[i:i+4] times a unit quaternion, brought back to unit length."""
    w, x, y, z = turn
    a, b, c, d = q0[i], q0[i + 1], q0[i + 2], q0[i + 3]
    r = (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )
    unit = 1.5 - 0.5 * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3])
    return unit * r[0], unit * r[1], unit * r[2], unit * r[3]


@kernel
def retract(plant, q0, sigma, out):
    """The coordinates at sigma in the chart around q0; out may be q0 itself."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, q0, i, j):
        topo = plant.topo[k]
        kind, i = topo[t.KIND], topo[t.QI]
        if has_quaternion(kind):
            r = _times(q0, i, _exponential(load3(sigma, i)))
            out[i], out[i + 1], out[i + 2], out[i + 3] = r
            if kind != SPHERICAL:
                store3(out, i + 4, add(load3(q0, i + 4), load3(sigma, i + 4)))
        else:
            for c in range(topo[t.NV]):
                out[i + c] = q0[i + c] + sigma[i + c]
        i, j = next_place(topo)
        k += 1
    for c in range(i, q0.shape[0]):
        out[c] = q0[c] + sigma[c]


@kernel
def _move_hinge(plant, topo, q0, v, h, out):
    """q0 ⊕ h v of one hinge; returns the quaternion by which it turns, of those that have one."""
    kind, i, j = topo[t.KIND], topo[t.QI], topo[t.VI]
    turn = (1.0, 0.0, 0.0, 0.0)
    if has_quaternion(kind):
        w, u = _relative_motion(plant, topo, v)
        R = quaternion_matrix(q0[i], q0[i + 1], q0[i + 2], q0[i + 3])
        turn = _exponential(scale(h, w))
        out[i], out[i + 1], out[i + 2], out[i + 3] = _times(q0, i, turn)
        if kind != SPHERICAL:
            store3(out, i + 4, add_scaled(load3(q0, i + 4), h, rot(R, u)))
    else:
        for c in range(topo[t.NV]):
            out[i + c] = q0[i + c] + h * v[j + c]
    return turn


@kernel
def _move_flat(q0, i, v, j, h, out):
    """The same of all hinges from coordinate i and velocity j on, which have no quaternions."""
    for c in range(v.shape[0] - j):
        out[i + c] = q0[i + c] + h * v[j + c]


@kernel
def move(plant, q0, v, h, out):
    """q0 ⊕ h v, velocities as at q0; out may be q0 itself."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, q0, i, j):
        _move_hinge(plant, plant.topo[k], q0, v, h, out)
        i, j = next_place(plant.topo[k])
        k += 1
    _move_flat(q0, i, v, j, h, out)


@kernel
def _in_fixed_axes(v, a, j):
    """a + ω × v, linear, of the free hinge whose velocities begin at j."""
    return add_cross(load3(a, j + 3), load3(v, j), load3(v, j + 3))


@kernel
def fly_straight(plant, q, v, a, h, out):
    """Of free hinges out becomes v + h (a + ω × v), linear, along the axes of now."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, q, i, j):
        topo = plant.topo[k]
        if topo[t.KIND] == FREE:
            j = topo[t.VI]
            store3(out, j + 3, add_scaled(load3(v, j + 3), h, _in_fixed_axes(v, a, j)))
        i, j = next_place(topo)
        k += 1


@kernel
def accelerate_along_start(plant, q, v, a):
    """Of free hinges a becomes a + ω × v: the change of v in axes that do not turn, which are those of now."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, q, i, j):
        topo = plant.topo[k]
        if topo[t.KIND] == FREE:
            j = topo[t.VI]
            store3(a, j + 3, _in_fixed_axes(v, a, j))
        i, j = next_place(topo)
        k += 1


@kernel
def accelerate_in_start(plant, sigma, v, a):
    """Of free hinges that lie at sigma in the chart a becomes the change of v in the axes of the chart's centre."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, sigma, i, j):
        topo = plant.topo[k]
        if topo[t.KIND] == FREE:
            i, j = topo[t.QI], topo[t.VI]
            w, x, y, z = _exponential(load3(sigma, i))
            R = quaternion_matrix(w, x, y, z)
            store3(a, j + 3, rot(R, _in_fixed_axes(v, a, j)))
            store3(a, j, rot(R, load3(a, j)))
        i, j = next_place(topo)
        k += 1


@kernel
def turn_from_start(plant, sigma, v):
    """Velocities v of free hinges along the axes of the chart's centre turn to those at sigma."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, sigma, i, j):
        topo = plant.topo[k]
        if topo[t.KIND] == FREE:
            i, j = topo[t.QI], topo[t.VI]
            w, x, y, z = _exponential(load3(sigma, i))
            R = quaternion_matrix(w, x, y, z)
            store3(v, j, unrot(R, load3(v, j)))
            store3(v, j + 3, unrot(R, load3(v, j + 3)))
        i, j = next_place(topo)
        k += 1


@kernel
def move_to_end(plant, q0, way, h, out, v):
    """q0 ⊕ h way, as `move`; linear velocities v of free hinges, along their axes at q0, turn with these."""
    i, j, k = 0, 0, 0
    while _turns_follow(plant, q0, i, j):
        topo = plant.topo[k]
        w, x, y, z = _move_hinge(plant, topo, q0, way, h, out)
        if topo[t.KIND] == FREE:
            j = topo[t.VI]
            store3(v, j + 3, unrot(quaternion_matrix(w, x, y, z), load3(v, j + 3)))
        i, j = next_place(topo)
        k += 1
    _move_flat(q0, i, way, j, h, out)


@kernel
def _unit_length(q, i):
    """Normalise q[i:i+4]; a quaternion that is of unit length to rounding keeps its bits."""
    square = q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3]
    if abs(square - 1.0) > 4e-15:
        f = 1.0 / math.sqrt(square)
        for c in range(4):
            q[i + c] = f * q[i + c]


@kernel
def coordinate_rates(plant, q, v, out):
    """dq/dt (nq,): of a quaternion ½ q ∘ ω, linear in q so that its length stays, whatever it is."""
    for k in range(plant.topo.shape[0]):
        topo = plant.topo[k]
        kind, i, j = topo[t.KIND], topo[t.QI], topo[t.VI]
        if has_quaternion(kind):
            w, u = _relative_motion(plant, topo, v)
            a, b, c, d = q[i], q[i + 1], q[i + 2], q[i + 3]
            out[i] = -0.5 * (b * w[0] + c * w[1] + d * w[2])
            out[i + 1] = 0.5 * (a * w[0] + c * w[2] - d * w[1])
            out[i + 2] = 0.5 * (a * w[1] + d * w[0] - b * w[2])
            out[i + 3] = 0.5 * (a * w[2] + b * w[1] - c * w[0])
            if kind != SPHERICAL:
                f = 1.0 / math.sqrt(a * a + b * b + c * c + d * d)
                store3(out, i + 4, rot(quaternion_matrix(f * a, f * b, f * c, f * d), u))
        else:
            for c in range(topo[t.NV]):
                out[i + c] = v[j + c]


@entry(INTS, FLOATS, FLOATS, FLOATS)
def rates_entry(ints, floats, state, out):
    """dq/dt (nq,) at State, whose quaternions may have any length but 0."""
    nq = ints[t.C_Q]
    coordinate_rates(
        plant_view(ints, floats), vector_view(state, t.S_Q, nq), vector_view(state, t.S_Q + nq, ints[t.C_V]), out
    )


@kernel
def unit_quaternions(plant, q):
    """Bring the quaternions in q to unit length."""
    for k in range(plant.topo.shape[0]):
        kind = plant.topo[k, t.KIND]
        if has_quaternion(kind):
            _unit_length(q, plant.topo[k, t.QI])


@entry(INTS, FLOATS, FLOATS)
def normalise_entry(ints, floats, state):
    """Bring the quaternions in State to unit length."""
    unit_quaternions(plant_view(ints, floats), vector_view(state, t.S_Q, ints[t.C_Q]))
