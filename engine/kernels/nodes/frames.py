"""Poses and velocities of the user's nodes, after the sweeps have placed and moved the links; Jacobians."""

from __future__ import annotations

from limberjack.engine.algebra.spatial import add, add_cross, load3, load9, mul, rot, sub
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables.plant import W_V


@kernel
def node_pose(plant, work, node):
    """Rotation (9) and position (3) of a node in the inertial frame."""
    body, local = work.pose[plant.node_row[node]], plant.node_pose[node]
    R = load9(body, 0)
    return mul(R, load9(local, 0)), add(load3(body, 9), rot(R, load3(local, 9)))


@kernel
def node_velocity(plant, work, node):
    """Angular velocity, and velocity of the node's origin, in inertial axes."""
    row = work.rows[plant.node_row[node]]
    R = load9(work.pose[plant.node_row[node]], 0)
    w = load3(row, W_V)
    return rot(R, w), rot(R, add_cross(load3(row, W_V + 3), w, load3(plant.node_pose[node], 9)))


@kernel
def write_column(J, column, pose, h, u, point):
    """Column of a Jacobian: a hinge direction (h, u) at O_k in body axes, seen at `point` in inertial axes."""
    R = load9(pose, 0)
    w = rot(R, h)
    v = add_cross(rot(R, u), w, sub(point, load3(pose, 9)))
    for i in range(3):
        J[i, column] = w[i]
        J[3 + i, column] = v[i]
