"""Wrenches of loops in the axes that the user gave, in numpy."""

from __future__ import annotations

import numpy as np

from limberjack.engine.model.frames import canonical_rotation
from limberjack.engine.model.system import Loop


def in_axes(loop: Loop, wrench: np.ndarray) -> np.ndarray:
    """[moment; force] (6,) in the user's axes of the loop's first frame, from the canonical ones."""
    assert loop.hinge is not None
    R = canonical_rotation(loop.hinge)
    return np.concatenate([R @ wrench[:3], R @ wrench[3:]])
