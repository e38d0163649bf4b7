"""Hinge library: pose, hinge map H*, its rate and derivatives for every hinge type, in canonical axes.

Equations (002, Table 2.5 and 2.6, each checked by derivation). With R the rotation from the outboard frame O to
the inboard frame O+ and p the position of O in O+,

    H*(q) β = [vee(R* dR/dt); R* dp/dt]      relative spatial velocity ΔV in the outboard (= body) frame,
    a(k) = V(k) × ΔV + (dH*/dt) β            Coriolis spatial acceleration (002, a(k) for non-simple hinges).

Canonical axes: 1-dof hinges turn about or slide along z. Coordinates and H*:

    helical       R = Rz(q), p = (0, 0, x q)          H* = [z; x z]
    cylindrical   R = Rz(q1), p = (0, 0, q2)          H* = [z, 0; 0, z]
    universal     R = Rz(q1) Ry(q2)                   H* = [Ry*(q2) z, y; 0, 0]
    gimbal        R = Rz(q1) Ry(q2) Rx(x q3)          H* = [Rx* Ry* z, Rx* y, x ex; 0]
    spherical     R = R(quaternion)                   H* = [I; 0]
    planar        R = Rz(q1), p = (q2, q3, 0)         H* = [z, 0, 0; 0, R* ex, R* ey]
    rolling       R = Rz(q), p = (-x q, 0, 0)         H* = [z; -x R* ex]
    free, custom  R = R(quaternion), p = q[4:7]       H* = I, or the given constant map

Seed 002 lists the planar map as constant, which holds for quasi-velocities along the body's axes only; here the
velocities are the rates of the coordinates. Its rolling position is that of the inverse pose; see NOTATION.md.

First and second derivatives of H* are along the hinge's own velocities. Only the maps of universal, gimbal, planar and
rolling hinges change with the coordinates; the velocities of these are rates of coordinates, so ∂_j is the partial
derivative in coordinate j. With c, s of the angles:

    universal, gimbal  H* y = y0 (-sb, s cb, c cb) + y1 (0, c, -s) + y2 (x, 0, 0)     angular
    planar             H* y = y1 (c, -s, 0) + y2 (s, c, 0)                            linear, beside y0 z angular
    rolling            H* y = y0 (-x c, x s, 0)                                       linear, beside y0 z angular
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    load3,
    load9,
    mul,
    quaternion_matrix,
    rot,
    store3,
    store9,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import hinge_types as ht
from limberjack.engine.tables import plant as t

_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def _about_zy(work, i):
    """Rz(q[i]) Ry(q[i + 1])."""
    ca, sa, cb, sb = work.cosine[i], work.sine[i], work.cosine[i + 1], work.sine[i + 1]
    return ca * cb, -sa, ca * sb, sa * cb, ca, sa * sb, -sb, 0.0, cb


@kernel
def hinge_pose(kind, x, work, q, i):
    """R from O to O+ and p of O in O+ for the coordinates q[i:]; x is the hinge parameter."""
    R, p = _IDENTITY, (0.0, 0.0, 0.0)
    c, s = work.cosine[i], work.sine[i]
    if kind == ht.SPHERICAL or kind == ht.FREE or kind == ht.CUSTOM:
        R = quaternion_matrix(q[i], q[i + 1], q[i + 2], q[i + 3])
        if kind != ht.SPHERICAL:
            p = load3(q, i + 4)
    elif kind == ht.UNIVERSAL:
        R = _about_zy(work, i)
    elif kind == ht.GIMBAL:
        c, s = work.cosine[i + 2], x * work.sine[i + 2]
        R = mul(_about_zy(work, i), (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c))
    elif kind == ht.PRISMATIC:
        p = (0.0, 0.0, q[i])
    elif kind != ht.FIXED:
        R = (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
        if kind == ht.HELICAL:
            p = (0.0, 0.0, x * q[i])
        elif kind == ht.CYLINDRICAL:
            p = (0.0, 0.0, q[i + 1])
        elif kind == ht.PLANAR:
            p = (q[i + 1], q[i + 2], 0.0)
        elif kind == ht.ROLLING:
            p = (-x * q[i], 0.0, 0.0)
    return R, p


@kernel
def _set(g, row, column, value):
    g[t.G_H + 6 * column + row] = value


@kernel
def _turning_map(kind, x, work, i, v, j, g):
    """H* and (dH*/dt) β of the universal and gimbal hinges; returns the angular part of the latter."""
    a_rate, b_rate = v[j], v[j + 1]
    cb, sb = work.cosine[i + 1], work.sine[i + 1]
    c, s, c_rate = 1.0, 0.0, 0.0
    if kind == ht.GIMBAL:
        c, s, c_rate = work.cosine[i + 2], x * work.sine[i + 2], x * v[j + 2]
        _set(g, 0, 2, x)
    store3(g, t.G_H, (-sb, s * cb, c * cb))
    store3(g, t.G_H + 6, (0.0, c, -s))
    return (
        -cb * b_rate * a_rate,
        (c * c_rate * cb - s * sb * b_rate) * a_rate - s * c_rate * b_rate,
        (-s * c_rate * cb - c * sb * b_rate) * a_rate - c * c_rate * b_rate,
    )


@kernel
def _sliding_map(kind, x, work, i, v, j, g):
    """H* and (dH*/dt) β of the planar and rolling hinges; returns the linear part of the latter."""
    c, s, rate = work.cosine[i], work.sine[i], v[j]
    _set(g, 2, 0, 1.0)
    if kind == ht.ROLLING:
        store3(g, t.G_H + 3, (-x * c, x * s, 0.0))
        return x * s * rate * rate, x * c * rate * rate, 0.0
    store3(g, t.G_H + 9, (c, -s, 0.0))
    store3(g, t.G_H + 15, (s, c, 0.0))
    return rate * (-s * v[j + 1] + c * v[j + 2]), rate * (-c * v[j + 1] - s * v[j + 2]), 0.0


@kernel
def _constant_map(kind, x, maps, m, nv, g):
    """H* of the hinges whose map is constant in the body frame."""
    if kind == ht.CUSTOM:
        for i in range(6 * nv):
            g[t.G_H + i] = maps[m, i]
    elif kind == ht.SPHERICAL or kind == ht.FREE:
        for i in range(nv):
            _set(g, i, i, 1.0)
    elif kind == ht.PRISMATIC:
        _set(g, 5, 0, 1.0)
    elif kind == ht.REVOLUTE or kind == ht.HELICAL or kind == ht.CYLINDRICAL:
        _set(g, 2, 0, 1.0)
        if kind == ht.HELICAL:
            _set(g, 5, 0, x)
        elif kind == ht.CYLINDRICAL:
            _set(g, 5, 1, 1.0)


@kernel
def hinge_map(plant, work, k, v, g):
    """Write H* of body k into its row g of work.gen; return (dH*/dt) β as (angular, linear)."""
    topo = plant.topo[k]
    kind, i, j, nv = topo[t.KIND], topo[t.QI], topo[t.VI], topo[t.NV]
    x = plant.body[k][t.B_X]
    for e in range(6 * nv):
        g[t.G_H + e] = 0.0
    w, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if kind == ht.UNIVERSAL or kind == ht.GIMBAL:
        w = _turning_map(kind, x, work, i, v, j, g)
    elif kind == ht.PLANAR or kind == ht.ROLLING:
        u = _sliding_map(kind, x, work, i, v, j, g)
    else:
        _constant_map(kind, x, plant.maps, topo[t.MAP], nv, g)
    return w, u


@kernel
def relative_velocity(g, v, j, nv):
    """ΔV = H* β as (angular, linear)."""
    w, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for c in range(nv):
        h = t.G_H + 6 * c
        w = (w[0] + g[h] * v[j + c], w[1] + g[h + 1] * v[j + c], w[2] + g[h + 2] * v[j + c])
        u = (u[0] + g[h + 3] * v[j + c], u[1] + g[h + 4] * v[j + c], u[2] + g[h + 5] * v[j + c])
    return w, u


@kernel
def place_frame(plant, work, k, q, row):
    """Write R and lever p of body k for any hinge type: R = R_plus R(q), p = p_plus + R_plus p(q)."""
    topo, body = plant.topo[k], plant.body[k]
    R, p = hinge_pose(topo[t.KIND], body[t.B_X], work, q, topo[t.QI])
    F = load9(body, t.B_R)
    R, p = mul(F, R), add(load3(body, t.B_P), rot(F, p))
    store9(row, t.W_R, R)
    store3(row, t.W_P, p)
    return R, p


# ---- derivatives of H*


@kernel
def has_changing_map(kind):
    """Whether H* depends on the coordinates."""
    return kind == ht.UNIVERSAL or kind == ht.GIMBAL or kind == ht.PLANAR or kind == ht.ROLLING


@kernel
def _last_angle(kind, x, work, i):
    """(c, s, sign) of the third gimbal angle, handedness included; 0 of a universal hinge."""
    if kind == ht.GIMBAL:
        return work.cosine[i + 2], x * work.sine[i + 2], x
    return 1.0, 0.0, 0.0


@kernel
def _turning_gradient(kind, x, work, i, j, y):
    cb, sb = work.cosine[i + 1], work.sine[i + 1]
    c, s, sign = _last_angle(kind, x, work, i)
    if j == 1:
        return -cb * y[0], -s * sb * y[0], -c * sb * y[0]
    if j == 2:
        return 0.0, sign * (c * cb * y[0] - s * y[1]), sign * (-s * cb * y[0] - c * y[1])
    return ZERO


@kernel
def _turning_curvature(kind, x, work, i, j, e, y):
    cb, sb = work.cosine[i + 1], work.sine[i + 1]
    c, s, sign = _last_angle(kind, x, work, i)
    if j == 1 and e == 1:
        return sb * y[0], -s * cb * y[0], -c * cb * y[0]
    if j == 2 and e == 2:
        return 0.0, -s * cb * y[0] - c * y[1], -c * cb * y[0] + s * y[1]
    if j + e == 3:
        return 0.0, -sign * c * sb * y[0], sign * s * sb * y[0]
    return ZERO


@kernel
def _sliding(kind, x, c, s, y):
    """Linear part of H* y of a planar or rolling hinge, for any (c, s) in place of cosine and sine."""
    if kind == ht.ROLLING:
        return -x * c * y[0], x * s * y[0], 0.0
    return c * y[1] + s * y[2], c * y[2] - s * y[1], 0.0


@kernel
def map_gradient(plant, work, k, j, y):
    """(∂_j H*) y as (angular, linear); j counts within the hinge, y holds three numbers, zeros after the hinge's."""
    topo = plant.topo[k]
    kind, i, x = topo[t.KIND], topo[t.QI], plant.body[k, t.B_X]
    if kind == ht.UNIVERSAL or kind == ht.GIMBAL:
        return _turning_gradient(kind, x, work, i, j, y), ZERO
    if j == 0:
        return ZERO, _sliding(kind, x, -work.sine[i], work.cosine[i], y)
    return ZERO, ZERO


@kernel
def map_curvature(plant, work, k, j, e, y):
    """(∂_j ∂_e H*) y as (angular, linear)."""
    topo = plant.topo[k]
    kind, i, x = topo[t.KIND], topo[t.QI], plant.body[k, t.B_X]
    if kind == ht.UNIVERSAL or kind == ht.GIMBAL:
        return _turning_curvature(kind, x, work, i, j, e, y), ZERO
    if j == 0 and e == 0:
        return ZERO, _sliding(kind, x, -work.cosine[i], -work.sine[i], y)
    return ZERO, ZERO
