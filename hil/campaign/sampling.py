"""From a campaign to its jobs: the values and the seed of each run."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from limberjack.hil.campaign.campaign_file import Campaign
from limberjack.hil.campaign.schema import NormalSpec, Scalar, VarySpec

#: probabilities stay so far away from 0 and 1
_LEAST = 2.0**-54
MOST_SEED = 2**63


@dataclass(frozen=True)
class Job:
    """One run.

    values : path into the scenario → value
    """

    run: int
    seed: int
    values: dict[str, Any]


def plan(campaign: Campaign) -> list[Job]:
    """All runs, in order.

    Run i draws from SeedSequence(seed, spawn_key=(i,)): first its seed, then a number u in (0, 1) for each varied
    quantity in the order of the file; the value is the quantile at u. With grids, runs change fastest, then the last
    grid.
    """
    spec, jobs = campaign.spec, []
    drawn = [path for path, vary in spec.vary.items() if vary.grid is None]
    strata = _latin(spec.seed, campaign.total, len(drawn)) if spec.sampling == "latin_hypercube" else None
    for run, at in enumerate(_grid_points(campaign)):
        random = np.random.default_rng(np.random.SeedSequence(spec.seed, spawn_key=(run,)))
        seed = int(random.integers(MOST_SEED))
        u = random.random(len(drawn)) if strata is None else strata[run]
        values = {path: quantile(spec.vary[path], float(part)) for path, part in zip(drawn, u, strict=True)}
        jobs.append(Job(run, seed, {path: at[path] if path in at else values[path] for path in spec.vary}))
    return jobs


def quantile(vary: VarySpec, u: float) -> Scalar:
    """The value below which the part u of a distribution lies; of n choices the one at floor(n u)."""
    u = min(max(u, _LEAST), 1.0 - 2.0 * _LEAST)
    if vary.uniform is not None:
        lower, upper = vary.uniform
        return min(max(lower + u * (upper - lower), lower), upper)
    if vary.choice is not None:
        return vary.choice[int(u * len(vary.choice))]
    assert vary.normal is not None
    return _normal(vary.normal, u)


def _normal(spec: NormalSpec, u: float) -> float:
    """x with (Φ((x - μ)/σ) - Φ_lower) / (Φ_upper - Φ_lower) = u, from the tail in which it is accurate."""
    lower = -np.inf if spec.lower is None else (spec.lower - spec.mean) / spec.sigma
    upper = np.inf if spec.upper is None else (spec.upper - spec.mean) / spec.sigma
    sign = 1.0
    if lower > 0.0:  # Φ is near 1 there: mirror
        lower, upper, sign, u = -upper, -lower, -1.0, 1.0 - u
    below, above = (0.5 * math.erfc(-x / math.sqrt(2.0)) for x in (lower, upper))
    part = min(max(below + u * (above - below), np.finfo(float).tiny), 1.0 - _LEAST * 2.0)
    value = spec.mean + spec.sigma * sign * min(max(NormalDist().inv_cdf(part), lower), upper)
    value = value if spec.lower is None else max(value, spec.lower)
    return float(value if spec.upper is None else min(value, spec.upper))


def _latin(seed: int, runs: int, quantities: int) -> np.ndarray:
    """(runs, quantities) numbers in (0, 1): each column has one in each of `runs` equal parts, in random order.

    M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21 (1979) 239: u_ij = (π_j(i) + r_ij) / n.
    """
    random = np.random.default_rng(np.random.SeedSequence(seed))
    orders = np.array([random.permutation(runs) for _ in range(quantities)], dtype=float).reshape(quantities, runs)
    return (orders.T + random.random((runs, quantities))) / runs


def _grid_points(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """The grid's values of each run."""
    grids = campaign.grids()
    for point in itertools.product(*grids.values()):
        for _ in range(campaign.spec.runs):
            yield dict(zip(grids, point, strict=True))
