"""A job run so that whatever it raises is a row; apart from scenarios, so that workers import what they run alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from limberjack.engine.common.errors import LimberjackError, exit_code_of
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row, status_of

#: runs one job of a scenario; found by its module and name in other processes
Run = Callable[[Path, Job], Row]


def tried(run: Run, scenario: Path, job: Job) -> Row:
    """What became of a job, whatever the run raises."""
    try:
        return run(scenario, job)
    except (Exception, SystemExit) as error:
        if isinstance(error, LimberjackError):
            return Row(job.run, job.seed, status_of(exit_code_of(error)), str(error), job.values)
        return Row(job.run, job.seed, "error", f"{type(error).__name__}: {error}", job.values)
