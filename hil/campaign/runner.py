"""Run a campaign: plan, pool, journal, table, plot, report."""

from __future__ import annotations

import contextlib
import functools
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, ExitCode, LimberjackError
from limberjack.hil.campaign.attempt import Run, tried
from limberjack.hil.campaign.campaign_file import Campaign, load_campaign
from limberjack.hil.campaign.findings import limits_of, requirements_of, worst_of_all
from limberjack.hil.campaign.job import run_job
from limberjack.hil.campaign.local_pool import LocalPool, Pool
from limberjack.hil.campaign.plot import write_plot
from limberjack.hil.campaign.report import Found, write_campaign_junit, write_report
from limberjack.hil.campaign.sampling import Job, plan
from limberjack.hil.campaign.table import UNJUDGED, Journal, Row, write_table
from limberjack.version import __version__

MOST_WORKERS = 1024
#: rows and how many of how many runs are done
Progress = Callable[[Row, int, int], None]


@dataclass(frozen=True)
class Summary:
    """What a campaign came to.

    rows : in order of their run;  files : table, plot, report, JUnit
    """

    name: str
    rows: list[Row]
    files: list[Path]
    least_passed: float

    def counts(self) -> Counter[str]:
        """Status → number of runs."""
        return Counter(row.status for row in self.rows)

    @property
    def passed(self) -> bool:
        """Whether as large a part of the runs passed as must."""
        return self.counts()["passed"] >= self.least_passed * len(self.rows)

    @property
    def exit_code(self) -> ExitCode:
        """A campaign that could have passed but for the runs that cannot be judged is a failure of the machine."""
        counts = self.counts()
        judged = counts["passed"] + sum(counts[status] for status in UNJUDGED)
        if judged < self.least_passed * len(self.rows):
            return ExitCode.FAILED
        return ExitCode.DONE if self.passed else ExitCode.MACHINE


def run_campaign(
    source: Path | str | Campaign,
    *,
    out: Path | str,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    run: Run = run_job,
    progress: Progress | None = None,
) -> Summary:
    """Run what has not been run, and write table, plot, report and JUnit.

    out : folder, made if need be: rows.jsonl, table.csv, table.parquet (with pyarrow), summary.png, report.html,
        junit.xml, workers.log
    workers : processes on this machine (default: one for each processor);  scheduler : Dask's, instead of them
    resume : go on with a folder that has rows; runs that were lost are tried again
    run : what a run is, a function of a module
    progress : told of each row when it is on the disk

    The table depends on campaign, scenario and what they name alone, not on the number of workers or interruptions.
    ArgumentError if the first run of all cannot be run with its values: the others are not tried.
    HilError where processes or the cluster cannot be used; what was acknowledged stays.
    """
    campaign = source if isinstance(source, Campaign) else load_campaign(source)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with Journal(folder / "rows.jsonl", head_of(campaign)) as journal:
        if journal.rows and not resume:
            text = f"{folder} has {len(journal.rows)} of {campaign.total} runs; go on with --resume, or"
            raise ArgumentError(f"{text} give another --out.")
        left = [job for job in plan(campaign) if not _done(journal, job)]
        if left:
            with _pool(campaign, folder, workers, scheduler, run) as pool:
                _run(pool, left, campaign, journal, progress)
        rows = [journal.rows[number] for number in sorted(journal.rows)]
    return _published(campaign, folder, rows)


def _published(campaign: Campaign, folder: Path, rows: list[Row]) -> Summary:
    """Table, plot, report and JUnit of all rows."""
    bounds = limits_of(campaign)
    files = write_table(folder, rows)
    files.append(write_plot(folder / "summary.png", campaign.spec.name, rows, bounds))
    summary = Summary(campaign.spec.name, rows, files, campaign.spec.least_passed)
    word = "passed" if summary.passed else "failed"
    found = Found(campaign, rows, bounds, word, folder, requirements_of(campaign))
    files += [write_report(found), write_campaign_junit(found, summary.exit_code)]
    return summary


def report_worst(
    campaign: Campaign, out: Path | str, summary: Summary, most: int, say: Callable[[int], None] = lambda _: None
) -> dict[int, str]:
    """Run the worst runs again, so many at most, for reports that the campaign's links.

    Returns their numbers, and why there is no report of a run, "" where there is.

    say : told of each before it begins. Reports that are there already stay.
    """
    worst = {row.run: "" for row in worst_of_all(summary.rows, limits_of(campaign), most)}
    jobs = plan(campaign) if worst else []
    for number in worst:
        folder = Path(out) / "runs" / str(number)
        if not (folder / "report.html").is_file():
            say(number)
            row = tried(functools.partial(run_job, out=folder), campaign.scenario, jobs[number])
            worst[number] = "" if (folder / "report.html").is_file() else row.cause
    if worst:
        _published(campaign, Path(out), summary.rows)
    return worst


def report_run(source: Path | str | Campaign, number: int, out: Path | str) -> Row:
    """Run one of the runs again, here, with the report of its scenario in the folder runs/<number> of `out`.

    A campaign that has ended there gets a report with a link to it.
    """
    campaign = source if isinstance(source, Campaign) else load_campaign(source)
    job = plan(campaign)[arguments.count("the run's number", number, 0, campaign.total - 1)]
    row = run_job(campaign.scenario, job, Path(out) / "runs" / str(number))
    if (Path(out) / "rows.jsonl").is_file():
        with contextlib.suppress(LimberjackError):  # it goes on in another process, or is another campaign's
            with Journal(Path(out) / "rows.jsonl", head_of(campaign)) as journal:
                rows = [journal.rows[number] for number in sorted(journal.rows)]
            if len(rows) == campaign.total:
                _published(campaign, Path(out), rows)
    return row


def head_of(campaign: Campaign) -> dict[str, str]:
    """What rows must have in common to be of the same table."""
    return {"campaign": campaign.spec.name, "digest": campaign.digest(), "version": __version__}


def _done(journal: Journal, job: Job) -> bool:
    row = journal.rows.get(job.run)
    return row is not None and row.status != "lost"


def _run(pool: Pool, left: Sequence[Job], campaign: Campaign, journal: Journal, progress: Progress | None) -> None:
    """The first run alone: it compiles what others then find compiled, and tells whether they can be run at all."""
    done = campaign.total - len(left)
    for jobs in (left[:1], left[1:]):
        for row in pool.rows(jobs):
            if row.status == "invalid" and not journal.rows:
                raise ArgumentError(f"run {row.run} of {campaign.file.name} cannot be run: {row.cause}")
            journal.add(row)
            done += 1
            if progress is not None:
                progress(row, done, campaign.total)


def _pool(
    campaign: Campaign, folder: Path, workers: int | None, scheduler: str | None, run: Run
) -> contextlib.AbstractContextManager[Pool]:
    spec = campaign.spec
    if scheduler is None:
        count = (
            len(os.sched_getaffinity(0)) if workers is None else arguments.count("workers", workers, 1, MOST_WORKERS)
        )
        log = folder / "workers.log"
        return LocalPool(run, campaign.scenario, count, limit_s=spec.limit_s, tries=spec.tries, log=log)
    if workers is not None:
        raise ArgumentError("--workers is for this machine; with --scheduler the cluster has its own.")
    from limberjack.hil.campaign.dask_pool import DaskPool

    return DaskPool(run, campaign, scheduler)
