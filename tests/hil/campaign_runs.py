"""Cheap runs for tests of campaigns: pure functions of the job, with trouble where the campaign asks for it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row


def cheap(scenario: Path, job: Job) -> Row:
    """Numbers from seed and values; passed where the first is below 0.9."""
    first, second = np.random.default_rng(job.seed).random(2)
    size = float(first) + 0.1 * sum(float(v) for v in job.values.values() if isinstance(v, float))
    good = size < 0.9
    measured = {"size": size, "none": float("nan"), "other": float(second)}
    return Row(
        job.run,
        job.seed,
        "passed" if good else "failed",
        "" if good else "size: too large",
        job.values,
        measured,
        [] if good else ["size"],
    )


def slow(scenario: Path, job: Job) -> Row:
    """As `cheap`, in a few milliseconds, so that it can be interrupted; the scenario's folder lists who runs."""
    with (scenario.parent / "pids").open("a") as stream:
        stream.write(f"{os.getpid()} {job.run}\n")
    time.sleep(0.01)
    return cheap(scenario, job)


def troubled(scenario: Path, job: Job) -> Row:
    """Run 3 kills its process, 5 hangs, 7 raises, 9 is refused, 11 exits; 13 dies at its first try alone."""
    once = scenario.parent / f"tried-{job.run}"
    first = not once.exists()
    once.touch()
    if job.run == 3 or (job.run == 13 and first):
        os.kill(os.getpid(), signal.SIGSEGV)
    if job.run == 5:
        time.sleep(3600)
    if job.run == 7:
        raise ZeroDivisionError("no wheel")
    if job.run == 9:
        raise ArgumentError("mass is -1.")
    if job.run == 11:
        raise SystemExit(4)
    return cheap(scenario, job)


def refused(scenario: Path, job: Job) -> Row:
    """Every job is refused."""
    raise ArgumentError("no parameter is called 'mess'.")
