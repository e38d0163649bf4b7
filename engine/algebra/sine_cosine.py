"""Sine and cosine of all coordinates at once, in arithmetic that the compiler vectorises.

No call into the C library: about five times faster for an arm, and the same bits on every platform with fused
multiply-add. Reduction to [-π/4, π/4] with π/2 in two parts, then the minimax polynomials of fdlibm; the error
stays below one unit in the last place of 1 (tests compare with extended precision).
"""

from __future__ import annotations

import math

from limberjack.engine.compile.kernel import kernel

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI_HIGH = 1.5707963267948966
_HALF_PI_LOW = 6.123233995736766e-17


@kernel
def sine_cosine(x):
    """(sin x, cos x)."""
    n = math.floor(x * _TWO_OVER_PI + 0.5)
    r = (x - n * _HALF_PI_HIGH) - n * _HALF_PI_LOW
    z = r * r
    s = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    s = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * s)
    s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * s))
    c = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    c = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * c)
    c = 1.0 - z * (0.5 - z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * c)))
    quarter = n - 4.0 * math.floor(0.25 * n)
    odd = quarter == 1.0 or quarter == 3.0
    a, b = (c, s) if odd else (s, c)
    sine = -a if quarter >= 2.0 else a
    cosine = -b if quarter == 1.0 or quarter == 2.0 else b
    return sine, cosine


@kernel
def sines_cosines(angle, sine, cosine):
    """Sine and cosine of each element; those of quaternions and distances are computed too but not used."""
    for i in range(angle.shape[0]):
        sine[i], cosine[i] = sine_cosine(angle[i])
