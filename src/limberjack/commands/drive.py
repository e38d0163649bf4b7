"""One complete job: engine process, controller process, progress, log, plot, table."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.commands.arguments import FREE_PORT
from limberjack.commands.conservation import log_conserves, momentum_drift
from limberjack.commands.controller import SAMPLES
from limberjack.commands.record import read_csv, tracking_errors
from limberjack.commands.tables import new_table
from limberjack.commands.trajectory import drivable, resting
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.load import load
from limberjack.engine.model.system import Loop, System

#: how long a controller may be silent, beyond the simulated time between two of its reports, s
PATIENCE_S = 300.0
#: how long it may take to end after its last output, s
ENDING_S = 30.0
#: number of bytes read from the output of a failed controller
_WORDS_MAX = 65536


class JobError(LimberjackError, RuntimeError):
    """Raised when the controller process fails."""


@dataclass(frozen=True)
class Job:
    """A job: the model to drive, and the folder for the results.

    load : keyword arguments of `limberjack.load` (base, strict, mimic, …); duration_s : simulated time
    settings : of the engine process; its ``rate_hz`` is the controller's (None: the highest up to 1 kHz)
    real_time : pace the controller by the clock
    """

    model: Path
    folder: Path
    duration_s: float
    load: dict[str, Any] = field(default_factory=dict)
    dt: float | None = None
    integrator: str | None = None
    settings: Settings = field(default_factory=lambda: Settings(endpoint=FREE_PORT))
    real_time: bool = False


def run_job(job: Job, console: Console) -> Path:
    """Do the job, print what happened, return the results folder.

    Raises ArgumentError for a model with nothing to drive, JobError when the controller fails.
    """
    system = load(job.model, **job.load)
    _check_drives(job, system, console)
    job.folder.mkdir(parents=True, exist_ok=True)
    dt = system.dt if job.dt is None else job.dt
    started = time.perf_counter()
    console.print(f"starting the engine process on {system.name} ({system.nv} velocities, dt {dt:g} s)")
    shared = _shared_processor(job)
    settings = job.settings if shared is None else replace(job.settings, cpus=shared)
    with EngineProcess(system, settings, dt=dt, integrator=job.integrator) as engine:
        ready = time.perf_counter()
        console.print(f"engine pid {engine.pid} answers at {engine.endpoints.request} after {ready - started:.1f} s")
        wall = _control(job, engine, shared, dt, console)
    _report(job, system, wall, console)
    return job.folder


def _shared_processor(job: Job) -> tuple[int, ...] | None:
    """The processor for engine and controller, None to leave both where they are.

    In lockstep they take turns. To wake a process on another processor, which sleeps meanwhile, takes longer than all
    else in a round trip.
    """
    if job.settings.cpus is not None or job.real_time or not hasattr(os, "sched_getaffinity"):
        return None
    return (max(os.sched_getaffinity(0)),)


def _check_drives(job: Job, system: System, console: Console) -> None:
    """Refuse a model that cannot be driven; print which drives are held at 0 or at rest."""
    if not system.actuators:
        raise ArgumentError(
            f"{job.model}: the model has no actuators, so there is nothing to drive. Add actuators, or leave "
            "--duration out to serve it; lj.Simulation and 'limberjack hil' run it without drives."
        )
    moved = drivable(system)
    held = [a for a in system.actuators if a not in moved]
    if not moved:
        raise ArgumentError(
            f"{job.model}: all {len(held)} actuators drive quasi-velocities (of spherical, free or custom hinges), "
            "for which there is no trajectory. Add an actuator on another hinge, or serve the model without --duration."
        )
    for what, drives in (
        ("held at 0, because a quasi-velocity is not the rate of a coordinate", held),
        ("at rest, weaker than the dry friction of their hinges", resting(system)),
    ):
        if drives:
            console.print(f"{what}: {_names(drives)}", markup=False)
    loops = [loop for loop in system.loops if loop.command_names]
    if loops:
        console.print(f"loops that stay as they start: {_names(loops)}", markup=False)


def _names(named: Sequence[Actuator] | Sequence[Loop]) -> str:
    more = f" and {len(named) - 12} more" if len(named) > 12 else ""
    return ", ".join(each.name for each in named[:12]) + more


def _control(job: Job, engine: EngineProcess, processor: tuple[int, ...] | None, dt: float, console: Console) -> float:
    """Run the controller in a separate process and show its progress; seconds from its first report to its last."""
    order = {
        "model": str(job.model),
        "load": job.load,
        "endpoint": engine.endpoints.request,
        "duration_s": job.duration_s,
        "period_steps": job.settings.steps_per_cycle(dt),
        "folder": str(job.folder),
        "timeout_s": 30.0,
        "keys": None if job.settings.keys is None else str(job.settings.keys),
        "real_time": job.real_time,
        "cpus": processor,
    }
    command = [sys.executable, "-W", "ignore", "-m", "limberjack.commands.controller", json.dumps(order)]
    starting, driving = "the controller starts", "controller drives the joints"
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:3.0f} %")
    if not console.is_terminal:
        console.print(starting)
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(starting, total=1.0)
        quiet_s = PATIENCE_S + 2.0 * job.duration_s / SAMPLES
        reports: list[float] = []

        def heard(line: str) -> None:
            reports.append(time.perf_counter())
            progress.update(task, completed=float(line), description=driving)

        watch(command, quiet_s, heard)
    return reports[-1] - reports[0]


def watch(command: list[str], quiet_s: float, heard: Callable[[str], None]) -> None:
    """Run a process to its end, and yield each line of its standard output.

    Raises JobError if it is silent for ``quiet_s``, does not end, or ends with an exit code other than 0. It never
    outlives this call. Its standard error goes to a file, which cannot fill up as a pipe can.
    """
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=words) as process,
    ):
        try:
            _listen(process, quiet_s, heard)
            code = process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            raise JobError(f"the controller did not end within {ENDING_S:g} s of its last message.") from None
        finally:
            process.kill()
        words.seek(max(0, words.seek(0, os.SEEK_END) - _WORDS_MAX))
        said = words.read().decode(errors="replace").strip().splitlines()
    if code:
        raise JobError(f"the controller process ended with exit code {code}: {said[-1] if said else 'no message'}")


def _listen(process: subprocess.Popen[bytes], quiet_s: float, heard: Callable[[str], None]) -> None:
    assert process.stdout is not None
    descriptor, rest = process.stdout.fileno(), b""
    while True:
        if not select.select([descriptor], [], [], quiet_s)[0]:
            raise JobError(f"the controller sent nothing for {quiet_s:g} s and was stopped.")
        portion = os.read(descriptor, 4096)
        if not portion:
            return
        *lines, rest = (rest + portion).split(b"\n")
        for line in lines:
            heard(line.decode())


def _report(job: Job, system: System, wall_s: float, console: Console) -> None:
    from limberjack.commands.plots import plot_log

    log = read_csv(job.folder / "log.csv")
    plot_log(log, f"{system.name}: {job.duration_s:g} s driven over ZeroMQ", job.folder / "run.png")
    table = new_table("what happened", "", "", folding=(1,))
    table.show_header = False
    table.add_row(
        "simulated time", f"{log['time'][-1]:.3f} s in {wall_s:.1f} s ({log['time'][-1] / wall_s:.1f} × real time)"
    )
    errors = tracking_errors(log)
    if errors:
        worst = max(errors, key=lambda name: float(np.abs(errors[name]).max()))
        table.add_row("largest tracking error", f"{np.abs(errors[worst]).max():.3g} rad or m ({worst})")
    if log_conserves(log):
        for label, parts, unit in (("linear", ("px", "py", "pz"), "N·s"), ("angular", ("Lx", "Ly", "Lz"), "N·m·s")):
            table.add_row(f"{label} momentum drift", f"{momentum_drift(log, parts).max():.2e} {unit}")
    for name in ("log.csv", "log.parquet", "run.png"):
        if (job.folder / name).exists():
            table.add_row("wrote", str(job.folder / name))
    console.print(table)
