"""Base-to-tip sweep shared by all dynamics: hinge frames and spatial velocities; and motion and force across a hinge.

V(k) = φ*(parent, k) V(parent) + H*(k) β(k)      (000 recursion for V; 002 "body spatial velocities")
"""

from __future__ import annotations

from limberjack.engine.algebra.sine_cosine import sines_cosines
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_cross,
    force_out,
    load3,
    load9,
    motion_in,
    mul,
    neg,
    rot,
    store3,
    store9,
)
from limberjack.engine.algebra.turns import turn_x, turn_z, turns_matrix
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.hinges import place_frame, place_general
from limberjack.engine.kernels.nodes.modal_placing import place_flexible
from limberjack.engine.tables.plant import (
    B_P,
    B_R,
    B_TILT,
    B_TURN,
    PATH,
    PATH_BASE,
    PATH_MODAL,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    QI,
    TURN,
    UP,
    VI,
    W_ALPHA,
    W_C,
    W_P,
    W_R,
    W_V,
)


@kernel
def place_prismatic(body, distance, row):
    """R and lever p of a body that slides along z."""
    R, p = load9(body, B_R), load3(body, B_P)
    store9(row, W_R, R)
    store3(row, W_P, (p[0] + R[2] * distance, p[1] + R[5] * distance, p[2] + R[8] * distance))


@kernel
def revolute_in(topo, body, row, w, u):
    """φ*(parent, k) [w; u] across a z-turning hinge."""
    u = add_cross(u, w, load3(body, B_P))
    if topo[TURN]:
        c, s = body[B_TURN], -body[B_TURN + 1]
        w, u = turn_z(c, s, w), turn_z(c, s, u)
    c, s = body[B_TILT], -body[B_TILT + 1]
    w, u = turn_x(c, s, w), turn_x(c, s, u)
    c, s = row[W_C], -row[W_C + 1]
    return turn_z(c, s, w), turn_z(c, s, u)


@kernel
def revolute_out(topo, body, row, n, f):
    """φ(parent, k) [n; f] across a z-turning hinge."""
    n, f = turn_z(row[W_C], row[W_C + 1], n), turn_z(row[W_C], row[W_C + 1], f)
    c, s = body[B_TILT], body[B_TILT + 1]
    n, f = turn_x(c, s, n), turn_x(c, s, f)
    if topo[TURN]:
        c, s = body[B_TURN], body[B_TURN + 1]
        n, f = turn_z(c, s, n), turn_z(c, s, f)
    return add_cross(n, load3(body, B_P), f), f


@kernel
def hinge_in(plant, work, k, w, u):
    """φ*(parent, k) [w; u]: a motion of the parent seen at body k, in its axes."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[PATH] == PATH_REVOLUTE:
        return revolute_in(topo, plant.body[k], row, w, u)
    return motion_in(load9(row, W_R), load3(row, W_P), w, u)


@kernel
def hinge_out(plant, work, k, n, f):
    """φ(parent, k) [n; f]: a force on body k seen at its parent, in the parent's axes."""
    topo, row = plant.topo[k], work.rows[k + 1]
    if topo[PATH] == PATH_REVOLUTE:
        return revolute_out(topo, plant.body[k], row, n, f)
    return force_out(load9(row, W_R), load3(row, W_P), n, f)


@kernel
def hinge_frame(plant, work, k):
    """R_(parent, k) and the lever p of body k, once it is placed."""
    row, body = work.rows[k + 1], plant.body[k]
    if plant.topo[k, PATH] != PATH_REVOLUTE:
        return load9(row, W_R), load3(row, W_P)
    R = turns_matrix(body[B_TURN], body[B_TURN + 1], body[B_TILT], body[B_TILT + 1], row[W_C], row[W_C + 1])
    return R, load3(body, B_P)


@kernel
def place_body(plant, work, k, q, v):
    """Frames and V(k) of body k, whose parent is done; returns V(k) as (angular, linear)."""
    topo, body = plant.topo[k], plant.body[k]
    row, up = work.rows[k + 1], work.rows[topo[UP]]
    path, j = topo[PATH], topo[VI]
    if path == PATH_REVOLUTE:
        row[W_C], row[W_C + 1] = work.cosine[topo[QI]], work.sine[topo[QI]]
        w, u = revolute_in(topo, body, row, load3(up, W_V), load3(up, W_V + 3))
        w = (w[0], w[1], w[2] + v[j])
    elif path == PATH_PRISMATIC:
        place_prismatic(body, q[topo[QI]], row)
        w, u = motion_in(load9(row, W_R), load3(row, W_P), load3(up, W_V), load3(up, W_V + 3))
        u = (u[0], u[1], u[2] + v[j])
    elif path == PATH_BASE:
        place_frame(plant, work, k, q, row)
        w, u = load3(v, j), load3(v, j + 3)
    elif path >= PATH_MODAL:
        place_flexible(plant, work, k, q, v)
        return load3(row, W_V), load3(row, W_V + 3)
    else:
        return place_general(plant, work, k, q, v, row, up)
    store3(row, W_V, w)
    store3(row, W_V + 3, u)
    return w, u


@kernel
def begin_sweep(plant, work, q, gravity):
    """Sines and cosines of q; the inertial frame: V = 0 and, standing for gravity, alpha = -g (0 with gravity=0)."""
    for i in range(q.shape[0]):
        work.angle[i] = q[i] + plant.angle_offset[i]
    sines_cosines(work.angle, work.sine, work.cosine)
    ground = work.rows[0]
    store3(ground, W_V, ZERO)
    store3(ground, W_V + 3, ZERO)
    store3(ground, W_ALPHA, ZERO)
    g = neg(load3(plant.gravity, 0))
    store3(ground, W_ALPHA + 3, (gravity * g[0], gravity * g[1], gravity * g[2]))


@kernel
def sweep_velocities(plant, work, q, v):
    """Frames and velocities of all bodies, base to tip."""
    begin_sweep(plant, work, q, 0.0)
    for k in range(plant.topo.shape[0]):
        place_body(plant, work, k, q, v)


@kernel
def sweep_poses(plant, work):
    """Pose of every body in the inertial frame, once the hinges are placed."""
    store9(work.pose[0], 0, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    store3(work.pose[0], 9, ZERO)
    for k in range(plant.topo.shape[0]):
        up = work.pose[plant.topo[k, UP]]
        R, p = hinge_frame(plant, work, k)
        R_up = load9(up, 0)
        store9(work.pose[k + 1], 0, mul(R_up, R))
        store3(work.pose[k + 1], 9, add(load3(up, 9), rot(R_up, p)))
