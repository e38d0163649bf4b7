"""Derivatives of forward dynamics from those of inverse dynamics at its accelerations.

T(q, v, dβ/dt(q, v, τ)) = τ gives ∂(dβ/dt)/∂q = -M⁻¹ ∂T/∂q, the same in v, and ∂(dβ/dt)/∂τ = M⁻¹.
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES, vector_view
from limberjack.engine.algebra.lanes import load_lanes, store_lanes
from limberjack.engine.compile.compiled import FLOATS, VECTOR, VECTORS, WHOLE
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.loops.dynamics import forward_dynamics_entry
from limberjack.engine.kernels.slopes.inverse import inverse_slopes
from limberjack.engine.kernels.slopes.solve import prepare_gains, solve_columns
from limberjack.engine.kernels.sweeps.inverse_dynamics import inverse_dynamics_entry
from limberjack.engine.tables.plant import C_V, plant_view, work_view
from limberjack.engine.tables.slopes import slopes_view


@kernel
def _right_hand_sides(square, blocks, stiffness, damping):
    """-∂T/∂q - stiffness, -∂T/∂v - damping and 1, in the three matrices of slopes.square."""
    nv = stiffness.shape[0]
    for b in range(3 * blocks):
        row = square[b]
        for i in range(row.shape[0]):
            row[i] = -row[i] if b < 2 * blocks else 0.0
    for j in range(nv):
        b, at = j // LANES, LANES * j + j % LANES
        square[b, at] -= stiffness[j]
        square[blocks + b, at] -= damping[j]
        square[2 * blocks + b, at] = 1.0


@kernel
def forward_slopes(plant, work, slopes, stiffness, damping):
    """Derivatives of the accelerations in place of those of the forces, and M⁻¹ as the third of slopes.square.

    Work must be as `forward_dynamics` left it. stiffness and damping (nv,): -∂τ/∂q, -∂τ/∂v of forces τ that depend
    on the hinge's own coordinate and velocity.
    """
    blocks = slopes.lanes.shape[0]
    _right_hand_sides(slopes.square, blocks, stiffness, damping)
    prepare_gains(plant, work, slopes)
    for b in range(blocks):
        solve_columns(plant, slopes, b)


@kernel
def write_slopes(slopes, nv, matrices, out):
    """out (matrices nv nv,), row by row, from slopes.square."""
    blocks, size = slopes.lanes.shape[0], matrices * nv * nv
    for i in range(matrices):
        for m in range(nv):
            for b in range(blocks):
                at, rows = nv * (nv * i + m) + LANES * b, slopes.square[i * blocks + b]
                if at + LANES <= size:
                    # The last block of a row runs over into the next row, which is written after it.
                    store_lanes(out, at, load_lanes(rows, LANES * m))
                else:
                    for lane in range(size - at):
                        out[at + lane] = rows[LANES * m + lane]


@entry(VECTORS, FLOATS, VECTOR, VECTOR, VECTOR, VECTOR, WHOLE, VECTOR)
def slopes_entry(ints, floats, work, slopes, v, vdot, stiffness, damping, forward, out):
    """Derivatives at the state for which forward or inverse dynamics just ran on Work; v, vdot … (nv,).

    forward 0: out (2, nv, nv) flat, ∂T/∂q and ∂T/∂v. forward 1, after forward dynamics only: out (3, nv, nv) flat,
    ∂(dβ/dt)/∂q, ∂(dβ/dt)/∂v and ∂(dβ/dt)/∂τ = M⁻¹, with forces that have this stiffness and damping.
    """
    plant, scratch, room, nv = plant_view(ints, floats), work_view(ints, work), slopes_view(ints, slopes), ints[C_V]
    inverse_slopes(plant, scratch, room, v, vdot)
    if forward:
        forward_slopes(plant, scratch, room, vector_view(stiffness, 0, nv), damping)
    write_slopes(room, nv, 3 if forward else 2, out)


@entry(VECTORS, FLOATS, VECTOR, VECTOR, VECTOR, WHOLE, VECTOR)
def slopes_at_entry(ints, floats, work, slopes, q, v, third, forward, out):
    """`slopes_entry` at a state: of forward dynamics under τ = third if forward, else of inverse dynamics at it."""
    scratch = work_view(ints, work)
    if forward:
        forward_dynamics_entry(ints, floats, work, q, v, third, False, scratch.vdot)
        slopes_entry(ints, floats, work, slopes, v, scratch.vdot, scratch.zeros, scratch.zeros, 1, out)
    else:
        inverse_dynamics_entry(ints, floats, work, q, v, third, False, scratch.tau)
        slopes_entry(ints, floats, work, slopes, v, third, scratch.zeros, scratch.zeros, 0, out)
