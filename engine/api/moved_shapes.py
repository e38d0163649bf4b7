"""What contacts know once coordinates were set: shapes were moved, and no force has worked on the way."""

from __future__ import annotations

import numpy as np

from limberjack.engine.tables import contacts as t


def release_work(touches: np.ndarray) -> None:
    """Let compliant contacts that do not act push shapes apart that were set into each other.

    touches : (…, touches × TOUCH) of the State, in place; nothing in a run lets them give work that they did not take
    """
    rows = touches.reshape(*touches.shape[:-1], touches.shape[-1] // t.TOUCH, t.TOUCH)
    rows[..., t.TO_STORED][rows[..., t.TO_ACTS] == 0.0] = -1.0
