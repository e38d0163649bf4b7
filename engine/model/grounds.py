"""Height fields: their heights, of the model file or of a table beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.height_file import TABLES, read_heights
from limberjack.engine.files.numbers import usable
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.places import Locate

#: heights of one height field
MOST_HEIGHTS = 1 << 16


def with_heights(shape: Shape, source: str, locate: Locate) -> Shape:
    """A height field that has its heights, of its file if it names one. Raises ModelError."""
    field, called = ("file", f"the heights of '{shape.file}'") if shape.file else ("heights", "the heights")

    def fail(what: str, remedy: str) -> NoReturn:
        raise ModelError(f"{called} {what}", where=locate(shape.where, field), remedy=remedy)

    heights = np.asarray(shape.heights, dtype=float)
    if shape.file:
        path = Path(source).absolute().parent / shape.file
        if path.suffix.lower() not in TABLES:
            fail("are in a file of another type", f"Give a file that ends with one of: {', '.join(TABLES)}")
        if not path.is_file():
            fail("are not found", "Give the file's path from the model file's folder, or an absolute one")
        heights = read_heights(path, MOST_HEIGHTS)
    if heights.ndim != 2 or min(heights.shape) < 2:
        fail(f"have the shape {heights.shape}", "Give two rows at least, of two numbers at least each")
    if not usable(heights):
        fail("are not all finite numbers", "Give metres")
    if heights.size > MOST_HEIGHTS:
        fail(f"are more than {MOST_HEIGHTS}", f"Give at most {MOST_HEIGHTS}: a smaller or a coarser piece of ground")
    return replace(shape, heights=heights * shape.unit, file="", unit=1.0)


def ground_corners(shape: Shape) -> np.ndarray:
    """(rows, columns, 3) corners of a height field in its axes, m."""
    rows, columns = shape.heights.shape
    x, y = (np.linspace(-0.5, 0.5, count) * edge for count, edge in zip((columns, rows), shape.size))
    return np.stack([*np.meshgrid(x, y), shape.heights], axis=-1)
