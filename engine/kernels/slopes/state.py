"""Derivatives of all outputs of `outputs.observe_entry` by the numbers of State, for callers that set those (FMU).

With δq along the velocities, K and C the diagonals of stiffness and damping, E = ∂τ/∂command, Y of the sensors,

    δτ = -K δq - C δv + E δu
    δ(dv/dt) = ∂(dv/dt)/∂q δq + ∂(dv/dt)/∂v δv + M⁻¹ E δu
    δy = Y_q δq + Y_v δv + Y_a δ(dv/dt)

A change of a quaternion Q = (a, p) of any length turns its hinge by δθ = 2 vec(Q* ∘ δQ) / |Q|², the inverse of
dQ/dt = ½ Q ∘ ω, so that g · δθ has the row 2 / |Q|² (-g · p, a g - g × p) over Q. Positions change by R δx.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES, matrix_view, vector_view
from limberjack.engine.algebra.spatial import add_cross, dot, load3, quaternion_matrix, rot, scale, store3
from limberjack.engine.compile.compiled import FLOATS, VECTORS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.forces.hinge_forces import actuator_forces, hinge_forces
from limberjack.engine.kernels.nodes.manifold import coordinate_rates, unit_quaternions
from limberjack.engine.kernels.sensors.outputs import EFFORT, POSITION, RATE, STRAIN_ENERGY
from limberjack.engine.kernels.slopes.forces import drive_slopes
from limberjack.engine.kernels.slopes.forward import forward_slopes
from limberjack.engine.kernels.slopes.inverse import inverse_slopes
from limberjack.engine.kernels.slopes.outputs import output_slopes_entry
from limberjack.engine.kernels.sweeps.forward_dynamics import forward_dynamics
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.elements import ACTING
from limberjack.engine.tables.hinge_types import CUSTOM, FREE, SPHERICAL
from limberjack.engine.tables.plant import plant_view, work_view
from limberjack.engine.tables.sensor_types import CLOSED_FORMS, SENSOR_TYPES
from limberjack.engine.tables.slopes import slopes_size, slopes_view
from limberjack.engine.tables.table import function

# rows of work.vstage and work.qstage
_STIFFNESS, _DAMPING, _ROW = range(3)
_UNIT, _RATES = range(2)


_has_slopes = function("has_slopes(ints)", [*t.READ, f"return loops + modal + {ACTING} + instruments + motors == 0"])
#: whether kernels have the slopes; for closed loops, flexible bodies, elements and devices differences are used
has_slopes = kernel(_has_slopes)
#: sensor code → 1 if its slopes have a closed form
_CLOSED = tuple(int(name in CLOSED_FORMS) for name in SENSOR_TYPES)


@kernel
def state_slopes_sizes(ints):
    """Lengths of `slopes` and `out` of `state_slopes_entry`."""
    nq, nv, ny = ints[t.C_Q], ints[t.C_V], ints[t.C_OUTPUTS]
    return slopes_size(ints[t.C_BODIES], ints[t.C_V]) + 3 * ny * nv, (2 * nv + ny + 1) * (nq + nv + ints[t.C_COMMANDS])


@kernel
def _force_rows(nq, stiffness, damping, rows):
    """Rows of τ; those over the commands are there."""
    for j in range(stiffness.shape[0]):
        rows[j, j], rows[j, nq + j] = -stiffness[j], -damping[j]


@kernel
def _acceleration_rows(square, nq, nv, rows):
    """Rows of dv/dt, from slopes.square and the rows of τ over the commands."""
    blocks = square.shape[0] // 3
    for m in range(nv):
        row = rows[nv + m]
        for j in range(nv):
            b, at = j // LANES, LANES * m + j % LANES
            row[j], row[nq + j] = square[b, at], square[blocks + b, at]
    for c in range(nq + nv, rows.shape[1]):
        for j in range(nv):
            if rows[j, c] != 0.0:
                for m in range(nv):
                    rows[nv + m, c] += square[2 * blocks + j // LANES, LANES * m + j % LANES] * rows[j, c]


@kernel
def _coordinate_row(plant, work, q, i, row):
    """∂q_i along the velocities."""
    unit, rates = work.vstage[_ROW], work.qstage[_RATES]
    for j in range(unit.shape[0]):
        if plant.dof_int[j, t.DI_Q] == i:
            row[j] = 1.0
            return
        unit[j] = 0.0
    for j in range(unit.shape[0]):
        unit[j] = 1.0
        coordinate_rates(plant, q, unit, rates)
        row[j] = rates[i]
        unit[j] = 0.0


@kernel
def _strain_row(plant, q, k, row):
    """∂E of a flexible body's strain energy along its modes."""
    first = plant.topo[k, t.VI]
    for j in range(first, first + plant.topo[k, t.NV]):
        row[j] = plant.dof[j, t.D_STIFFNESS] * (q[plant.dof_int[j, t.DI_Q]] - plant.dof[j, t.D_REST])


@kernel
def _output_rows(plant, work, q, seen, rows):
    """Rows of the sensors; seen (3 ny, nv): what `output_slopes_entry` gives."""
    nq, nv, ny = q.shape[0], plant.dof.shape[0], plant.outputs
    for i in range(ny):
        row = rows[2 * nv + i]
        for j in range(nv):
            row[j], row[nq + j] = seen[i, j], seen[ny + i, j]
        for m in range(nv):
            s = seen[2 * ny + i, m]
            if s != 0.0:
                for c in range(row.shape[0]):
                    row[c] += s * rows[nv + m, c]
    for s in range(plant.sensor_int.shape[0]):
        sensor = plant.sensor_int[s]
        kind, target, row = sensor[t.SI_TYPE], sensor[t.SI_TARGET], rows[2 * nv + sensor[t.SI_OUTPUT]]
        if kind == POSITION:
            _coordinate_row(plant, work, q, target, row)
        elif kind == RATE:
            row[nq + target] = 1.0
        elif kind == EFFORT:
            for c in range(row.shape[0]):
                row[c] = rows[target, c]
        elif kind == STRAIN_ENERGY:
            _strain_row(plant, q, target - 1, row)


@kernel
def _quaternion_row(raw, i, g, row):
    """g · δθ over the quaternion at raw[i], of any length."""
    a, p = raw[i], load3(raw, i + 1)
    f = 2.0 / (a * a + dot(p, p))
    row[i] = -f * dot(g, p)
    store3(row, i + 1, scale(f, add_cross(scale(a, g), p, g)))


@kernel
def _over_coordinates(plant, raw, q, along, row):
    """A row along the velocities, over the coordinates instead; zero over those of custom hinges."""
    for j in range(along.shape[0]):
        along[j] = row[j]
    for k in range(plant.topo.shape[0]):
        topo = plant.topo[k]
        kind, i, j = topo[t.KIND], topo[t.QI], topo[t.VI]
        if kind == CUSTOM:
            for c in range(7):
                row[i + c] = 0.0
        elif kind == SPHERICAL or kind == FREE:
            _quaternion_row(raw, i, load3(along, j), row)
            if kind == FREE:
                R = quaternion_matrix(q[i], q[i + 1], q[i + 2], q[i + 3])
                store3(row, i + 4, rot(R, load3(along, j + 3)))
        else:
            for c in range(topo[t.NV]):
                row[i + c] = along[j + c]


@kernel
def sees_closed_forms(plant):
    """Whether the slopes of every sensor have a closed form."""
    closed = 0
    for s in range(plant.sensor_int.shape[0]):
        closed += _CLOSED[plant.sensor_int[s, t.SI_TYPE]]
    return closed == plant.sensor_int.shape[0]


@kernel
def _known_columns(plant, row):
    """1 for every column, 0 for coordinates of custom hinges."""
    for c in range(row.shape[0]):
        row[c] = 1.0
    for k in range(plant.topo.shape[0]):
        if plant.topo[k, t.KIND] == CUSTOM:
            for c in range(7):
                row[plant.topo[k, t.QI] + c] = 0.0


@kernel
def _slopes_along(plant, work, slopes, q, v, command, rows):
    """Slopes of dv/dt in slopes.square, rows of τ and dv/dt in rows, which are zero on entry."""
    nq, nv = q.shape[0], v.shape[0]
    stiffness, damping = work.vstage[_STIFFNESS], work.vstage[_DAMPING]
    hinge_forces(plant, q, v, work.tau, stiffness, damping)
    actuator_forces(plant, work, q, v, command, work.tau, stiffness, damping)
    forward_dynamics(plant, work, q, v, work.tau, plant.armature, False, work.vdot)
    inverse_slopes(plant, work, slopes, v, work.vdot)
    forward_slopes(plant, work, slopes, stiffness, damping)
    drive_slopes(plant, q, v, command, rows[:nv, nq + nv :])
    _force_rows(nq, stiffness, damping, rows)
    _acceleration_rows(slopes.square, nq, nv, rows)


@entry(VECTORS, FLOATS, FLOATS, FLOATS)
def state_slopes_entry(ints, floats, work, slopes, state, out):
    """Derivatives of [tau | dv/dt | outputs] at State, whose quaternions may have any length but 0.

    out (2 nv + ny + 1, nq + nv + nu) flat: columns are q, v and the commands. Directions in which a custom hinge
    cannot move have no slopes here: the columns of its coordinates are zero, and so is their place in the last row, 1
    elsewhere. All of out is zero if a sensor's slopes have no closed form. slopes: scratch, `state_slopes_sizes`.
    """
    plant, scratch, room = plant_view(ints, floats), work_view(ints, work), slopes_view(ints, slopes)
    nq, nv, ny = ints[t.C_Q], ints[t.C_V], ints[t.C_OUTPUTS]
    raw, v = vector_view(state, t.S_Q, nq), vector_view(state, t.S_Q + nq, nv)
    command, q = vector_view(state, t.S_Q + nq + nv, plant.commands), scratch.qstage[_UNIT]
    rows = matrix_view(out, 0, 2 * nv + ny + 1, nq + nv + plant.commands)
    for i in range(rows.shape[0] * rows.shape[1]):
        out[i] = 0.0
    if not sees_closed_forms(plant):
        return
    for i in range(nq):
        q[i] = raw[i]
    unit_quaternions(plant, q)
    _slopes_along(plant, scratch, room, q, v, command, rows)
    seen = slopes_size(ints[t.C_BODIES], ints[t.C_V])
    output_slopes_entry(ints, floats, work, slopes, vector_view(slopes, seen, 3 * ny * nv))
    _output_rows(plant, scratch, q, matrix_view(slopes, seen, 3 * ny, nv), rows)
    for i in range(2 * nv + ny):
        _over_coordinates(plant, raw, q, scratch.vstage[_ROW], rows[i])
    _known_columns(plant, rows[2 * nv + ny])
