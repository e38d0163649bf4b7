"""Runs a campaign: plan, pool, journal, table, plot, report."""

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
from limberjack.hil.campaign.job import run_job, run_jobs
from limberjack.hil.campaign.local_pool import LocalPool, Pool
from limberjack.hil.campaign.plot import write_plot
from limberjack.hil.campaign.report import Found, write_campaign_junit, write_report
from limberjack.hil.campaign.sampling import Job, plan
from limberjack.hil.campaign.table import UNJUDGED, Journal, Row, write_table
from limberjack.hil.campaign.together import WITNESSES, difference, size_of, why_one_by_one
from limberjack.version import __version__

MOST_WORKERS = 1024
#: called with a row, the number of finished runs, and the number of all runs
Progress = Callable[[Row, int, int], None]


@dataclass(frozen=True)
class Summary:
    """The result of a campaign.

    rows : in order of their run;  files : table, plot, report, JUnit
    one_by_one : why runs were not stepped together as a batch, "" if they were
    rounding : largest relative difference of the numbers of a run that was made at once with others and by itself
    """

    name: str
    rows: list[Row]
    files: list[Path]
    least_passed: float
    one_by_one: str = ""
    rounding: float = 0.0

    def counts(self) -> Counter[str]:
        """Status → number of runs."""
        return Counter(row.status for row in self.rows)

    @property
    def passed(self) -> bool:
        """Whether the minimum fraction of the runs passed."""
        return self.counts()["passed"] >= self.least_passed * len(self.rows)

    @property
    def exit_code(self) -> ExitCode:
        """If only the runs without a verdict keep a campaign from passing, the machine failed."""
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
    batch: bool | None = None,
    run: Run = run_job,
    progress: Progress | None = None,
) -> Summary:
    """Run what has not been run, and write table, plot, report and JUnit.

    out : folder, made if need be: rows.jsonl, table.csv, table.parquet (with pyarrow), summary.png, report.html,
        junit.xml, workers.log
    workers : processes on this machine (default: one for each processor);  scheduler : Dask's, instead of them
    resume : continue in a folder that has rows; runs that were lost are tried again
    batch : whether runs are stepped together, as worlds of a batch; None: if possible. The table is the same
    run : the function, of a module, that makes a run; one of your own is called for one run after the other
    progress : called with each row when it is on the disk

    The table depends only on the campaign, the scenario and the files they name, not on the workers or interruptions.
    ArgumentError if the first run of all cannot be run with its values: the others are not tried; or if `batch` is
    true and they cannot be stepped together.
    HilError if processes or the cluster cannot be used; rows that were acknowledged are kept.
    """
    campaign = source if isinstance(source, Campaign) else load_campaign(source)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with Journal(folder / "rows.jsonl", head_of(campaign)) as journal:
        if journal.rows and not resume:
            text = f"{folder} has {len(journal.rows)} of {campaign.total} runs; go on with --resume, or"
            raise ArgumentError(f"{text} give another --out.")
        left = [job for job in plan(campaign) if not _done(journal, job)]
        why, done = _why(campaign, left, batch, run), campaign.total - len(left)
        work = _Work(campaign, journal, progress, why, batch is True, done)
        if left:
            with _pool(campaign, folder, workers, scheduler, run) as pool:
                work.run(pool, left, pool.workers)
        rows = [journal.rows[number] for number in sorted(journal.rows)]
    return _published(campaign, folder, rows, work.one_by_one, work.rounding)


def _why(campaign: Campaign, left: Sequence[Job], batch: bool | None, run: Run) -> str:
    """Why runs are made one by one, "" if they are not. Raises ArgumentError if `batch` forbids that."""
    if batch is False:
        return "batches are switched off"
    why = "they are runs of a function of your own" if run is not run_job else ""
    why = why or (why_one_by_one(campaign, left[0]) if left else "")
    if why and batch:
        raise ArgumentError(f"the runs of {campaign.file.name} cannot be computed as a batch: {why}.")
    return why


def _published(
    campaign: Campaign, folder: Path, rows: list[Row], one_by_one: str = "", rounding: float = 0.0
) -> Summary:
    """Table, plot, report and JUnit of all rows."""
    bounds = limits_of(campaign)
    files = write_table(folder, rows)
    files.append(write_plot(folder / "summary.png", campaign.spec.name, rows, bounds))
    summary = Summary(campaign.spec.name, rows, files, campaign.spec.least_passed, one_by_one, rounding)
    word = "passed" if summary.passed else "failed"
    found = Found(campaign, rows, bounds, word, folder, requirements_of(campaign))
    files += [write_report(found), write_campaign_junit(found, summary.exit_code)]
    return summary


def report_worst(
    campaign: Campaign, out: Path | str, summary: Summary, most: int, say: Callable[[int], None] = lambda _: None
) -> dict[int, str]:
    """Repeat the worst runs, so many at most, for reports to which the campaign's report links.

    Returns their numbers, each with the reason why there is no report of the run, "" if there is one.

    say : called with each before it begins. Existing reports are kept.
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
    """Repeat one of the runs in this process, with the report of its scenario in the folder runs/<number> of `out`.

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
    """The data that all rows of one table have in common."""
    return {"campaign": campaign.spec.name, "digest": campaign.digest(), "version": __version__}


def _done(journal: Journal, job: Job) -> bool:
    row = journal.rows.get(job.run)
    return row is not None and row.status != "lost"


@dataclass
class _Work:
    """The remaining runs of a campaign, and the pool that runs them.

    one_by_one : why runs are not stepped together, "" if they are;  demanded : whether they must be
    done : runs that are on the disk;  rounding : by how much, relative, numbers differed of a run made in both ways
    """

    campaign: Campaign
    journal: Journal
    progress: Progress | None
    one_by_one: str
    demanded: bool
    done: int
    rounding: float = 0.0

    def run(self, pool: Pool, left: Sequence[Job], workers: int) -> None:
        """Make the first run alone: it shows whether the campaign can be run at all.

        If runs are stepped together, it is then repeated among a few others, and must give the same row.
        """
        for row in pool.rows(left[:1]):
            if row.status == "invalid" and not self.journal.rows:
                raise ArgumentError(f"run {row.run} of {self.campaign.file.name} cannot be run: {row.cause}")
            self._keep(row)
        done = 1
        if len(left) > 2 and not self.one_by_one:
            done += self._witness(pool, left[: 1 + WITNESSES])
        together = 1 if self.one_by_one else size_of(len(left) - done, workers)
        for row in pool.rows(left[done:], together):
            self._keep(row)

    def _witness(self, pool: Pool, jobs: Sequence[Job]) -> int:
        """Run jobs together, the first of which also ran alone; returns how many others are done."""
        rows = {row.run: row for row in pool.rows(jobs, len(jobs))}
        first = rows.pop(jobs[0].run)
        self.one_by_one, self.rounding = difference(self.journal.rows[first.run], first)
        if not self.one_by_one:
            for row in rows.values():
                self._keep(row)
            return len(rows)
        if self.demanded:
            what = f"the runs of {self.campaign.file.name} cannot be computed as a batch"
            raise ArgumentError(f"{what}: {self.one_by_one}; see docs/how-to/campaigns.md.")
        return 0

    def _keep(self, row: Row) -> None:
        self.journal.add(row)
        self.done += 1
        if self.progress is not None:
            self.progress(row, self.done, self.campaign.total)


def _pool(
    campaign: Campaign, folder: Path, workers: int | None, scheduler: str | None, run: Run
) -> contextlib.AbstractContextManager[Pool]:
    spec, many = campaign.spec, run_jobs if run is run_job else None
    if scheduler is None:
        count = (
            len(os.sched_getaffinity(0)) if workers is None else arguments.count("workers", workers, 1, MOST_WORKERS)
        )
        log = folder / "workers.log"
        return LocalPool(run, campaign.scenario, count, limit_s=spec.limit_s, tries=spec.tries, many=many, log=log)
    if workers is not None:
        raise ArgumentError("--workers is for this machine; with --scheduler the cluster has its own.")
    from limberjack.hil.campaign.dask_pool import DaskPool

    return DaskPool(run, campaign, scheduler, many)
