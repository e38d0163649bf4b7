"""First and second derivatives of hinge maps H* along the hinge's own velocities, in body axes.

Only the maps of universal, gimbal, planar and rolling hinges change with the coordinates; the velocities of these
hinges are rates of coordinates, so ∂_j is the partial derivative in coordinate j. With c, s of the angles:

    universal, gimbal  H* y = y0 (-sb, s cb, c cb) + y1 (0, c, -s) + y2 (x, 0, 0)     angular
    planar             H* y = y1 (c, -s, 0) + y2 (s, c, 0)                            linear, beside y0 z angular
    rolling            H* y = y0 (-x c, x s, 0)                                       linear, beside y0 z angular
"""

from __future__ import annotations

from limberjack.engine.algebra.spatial import ZERO
from limberjack.engine.compile.kernel import kernel
from limberjack.engine.tables import plant as t
from limberjack.engine.tables.hinge_types import GIMBAL, PLANAR, ROLLING, UNIVERSAL


@kernel
def has_changing_map(kind):
    """Whether H* depends on the coordinates."""
    return kind == UNIVERSAL or kind == GIMBAL or kind == PLANAR or kind == ROLLING


@kernel
def _last_angle(kind, x, work, i):
    """(c, s, sign) of the third gimbal angle, handedness included; 0 of a universal hinge."""
    if kind == GIMBAL:
        return work.cosine[i + 2], x * work.sine[i + 2], x
    return 1.0, 0.0, 0.0


@kernel
def _turning_gradient(kind, x, work, i, j, y):
    cb, sb = work.cosine[i + 1], work.sine[i + 1]
    c, s, sign = _last_angle(kind, x, work, i)
    if j == 1:
        return -cb * y[0], -s * sb * y[0], -c * sb * y[0]
    if j == 2:
        return 0.0, sign * (c * cb * y[0] - s * y[1]), sign * (-s * cb * y[0] - c * y[1])
    return ZERO


@kernel
def _turning_curvature(kind, x, work, i, j, e, y):
    cb, sb = work.cosine[i + 1], work.sine[i + 1]
    c, s, sign = _last_angle(kind, x, work, i)
    if j == 1 and e == 1:
        return sb * y[0], -s * cb * y[0], -c * cb * y[0]
    if j == 2 and e == 2:
        return 0.0, -s * cb * y[0] - c * y[1], -c * cb * y[0] + s * y[1]
    if j + e == 3:
        return 0.0, -sign * c * sb * y[0], sign * s * sb * y[0]
    return ZERO


@kernel
def _sliding(kind, x, c, s, y):
    """Linear part of H* y of a planar or rolling hinge, for any (c, s) in place of cosine and sine."""
    if kind == ROLLING:
        return -x * c * y[0], x * s * y[0], 0.0
    return c * y[1] + s * y[2], c * y[2] - s * y[1], 0.0


@kernel
def map_gradient(plant, work, k, j, y):
    """(∂_j H*) y as (angular, linear); j counts within the hinge, y holds three numbers, zeros after the hinge's."""
    topo = plant.topo[k]
    kind, i, x = topo[t.KIND], topo[t.QI], plant.body[k, t.B_X]
    if kind == UNIVERSAL or kind == GIMBAL:
        return _turning_gradient(kind, x, work, i, j, y), ZERO
    if j == 0:
        return ZERO, _sliding(kind, x, -work.sine[i], work.cosine[i], y)
    return ZERO, ZERO


@kernel
def map_curvature(plant, work, k, j, e, y):
    """(∂_j ∂_e H*) y as (angular, linear)."""
    topo = plant.topo[k]
    kind, i, x = topo[t.KIND], topo[t.QI], plant.body[k, t.B_X]
    if kind == UNIVERSAL or kind == GIMBAL:
        return _turning_curvature(kind, x, work, i, j, e, y), ZERO
    if j == 0 and e == 0:
        return ZERO, _sliding(kind, x, -work.cosine[i], -work.sine[i], y)
    return ZERO, ZERO
