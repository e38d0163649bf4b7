"""The commands on logs and records: plot, replay, compare, parquet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from limberjack.commands.parsing import command


def _plot(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.run import plot

        plot(options.log, options.out, options.signals)

    parser = command(commands, "plot", work, "plot the log of a run, or the record of a bench")
    parser.add_argument(
        "log", type=Path, metavar="LOG", help="results folder, its log.csv or signals.csv; record (.mcap, .parquet)"
    )
    text = "picture (.png, .pdf, .svg), or a page that zooms (.html, needs limberjack[plots]); default: .png beside it"
    parser.add_argument("-o", "--out", type=Path, help=text)
    text = "signals of a record by name, such as 'q.*' (repeatable; default: all)"
    parser.add_argument("--signals", action="append", metavar="PATTERN", help=text)


def _replay(commands: Any) -> None:
    def work(options: argparse.Namespace) -> int:
        from limberjack.commands.replay import replay

        return replay(options.log, options.model, {"base": options.base, "mimic": options.mimic})

    text = "replay a recorded run, frame by frame, and compare every signal bit for bit"
    parser = command(commands, "replay", work, text)
    parser.add_argument("log", type=Path, metavar="LOG", help=".mcap record of a bench")
    parser.add_argument("--model", type=Path, metavar="MODEL", help="model file (default: the one recorded)")
    parser.add_argument("--base", choices=("fixed", "free"), help="as recorded, unless given")
    parser.add_argument("--mimic", choices=("couple", "independent", "refuse"), help="as recorded, unless given")


def _compare(commands: Any) -> None:
    def work(options: argparse.Namespace) -> int:
        from limberjack.commands.compare import compare

        return compare(options.a, options.b, options.absolute, options.relative, options.all)

    text = "compare the signals that two records have in common: the first that differs, and by how much each does"
    parser = command(commands, "compare", work, text)
    for name in ("a", "b"):
        parser.add_argument(name, type=Path, metavar=name.upper(), help=".mcap, .parquet or .csv")
    text = "difference allowed, in the signal's unit (default: none)"
    parser.add_argument("--absolute", type=float, default=0.0, metavar="X", help=text)
    parser.add_argument(
        "--relative", type=float, default=0.0, metavar="X", help="difference allowed, as a share of the larger value"
    )
    parser.add_argument("--all", action="store_true", help="list all signals that differ")


def _parquet(commands: Any) -> None:
    def work(options: argparse.Namespace) -> None:
        from limberjack.commands.replay import parquet

        parquet(options.log, options.out or options.log.with_suffix(".parquet"))

    parser = command(commands, "parquet", work, "write a record as a Parquet table, a column a signal")
    parser.add_argument("log", type=Path, metavar="LOG", help=".mcap record of a bench")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="table to write (default: beside the record)")


RECORD_COMMANDS = (_plot, _replay, _compare, _parquet)
