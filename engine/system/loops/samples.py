"""Consistent configurations of a mechanism: where rank and conditioning are judged."""

from __future__ import annotations

import numpy as np

from limberjack.engine.system.loops.mechanism import Mechanism
from limberjack.engine.system.loops.newton import CLOSED, Sizes, close

#: configurations beside the initial one, and attempts to find them
SAMPLES, TRIES = 6, 14
#: how far a random motion along the constraints goes, in units of `Sizes`
STRIDE = 0.7
#: singular values below this share of the largest count as zero
RANK_TOLERANCE = 1e-7


def rank(A: np.ndarray) -> int:
    """Number of singular values above RANK_TOLERANCE of the largest."""
    s = np.linalg.svd(A, compute_uv=False)
    return int(np.sum(s > RANK_TOLERANCE * s[0])) if len(s) and s[0] > 0.0 else 0


def null_space(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns that A maps to zero."""
    _, s, Vt = np.linalg.svd(A)
    r = int(np.sum(s > RANK_TOLERANCE * s[0])) if len(s) and s[0] > 0.0 else 0
    return np.asarray(Vt[r:].T)


def configurations(mechanism: Mechanism, q: np.ndarray, size: Sizes) -> list[np.ndarray]:
    """Coordinates (nq,) that close the loops: q itself, then such as random motions from there reach.

    The same for the same mechanism; fewer where the mechanism cannot move.
    """
    random = np.random.default_rng(1)
    found, here, stride = [q], q, STRIDE
    for _ in range(TRIES):
        if len(found) > SAMPLES:
            break
        N = null_space(size.scaled(mechanism.evaluate(here)[1]))
        if not N.shape[1]:
            break
        motion = N @ random.standard_normal(N.shape[1])
        motion *= stride / max(float(np.abs(motion).max()), 1e-12)
        there, r = close(mechanism, mechanism.moved(here, size.velocity * motion), size)
        if np.abs(size.row * r).max(initial=0.0) <= 10.0 * CLOSED:
            found.append(there)
            here, stride = there, STRIDE
        else:
            here, stride = q, 0.5 * stride
    return found
