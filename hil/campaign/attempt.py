"""Runs a job and turns any exception into a row; separate from scenarios, so that workers import little."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from limberjack.engine.common.errors import LimberjackError, exit_code_of
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row, status_of

#: runs one job of a scenario; found by its module and name in other processes
Run = Callable[[Path, Job], Row]
#: runs several jobs at once, and returns the rows of separate runs, in order; found in the same way
RunMany = Callable[[Path, Sequence[Job]], list[Row]]


def tried(run: Run, scenario: Path, job: Job) -> Row:
    """The row of a job, also if the run raises."""
    try:
        return run(scenario, job)
    except (Exception, SystemExit) as error:
        return row_of_error(job, error)


def tried_together(run: Run, many: RunMany | None, scenario: Path, jobs: Sequence[Job]) -> list[Row]:
    """The rows of jobs, also if a run raises: one job is run by itself, several at once."""
    if many is None or len(jobs) == 1:
        return [tried(run, scenario, job) for job in jobs]
    return many(scenario, jobs)


def row_of_error(job: Job, error: BaseException) -> Row:
    """The row of a job that could not be run to its end."""
    if isinstance(error, LimberjackError):
        return Row(job.run, job.seed, status_of(exit_code_of(error)), str(error), job.values)
    return Row(job.run, job.seed, "error", f"{type(error).__name__}: {error}", job.values)
