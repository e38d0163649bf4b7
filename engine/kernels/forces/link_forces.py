"""Forces on links of elements that sit there or join two.

thruster        f = d F                    F commanded, between its limits
rotor           n = -ω × h                 of constant momentum h relative to its link (a gyrostat)
spring          f = ±e [k (|d| - l) + c e·(u₂ - u₁) + F₀]      d = p₂ - p₁, e = d / |d|, from node 1 to node 2
bushing         [n₂; f₂] = -[Γ* 0; 0 1] K [θ; x] - C [ω; dx/dt], seen from node 1: R₁* R₂ = exp θ~, x = R₁* d
                Γ = 1 - ½ θ~ + (1/θ² - cot(θ/2) / 2θ) θ~ θ~,  dθ/dt = Γ ω, so that with K alone energy is kept
"""

from __future__ import annotations

import math

from limberjack.engine.algebra.sine_cosine import sine_cosine
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
    mul_t,
    neg,
    rot,
    scale,
    store3,
    sub,
    unrot,
)
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.kernels.nodes.frames import node_pose, node_velocity
from limberjack.engine.tables import elements as t
from limberjack.engine.tables.contacts import TO_ACTS
from limberjack.engine.tables.plant import W_V


@kernel
def flow_for(thruster, command):
    """What an open thruster gives for a command, N."""
    flow = min(command, thruster[t.T_MOST])
    return flow if flow >= thruster[t.T_LEAST] else 0.0


@kernel
def set_inputs(plant, work, command):
    """Set thrusts, external forces and fields from the commands; valves keep their state of this step."""
    for i in range(plant.elements.external_force.shape[0]):
        first = plant.elements.external_force_int[i, t.EF_COMMAND]
        for j in range(t.PUSHED):
            work.elements.pushed[i, j] = command[first + j]
    for i in range(plant.elements.magnetic_field.shape[0]):
        first = plant.elements.magnetic_field_int[i, t.MF_COMMAND]
        for j in range(t.MAGNETIC):
            work.elements.magnetism[i, j] = plant.elements.magnetic_field[i, j] if first < 0 else command[first + j]
    for i in range(plant.elements.thruster.shape[0]):
        if plant.elements.thruster_int[i, t.TI_VALVE] == 0:
            work.elements.thrust[i] = flow_for(
                plant.elements.thruster[i], command[plant.elements.thruster_int[i, t.TI_COMMAND]]
            )


@kernel
def rest_touches(work):
    """Clear the contact forces."""
    for i in range(work.contacts.touch.shape[0]):
        work.contacts.touch[i, TO_ACTS] = 0.0


@kernel
def no_inputs(plant, work):
    """Switch all thrusters off, and clear external and contact forces."""
    rest_touches(work)
    for i in range(plant.elements.external_force.shape[0]):
        for j in range(t.PUSHED):
            work.elements.pushed[i, j] = 0.0
    for i in range(plant.elements.thruster.shape[0]):
        work.elements.thrust[i] = 0.0


@kernel
def push(work, row, n, f):
    """Add a moment and a force, at O in the axes of a link, to work.wrench."""
    wrench = work.wrench[row]
    store3(wrench, 0, add(load3(wrench, 0), n))
    store3(wrench, 3, add(load3(wrench, 3), f))


@kernel
def needs_poses(plant):
    """Whether poses of links in the inertial frame must be known."""
    parts = plant.elements
    joining = parts.spring.shape[0] + parts.bushing.shape[0]
    return parts.central.shape[0] + joining + parts.external_force.shape[0] + plant.contacts.pair_int.shape[0] > 0


@kernel
def _push_node(plant, work, node, n, f):
    """Add a moment and a force at a node, in inertial axes, to work.wrench; those on the ground are dropped."""
    row = plant.node_row[node]
    if row > 0:
        R = load9(work.pose[row], 0)
        n, f = unrot(R, n), unrot(R, f)
        push(work, row, add_cross(n, load3(plant.node_pose[node], 9), f), f)


@kernel
def _pull_spring(plant, work, ends, values):
    """Apply a spring's force; none if its ends coincide, so that it has no direction."""
    first, second = ends[t.SP_FIRST], ends[t.SP_SECOND]
    d = sub(node_pose(plant, work, second)[1], node_pose(plant, work, first)[1])
    length = math.sqrt(dot(d, d))
    if length > 0.0:
        e = scale(1.0 / length, d)
        rate = dot(e, sub(node_velocity(plant, work, second)[1], node_velocity(plant, work, first)[1]))
        tension = values[t.SP_STIFFNESS] * (length - values[t.SP_LENGTH]) + values[t.SP_DAMPING] * rate
        f = scale(tension + values[t.SP_PRELOAD], e)
        _push_node(plant, work, first, ZERO, f)
        _push_node(plant, work, second, ZERO, neg(f))


@kernel
def _rotation_vector(R):
    """θ of R = exp θ~, of a length up to π."""
    w, x, y, z = matrix_quaternion(R)
    size = math.sqrt(x * x + y * y + z * z)
    if size == 0.0:
        return ZERO
    return scale(2.0 * math.atan2(size, w) / size, (x, y, z))


@kernel
def _conjugate(turn, m):
    """Γ* m: the moment that does the work of m along dθ/dt."""
    square = dot(turn, turn)
    s = (1.0 + square / 60.0) / 12.0
    if square > 1e-4:
        angle = math.sqrt(square)
        sine, cosine = sine_cosine(0.5 * angle)
        s = 1.0 / square - 0.5 * cosine / (angle * sine)
    once = cross(turn, m)
    return add_scaled(add_scaled(m, 0.5, once), s, cross(turn, once))


@kernel
def _rows(values, at, w, v):
    """A 6 × 6 matrix times [w; v]."""
    n = dot(load3(values, at), w) + dot(load3(values, at + 3), v)
    m = dot(load3(values, at + 6), w) + dot(load3(values, at + 9), v)
    return n, m, dot(load3(values, at + 12), w) + dot(load3(values, at + 15), v)


@kernel
def _push_bushing(plant, work, ends, values):
    """Apply a bushing's force to both sides; it acts at node 2."""
    first, second = ends[t.BU_FIRST], ends[t.BU_SECOND]
    R, p = node_pose(plant, work, first)
    R_second, p_second = node_pose(plant, work, second)
    w, u = node_velocity(plant, work, first)
    w_second, u_second = node_velocity(plant, work, second)
    d = sub(p_second, p)
    turn, x = unrot(R, _rotation_vector(mul_t(R_second, R))), unrot(R, d)
    rate, speed = unrot(R, sub(w_second, w)), unrot(R, sub(sub(u_second, u), cross(w, d)))
    n = _conjugate(turn, _rows(values, t.BU_STIFFNESS, turn, x))
    f = _rows(values, t.BU_STIFFNESS + 18, turn, x)
    n = rot(R, add(n, _rows(values, t.BU_DAMPING, rate, speed)))
    f = rot(R, add(f, _rows(values, t.BU_DAMPING + 18, rate, speed)))
    _push_node(plant, work, first, add(n, cross(d, f)), f)
    _push_node(plant, work, second, neg(n), neg(f))


@kernel
def _push_external(plant, work, node, follows, pushed):
    n, f = load3(pushed, 0), load3(pushed, 3)
    if follows != 0.0:
        R = node_pose(plant, work, node)[0]
        n, f = rot(R, n), rot(R, f)
    _push_node(plant, work, node, n, f)


@kernel
def push_links(plant, work):
    """Add the forces of all these elements to work.wrench; links are placed and move."""
    for i in range(plant.elements.thruster.shape[0]):
        values = plant.elements.thruster[i]
        f = scale(work.elements.thrust[i], load3(values, t.T_AXIS))
        push(work, plant.elements.thruster_int[i, t.TI_ROW], cross(load3(values, t.T_P), f), f)
    for i in range(plant.elements.rotor.shape[0]):
        row = plant.elements.rotor_row[i]
        push(work, row, cross(load3(plant.elements.rotor[i], 0), load3(work.rows[row], W_V)), ZERO)
    for i in range(plant.elements.external_force.shape[0]):
        node, follows = plant.elements.external_force_int[i, t.EF_NODE], plant.elements.external_force[i, t.EF_FOLLOWS]
        _push_external(plant, work, node, follows, work.elements.pushed[i])
    for i in range(plant.elements.spring.shape[0]):
        _pull_spring(plant, work, plant.elements.spring_int[i], plant.elements.spring[i])
    for i in range(plant.elements.bushing.shape[0]):
        _push_bushing(plant, work, plant.elements.bushing_int[i], plant.elements.bushing[i])
