"""Which numbers a model may contain."""

from __future__ import annotations

from typing import Any

import numpy as np

#: the largest magnitude of any number of a model; products of a few of them stay finite in float64
LARGEST = 1e30


def usable(values: Any) -> bool:
    """Whether every number is finite and of a magnitude up to LARGEST."""
    if type(values) is float:
        return abs(values) <= LARGEST
    return bool((np.abs(np.asarray(values, dtype=float)) <= LARGEST).all())
