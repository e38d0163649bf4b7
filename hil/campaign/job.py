"""Runs of a campaign: its scenario with the values of a job, or of many jobs at once."""

from __future__ import annotations

import traceback
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from limberjack.engine.common.errors import LimberjackError
from limberjack.hil.campaign.attempt import row_of_error, tried
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row, Status, status_of
from limberjack.hil.scenario.evidence import Verdict
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.results import exit_code_of_verdicts
from limberjack.hil.scenario.scenario_file import Scenario, load_scenario
from limberjack.hil.worlds.batchable import kind_of, why_alone
from limberjack.hil.worlds.running import run_worlds


def run_job(scenario: Path, job: Job, out: Path | None = None) -> Row:
    """Run the scenario with the values and the seed of a job, in lockstep: equal jobs give equal rows.

    out : folder of the report; None: write nothing
    """
    result = run_scenario(scenario, out=out, seed=job.seed, overrides=job.values, paced=False)
    return _row(job, result.criteria, result.values)


def run_jobs(scenario: Path, jobs: Sequence[Job]) -> list[Row]:
    """The rows that `run_job` gives for these jobs, in their order: as many at once as can be worlds of a batch."""
    rows: dict[int, Row] = {}
    kinds: dict[Hashable, list[tuple[Job, Scenario]]] = {}
    for job in jobs:
        try:
            loaded = load_scenario(scenario, job.values)
        except LimberjackError as error:
            rows[job.run] = row_of_error(job, error)
            continue
        kind = job.run if why_alone(loaded) else kind_of(loaded)
        kinds.setdefault(kind, []).append((job, loaded))
    for alike in kinds.values():
        rows.update((row.run, row) for row in _alike(scenario, alike))
    return [rows[job.run] for job in jobs]


def _alike(scenario: Path, jobs: Sequence[tuple[Job, Scenario]]) -> list[Row]:
    """Jobs of one kind, at once where they can be, else one after the other."""
    if why_alone(jobs[0][1]):
        return [tried(run_job, scenario, job) for job, _ in jobs]
    try:
        found = run_worlds([loaded for _, loaded in jobs], [job.seed for job, _ in jobs])
    except Exception as error:  # an error that concerns all: each run reports its own
        if not isinstance(error, LimberjackError):
            traceback.print_exc()
        return [tried(run_job, scenario, job) for job, _ in jobs]
    return [
        row_of_error(job, each) if isinstance(each, LimberjackError) else _row(job, *each)
        for (job, _), each in zip(jobs, found, strict=True)
    ]


def _row(job: Job, verdicts: Sequence[Verdict], values: Mapping[str, float]) -> Row:
    """The overall verdict on a job."""
    failed = [verdict for verdict in verdicts if not verdict.passed]
    cause = "; ".join(f"{verdict.name}: {verdict.text}" for verdict in failed)
    status: Status = status_of(exit_code_of_verdicts(verdicts)) if failed else "passed"
    measured = {name: float(value) for name, value in values.items()}
    units = {verdict.name: verdict.unit for verdict in verdicts if verdict.unit}
    names = [verdict.name for verdict in failed]
    return Row(job.run, job.seed, status, cause, job.values, measured, names, units)
