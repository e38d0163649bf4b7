"""`limberjack compare`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from limberjack.commands.console import open_console
from limberjack.commands.tables import new_table
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.record.compare import Comparison, open_table
from limberjack.hil.record.compare import compare as compare_tables

#: number of signals listed without --all
MOST_LISTED = 20


def compare(a: Path, b: Path, absolute: float, relative: float, every: bool) -> int:
    """Compare two records; exit code 1 if they differ."""
    for name, value in (("--absolute", absolute), ("--relative", relative)):
        if value != 0.0:
            arguments.positive(name, value)
    left, right = open_table(a), open_table(b)
    found = compare_tables(left, right, absolute, relative)
    console = open_console()
    for path, table, rows, names in zip((a, b), (left, right), found.only_rows, found.only_names):
        if table.trouble:
            console.print(f"{path}: {table.trouble}", markup=False, highlight=False)
        if rows or names:
            console.print(f"only in {path}: {rows} rows, {_listed(names)}", markup=False, highlight=False)
    if found.rows == 0:
        raise ArgumentError(f"{a} and {b} have no times in common. Give two records of one span of time.")
    _report(console, found, None if every else MOST_LISTED)
    return 0 if found.equal else 1


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{len(names)} signals" + (": " if names else "") + ", ".join(names[:5]) + more


def _report(console: Console, found: Comparison, most: int | None) -> None:
    parted = found.differing
    words = f"{found.rows} rows of {len(found.signals)} signals: "
    if not parted:
        console.print(words + "all within the tolerance", markup=False, highlight=False)
        return
    words += f"{len(parted)} signals differ, first '{parted[0].name}' at t = {parted[0].first:.9g} s"
    console.print(words, markup=False, highlight=False)
    table = new_table("", "signal", "unit", "first at / s", "largest difference", "at / s", folding=(0,))
    for column in table.columns[2:]:
        column.justify = "right"
    for signal in parted[:most]:
        table.add_row(signal.name, signal.unit, f"{signal.first:.9g}", f"{signal.largest:.6g}", f"{signal.time:.9g}")
    console.print(table)
    if most and len(parted) > most:
        console.print(f"{len(parted) - most} more; --all lists them", markup=False, highlight=False)
