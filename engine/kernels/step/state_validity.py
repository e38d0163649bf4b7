"""Checks that a state is valid: after each part of a step, and with parameters, for callers that set numbers one by one
(FMU)."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import vector_view
from limberjack.engine.compile.compiled import FLOATS, INTS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.nodes.manifold import has_quaternion
from limberjack.engine.tables.plant import C_Q, C_V, D_LIMIT_K, D_LOWER, D_UPPER, KIND, QI, S_Q, plant_view
from limberjack.engine.tables.reports import (
    DIVERGED,
    FASTEST,
    LIMITS_CROSSED,
    NOT_A_NUMBER,
    NOT_A_ROTATION,
    NOT_FINITE,
    OK,
    READY,
)

#: how far the square of a quaternion's length may be from 1, as `arguments.coordinates` allows
_SQUARE_TOLERANCE = 2e-6


@kernel
def _is_sound(q, v):
    """Whether all velocities are within bounds and all coordinates finite. It has no branches, so it takes vectors."""
    sound = 0
    for j in range(v.shape[0]):
        sound += 1 if abs(v[j]) <= FASTEST else 0
    for i in range(q.shape[0]):
        sound += 1 if q[i] - q[i] == 0.0 else 0
    return sound == v.shape[0] + q.shape[0]


@kernel
def health(q, v):
    """Status of a state and the first velocity j (as j) or coordinate i (as -1 - i) that is not finite or too fast."""
    if _is_sound(q, v):
        return OK, 0
    for j in range(v.shape[0]):
        if not (abs(v[j]) <= FASTEST):
            return (DIVERGED if abs(v[j]) > FASTEST and v[j] - v[j] == 0.0 else NOT_FINITE), j
    for i in range(q.shape[0]):
        if q[i] - q[i] != 0.0:
            return NOT_FINITE, -1 - i
    return OK, 0


@kernel
def _crossed_limits(plant):
    """First velocity whose lower limit is not below its upper one, or -1."""
    for j in range(plant.dof.shape[0]):
        if plant.dof[j, D_LIMIT_K] != 0.0 and not plant.dof[j, D_LOWER] < plant.dof[j, D_UPPER]:
            return j
    return -1


@kernel
def _bad_quaternion(plant, q):
    """First coordinate of the first quaternion that is not of unit length, or -1."""
    for k in range(plant.topo.shape[0]):
        kind, i = plant.topo[k, KIND], plant.topo[k, QI]
        if has_quaternion(kind):
            square = q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3]
            if not abs(square - 1.0) <= _SQUARE_TOLERANCE:
                return i
    return -1


@kernel
def _not_finite(motion):
    """First number of [q | v] that is not finite, or -1."""
    for i in range(motion.shape[0]):
        if motion[i] - motion[i] != 0.0:
            return i
    return -1


@entry(INTS, FLOATS, FLOATS, INTS)
def check_entry(ints, floats, state, report):
    """report (2,) int64: status, and which velocity, coordinate or number of [q | v] is at fault."""
    plant, nq, nv = plant_view(ints, floats), ints[C_Q], ints[C_V]
    report[0], report[1] = NOT_A_NUMBER, _not_finite(vector_view(state, S_Q, nq + nv))
    if report[1] < 0:
        report[0], report[1] = NOT_A_ROTATION, _bad_quaternion(plant, vector_view(state, S_Q, nq))
    if report[1] < 0:
        report[0], report[1] = LIMITS_CROSSED, _crossed_limits(plant)
    if report[1] < 0:
        report[0] = READY
