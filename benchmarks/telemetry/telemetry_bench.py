"""`limberjack bench --telemetry`: what readers cost the engine, how late they see it, how many messages go through."""

from __future__ import annotations

import contextlib
import datetime
import importlib.resources
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import history
from limberjack.bridge.endpoints import Endpoints
from limberjack.engine.common.errors import LimberjackError

MODEL, RATE = "space_manipulator", 1000.0
ROUNDS, SECONDS = 4, 10.0
QUICK_ROUNDS, QUICK_SECONDS = 1, 1.0
#: frames at the start that are left out, s: connections are made then
SETTLE_S = 2.0
PRIORITY = 80
RATES = (1000.0, 2000.0, 4000.0, 8000.0)
_END_S = 30.0
_QUANTILES = (50.0, 99.0, 99.9, 100.0)


class BenchmarkError(LimberjackError):
    """A measurement that could not be made."""


@dataclass(frozen=True)
class Load:
    """Who reads: at the engine itself; PlotJuggler's and browsers at the gateway, and packets. None: no gateway"""

    name: str
    topics: int = 0
    plotjuggler: int | None = None
    browsers: int = 0


LOADS = (
    Load("nobody"),
    Load("the gateway, one reader of each kind", plotjuggler=1, browsers=1),
    Load("the gateway, 20 readers", plotjuggler=10, browsers=9),
    Load("20 readers at the engine itself", topics=20),
)


@dataclass
class Found:
    """Notes of all rounds under one load; times in ns.

    frames : (n,) end of each frame's work after the frame's beginning
    late : kind of reader → (m,) of each of its messages, from the end of the frame whose state it has
    shown : kind of reader → (n,) from the end of each frame to the first message of that frame or a later one
    """

    load: str
    frames: list[np.ndarray] = field(default_factory=list)
    late: dict[str, list[np.ndarray]] = field(default_factory=dict)
    shown: dict[str, list[np.ndarray]] = field(default_factory=dict)
    lost: int = 0
    cpu_s: float = 0.0

    def as_dict(self, rate_hz: float) -> dict[str, Any]:
        """Quantiles (50, 99, 99.9, 100 %) in µs."""
        frames = np.concatenate(self.frames)
        return {
            "load": self.load,
            "frames": len(frames),
            "overruns": int(np.count_nonzero(frames > 1e9 / rate_hz)),
            "end_us": _quantiles(frames),
            "late_us": {kind: _quantiles(np.concatenate(each)) for kind, each in self.late.items()},
            "shown_us": {kind: _quantiles(np.concatenate(each)) for kind, each in self.shown.items()},
            "lost": self.lost,
            "gateway_cpu_s": round(self.cpu_s, 2),
        }


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure, print the tables and write ``telemetry.json`` to ``out``, a line to the history if one is given.

    The loads take turns, ten seconds each, four rounds: what else the machine does meets them all.
    quick : one short round; core : processor of the engine, default the last allowed one
    """
    console = console or Console()
    allowed = sorted(os.sched_getaffinity(0))
    core = allowed[-1] if core is None else core
    others = [each for each in allowed if each != core] or [core]
    rounds, seconds = (QUICK_ROUNDS, QUICK_SECONDS) if quick else (ROUNDS, SECONDS)
    priority = _priority()
    found = [Found(load.name) for load in LOADS]
    with console.status("telemetry") as status:
        for turn in range(rounds):
            for load, into in zip(LOADS, found, strict=True):
                status.update(f"round {turn + 1} of {rounds}: {load.name}")
                _measure(load, into, RATE, seconds, core, others, priority)
        rates = {}
        for rate in RATES[:1] if quick else RATES:
            status.update(f"how much goes through: {rate:g} Hz")
            rates[rate] = Found("the gateway alone")
            _measure(Load("", plotjuggler=0), rates[rate], rate, seconds, core, others, priority)
    result: dict[str, Any] = {
        "commit": history.commit(),
        "machine": history.machine(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "priority": priority,
        "loads": [each.as_dict(RATE) for each in found],
        "rates": {f"{rate:g}": each.as_dict(rate) for rate, each in rates.items()},
    }
    _print(result, console)
    history.write(result, out, "telemetry")
    if history_path is not None:
        history.record(history_path, result)
    return result


# ---- one run


def _measure(
    load: Load, found: Found, rate: float, seconds: float, core: int, others: list[int], priority: int | None
) -> None:
    """One engine with its readers for so many seconds."""
    model = str(importlib.resources.files("limberjack.examples") / f"{MODEL}.yaml")
    with tempfile.TemporaryDirectory(prefix="lj") as folder:
        endpoint, out = f"ipc://{folder}/e", f"{folder}/notes"
        plotjuggler, web = f"tcp://127.0.0.1:{free_port()}", free_port()
        packets = free_port() if load.browsers else 0
        job = {"model": model, "endpoint": endpoint, "rate": rate, "priority": priority, "cpus": [core]}
        with contextlib.ExitStack() as stack:
            stack.enter_context(child("engine", {**job, "out": f"{out}.engine.npy"}))
            if load.plotjuggler is not None:
                outlets = [("plotjuggler", plotjuggler)] if load.plotjuggler else []
                outlets += [("console", str(web))] if load.browsers else []
                outlets += [("ccsds", f"udp://127.0.0.1:{packets}")] if packets else []
                job = {"endpoint": endpoint, "outlets": outlets, "cpus": others, "out": f"{out}.gateway.npy"}
                stack.enter_context(child("gateway", job))
            if load.topics or load.plotjuggler or load.browsers:
                job = {
                    "topics": (Endpoints.derive(endpoint).topics, load.topics),
                    "plotjuggler": (plotjuggler, load.plotjuggler or 0),
                    "console": (f"http://127.0.0.1:{web}", load.browsers),
                    "ccsds": (packets, rate),
                    "cpus": others,
                    "out": out,
                }
                stack.enter_context(child("readers", job))
            time.sleep(SETTLE_S)
            since = time.monotonic_ns()
            time.sleep(seconds)
            until = time.monotonic_ns()
        _read(out, found, rate, since, until)


def _read(out: str, found: Found, rate: float, since: int, until: int) -> None:
    """Take the notes of one run, of the time between."""
    ended, deadline = np.load(f"{out}.engine.npy").T
    frames = np.flatnonzero((ended >= since) & (ended < until))  # frame k is step k: note 0 is from before the first
    found.frames.append((ended - deadline)[frames] + round(1e9 / rate))
    for path in sorted(Path(out).parent.glob("notes.*.npy")):
        kind = path.name.split(".")[1]
        notes = np.load(path)
        if kind == "engine" or not len(notes):
            continue
        step, at = notes[:, 0], notes[:, 1]
        own = (at >= since) & (at < until) & (step > 0) & (step < len(ended))
        found.late.setdefault(kind, []).append(at[own] - ended[step[own]])
        first = np.searchsorted(np.maximum.accumulate(step), frames)
        heard = first < len(notes)
        found.shown.setdefault(kind, []).append(at[first[heard]] - ended[frames[heard]])
        if kind == "gateway":
            found.lost += int(notes[(at >= since) & (at < until), 2].sum())
    report = Path(f"{out}.gateway.json")
    if report.exists():
        found.cpu_s += json.loads(report.read_text(encoding="utf-8"))["cpu_s"]


@contextlib.contextmanager
def child(part: str, job: dict[str, Any]) -> Iterator[None]:
    """One of the processes of `parts`, from "ready" to its end."""
    command = [sys.executable, "-m", "benchmarks.telemetry.parts", part, json.dumps(job)]
    words = Path(f"{job['out']}.{part}.log")
    with words.open("w", encoding="utf-8") as log:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert child.stdout is not None
        if child.stdout.readline() != "ready\n":
            raise BenchmarkError(f"the measurement's {part} did not start: {words.read_text(encoding='utf-8')[-2000:]}")
        yield
        child.send_signal(signal.SIGTERM)
        child.wait(_END_S)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _priority() -> int | None:
    """The priority of the engine; None where the machine does not grant it."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        return None
    os.sched_setscheduler(0, *before)
    return PRIORITY


# ---- report


def _quantiles(times: np.ndarray) -> list[float]:
    return [round(1e-3 * float(each), 1) for each in np.percentile(times, _QUANTILES)] if len(times) else []


def _print(result: dict[str, Any], console: Console) -> None:
    table = Table(title=f"end of a frame after its beginning, {MODEL} at {RATE:g} Hz, µs")
    for head in ("who reads", "frames", "p50", "p99", "p99.9", "longest", "overruns"):
        table.add_column(head, justify="left" if head == "who reads" else "right")
    for each in result["loads"]:
        cells = [f"{value:.0f}" for value in each["end_us"]]
        table.add_row(each["load"], str(each["frames"]), *cells, str(each["overruns"]))
    console.print(table)
    table = Table(title="from the end of the engine's frame to the reader, ms: of each message; until a frame is seen")
    for head in ("who reads", "reader", "p50", "p99", "p99.9", "seen p50", "seen p99"):
        table.add_column(head, justify="left" if head in ("who reads", "reader") else "right")
    for each in result["loads"]:
        for kind, late in each["late_us"].items():
            times: list[float] = [*late[:3], *each["shown_us"][kind][:2]]
            table.add_row(each["load"], kind, *(f"{1e-3 * value:.2f}" for value in times))
    console.print(table)
    table = Table(title="states a second through the gateway")
    for head in ("engine, Hz", "states", "lost", "gateway's processor time, s"):
        table.add_column(head, justify="right")
    for rate, each in result["rates"].items():
        table.add_row(rate, str(each["frames"]), str(each["lost"]), f"{each['gateway_cpu_s']:.1f}")
    console.print(table)
