"""Sums over lanes have the same bits on every processor; half as many lanes have the bits of the lower half."""

from __future__ import annotations

import numba
import numpy as np

from limberjack.engine.algebra.lanes import load_lanes, load_like, lower_lanes, store_lanes, sum_lanes, whole_lanes
from limberjack.engine.compile.compiled import OPTIONS


@numba.njit(**OPTIONS)
def _summed_products(a, b):
    return sum_lanes(load_lanes(a, 0) * load_lanes(b, 0))


def test_no_product_is_fused_into_a_sum_of_lanes():
    """Products are rounded, then added by halves. Fused, as two registers of four lanes would allow, they differ."""
    rng, fused = np.random.default_rng(0), 0
    for _ in range(200):
        a, b = rng.normal(size=(2, 8))
        products = a * b
        halves = products[:4] + products[4:]
        expected = (halves[0] + halves[2]) + (halves[1] + halves[3])
        assert _summed_products(a, b) == expected
        exact = np.longdouble(a) * np.longdouble(b)
        halves = (exact[:4] + products[4:]).astype(float)
        fused += (halves[0] + halves[2]) + (halves[1] + halves[3]) != expected
    assert fused > 20


@numba.njit(**OPTIONS)
def _products_and_differences(a, b, x, few, out):
    if few:
        narrow = lower_lanes(load_lanes(a, 0))
        store_lanes(out, 0, whole_lanes(x * load_like(narrow, b, 0) - narrow * narrow + narrow))
    else:
        lanes = load_lanes(a, 0)
        store_lanes(out, 0, x * load_like(lanes, b, 0) - lanes * lanes + lanes)


def test_the_lower_half_of_lanes_has_the_same_bits():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b, whole, lower = rng.normal(size=(4, 8))
        _products_and_differences(a, b, a[0], False, whole)
        _products_and_differences(a, b, a[0], True, lower)
        assert np.array_equal(lower, np.append(whole[:4], np.zeros(4)))
