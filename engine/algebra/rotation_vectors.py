"""Rotation vectors θ of the length φ, on tuples: the exponential, and the map of their rates to angular velocities."""

from __future__ import annotations

import math

from limberjack.engine.algebra.sine_cosine import sine_cosine
from limberjack.engine.algebra.spatial import dot
from limberjack.engine.compile.kernel import kernel

#: below this square of the angle the coefficients are computed by series, whose fifth terms are below rounding
_SMALL = 0.05


@kernel
def exponential_coefficients(x):
    """a = (1 - cos φ) / φ², b = (φ - sin φ) / φ³, and twice their derivatives by φ², for x = φ²."""
    if x < _SMALL:
        a = 0.5 - x / 24.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * (1.0 - x / 90.0)))
        b = 1.0 / 6.0 - x / 120.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * (1.0 - x / 110.0)))
        da = -1.0 / 12.0 + x / 180.0 * (1.0 - x / 37.33333333333333 * (1.0 - x / 67.5))
        db = -1.0 / 60.0 + x / 1260.0 * (1.0 - x / 48.0 * (1.0 - x / 82.5))
        return a, b, da, db
    angle = math.sqrt(x)
    s, c = sine_cosine(angle)
    a, b = (1.0 - c) / x, (angle - s) / (x * angle)
    return a, b, (s / angle - 2.0 * a) / x, (a - 3.0 * b) / x


@kernel
def right_jacobian(t, a, b):
    """J_r(θ) = 1 - a θ~ + b θ~ θ~."""
    x, y, z = t
    xx, yy, zz = x * x, y * y, z * z
    return (
        1.0 - b * (yy + zz),
        a * z + b * x * y,
        -a * y + b * x * z,
        -a * z + b * x * y,
        1.0 - b * (xx + zz),
        a * x + b * y * z,
        a * y + b * x * z,
        -a * x + b * y * z,
        1.0 - b * (xx + yy),
    )


@kernel
def exponential(t, a, b):
    """Exp(θ) = 1 + (1 - b φ²) θ~ + a θ~ θ~."""
    x, y, z = t
    s = 1.0 - b * dot(t, t)
    xx, yy, zz = x * x, y * y, z * z
    return (
        1.0 - a * (yy + zz),
        a * x * y - s * z,
        a * x * z + s * y,
        a * x * y + s * z,
        1.0 - a * (xx + zz),
        a * y * z - s * x,
        a * x * z - s * y,
        a * y * z + s * x,
        1.0 - a * (xx + yy),
    )
