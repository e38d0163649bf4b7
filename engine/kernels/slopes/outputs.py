"""Derivatives of the sensors of nodes and hinges.

With the derivatives of V, α and f that `inverse.py` states, for velocity j on the way from the sensor's body to
the base, p the node in 𝓣, δθ = S_angular, δp = S_linear + S_angular × p:

    velocity of the node     u_N = V_linear + ω × p,             ∂u_N = ∂V_linear + ∂ω × p + ω × δp
    specific force there     a_N = α_linear + α_angular × p + ω × u_N
    seen in the node's axes  ∂(R* x) = R* (∂x - δθ × x); of the direction to the sun ∂x = 0
    force of a hinge at k    in body axes ∂f = φ⁻¹ (M ψ'' + 𝓑 ψ'), since f turns with the body; j beyond k: X_j
"""

from __future__ import annotations

from limberjack.engine.algebra.array_views import LANES, matrix_view
from limberjack.engine.algebra.spatial import (
    ZERO,
    add,
    add_cross,
    cross,
    load3,
    load6,
    load9,
    matrix_quaternion,
    motion_cross,
    mul,
    rigid_mul,
    rot,
    sub,
    unrot,
)
from limberjack.engine.compile.compiled import FLOATS, VECTOR, VECTORS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.kernels.nodes.dispatch import hinge_frame
from limberjack.engine.kernels.sensors.outputs import (
    ACCELEROMETER,
    GYRO,
    NODE_ANGULAR_VELOCITY,
    NODE_LINEAR_VELOCITY,
    NODE_ORIENTATION,
    NODE_POSITION,
    REACTION,
    STAR_TRACKER,
    SUN_SENSOR,
    sun_seen,
)
from limberjack.engine.tables import slopes as sl
from limberjack.engine.tables.plant import C_V, NV, SI_OUTPUT, SI_TARGET, SI_TYPE, UP, VEND, VI, plant_view, work_view
from limberjack.engine.tables.slopes import slopes_view

# The matrices of `output_slopes`: along the velocities at fixed accelerations, in the velocities, in accelerations.
ALONG, IN_V, IN_VDOT = range(3)


@kernel
def _rates(x, V, kind):
    """∂V and ∂α, apart from the part S × (V, α) of a displacement, as (angular, linear) pairs."""
    zero = (ZERO, ZERO)
    S = load3(x, sl.X_S), load3(x, sl.X_S + 3)
    if kind == IN_VDOT:
        return zero, S
    if kind == ALONG:
        psi = load3(x, sl.X_PSI), load3(x, sl.X_PSI + 3)
        a = motion_cross(psi[0], psi[1], V[0], V[1])
        return psi, (add(a[0], load3(x, sl.X_PSI2)), add(a[1], load3(x, sl.X_PSI2 + 3)))
    a = motion_cross(S[0], S[1], V[0], V[1])
    return S, (add(a[0], load3(x, sl.X_PHI)), add(a[1], load3(x, sl.X_PHI + 3)))


@kernel
def _node_slope(sensor, x, V, A, p, kind):
    """Derivative of a node's vector in 𝓣's axes; for gyro and accelerometer as seen by an observer who turns with the
    node."""
    dV, dA = _rates(x, V, kind)
    d, dp = ZERO, ZERO
    if kind == ALONG:
        d = load3(x, sl.X_S)
        dp = add_cross(load3(x, sl.X_S + 3), d, p)
        a, b = motion_cross(d, load3(x, sl.X_S + 3), V[0], V[1]), motion_cross(d, load3(x, sl.X_S + 3), A[0], A[1])
        dV, dA = (add(dV[0], a[0]), add(dV[1], a[1])), (add(dA[0], b[0]), add(dA[1], b[1]))
    u = add_cross(V[1], V[0], p)
    du = add_cross(add_cross(dV[1], dV[0], p), V[0], dp)
    if sensor == NODE_POSITION:
        return dp
    if sensor == NODE_ORIENTATION or sensor >= STAR_TRACKER:
        return d
    if sensor == NODE_LINEAR_VELOCITY:
        return du
    if sensor == NODE_ANGULAR_VELOCITY:
        return dV[0]
    if sensor == GYRO:
        return sub(dV[0], cross(d, V[0]))
    a = add_cross(add_cross(A[1], A[0], p), V[0], u)
    da = add_cross(add_cross(dA[1], dA[0], p), A[0], dp)
    da = add_cross(add_cross(da, dV[0], u), V[0], du)
    return sub(da, cross(d, a))


@kernel
def _half_turn(d, Q):
    """½ (0, d) ∘ Q: the rate of a quaternion Q that turns with d in inertial axes."""
    v = (Q[1], Q[2], Q[3])
    u = add_cross((Q[0] * d[0], Q[0] * d[1], Q[0] * d[2]), d, v)
    w = -0.5 * (d[0] * v[0] + d[1] * v[1] + d[2] * v[2])
    return w, 0.5 * u[0], 0.5 * u[1], 0.5 * u[2]


@kernel
def _first_body(plant, row):
    """The first body of the tree that the body of this row hangs in."""
    while plant.topo[row - 1, UP] > 0:
        row = plant.topo[row - 1, UP]
    return row - 1


@kernel
def _node(plant, work, slopes, sensor, row, node, at, out):
    """Rows of a sensor at a node, over the velocities between its body and the base."""
    y, local = slopes.body[row], plant.node_pose[node]
    R_T = hinge_frame(plant, work, _first_body(plant, row))[0]
    R = mul(load9(y, sl.Y_R), load9(local, 0))
    p = add(load3(y, sl.Y_P), rot(load9(y, sl.Y_R), load3(local, 9)))
    V, A = (load3(y, sl.Y_V), load3(y, sl.Y_V + 3)), (load3(y, sl.Y_A), load3(y, sl.Y_A + 3))
    Q = matrix_quaternion(mul(R_T, R))
    sun = rot(R, sun_seen(plant, mul(R_T, R)))
    while row > 0:
        topo = plant.topo[row - 1]
        for j in range(topo[VI], topo[VI] + topo[NV]):
            for kind in range(3):
                d, row_of = _node_slope(sensor, slopes.column[j], V, A, p, kind), kind * plant.outputs + at
                if sensor == NODE_ORIENTATION or sensor == STAR_TRACKER:
                    d4 = _half_turn(rot(R_T, d), Q)
                    out[row_of, j], out[row_of + 1, j], out[row_of + 2, j], out[row_of + 3, j] = d4
                elif sensor == SUN_SENSOR:
                    out[row_of, j], out[row_of + 1, j], out[row_of + 2, j] = unrot(R, cross(sun, d))
                else:
                    d = unrot(R, d) if sensor == GYRO or sensor == ACCELEROMETER else rot(R_T, d)
                    out[row_of, j], out[row_of + 1, j], out[row_of + 2, j] = d
        row = topo[UP]


@kernel
def _own_force(x, y, kind):
    """∂f of a hinge for a velocity at it or towards the base, in 𝓣."""
    a, b = sl.X_PSI2, sl.X_PSI
    if kind == IN_V:
        a, b = sl.X_PHI, sl.X_S
    elif kind == IN_VDOT:
        a = sl.X_S
    n, f = rigid_mul(y[sl.Y_M], load3(y, sl.Y_H), load6(y, sl.Y_I), load3(x, a), load3(x, a + 3))
    if kind != IN_VDOT:
        s = load3(x, b)
        n, f = add(n, rot(load9(y, sl.Y_W), s)), add_cross(f, s, load3(y, sl.Y_L))
    return n, f


@kernel
def _put_force(R, p, frame, n, f, out, at, j):
    """A force in 𝓣, seen at p in the axes that `frame` shows a reaction in."""
    n = sub(n, cross(p, f))
    n, f = rot(frame, unrot(R, n)), rot(frame, unrot(R, f))
    out[at, j], out[at + 1, j], out[at + 2, j] = n
    out[at + 3, j], out[at + 4, j], out[at + 5, j] = f


@kernel
def _reaction(plant, slopes, frame, row, at, out):
    """Rows of a reaction sensor."""
    y = slopes.body[row]
    R, p = load9(y, sl.Y_R), load3(y, sl.Y_P)
    topo, up = plant.topo[row - 1], row
    for kind in range(3):
        component = sl.SL_Q if kind == ALONG else (sl.SL_V if kind == IN_V else sl.SL_M)
        for j in range(topo[VI] + topo[NV], topo[VEND]):
            block, lane = slopes.lanes[j // LANES], LANES * component + j % LANES
            n = block[lane], block[lane + LANES], block[lane + 2 * LANES]
            f = block[lane + 3 * LANES], block[lane + 4 * LANES], block[lane + 5 * LANES]
            _put_force(R, p, frame, n, f, out, kind * plant.outputs + at, j)
    while up > 0:
        topo = plant.topo[up - 1]
        for j in range(topo[VI], topo[VI] + topo[NV]):
            for kind in range(3):
                n, f = _own_force(slopes.column[j], y, kind)
                _put_force(R, p, frame, n, f, out, kind * plant.outputs + at, j)
        up = topo[UP]


@entry(VECTORS, FLOATS, VECTOR)
def output_slopes_entry(ints, floats, work, slopes, out):
    """Rows of node sensors and reactions in out (3 outputs, nv): along the velocities, in the velocities and in the
    accelerations; rows of other sensors are zero, of magnetometers too, as models
    with fields have no slopes here. Work and slopes as `slopes_entry` left them."""
    plant, scratch, room = plant_view(ints, floats), work_view(ints, work), slopes_view(ints, slopes)
    nv = ints[C_V]
    rows = matrix_view(out, 0, 3 * plant.outputs, nv)
    for i in range(3 * plant.outputs * nv):
        out[i] = 0.0
    for s in range(plant.sensor_int.shape[0]):
        sensor = plant.sensor_int[s]
        kind, target, at = sensor[SI_TYPE], sensor[SI_TARGET], sensor[SI_OUTPUT]
        if kind == REACTION:
            _reaction(plant, room, load9(plant.sensor[s], 0), target, at, rows)
        elif NODE_POSITION <= kind <= ACCELEROMETER or STAR_TRACKER <= kind <= SUN_SENSOR:
            row = plant.node_row[target]
            if row > 0:
                _node(plant, scratch, room, kind, row, target, at, rows)
