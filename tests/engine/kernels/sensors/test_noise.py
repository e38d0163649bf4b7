"""Noise: normal, independent, a function of seed, channel, step and index alone."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from scipy import stats

from limberjack.engine.compile.compiled import OPTIONS
from limberjack.engine.kernels.sensors import noise
from tests.validation.figures import figure


def many(count: int, seed: int = 0, channel: int = 1, index: int = 0, first: int = 0) -> np.ndarray:
    """Numbers of successive steps."""
    return np.array([noise.normal(seed, channel, first + step, index) for step in range(count)])


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    return many(40_000)


def test_it_is_normal(draws):
    figure("p-value of normality", stats.kstest(draws, "norm").pvalue, oracle="Kolmogorov and Smirnov", above=1e-3)
    figure("excess of kurtosis", abs(stats.kurtosis(draws)), oracle="0", below=0.1)
    assert abs(draws).max() > 3.5  # tails are there


def test_successive_steps_are_independent(draws):
    for lag in (1, 2, 7):
        figure(
            "correlation of successive steps",
            abs(np.corrcoef(draws[:-lag], draws[lag:])[0, 1]),
            oracle="4/√n",
            below=4.0 / math.sqrt(len(draws)),
        )
    ranks = stats.spearmanr(np.abs(draws[:-1]), np.abs(draws[1:])).statistic
    assert abs(ranks) < 4.0 / math.sqrt(len(draws))


@pytest.mark.parametrize("other", [{"seed": 1}, {"channel": 2}, {"index": 1}, {"first": 100_000}])
def test_seed_channel_index_and_step_give_other_numbers(draws, other):
    again = many(5_000, **other)
    figure(
        "correlation with other seeds, channels, steps",
        abs(np.corrcoef(draws[:5_000], again)[0, 1]),
        oracle="4/√n",
        below=4.0 / math.sqrt(5_000),
    )
    assert stats.kstest(again, "norm").pvalue > 1e-3


def test_the_same_arguments_give_the_same_bits(draws):
    assert np.array_equal(many(1_000), draws[:1_000])
    assert noise.normal(2**32 - 1, 2**32 - 1, 2**53, 20) == noise.normal(2**32 - 1, 2**32 - 1, 2**53, 20)


def test_the_logarithm():
    kernel = noise._ln
    ln = numba.njit(lambda x: kernel(x), **OPTIONS)
    for x in (2.0**-54, 1e-12, 0.1, 0.5, math.sqrt(0.5), 0.75, 1.0 - 2.0**-53, *np.random.default_rng(1).random(500)):
        assert ln(x) == pytest.approx(math.log(x), rel=2e-15, abs=1e-300)
