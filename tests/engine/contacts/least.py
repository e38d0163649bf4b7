"""Distances by minimization, the oracles of gaps: nearest points of hulls, least values over one or two parameters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

#: points of a grid along each parameter, and how often it is laid around the best of them at half the width
POINTS, HALVINGS = 9, 30


def hulls_apart(a: np.ndarray, b: np.ndarray) -> float:
    """Distance of the hulls of points (n, 3) and (m, 3): min ‖λa − μb‖ over shares λ, μ ≥ 0 of sum 1.

    Nonnegative least squares with heavy sums find which shares are not zero; least squares with exact sums, over
    those, give the distance.
    """
    n, m, heavy = len(a), len(b), 1e4
    sums = np.vstack([np.repeat([1.0, 0.0], [n, m]), np.repeat([0.0, 1.0], [n, m])])
    apart = np.hstack([a.T, -b.T])
    shares, _ = nnls(np.vstack([apart, heavy * sums]), np.array([0.0, 0.0, 0.0, heavy, heavy]))
    held = np.flatnonzero(shares)
    normal = np.block([[apart[:, held].T @ apart[:, held], sums[:, held].T], [sums[:, held], np.zeros((2, 2))]])
    exact = np.linalg.lstsq(normal, np.r_[np.zeros(len(held)), 1.0, 1.0], rcond=None)[0][: len(held)]
    assert exact.min() > -1e-6, "the shares of nnls are not those of the nearest points"
    return float(np.linalg.norm(apart[:, held] @ exact))


def least_near(function: Callable[[np.ndarray], np.ndarray], start: np.ndarray, width: np.ndarray) -> float:
    """The least value of a function of (k, p) parameters around a start (p,), within ±width (p,) at first."""
    start, width = np.array(start, dtype=float), np.array(width, dtype=float)
    steps = np.linspace(-1.0, 1.0, POINTS)
    around = np.stack(np.meshgrid(*[steps] * len(start), indexing="ij"), axis=-1).reshape(-1, len(start))
    best = np.inf
    for _ in range(HALVINGS):
        places = start + width * around
        values = function(places)
        i = int(np.argmin(values))
        best = min(best, float(values[i]))
        start, width = places[i], 0.5 * width
    return best
