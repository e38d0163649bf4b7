"""One complete job: engine process, controller process, progress, log, plot, table."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.commands.record import read_csv
from limberjack.engine.errors import LimberjackError
from limberjack.engine.system.load import load
from limberjack.engine.system.system import System

#: bound on the whole of a controller's run beyond its simulated time, s
PATIENCE_S = 600.0


class JobError(LimberjackError, RuntimeError):
    """The controller process failed."""


@dataclass(frozen=True)
class Job:
    """What to drive and where to put the results.

    load : keyword arguments of `limberjack.load` (base, strict, mimic); duration_s : simulated time
    """

    model: Path
    folder: Path
    duration_s: float
    load: dict[str, Any] = field(default_factory=dict)
    dt: float | None = None
    integrator: str | None = None


def run_job(job: Job, console: Console) -> Path:
    """Do the job, print what happened, return the results folder."""
    system = load(job.model, **job.load)
    if not system.actuators:
        raise JobError(f"{job.model}: the model has no actuators, so there is nothing to drive.")
    job.folder.mkdir(parents=True, exist_ok=True)
    dt = job.dt or system.dt
    started = time.perf_counter()
    console.print(f"starting the engine process on [bold]{system.name}[/] ({system.nv} velocities, dt {dt:g} s)")
    with EngineProcess(system, Settings(endpoint="tcp://127.0.0.1:*"), dt=dt, integrator=job.integrator) as engine:
        ready = time.perf_counter()
        console.print(f"engine pid {engine.pid} answers at {engine.endpoints.request} after {ready - started:.1f} s")
        _control(job, engine, dt, console)
        wall = time.perf_counter() - ready
    _report(job, system, wall, console)
    return job.folder


def _control(job: Job, engine: EngineProcess, dt: float, console: Console) -> None:
    """Run the controller as a process of its own and show its progress."""
    order = {
        "model": str(job.model),
        "load": job.load,
        "endpoint": engine.endpoints.request,
        "duration_s": job.duration_s,
        "period_steps": max(1, round(1e-3 / dt)),
        "folder": str(job.folder),
        "timeout_s": 30.0,
    }
    command = [sys.executable, "-W", "ignore", "-m", "limberjack.commands.controller", json.dumps(order)]
    deadline = time.monotonic() + PATIENCE_S + job.duration_s
    columns = TextColumn("controller drives the joints"), BarColumn(), TextColumn("{task.percentage:3.0f} %")
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as progress,
    ):
        task = progress.add_task("run", total=1.0)
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            progress.update(task, completed=float(line))
            if time.monotonic() > deadline:
                process.kill()
                raise JobError(f"the controller did not finish within {PATIENCE_S:g} s beyond the simulated time.")
        words = process.stderr.read()
    if process.returncode:
        last = words.strip().splitlines()[-1:] or ["no message"]
        raise JobError(f"the controller process ended with exit code {process.returncode}: {last[0]}")


def _report(job: Job, system: System, wall_s: float, console: Console) -> None:
    from limberjack.commands.plots import momentum_drift, plot_log

    log = read_csv(job.folder / "log.csv")
    plot_log(log, f"{system.name}: {job.duration_s:g} s driven over ZeroMQ", job.folder / "run.png")
    table = Table(title="what happened", show_header=False)
    table.add_row(
        "simulated time", f"{log['time'][-1]:.3f} s in {wall_s:.1f} s ({log['time'][-1] / wall_s:.1f} × real time)"
    )
    worst, name = _worst_tracking(log)
    table.add_row("largest tracking error", f"{worst:.3g} rad or m ({name})")
    for label, parts, unit in (("linear", ("px", "py", "pz"), "N·s"), ("angular", ("Lx", "Ly", "Lz"), "N·m·s")):
        if any(n.endswith(".qw") for n in log):
            table.add_row(f"{label} momentum drift", f"{momentum_drift(log, parts).max():.2e} {unit}")
    for path in sorted(job.folder.iterdir()):
        table.add_row("wrote", str(path))
    console.print(table)


def _worst_tracking(log: dict[str, np.ndarray]) -> tuple[float, str]:
    errors = {
        name.removeprefix("reference."): float(np.abs(log["q." + name.removeprefix("reference.")] - values).max())
        for name, values in log.items()
        if name.startswith("reference.")
    }
    worst = max(errors, key=lambda name: errors[name])
    return errors[worst], worst
