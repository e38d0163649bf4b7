"""The data of a run in memory, for its criteria and plots."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.bench_interfaces import Recorder
from limberjack.hil.events import Event
from limberjack.hil.signals import Signals

#: largest number of values, 2 GB
MOST_NUMBERS = 250_000_000


class Recorders:
    """Several recorders as one, opened in order and closed in reverse order."""

    def __init__(self, parts: Sequence[Recorder]) -> None:
        self._parts = tuple(parts)

    def open(self, names: Sequence[str], units: Sequence[str], meta: Mapping[str, Any]) -> None:
        """Open all."""
        for part in self._parts:
            part.open(names, units, meta)

    def row(self, vector: np.ndarray) -> None:
        """To all."""
        for part in self._parts:
            part.row(vector)

    def event(self, event: Event) -> None:
        """To all."""
        for part in self._parts:
            part.event(event)

    def close(self) -> None:
        """Close all, even if one cannot be closed; the first error is raised then."""
        with contextlib.ExitStack() as stack:
            for part in self._parts:
                stack.callback(part.close)


class Columns:
    """Signals of frames, a row a frame; time is always the first column.

    names, units : of the columns;  rows : (most rows, columns), those not written yet are NaN
    count : rows so far;  table : (rows so far, columns)
    """

    def __init__(self, names: Sequence[str], units: Sequence[str], rows: np.ndarray) -> None:
        self.names, self.units, self.rows, self.count = tuple(names), tuple(units), rows, 0

    @property
    def table(self) -> np.ndarray:
        """The rows so far."""
        return self.rows[: self.count]

    def columns(self, names: Iterable[str]) -> np.ndarray:
        """Columns (rows, m) of these signals."""
        return self.table[:, [self.names.index(name) for name in names]]


class Tape(Columns):
    """A recorder into one preallocated table."""

    def __init__(self, signals: Signals, patterns: Iterable[str], rows: int) -> None:
        places = signals.select(["time", *patterns])
        if rows * len(places) > MOST_NUMBERS:
            raise ArgumentError(
                f"{rows} frames of {len(places)} signals are more than fit in memory; choose fewer in record.signals, "
                "or more steps_per_frame."
            )
        self._places = places
        names, units = ([part[i] for i in places] for part in (signals.names, signals.units))
        super().__init__(names, units, np.full((rows, len(places)), np.nan))

    def move(self, rows: np.ndarray) -> None:
        """Use other memory of the same shape; call this before the run."""
        rows.fill(np.nan)
        self.rows = rows

    def open(self, names: Sequence[str], units: Sequence[str], meta: Mapping[str, Any]) -> None:
        """Begin again."""
        self.count = 0

    def row(self, vector: np.ndarray) -> None:
        """Keep one row."""
        if self.count < len(self.rows):
            np.take(vector, self._places, out=self.rows[self.count], mode="clip")
            self.count += 1

    def event(self, event: Event) -> None:
        """Events are in the run's own log."""

    def close(self) -> None:
        """Nothing is open."""

    def write_csv(self, path: Path, names: Sequence[str], every: int = 1) -> None:
        """Write time and these signals as text that keeps every bit, one of every so many rows."""
        chosen = ["time", *(name for name in names if name != "time")]
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(chosen)
            writer.writerows([map(repr, row) for row in self.columns(chosen)[::every].tolist()])
