"""`limberjack campaign FILE`."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from limberjack.commands.console import open_console
from limberjack.commands.tables import new_table
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, ExitCode
from limberjack.hil.campaign.campaign_file import Campaign, load_campaign
from limberjack.hil.campaign.runner import Summary, report_run, report_worst, run_campaign
from limberjack.hil.campaign.table import UNJUDGED, Row

#: largest number of runs in the list of those that did not pass
MOST_LISTED = 10
#: number of runs whose reports are made at the end
MOST_REPORTS = 1000


def campaign(options: argparse.Namespace) -> int:
    """Run a campaign; its exit code."""
    loaded = load_campaign(options.file)
    out: Path = options.out or Path("results") / options.file.stem
    console = open_console()
    if options.report is not None:
        return _report(options, loaded, out, console)
    with _progress(console) as shown:
        task = shown.add_task("", total=loaded.total, passed=0, others=0)
        counts = {True: 0, False: 0}

        def progress(row: Row, done: int, total: int) -> None:
            counts[row.status == "passed"] += 1
            shown.update(task, completed=done, passed=counts[True], others=counts[False])

        summary = run_campaign(
            loaded,
            out=out,
            workers=options.workers,
            scheduler=options.scheduler,
            resume=options.resume,
            batch=options.batch,
            progress=progress,
        )
    _report_worst(options.reports, loaded, out, summary, console)
    _show(summary, console, f"{options.file} --out {out}" if options.out else str(options.file))
    if summary.one_by_one and options.batch is None:
        console.print(f"runs were made one by one: {summary.one_by_one}", markup=False)
    if not summary.one_by_one and summary.rounding:
        console.print(f"runs made at once differ from single ones by rounding: {summary.rounding:.1e}", markup=False)
    return summary.exit_code


def _report_worst(most: int, loaded: Campaign, out: Path, summary: Summary, console: Console) -> None:
    """Make the reports of the worst runs; a terminal shows which."""
    most = arguments.count("--reports", most, 0, MOST_REPORTS)
    with console.status("") if console.is_terminal else contextlib.nullcontext() as status:

        def say(run: int) -> None:
            if status is not None:
                status.update(f"report of run {run}, one of the worst")

        made = report_worst(loaded, out, summary, most, say)
    for run, why in made.items():
        if why:
            console.print(f"there is no report of run {run}: {why}", markup=False)


def _report(options: argparse.Namespace, loaded: Campaign, out: Path, console: Console) -> int:
    for name in ("workers", "scheduler", "batch"):
        if getattr(options, name) is not None:
            raise ArgumentError(f"--{name} is of no use with --report, which runs one run here.")
    row = report_run(loaded, options.report, out)
    cause = f": {row.cause}" if row.cause else ""
    console.print(f"run {row.run} {row.status}{cause}", markup=False)
    console.print(f"wrote {out}/runs/{row.run}/report.html", markup=False)
    if row.status == "passed":
        return ExitCode.DONE
    return ExitCode.MACHINE if row.status in UNJUDGED else ExitCode.FAILED


def _progress(console: Console) -> Progress:
    """A progress display, on a terminal only."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[passed]} passed, {task.fields[others]} not"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def _show(summary: Summary, console: Console, named: str) -> None:
    bad = [row for row in summary.rows if row.status != "passed"]
    if bad:
        table = new_table("runs that did not pass", "run", "", "why", folding=(2,))
        for row in bad[:MOST_LISTED]:
            table.add_row(str(row.run), row.status, row.cause)
        console.print(table)
        if len(bad) > MOST_LISTED:
            console.print(f"and {len(bad) - MOST_LISTED} more")
        console.print(f"see one: limberjack campaign {named} --report {bad[0].run}", markup=False)
    counts = ", ".join(f"{number} {status}" for status, number in summary.counts().most_common())
    verdict = "passed" if summary.passed else "FAILED"
    text = f"{summary.name} {verdict}: {len(summary.rows)} runs, {counts}; {summary.least_passed:.4g} of them must pass"
    console.print(text, markup=False)
    console.print(f"wrote {', '.join(str(path) for path in summary.files)}", markup=False)
