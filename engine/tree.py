"""Base-to-tip sweep shared by all dynamics: hinge frames and spatial velocities.

    V(k) = φ*(parent, k) V(parent) + H*(k) β(k)      (000 recursion for V; 002 "body spatial velocities")
"""

from __future__ import annotations

import math

from limberjack.engine.hinges import place_frame, place_general
from limberjack.engine.kernel import kernel
from limberjack.engine.layout import (
    B_P,
    B_R,
    PATH,
    PATH_BASE,
    PATH_PRISMATIC,
    PATH_REVOLUTE,
    QI,
    UP,
    VI,
    W_ALPHA,
    W_P,
    W_R,
    W_V,
)
from limberjack.engine.spatial import ZERO, load3, load9, motion_in, neg, store3, store9, turn_z


@kernel
def place_revolute(body, angle, row):
    """R and lever p of a body that turns about z."""
    R = turn_z(load9(body, B_R), math.cos(angle), math.sin(angle))
    p = load3(body, B_P)
    store9(row, W_R, R)
    store3(row, W_P, p)
    return R, p


@kernel
def place_prismatic(body, distance, row):
    """R and lever p of a body that slides along z."""
    R, p = load9(body, B_R), load3(body, B_P)
    p = (p[0] + R[2] * distance, p[1] + R[5] * distance, p[2] + R[8] * distance)
    store9(row, W_R, R)
    store3(row, W_P, p)
    return R, p


@kernel
def place_body(plant, work, k, q, v):
    """Frames and V(k) of body k, whose parent is done; returns V(k) as (angular, linear)."""
    topo = plant.topo[k]
    row, up = work.rows[k + 1], work.rows[topo[UP]]
    path, j = topo[PATH], topo[VI]
    if path == PATH_REVOLUTE:
        R, p = place_revolute(plant.body[k], q[topo[QI]], row)
        w, u = motion_in(R, p, load3(up, W_V), load3(up, W_V + 3))
        w = (w[0], w[1], w[2] + v[j])
    elif path == PATH_PRISMATIC:
        R, p = place_prismatic(plant.body[k], q[topo[QI]], row)
        w, u = motion_in(R, p, load3(up, W_V), load3(up, W_V + 3))
        u = (u[0], u[1], u[2] + v[j])
    elif path == PATH_BASE:
        place_frame(plant, k, q, row)
        w, u = load3(v, j), load3(v, j + 3)
    else:
        return place_general(plant, work, k, q, v, row, up)
    store3(row, W_V, w)
    store3(row, W_V + 3, u)
    return w, u


@kernel
def set_ground(plant, work, gravity):
    """The inertial frame: V = 0 and, standing for gravity, alpha = -g (or 0 with gravity=0)."""
    ground = work.rows[0]
    store3(ground, W_V, ZERO)
    store3(ground, W_V + 3, ZERO)
    store3(ground, W_ALPHA, ZERO)
    g = neg(load3(plant.gravity, 0))
    store3(ground, W_ALPHA + 3, (gravity * g[0], gravity * g[1], gravity * g[2]))


@kernel
def sweep_velocities(plant, work, q, v):
    """Frames and velocities of all bodies, base to tip."""
    for k in range(plant.topo.shape[0]):
        place_body(plant, work, k, q, v)
