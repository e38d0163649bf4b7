"""The log of a run: one row per sample, written as CSV and, if pyarrow is installed, as Parquet."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.files.bounded_file import size_of

#: largest log that is read at once
_MOST_BYTES = 1 << 30


class Record:
    """Named columns that grow row by row, up to a given number of rows."""

    def __init__(self, columns: list[str], most_rows: int) -> None:
        self.columns = columns
        self._rows = np.empty((most_rows, len(columns)))
        self._count = 0

    def add(self, *parts: np.ndarray | float) -> None:
        """Append one row, given in pieces; a full log drops further rows."""
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
    """Column name → values of a log. Raises ArgumentError if the file is not the log of a run."""
    size_of(path, _MOST_BYTES)
    try:
        with path.open(newline="") as stream:
            names = next(csv.reader(stream), [])
            table = np.array([_numbers(row, line, len(names)) for line, row in enumerate(csv.reader(stream), 2)])
        if table.size == 0:
            raise ValueError("it has no rows of numbers")
        missing = sorted(_needed(names) - set(names))
        if missing:
            raise ValueError(f"it has no column {missing[0]!r}")
    except (ValueError, csv.Error) as error:
        remedy = "give the log.csv of 'limberjack run', or of a bench its record.mcap or signals.csv, under this name"
        raise ArgumentError(f"{path}: not a log of a run: {error}; {remedy}.") from None
    return {name: table[:, i] for i, name in enumerate(names)}


def _numbers(row: list[str], line: int, columns: int) -> list[float]:
    if len(row) != columns:
        raise ValueError(f"line {line} has {len(row)} values for its {columns} columns")
    return [float(x) for x in row]


def driven_names(columns: list[str]) -> list[str]:
    """Names of the coordinates that a log has references for."""
    return [name.removeprefix("reference.") for name in columns if name.startswith("reference.")]


def _needed(names: list[str]) -> set[str]:
    """Columns that the plots and the table read."""
    driven = driven_names(names)
    return {"time", "energy.kinetic", "energy.potential"} | {f"{p}.{name}" for p in ("q", "tau") for name in driven}


def tracking_errors(log: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Coordinate minus reference of every drive that was commanded to move (a resting one has no reference)."""
    return {
        name: log[f"q.{name}"] - log[f"reference.{name}"]
        for name in driven_names(list(log))
        if np.ptp(log[f"reference.{name}"]) > 0.0
    }
