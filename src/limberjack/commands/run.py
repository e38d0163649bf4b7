"""`limberjack demo`, `run` and `plot`."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rich.console import Console

from limberjack.bridge.endpoints import Endpoints
from limberjack.bridge.server import serve
from limberjack.bridge.settings import Settings
from limberjack.commands.drive import Job, run_job
from limberjack.engine.errors import ArgumentError
from limberjack.engine.kernel import announce_compilation
from limberjack.engine.system.load import load

DEMO_MODEL, DEMO_SECONDS = "space_manipulator.yaml", 30.0


def demo(folder: Path) -> None:
    """Drive the shipped space manipulator."""
    announce_compilation()
    with ExitStack() as stack:
        model = stack.enter_context(as_file(files("limberjack.examples") / DEMO_MODEL))
        run_job(Job(model, folder, DEMO_SECONDS), Console())


def run(options: argparse.Namespace, load_options: dict[str, Any]) -> None:
    """Serve a model, or drive it for a while."""
    announce_compilation()
    if options.duration is None:
        _serve(options, load_options)
        return
    if not 0.0 < options.duration < 1e6:
        raise ArgumentError(f"--duration is {options.duration:g}; give a positive number of seconds.")
    folder = options.out or Path("results") / options.model.stem
    run_job(Job(options.model, folder, options.duration, load_options, options.dt, options.integrator), Console())


def _serve(options: argparse.Namespace, load_options: dict[str, Any]) -> None:
    system = load(options.model, **load_options)
    settings = Settings(
        endpoint=options.endpoint,
        mode="free-running" if options.real_time else "lockstep",
        rate_hz=options.rate,
        publish_divisor=options.publish_every,
        lease_s=options.lease,
        keys=options.keys,
        cpus=tuple(options.cpu) if options.cpu else None,
        priority=options.priority,
    )

    def ready(endpoints: Endpoints) -> None:
        print(
            f"engine '{system.name}' ({settings.mode}) answers at {endpoints.request}, "
            f"states at {endpoints.state}, topics at {endpoints.topics}; Ctrl-C ends it",
            file=sys.stderr,
            flush=True,
        )

    serve(system, settings, dt=options.dt, integrator=options.integrator, ready=ready)


def plot(log: Path, out: Path | None) -> None:
    """Plot a log again."""
    from limberjack.commands.plots import plot_log
    from limberjack.commands.record import read_csv

    if not log.is_file():
        raise ArgumentError(f"{log}: there is no such log; give the log.csv of a results folder.")
    try:
        columns = read_csv(log)
    except (ValueError, StopIteration) as error:
        raise ArgumentError(f"{log}: not a log of a run ({error}); give the log.csv of a results folder.") from error
    target = out or log.with_suffix(".png")
    plot_log(columns, log.parent.name, target)
    print(target)
