"""What rounding asks of dense arrays: the size that errors are measured against, and inverses that mean something."""

from __future__ import annotations

import numpy as np

from limberjack.engine.common.errors import ArgumentError

#: identities hold to this, relative to the largest entry that takes part
TOLERANCE = 1e-10
#: an inverse is refused when the matrix is this close to singular
SMALLEST_RECIPROCAL_CONDITION = 1e-15


def largest(array: np.ndarray) -> float:
    """Largest absolute entry; 0 of an empty array."""
    return float(np.max(np.abs(array), initial=0.0))


def ratio(scale: float, size: float) -> float:
    """How much larger the terms of a sum are than the sum; 1 where nothing is left of it."""
    return scale / size if size > 0.0 else 1.0


def inverted(array: np.ndarray, what: str) -> np.ndarray:
    """The inverse of a square matrix; ArgumentError that names it when it is singular."""
    try:
        inverse = np.linalg.inv(array)
    except np.linalg.LinAlgError:
        inverse = np.full_like(array, np.inf)
    if not largest(array) * largest(inverse) <= 1 / SMALLEST_RECIPROCAL_CONDITION:
        raise ArgumentError(
            f"{what} is singular, so it has no inverse (in D: a hinge moves no mass, or its directions coincide)."
        )
    return inverse
