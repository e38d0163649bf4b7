"""One run of a campaign: its scenario with the values of a job."""

from __future__ import annotations

from pathlib import Path

from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row, Status, status_of
from limberjack.hil.scenario.execution import run_scenario


def run_job(scenario: Path, job: Job, out: Path | None = None) -> Row:
    """Run the scenario with the values and the seed of a job, in lockstep: equal jobs give equal rows.

    out : folder of the report; None: write nothing
    """
    result = run_scenario(scenario, out=out, seed=job.seed, overrides=job.values, paced=False)
    failed = [verdict for verdict in result.criteria if not verdict.passed]
    cause = "; ".join(f"{verdict.name}: {verdict.text}" for verdict in failed)
    status: Status = "passed" if result.passed else status_of(result.exit_code)
    measured = {name: float(value) for name, value in result.values.items()}
    units = {verdict.name: verdict.unit for verdict in result.criteria if verdict.unit}
    names = [verdict.name for verdict in failed]
    return Row(job.run, job.seed, status, cause, job.values, measured, names, units)
