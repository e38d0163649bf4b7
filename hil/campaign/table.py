"""Rows of a campaign: the journal that survives a crash, and the final table."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import importlib.util
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from limberjack.engine.common.errors import ArgumentError, ExitCode
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.hil.errors import HilError

VERSION = 1
Status = Literal["passed", "failed", "invalid", "error", "lost"]
#: statuses of runs without a verdict
UNJUDGED = ("error", "lost")


def status_of(code: ExitCode) -> Status:
    """The status in the table of a run that did not pass."""
    statuses: dict[ExitCode, Status] = {ExitCode.FAILED: "failed", ExitCode.BAD_INPUT: "invalid"}
    return statuses.get(code, "error")


@dataclass(frozen=True)
class Row:
    """The result of a run.

    status : passed or failed by its criteria; invalid: its values cannot be run; error: the machine failed, or an
        unknown exception was raised; lost: its process died or hung at each try
    cause : why it did not pass
    values : path → value that it was given;  measured : criterion → number, nan where nothing could be measured
    failed : criteria that failed;  units : criterion → unit of its number, if it has one
    """

    run: int
    seed: int
    status: Status
    cause: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)


#: of the rows of a campaign
_MOST_BYTES = 1 << 31
_FIELDS = {part.name for part in fields(Row)}


class Journal:
    """Rows in a file to which lines are only added; a row is acknowledged once its line is on the disk.

    The first line says which campaign it is. A last line that a crash cut off is removed when the journal is opened.
    One process at a time has it open.
    """

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self.path, self._head = path, {"limberjack_rows": VERSION, **head}
        self.rows: dict[int, Row] = {}
        self._file = -1

    def __enter__(self) -> Journal:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._lock()
            self._read()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def add(self, row: Row) -> None:
        """Acknowledge a row; it is on the disk on return."""
        self._write(asdict(row))
        self.rows[row.run] = row

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            text = f"{self.path} is open in another process; wait for that campaign to end, or give another --out."
            raise HilError(text) from None

    def _read(self) -> None:
        text = read_bytes(self.path, _MOST_BYTES)
        kept = text[: text.rfind(b"\n") + 1]
        if len(kept) < len(text):
            os.ftruncate(self._file, len(kept))
        lines = kept.splitlines()
        head = self._parsed(lines[0], 1) if lines else {}
        if lines and head.get("limberjack_rows") != VERSION:
            raise self._foreign(1)
        if len(lines) <= 1:  # no rows: it may be used for any campaign
            os.ftruncate(self._file, 0)
            self._write(self._head)
            return
        if head != self._head:
            raise ArgumentError(
                f"{self.path} has rows of another campaign, or the campaign, its scenario, its model or Limberjack "
                "have changed since; give another --out, or remove that folder."
            )
        for number, line in enumerate(lines[1:], 2):
            found = self._parsed(line, number)
            if set(found) != _FIELDS:
                raise self._foreign(number)
            self.rows[found["run"]] = Row(**found)

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError:
            raise self._foreign(number) from None
        if not isinstance(found, dict):
            raise self._foreign(number)
        return found

    def _foreign(self, number: int) -> ArgumentError:
        return ArgumentError(f"{self.path}:{number}: not a row of a campaign; give another --out, or fix the file.")

    def _write(self, content: dict[str, Any]) -> None:
        line = json.dumps(content).encode() + b"\n"
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The table by columns: run, status, cause, seed, set.<path>, measured.<criterion>; rows in order of their run."""
    ordered = sorted(rows, key=lambda row: row.run)
    table: dict[str, list[Any]] = {
        name: [getattr(row, name) for row in ordered] for name in ("run", "status", "cause", "seed")
    }
    for path in _union(row.values for row in ordered):
        table[f"set.{path}"] = [row.values.get(path) for row in ordered]
    for name in _union(row.measured for row in ordered):
        table[f"measured.{name}"] = [row.measured.get(name, float("nan")) for row in ordered]
    return table


def write_table(folder: Path, rows: Sequence[Row]) -> list[Path]:
    """Write table.csv and, if pyarrow is installed, table.parquet; each file is complete or unchanged."""
    table = columns(rows)
    files = [folder / "table.csv"]
    with _replaced(files[0]) as path, path.open("w", newline="", encoding="utf-8", errors="backslashreplace") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table)
        writer.writerows([[_text(value) for value in row] for row in zip(*table.values(), strict=True)])
    if importlib.util.find_spec("pyarrow"):
        files.append(folder / "table.parquet")
        with _replaced(files[1]) as path:
            _write_parquet(path, table)
    return files


def _union(mappings: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


@contextlib.contextmanager
def _replaced(path: Path) -> Any:
    """A temporary file that takes the place of `path` once it is written and on the disk."""
    temporary = path.with_name(f".{path.name}.part")
    yield temporary
    with temporary.open("rb") as stream:
        os.fsync(stream.fileno())
    os.replace(temporary, path)


def _write_parquet(path: Path, table: dict[str, list[Any]]) -> None:
    import pyarrow
    import pyarrow.parquet

    arrays = {name: pyarrow.array(_alike(values)) for name, values in table.items()}
    pyarrow.parquet.write_table(pyarrow.table(arrays), path)


def _alike(values: list[Any]) -> list[Any]:
    """The values in one type: numbers as floats if any of them is a float, mixed values as text."""
    kinds = {type(value) for value in values}
    if len(kinds) <= 1:
        return values
    return [float(value) for value in values] if kinds == {int, float} else [_text(value) for value in values]
