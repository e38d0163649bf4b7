"""Two records side by side: where they first differ, and by how much each signal differs."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.record.mcap_file import Batch, McapFile
from limberjack.hil.record.parquet import ParquetTable
from limberjack.hil.record.record_file import MOST_AT_ONCE, record_file

#: times are equal when they round to the same multiple of this, s
RESOLUTION = 1e-9
#: times are whole multiples up to here, in units of RESOLUTION
_MOST_KEY = 2.0**62


class Table(Protocol):
    """Rows of named numbers, a batch at a time."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    trouble: str

    def batches(self) -> Iterator[Batch]:
        """Rows in the order of time."""


class CsvTable:
    """A CSV file with a head of names, "time" among them; "name [unit]" gives units. ArgumentError for any other."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.trouble = record_file(path, MOST_AT_ONCE), ""
        self.meta: dict[str, Any] = {}
        try:
            with self.path.open(newline="") as stream:
                heads = next(csv.reader(stream), [])
                self._rows = np.array([[float(x) for x in row] for row in csv.reader(stream)])
        except (ValueError, csv.Error) as error:
            raise ArgumentError(f"{self.path}: not a table of numbers: {error}") from None
        split = [head.partition(" [") for head in heads]
        self.names = tuple(name for name, _, _ in split)
        self.units = tuple(unit.removesuffix("]") for _, _, unit in split)
        if "time" not in self.names or self._rows.shape[1:] != (len(heads),):
            raise ArgumentError(f"{self.path}: not a table with a column 'time'; give the log of a run.")

    def batches(self) -> Iterator[Batch]:
        """The whole table."""
        count = len(self._rows)
        yield Batch(np.arange(count), np.zeros(count, dtype=np.int64), self._rows)


def open_table(path: str | os.PathLike[str]) -> McapFile | ParquetTable | CsvTable:
    """A record (.mcap), its export (.parquet) or a log (.csv). ArgumentError, MissingExtraError, OSError."""
    kinds: dict[str, Callable[[Path], McapFile | ParquetTable | CsvTable]]
    kinds = {".mcap": McapFile, ".parquet": ParquetTable, ".csv": CsvTable}
    suffix = Path(path).suffix.lower()
    if suffix not in kinds:
        raise ArgumentError(f"{path}: not a record that can be read; give a file that ends in {', '.join(kinds)}.")
    return kinds[suffix](Path(path))


@dataclass
class SignalDifference:
    """How a signal differs.

    largest : |a − b|, the largest (infinite where only one is a number), and its time, s
    first : the first time at which it is beyond the tolerance, s; None if it never is
    """

    name: str
    unit: str
    largest: float = 0.0
    time: float = 0.0
    first: float | None = None


@dataclass
class Comparison:
    """The comparison of two records.

    rows : of equal times;  only_rows, only_names : rows and signals that only the one and only the other has
    signals : of both, in their order
    """

    rows: int = 0
    only_rows: tuple[int, int] = (0, 0)
    only_names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    signals: list[SignalDifference] = field(default_factory=list)

    @property
    def differing(self) -> list[SignalDifference]:
        """Signals beyond the tolerance, those that part first before others."""
        found = [signal for signal in self.signals if signal.first is not None]
        return sorted(found, key=lambda signal: (signal.first, -signal.largest))

    @property
    def equal(self) -> bool:
        """Whether the common signals agree in all rows, and both have the same rows."""
        return self.rows > 0 and self.only_rows == (0, 0) and not self.differing


def compare(a: Table, b: Table, absolute: float = 0.0, relative: float = 0.0) -> Comparison:
    """Compare the signals that two records have in common, in rows of equal times.

    A value is beyond the tolerance where |a − b| > absolute + relative max(|a|, |b|); without one, where it is not
    equal. NaN equals NaN. ArgumentError if they have nothing but time in common, or times that do not go on.
    """
    names = [name for name in a.names if name in b.names and name != "time"]
    if not names:
        raise ArgumentError("the two records have no signal in common but time.")
    units = dict(zip(a.names, a.units))
    only = tuple(tuple(n for n in x.names if n not in y.names) for x, y in ((a, b), (b, a)))
    result = Comparison(only_names=(only[0], only[1]), signals=[SignalDifference(name, units[name]) for name in names])
    for times, left, right in _aligned(a, b, names, result):
        with np.errstate(invalid="ignore"):
            gap = np.abs(left - right)
            gap[(left == right) | (np.isnan(left) & np.isnan(right))] = 0.0
            gap[np.isnan(gap)] = np.inf
            beyond = gap > absolute + relative * np.nan_to_num(np.maximum(np.abs(left), np.abs(right)))
        _note(result.signals, times, gap, beyond)
    return result


def _note(signals: list[SignalDifference], times: np.ndarray, gap: np.ndarray, beyond: np.ndarray) -> None:
    result = gap.argmax(axis=0), beyond.argmax(axis=0)
    for i, (signal, at, first) in enumerate(zip(signals, *result)):
        if gap[at, i] > signal.largest:
            signal.largest, signal.time = float(gap[at, i]), float(times[at])
        if signal.first is None and beyond[first, i]:
            signal.first = float(times[first])


def _aligned(
    a: Table, b: Table, names: list[str], result: Comparison
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Times (n,) and rows (n, names) of both where the times are equal; counts all rows in the result."""
    sides = [_Side(table, names) for table in (a, b)]
    only = [0, 0]
    while all(side.fill() for side in sides):
        until = min(side.keys[-1] for side in sides)
        parts = [side.take(until) for side in sides]
        keys, *places = np.intersect1d(parts[0][0], parts[1][0], assume_unique=True, return_indices=True)
        for i in (0, 1):
            only[i] += len(parts[i][0]) - len(keys)
        result.rows += len(keys)
        if len(keys):
            yield RESOLUTION * keys, parts[0][1][places[0]], parts[1][1][places[1]]
    for i, side in enumerate(sides):
        while side.fill():
            only[i] += len(side.take(side.keys[-1])[0])
    result.only_rows = only[0], only[1]


class _Side:
    """The rows of a table that wait for their partners; keys : their times in multiples of RESOLUTION."""

    def __init__(self, table: Table, names: list[str]) -> None:
        self._batches, self._time = table.batches(), table.names.index("time")
        self._places = [table.names.index(name) for name in names]
        self.keys, self._rows = np.zeros(0, dtype=np.int64), np.zeros((0, len(names)))
        self._last = -math.inf

    def fill(self) -> bool:
        """Have rows; False at the end. ArgumentError where time does not go on."""
        while len(self.keys) == 0:
            batch = next(self._batches, None)
            if batch is None:
                return False
            times = np.rint(batch.rows[:, self._time] / RESOLUTION)
            wrong = ~(np.diff(times, prepend=self._last) > 0.0) | ~(np.abs(times) < _MOST_KEY)
            if wrong.any():
                at = batch.rows[int(np.argmax(wrong)), self._time]
                raise ArgumentError(
                    f"a row at t = {at:.9g} s is not after the one before; give tables in order of time."
                )
            self._last = times[-1] if len(times) else self._last
            self.keys = times.astype(np.int64)
            self._rows = batch.rows[:, self._places]
        return True

    def take(self, until: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and rows up to a key."""
        count = int(np.searchsorted(self.keys, until, side="right"))
        taken = self.keys[:count], self._rows[:count]
        self.keys, self._rows = self.keys[count:], self._rows[count:]
        return taken
