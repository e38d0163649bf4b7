"""Files of heights: tables of numbers, as NumPy's .npy or as text with blanks or commas between them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes

#: files of heights, by suffix
TABLES = (".npy", ".csv", ".txt")
_MOST_BYTES = 4 << 20


def read_heights(path: Path) -> np.ndarray:
    """(rows, columns) numbers of a file.

    Raises ModelError for one that cannot be read, is not such a table or is larger than 4 MiB.
    """
    data = read_bytes(path, _MOST_BYTES, "Make the table coarser")
    try:
        if path.suffix.lower() == ".npy":
            found = np.load(io.BytesIO(data), allow_pickle=False)
        else:
            lines = data.decode("utf-8", "replace").replace(",", " ").splitlines()
            found = np.loadtxt(lines, ndmin=2)
        return np.asarray(found, dtype=float)
    except (ValueError, TypeError, EOFError) as error:
        remedy = "Write rows of as many numbers each, as text or with numpy.save"
        raise ModelError(f"this is not a table of heights: {error}", where=str(path), remedy=remedy) from None
