"""Files of heights: tables of numbers, as NumPy's .npy or as text with blanks or commas between them."""

from __future__ import annotations

import contextlib
import io
import math
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.bounded_file import read_bytes

#: files of heights, by suffix
TABLES = (".npy", ".csv", ".txt")
_MOST_BYTES = 4 << 20


def read_heights(path: Path, most: int) -> np.ndarray:
    """(rows, columns) numbers of a file; of a text with more than ``most``, no more lines than that takes.

    Raises ModelError for one that cannot be read, is not such a table or is larger than 4 MiB.
    """
    data = read_bytes(path, _MOST_BYTES, "Make the table coarser")
    try:
        return _array(data) if path.suffix.lower() == ".npy" else _rows(data.decode("utf-8", "replace"), most)
    except ValueError as error:
        remedy = "Write rows of as many numbers each, as text or with numpy.save"
        raise ModelError(f"this is not a table of heights: {error}", where=str(path), remedy=remedy) from None


def _array(data: bytes) -> np.ndarray:
    try:
        _check_length(data)
        found = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, TypeError, EOFError):
        raise ValueError("it is truncated, holds objects, or is not a .npy file") from None
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
        raise ValueError(f"it holds {getattr(found, 'dtype', 'several arrays')}, not real numbers")
    return found.astype(float)


def _check_length(data: bytes) -> None:
    """ValueError for an array that is shorter than its header says: NumPy would first set memory aside for it."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if math.prod(shape) * dtype.itemsize > len(data):
        raise ValueError("it is truncated")


def _rows(text: str, most: int) -> np.ndarray:
    rows: list[list[float]] = []
    for line, content in enumerate(text.splitlines(), 1):
        words = content.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if len(rows) > 1 and len(rows) * len(rows[0]) > most:
            break
        rows.append([_number(word, line) for word in words])
        if len(words) != len(rows[0]):
            raise ValueError(f"line {line} has {len(words)} numbers, the first row {len(rows[0])}")
    return np.array(rows) if rows else np.zeros((0, 0))


def _number(word: str, line: int) -> float:
    with contextlib.suppress(ValueError):
        if "_" not in word:
            return float(word)
    raise ValueError(f"line {line} has '{word[:40]}', which is not a number")
