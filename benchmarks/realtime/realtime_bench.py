"""`limberjack bench --real-time`: the executive with the largest shipped model and a 7-axis arm, beside a C loop."""

from __future__ import annotations

import datetime
import importlib.resources
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import history
from benchmarks.peer_build import PeerUnavailableError
from benchmarks.realtime.cyclictest import cyclictest_loop
from benchmarks.realtime.loops import Loop, Times, c_loop, model_loop, python_loop
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System
from limberjack.hil.probe import Trial, probe
from limberjack.hil.realtime_rights import RealtimeRights

#: shipped model, rate of its frames
MODELS = (("cassini", 1000.0), ("torque_arm", 5000.0))
ROUNDS, SECONDS, TRIAL_SECONDS = 6, 10.0, 5.0
QUICK_ROUNDS, QUICK_SECONDS, QUICK_TRIAL_SECONDS = 1, 0.2, 0.1
#: of the C loop that spins too
MARGIN_NS = 50_000
PRIORITY = 80


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure, print the tables and write ``realtime.json`` to ``out``, a line to the history if one is given.

    Each model's loop and the empty loops take turns, 10 s each, six rounds: what else the machine does meets them all.
    quick : one short round; core : processor to run on, default the last allowed one
    """
    console = console or Console()
    core = max(os.sched_getaffinity(0)) if core is None else core
    placing = RealtimeRights(priority=PRIORITY, cpus=(core,), lock_memory=True)
    with placing.held() as rights:
        asked = [asdict(right) for right in rights]
    result: dict[str, Any] = {
        "commit": history.commit(),
        "machine": history.machine(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "rights": asked,
        "rates": [],
    }
    for name, rate in MODELS:
        result["rates"].append(_rate(name, rate, placing, quick, console))
    history.write(result, out, "realtime")
    if history_path is not None:
        history.record(history_path, result)
    return result


def _rate(name: str, rate: float, placing: RealtimeRights, quick: bool, console: Console) -> dict[str, Any]:
    """All loops at one rate in turns, then the highest rate of the model."""
    rounds, seconds = (QUICK_ROUNDS, QUICK_SECONDS) if quick else (ROUNDS, SECONDS)
    system = load(Path(str(importlib.resources.files("limberjack.examples") / f"{name}.yaml")))
    loops = _loops(system, name, rate, placing, console)
    times = [Times(label, rate) for label in loops]
    with console.status(f"{name} at {rate:g} Hz") as status:
        for turn in range(rounds):
            status.update(f"{name} at {rate:g} Hz, round {turn + 1} of {rounds}")
            for found, run in zip(times, loops.values(), strict=True):
                found.add(*run(seconds, placing))
        trial_seconds = QUICK_TRIAL_SECONDS if quick else TRIAL_SECONDS
        probed = probe(
            system,
            seconds=trial_seconds,
            trial_seconds=trial_seconds,
            placing=placing,
            say=lambda text, _: status.update(text),
        )
    rows = [found.as_dict() for found in times]
    console.print(_table(f"{name} at {rate:g} Hz, µs", rows))
    trials = [_trial(trial) for trial in probed.trials]
    console.print(f"{name}: highest rate tried without overrun {probed.highest_hz} Hz, nearly {probed.nearly_hz} Hz")
    nearly, highest = probed.nearly_hz, probed.highest_hz
    return {"model": name, "loops": rows, "trials": trials, "highest_hz": highest, "nearly_hz": nearly}


def _loops(system: System, name: str, rate: float, placing: RealtimeRights, console: Console) -> dict[str, Loop]:
    """All loops by name; those that this machine lacks are named and left out."""
    makers: dict[str, Callable[[], Loop]] = {
        "cyclictest": lambda: cyclictest_loop(rate, placing),
        "C, sleep": lambda: c_loop(rate, 0),
        "C, sleep and spin": lambda: c_loop(rate, MARGIN_NS),
        "executive, no model": lambda: python_loop(rate),
        f"executive, {name}": lambda: model_loop(system, rate),
    }
    found: dict[str, Loop] = {}
    for label, make in makers.items():
        try:
            found[label] = make()
        except PeerUnavailableError as error:
            console.print(f"without {label}: {error}")
    return found


def _trial(trial: Trial) -> dict[str, Any]:
    return {"rate_hz": trial.rate_hz, **trial.statistics.as_dict()}


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    """p50 / p99 / p99.9 / max of start, work and end."""
    table = Table("loop", "frames", "overruns", "start late", "work", "end after the deadline", title=title)
    for row in rows:
        cells = (" / ".join(f"{value:g}" for value in row[part]) for part in ("late", "work", "end"))
        table.add_row(row["name"], f"{row['frames']}", f"{row['overruns']}", *cells)
    return table
