"""Records as Parquet tables: a column a signal, bit for bit, for pandas, DuckDB, MATLAB and others."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.hil.events import Event
from limberjack.hil.record.mcap_file import Batch, McapFile
from limberjack.hil.record.record_file import record_file

#: columns beside the signals: number of the row, wall time in ns since 1970
_ROW, _WALL = "row", "wall_ns"
#: key of the table's own metadata
_KEY = b"limberjack"
#: least rows of a row group, but for the last
_ROW_GROUP = 20_000


def require_pyarrow() -> None:
    """MissingExtraError if the package pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("reading and writing Parquet files", "pyarrow", "hil")


def export_parquet(record: McapFile, path: str | os.PathLike[str]) -> int:
    """Write a record as a Parquet table, chunk by chunk; returns its rows.

    Columns: "row", "wall_ns", then the signals as float64 with "unit" in the metadata of the field; the table's
    metadata "limberjack" holds the bench's report of the run, the events, and why the record ends early if it does.
    """
    require_pyarrow()
    import pyarrow
    import pyarrow.parquet

    signals = [pyarrow.field(n, pyarrow.float64(), metadata={"unit": u}) for n, u in zip(record.names, record.units)]
    schema = pyarrow.schema([(_ROW, pyarrow.int64()), (_WALL, pyarrow.int64()), *signals])
    events: list[Event] = []
    count = 0
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for group in _groups(record):
            events.extend(event for batch in group for event in batch.events)
            numbers, walls, rows = (
                np.concatenate([getattr(b, n) for b in group]) for n in ("numbers", "walls", "rows")
            )
            columns = [pyarrow.array(column) for column in (numbers, walls, *np.ascontiguousarray(rows.T))]
            writer.write_table(pyarrow.table(columns, schema=schema))
            count += len(rows)
        stored = {
            "meta": record.meta,
            "end": record.end,
            "trouble": record.trouble,
            "events": [vars(event) for event in events],
        }
        writer.add_key_value_metadata({_KEY: json.dumps(stored).encode()})
    return count


def _groups(record: McapFile) -> Iterator[list[Batch]]:
    """Batches that together make a row group."""
    group: list[Batch] = []
    for batch in record.batches():
        group.append(batch)
        if sum(len(part.rows) for part in group) >= _ROW_GROUP:
            yield group
            group = []
    if group:
        yield group


class ParquetTable:
    """An exported record, or any Parquet table of numbers with a column "time".

    names, units : of the signals;  meta : what the bench reported;  trouble : why the record behind it ends early

    ArgumentError if the file is not such a table.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        require_pyarrow()
        import pyarrow
        import pyarrow.parquet

        self.path = record_file(path)
        try:
            self._file = pyarrow.parquet.ParquetFile(self.path)
        except pyarrow.ArrowInvalid as error:
            raise ArgumentError(f"{self.path}: not a Parquet file: {error}") from None
        fields = [field for field in self._file.schema_arrow if pyarrow.types.is_float64(field.type)]
        self.names = tuple(field.name for field in fields)
        self.units = tuple((field.metadata or {}).get(b"unit", b"").decode() for field in fields)
        if "time" not in self.names:
            raise ArgumentError(f"{self.path}: it has no column 'time' of float64; give the table of a run.")
        stored: dict[str, Any] = json.loads((self._file.metadata.metadata or {}).get(_KEY, b"{}"))
        self.meta: dict[str, Any] = stored.get("meta", {})
        self.trouble: str = stored.get("trouble", "")
        self._events = [Event(**event) for event in stored.get("events", [])]

    def batches(self) -> Iterator[Batch]:
        """Rows in order; all events come with the first."""
        known, events, count = _ROW in self._file.schema_arrow.names, self._events, 0
        for part in self._file.iter_batches():
            rows = np.column_stack([part.column(name).to_numpy(zero_copy_only=False) for name in self.names])
            numbers = part.column(_ROW).to_numpy() if known else np.arange(count, count + len(rows))
            walls = part.column(_WALL).to_numpy() if known else np.zeros(len(rows), dtype=np.int64)
            yield Batch(numbers, walls, rows, events)
            events, count = [], count + len(rows)
