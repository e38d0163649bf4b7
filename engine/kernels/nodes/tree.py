"""Base-to-tip sweep shared by all dynamics: hinge frames and spatial velocities.

V(k) = φ*(parent, k) V(parent) + H*(k) β(k)      (000 eq. 0.1; 002 "body spatial velocities")
"""

from __future__ import annotations

from limberjack.engine.algebra.sine_cosine import sines_cosines
from limberjack.engine.algebra.spatial import ZERO, add, load3, load9, mul, neg, rot, store3, store9
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.dispatch import hinge_frame, place_body
from limberjack.engine.tables import plant as t


@kernel
def begin_sweep(plant, work, q, gravity):
    """Sines and cosines of q; the inertial frame: V = 0 and, standing for gravity, alpha = -g (0 with gravity=0)."""
    for i in range(q.shape[0]):
        work.angle[i] = q[i] + plant.angle_offset[i]
    sines_cosines(work.angle, work.sine, work.cosine)
    ground = work.rows[0]
    store3(ground, t.W_V, ZERO)
    store3(ground, t.W_V + 3, ZERO)
    store3(ground, t.W_ALPHA, ZERO)
    g = neg(load3(plant.gravity, 0))
    store3(ground, t.W_ALPHA + 3, (gravity * g[0], gravity * g[1], gravity * g[2]))


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
        up = work.pose[plant.topo[k, t.UP]]
        R, p = hinge_frame(plant, work, k)
        R_up = load9(up, 0)
        store9(work.pose[k + 1], 0, mul(R_up, R))
        store3(work.pose[k + 1], 9, add(load3(up, 9), rot(R_up, p)))
