"""Sine and cosine of the kernels against extended precision."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from limberjack.engine.algebra import sine_cosine as trig
from limberjack.engine.compile.compiled import OPTIONS

sines_cosines = trig.sines_cosines


@numba.njit(**OPTIONS)
def evaluate(angle, sine, cosine):
    sines_cosines(angle, sine, cosine)


def pair(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    sine, cosine = np.full_like(angle, np.nan), np.full_like(angle, np.nan)
    evaluate(angle, sine, cosine)
    return sine, cosine


EXTENDED = np.finfo(np.longdouble).eps < 1e-18


@pytest.mark.skipif(not EXTENDED, reason="this platform's long double is not longer than a double")
@pytest.mark.parametrize("span", [0.8, 7.0, 100.0, 1e5])
def test_error_stays_below_one_unit_in_the_last_place_of_one(span):
    """Reduction keeps n ulp(π/2 low part): 1e5 rad is 6e4 quarter turns, times 1e-33."""
    angle = np.random.default_rng(0).uniform(-span, span, 20_000)
    angle[:8] = 0.0, -0.0, np.pi / 4, np.pi / 2, np.pi, -np.pi / 2, 1e-300, -1e-9
    sine, cosine = pair(angle)
    exact = angle.astype(np.longdouble)
    ulp = np.finfo(float).eps
    assert np.abs(sine - np.sin(exact)).max() < ulp
    assert np.abs(cosine - np.cos(exact)).max() < ulp


def test_small_angles_are_exact():
    angle = np.array([0.0, 1e-12, -1e-100])
    sine, cosine = pair(angle)
    assert np.array_equal(sine, angle)
    assert np.array_equal(cosine, np.ones(3))


def test_not_finite_in_not_finite_out():
    sine, cosine = pair(np.array([np.nan, np.inf, -np.inf]))
    assert not np.any(np.isfinite(sine))
    assert not np.any(np.isfinite(cosine))
