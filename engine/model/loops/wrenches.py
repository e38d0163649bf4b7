"""Wrenches of loops in the axes that the user gave, in numpy."""

from __future__ import annotations

import numpy as np

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.model.frames import canonical_rotation
from limberjack.engine.model.loops.closure import rows_at
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import Loop
from limberjack.engine.tables import loops as lp
from limberjack.engine.tables.hinge_types import UNIVERSAL


def in_axes(loop: Loop, wrench: np.ndarray) -> np.ndarray:
    """[moment; force] (6,) in the user's axes of the loop's first frame, from the canonical ones."""
    assert loop.hinge is not None
    R = canonical_rotation(loop.hinge)
    return np.concatenate([R @ wrench[:3], R @ wrench[3:]])


def row_wrench(plant: Plant, scratch: dict[str, np.ndarray], place: int, forces: np.ndarray) -> np.ndarray:
    """Σ a f (6,): [moment; force] on body B at the origin of frame b, canonical axes of frame a.

    place : of the loop; forces (rows,) along its rows; scratch : sections of Work, in which the loop is placed
    (`loop_rows.place_loop`), for rows that depend on the configuration
    """
    frame, row = scratch["frame"][place], plant.sections["loop"][place]
    R, d = frame[lp.F_R : lp.F_R + 9].reshape(3, 3), frame[lp.F_D : lp.F_D + 3]
    kind, x = int(plant.sections["loop_int"][place, lp.L_KIND]), float(row[lp.LP_X])
    rows = row[lp.LP_ROWS : lp.LP_ROWS + 6 * LANES].reshape(6, LANES).T[: len(forces)]
    rows = rows_at(kind, x, rows, R, d, int(x) if kind == UNIVERSAL else -1)
    return np.asarray(forces @ rows)
