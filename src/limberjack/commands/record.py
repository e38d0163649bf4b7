"""The log of a run: one row a sample, written as CSV and, where pyarrow is installed, as Parquet."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np


class Record:
    """Named columns that grow by rows, up to a size given at the start."""

    def __init__(self, columns: list[str], most_rows: int) -> None:
        self.columns = columns
        self._rows = np.empty((most_rows, len(columns)))
        self._count = 0

    def add(self, *parts: np.ndarray | float) -> None:
        """Append one row, given in pieces; full logs keep what they have."""
        if self._count < len(self._rows):
            self._rows[self._count] = np.concatenate([np.atleast_1d(part) for part in parts])
            self._count += 1

    @property
    def table(self) -> np.ndarray:
        """The rows so far (n, columns)."""
        return self._rows[: self._count]

    def write(self, folder: Path) -> list[Path]:
        """Write log.csv, and log.parquet if possible; returns the files."""
        files = [folder / "log.csv"]
        with files[0].open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(self.columns)
            writer.writerows([[repr(float(x)) for x in row] for row in self.table])
        if importlib.util.find_spec("pyarrow"):
            files.append(folder / "log.parquet")
            _write_parquet(files[1], self.columns, self.table)
        return files


def _write_parquet(path: Path, columns: list[str], table: np.ndarray) -> None:
    import pyarrow
    import pyarrow.parquet

    arrays = [pyarrow.array(table[:, i]) for i in range(len(columns))]
    pyarrow.parquet.write_table(pyarrow.table(dict(zip(columns, arrays, strict=True))), path)


def read_csv(path: Path) -> dict[str, np.ndarray]:
    """Column name → values of a log."""
    with path.open(newline="") as stream:
        names = next(csv.reader(stream))
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return {name: table[:, i] for i, name in enumerate(names)}
