"""Consistent configurations of a mechanism: where rank and conditioning of its rows are judged."""

from __future__ import annotations

import numpy as np

from limberjack.engine.system.loops.mechanism import Mechanism
from limberjack.engine.system.loops.newton import RANK_TOLERANCE, Sizes, close

#: configurations beside the initial one, and attempts to find them
SAMPLES, TRIES = 7, 16
#: how far a random motion along the constraints goes, in units of `Sizes`
STRIDE = 0.7


def rank(A: np.ndarray) -> int:
    """Number of singular values above RANK_TOLERANCE of the largest."""
    s = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(s > RANK_TOLERANCE * s[0])) if s.size and s[0] > 0.0 else 0


def null_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns that A maps to zero."""
    return np.asarray(np.linalg.svd(A)[2][rank(A) :].T)


def sampled_rows(mechanism: Mechanism, q: np.ndarray, size: Sizes) -> list[np.ndarray]:
    """Scaled rows where the loops are closed: at q itself, and where random motions from there lead.

    The same for the same mechanism; fewer where it cannot move.
    """
    random = np.random.default_rng(1)
    rows, here, stride = [size.scaled(mechanism.evaluate(q)[1])], q, STRIDE
    first = last = null_space(rows[0])
    for _ in range(TRIES):
        if len(rows) > SAMPLES or not last.shape[1]:
            break
        motion = last @ random.standard_normal(last.shape[1])
        motion *= stride / max(float(np.abs(motion).max()), 1e-12)
        there = close(mechanism, mechanism.moved(here, size.velocity * motion), size)
        if there.closed:
            rows.append(size.scaled(mechanism.evaluate(there.q)[1]))
            here, last, stride = there.q, null_space(rows[-1]), STRIDE
        else:
            here, last, stride = q, first, 0.5 * stride
    return rows
