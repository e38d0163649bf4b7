"""`Impact`: what closing or releasing a loop of a running simulation did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Impact:
    """What closing or releasing a loop did.

    loop : its name; time : s
    energy_loss : kinetic energy that the impact took, J; 0 at a release
    impulse : of a loop that joins frames [moment; force] (6,), N·m·s and N·s, that it passed to the second frame's
        body, in the axes of the first frame at the second's origin: that of the first, where the loop holds it from
        now on, except for a `distance`. Else along what it holds, N·m·s or N·s: a number, or one for each velocity of
        a lock of several. 0 at a release. All momentum stays what it was
    distance : of the two frames' origins before it closed, m; 0 for loops that join none
    """

    loop: str
    time: float
    energy_loss: float
    impulse: np.ndarray | float
    distance: float
