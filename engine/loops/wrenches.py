"""Forces along the rows of a loop as one wrench on the second frame's body, in numpy."""

from __future__ import annotations

import numpy as np

from limberjack.engine.loops import layout as lp
from limberjack.engine.system.frames import canonical_rotation
from limberjack.engine.system.hinge_types import CUSTOM, UNIVERSAL
from limberjack.engine.system.plant import Plant
from limberjack.engine.system.system import Hinge
from limberjack.engine.views import LANES


def wrench(plant: Plant, scratch: dict[str, np.ndarray], hinge: Hinge, loop: int, forces: np.ndarray) -> np.ndarray:
    """Σ a f (6,): [moment; force] on body B at the origin of frame b, in the user's axes of frame a.

    hinge : the loop's; loop : its place; forces (rows,) along its rows; scratch : sections of Work, in which the loop
    is placed (`closures.place_loop`), for rows that depend on the configuration
    """
    frame = scratch["frame"][loop]
    R, d = frame[lp.F_R : lp.F_R + 9].reshape(3, 3), frame[lp.F_D : lp.F_D + 3]
    row = plant.sections["loop"][loop]
    kind, x = int(plant.sections["loop_int"][loop, lp.L_KIND]), float(row[lp.LP_X])
    rows = row[lp.LP_ROWS : lp.LP_ROWS + 6 * LANES].reshape(6, LANES).T[: len(forces)].copy()
    if kind == lp.DISTANCE:
        rows[0, 3:] = d / x
    elif kind == UNIVERSAL and x >= 0.0:
        rows[int(x), :2] = R[1, 1], -R[0, 1]
    elif kind == CUSTOM:
        rows = np.hstack([rows[:, :3] @ R.T, rows[:, 3:] @ R.T])
    total, axes = forces @ rows, canonical_rotation(hinge)
    return np.concatenate([axes @ total[:3], axes @ total[3:]])
