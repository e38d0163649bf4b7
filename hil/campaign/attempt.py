"""A job run so that whatever it raises is a row; apart from scenarios, so that workers import what they run alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from limberjack.engine.errors import LimberjackError
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row

#: runs one job of a scenario; found by its module and name in other processes
Run = Callable[[Path, Job], Row]


def tried(run: Run, scenario: Path, job: Job) -> Row:
    """What became of a job, whatever the run raises."""
    try:
        return run(scenario, job)
    except (Exception, SystemExit) as error:
        refused = isinstance(error, LimberjackError) and isinstance(error, ValueError)
        told = str(error) if isinstance(error, LimberjackError) else f"{type(error).__name__}: {error}"
        return Row(job.run, job.seed, "invalid" if refused else "error", told, job.values)
