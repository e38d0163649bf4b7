"""Poses, velocities and accelerations of nodes, Jacobians, momentum, energy (000 eq. 0.18: J = B* φ* H*; 002 same).

All results are in inertial axes. Body-frame derivatives α become classical accelerations by adding ω × v.
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_cross,
    cross,
    dot,
    load3,
    load6,
    load9,
    rigid_mul,
    rot,
    store3,
    store9,
    unrot,
)
from limberjack.engine.compile.compiled import FLOATS, MATRIX, VECTOR, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.forces.body_forces import central_energy
from limberjack.engine.kernels.nodes import modal
from limberjack.engine.kernels.nodes.dispatch import accelerate_body, has_modes, place_body, write_columns
from limberjack.engine.kernels.nodes.frames import node_pose, node_velocity
from limberjack.engine.kernels.nodes.tree import begin_sweep, sweep_poses, sweep_velocities
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.plant import plant_view, work_view


@kernel
def node_acceleration(plant, work, node):
    """Angular acceleration, and classical acceleration of the node's origin, in inertial axes."""
    row, r = work.rows[plant.node_row[node]], load3(plant.node_pose[node], 9)
    R = load9(work.pose[plant.node_row[node]], 0)
    w, alpha = load3(row, t.W_V), load3(row, t.W_ALPHA)
    v = add_cross(load3(row, t.W_V + 3), w, r)
    a = add_cross(add_cross(load3(row, t.W_ALPHA + 3), alpha, r), w, v)
    return rot(R, alpha), rot(R, a)


@kernel
def spread_wrenches(plant, work, external):
    """external (nodes, 6), [moment; force] at the nodes in inertial axes → work.wrench at O_k in body axes."""
    sweep_poses(plant, work)
    for k in range(work.wrench.shape[0]):
        store3(work.wrench[k], 0, ZERO)
        store3(work.wrench[k], 3, ZERO)
    for node in range(plant.node_row.shape[0]):
        wrench = work.wrench[plant.node_row[node]]
        R = load9(work.pose[plant.node_row[node]], 0)
        n, f = unrot(R, load3(external[node], 0)), unrot(R, load3(external[node], 3))
        store3(wrench, 0, add(load3(wrench, 0), add_cross(n, load3(plant.node_pose[node], 9), f)))
        store3(wrench, 3, add(load3(wrench, 3), f))


@entry(VECTORS, VECTOR, MATRIX)
def spread_wrenches_entry(ints, floats, work, q, external):
    """Fill work.wrench for the coordinates q."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    sweep_velocities(plant, scratch, q, scratch.zeros)
    spread_wrenches(plant, scratch, external)


@kernel
def jacobian(plant, work, q, node, J):
    """J (6, nv) of a node; work must be placed for q."""
    sweep_poses(plant, work)
    point = node_pose(plant, work, node)[1]
    row = plant.node_row[node]
    while row > 0:
        write_columns(plant, work, row - 1, J, point)
        row = plant.topo[row - 1, t.UP]


@entry(VECTORS, VECTOR, WHOLE, MATRIX)
def jacobian_entry(ints, floats, work, q, node, J):
    """J (6, nv) must be zero on entry; only the columns between node and base are written."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    sweep_velocities(plant, scratch, q, scratch.zeros)
    jacobian(plant, scratch, q, node, J)


@entry(VECTORS, VECTOR, WHOLE, FLOATS)
def node_pose_entry(ints, floats, work, q, node, out):
    """out (12,): R row by row, then p."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    sweep_velocities(plant, scratch, q, scratch.zeros)
    sweep_poses(plant, scratch)
    R, p = node_pose(plant, scratch, node)
    store9(out, 0, R)
    store3(out, 9, p)


@entry(VECTORS, VECTOR, VECTOR, VECTOR, WHOLE, FLOATS)
def node_motion_entry(ints, floats, work, q, v, vdot, node, out):
    """out (12,): velocity [ω; v], then acceleration [dω/dt; a] for the given vdot, no gravity."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    begin_sweep(plant, scratch, q, 0.0)
    for k in range(plant.topo.shape[0]):
        w, u = place_body(plant, scratch, k, q, v)
        accelerate_body(plant, scratch, k, v, vdot, w, u)
    sweep_poses(plant, scratch)
    w, u = node_velocity(plant, scratch, node)
    store3(out, 0, w)
    store3(out, 3, u)
    w, u = node_acceleration(plant, scratch, node)
    store3(out, 6, w)
    store3(out, 9, u)


@kernel
def totals(plant, work, out):
    """out (12,): kinetic and potential energy, momentum (6) about the inertial origin, first moment (3), mass.

    They are those of the moving bodies: bodies fixed to the ground do not count, whether their hinges are merged or
    not. Rotors of constant momentum count in the momentum only: the work of their drives is not energy of the bodies.
    """
    kinetic, mass = 0.0, 0.0
    L, p, c = ZERO, ZERO, ZERO
    for k in range(plant.topo.shape[0]):
        if plant.topo[k, t.GROUNDED]:
            continue
        body, pose, row = plant.body[k], work.pose[k + 1], work.rows[k + 1]
        m, h, I = body[t.B_M], load3(body, t.B_H), load6(body, t.B_I)
        w, u = load3(row, t.W_V), load3(row, t.W_V + 3)
        deforms = has_modes(plant.topo[k])
        if deforms:
            h, I = modal.deformed_inertia(plant, work, k, h, I)
        n, f = rigid_mul(m, h, I, w, u)
        kinetic += 0.5 * (dot(w, n) + dot(u, f))
        if deforms:
            bent, moved = modal.momentum(plant, work, k)
            kinetic += dot(w, bent) + dot(u, moved)
            n, f = add(n, bent), add(f, moved)
        R, x = load9(pose, 0), load3(pose, 9)
        f = rot(R, f)
        p = add(p, f)
        L = add(add(L, rot(R, n)), cross(x, f))
        h = rot(R, h)
        c = (c[0] + h[0] + m * x[0], c[1] + h[1] + m * x[1], c[2] + h[2] + m * x[2])
        mass += m
    for i in range(plant.elements.rotor.shape[0]):
        L = add(L, rot(load9(work.pose[plant.elements.rotor_row[i]], 0), load3(plant.elements.rotor[i], 0)))
    out[0], out[1] = kinetic, -dot(load3(plant.gravity, 0), c)
    if plant.elements.central.shape[0] > 0:
        out[1] += central_energy(plant, work)
    store3(out, 2, L)
    store3(out, 5, p)
    store3(out, 8, c)
    out[11] = mass


@kernel
def rotor_energy(plant, v):
    """Kinetic energy ½ Σ armature v² of reflected rotors."""
    energy = 0.0
    for j in range(v.shape[0]):
        energy += 0.5 * plant.armature[j] * v[j] * v[j]
    return energy


@kernel
def strain_energy(plant, q, k):
    """½ Σ k (q - rest)² over the modes of link k."""
    first, energy = plant.topo[k, t.VI], 0.0
    for j in range(first, first + plant.topo[k, t.NV]):
        x = q[plant.dof_int[j, t.DI_Q]] - plant.dof[j, t.D_REST]
        energy += 0.5 * plant.dof[j, t.D_STIFFNESS] * x * x
    return energy


@kernel
def strain_energies(plant, q):
    """Of all modal bodies together."""
    energy = 0.0
    for k in range(plant.topo.shape[0]):
        if has_modes(plant.topo[k]):
            energy += strain_energy(plant, q, k)
    return energy


@entry(VECTORS, VECTOR, VECTOR, FLOATS)
def totals_entry(ints, floats, work, q, v, out):
    """`totals` for q, v; the reflected rotors count in the kinetic energy, not in the momentum."""
    plant, scratch = plant_view(ints, floats), work_view(ints, work)
    sweep_velocities(plant, scratch, q, v)
    sweep_poses(plant, scratch)
    totals(plant, scratch, out)
    out[0] += rotor_energy(plant, v)
