"""Wrenches of loops in the axes that the user gave, in numpy."""

from __future__ import annotations

import numpy as np

from limberjack.engine.model.frames import canonical_rotation
from limberjack.engine.model.loops.closure import Tables, rows_at
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import Loop
from limberjack.engine.tables import loops as lp


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
    frame, tables = scratch["frame"][place], plant.sections
    R, d = frame[lp.F_R : lp.F_R + 9], frame[lp.F_D : lp.F_D + 3]
    loops = Tables(tables["loop_int"], tables["loop"], np.zeros((0, 0)))
    return np.asarray(forces @ rows_at(loops, place, R, d)[: len(forces)])
