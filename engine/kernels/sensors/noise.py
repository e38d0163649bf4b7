"""Noise from counters: every number is a function of (seed, channel, step, index), so that runs repeat bit for bit.

A counter is mixed as in splitmix64 (Steele, Lea, Flood 2014), and two of the results become a normal number by Box and
Muller's formula  √(-2 ln u₁) cos(2π u₂),  with a logarithm in plain arithmetic: no call into the C library, whose last
bit differs between platforms.
"""

from __future__ import annotations

import math

import numpy as np

from limberjack.engine.algebra.sine_cosine import sine_cosine
from limberjack.engine.compile.kernel import formula, kernel

_STEP, _CHANNEL, _INDEX = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7))
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = (np.uint64(n) for n in (30, 27, 31, 11))
_UNIT = 2.0**-53
_LN2 = 0.6931471805599453
_ROOT_HALF = 0.7071067811865476


@kernel
def _mixed(x):
    x = (x ^ (x >> _30)) * _MIX_1
    x = (x ^ (x >> _27)) * _MIX_2
    return x ^ (x >> _31)


@kernel
def _bits(seed, channel, step, index):
    """64 bits; seed, channel, step and index are whole numbers."""
    x = _mixed(np.uint64(seed) * _STEP + np.uint64(channel))
    x = _mixed(x + np.uint64(step) * _CHANNEL)
    return _mixed(x + np.uint64(index) * _INDEX)


@kernel
def _uniform(seed, channel, step, index):
    """In (0, 1), never 0 or 1."""
    return (np.float64(_bits(seed, channel, step, index) >> _11) + 0.5) * _UNIT


@kernel
def _ln(x):
    """ln x for 0 < x < 1, within 4e-16 of its size: x = m 2^-n, ln m = 2 (s + s³/3 + s⁵/5 + …), s = (m - 1)/(m + 1)."""
    n = 0.0
    while x < _ROOT_HALF:  # at most 54 times: x >= 2^-54
        x, n = 2.0 * x, n + 1.0
    s = (x - 1.0) / (x + 1.0)
    z = s * s
    series = 1.0 / 21.0
    for odd in (19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0):
        series = series * z + 1.0 / odd
    return 2.0 * s * (1.0 + z * series) - n * _LN2


@formula
def normal(seed, channel, step, index):
    """A number of the normal distribution of mean 0 and standard deviation 1."""
    radius = math.sqrt(-2.0 * _ln(_uniform(seed, channel, step, 2 * index)))
    return radius * sine_cosine(2.0 * math.pi * _uniform(seed, channel, step, 2 * index + 1))[1]
