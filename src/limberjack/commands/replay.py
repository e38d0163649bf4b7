"""`limberjack replay` and `limberjack parquet`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from limberjack.commands.console import open_console
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System
from limberjack.hil.record.mcap_file import McapFile
from limberjack.hil.record.parquet import export_parquet
from limberjack.hil.record.replay import check_replayable
from limberjack.hil.record.replay import replay as replay_record


def replay(log: Path, model: Path | None, load_options: dict[str, Any]) -> int:
    """Replay a record with its model; exit code 1 if anything differs."""
    record = McapFile(log)
    check_replayable(record)
    if model is not None and not model.is_file():
        raise ArgumentError(f"--model {model}: there is no such file; give the model of the run.")
    result = replay_record(record, recorded_model(record, model, load_options, "with --model"))
    console = open_console()
    words = f"{result.frames} frames of {result.signals} signals equal bit for bit"
    if result.difference is not None:
        words += f"; {result.difference}"
    elif result.stopped:
        words += f"; {result.stopped}"
    console.print(words, markup=False, highlight=False)
    if record.end.get("closed") is False:
        console.print("the process of the bench ended without closing the record", markup=False, highlight=False)
    return 0 if result.equal else 1


def recorded_model(record: McapFile, model: Path | None, load_options: dict[str, Any], how: str = "as MODEL") -> System:
    """The model of a record, from its original path or from a given file. Raises ArgumentError if it does not exist.

    how : the option with which to give it;  load_options : take precedence over those of the record
    """
    path = model or Path(record.meta.get("folder", "")) / record.meta.get("source", "")
    if not path.is_file():
        raise ArgumentError(f"{record.path}: the model '{path}' that was recorded is not there; give it {how}.")
    given = {key: value for key, value in load_options.items() if value is not None}
    return load(path, **{**record.meta.get("load", {}), **given})


def parquet(log: Path, out: Path) -> None:
    """Write a record as a Parquet table."""
    record = McapFile(log)
    rows = export_parquet(record, out)
    if record.trouble:
        print(f"limberjack: warning: {log}: {record.trouble}", file=sys.stderr)
    print(f"{out}: {rows} rows of {len(record.names)} signals")
