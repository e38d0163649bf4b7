"""`limberjack bench --fmu`: the cycle set 20, doStep, get 20 of our FMUs and others, from a C host, in one run."""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks import history
from benchmarks.engines import pinned
from benchmarks.fmu import cycles as cycle_times
from benchmarks.fmu import report
from benchmarks.fmu.host import SOURCES, HostBuildError, compile_host
from benchmarks.fmu.models import DT, INTEGRATOR, PEERS, N, Subject, chain, coupled
from benchmarks.fmu.result import FmuBenchResult
from benchmarks.measure import spread
from benchmarks.models import chain_system
from benchmarks.peer_build import PeerUnavailableError, version_of
from benchmarks.round_trip import bare_echo
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.engine.common.errors import LimberjackError, MissingExtraError
from limberjack.engine.model.system import System

ROUNDS, QUICK_ROUNDS = 9, 2
#: FMUs of ours among the subjects, the first ones
OURS = 4
CYCLES, QUICK_CYCLES = 20_000, 1000
#: bytes of a request with 20 commands and of a reply with the chain's state, as bench's round trip has them
ECHO_BYTES = (200, 600)


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> FmuBenchResult:
    """Measure, print the table, write ``fmu.json`` and ``fmu.png`` to ``out`` and a line to the history.

    quick : few and short rounds, no history; history_path : default benchmarks/fmu/history.jsonl in a source tree, else
    ``fmu-history.jsonl`` in out; core : processor to run on, default the last allowed one; the engine process shares it

    Raises MissingExtraError without the package ziglang, LimberjackError when a host or FMU fails.
    """
    console = console or Console()
    rounds, count = (QUICK_ROUNDS, QUICK_CYCLES) if quick else (ROUNDS, CYCLES)
    system = chain_system(N)
    with tempfile.TemporaryDirectory(prefix="lj") as name, console.status("exporting FMUs") as status:
        folder = Path(name)
        host = _host(folder)
        remarks: list[str] = []
        subjects = _subjects(system, folder, remarks)
        status.update("timing FMUs")
        with pinned(core) as used:
            result = FmuBenchResult(history.machine(), history.commit(), used, rounds, count, remarks=remarks)
            result.steps.append(cycle_times.kernel_step(system, rounds, count))
            result.calls += cycle_times.calls(host, subjects[:OURS], rounds, count)
            result.cycles += cycle_times.measure(host, subjects, rounds, count)
            status.update("timing the engine process")
            _run_coupled(result, host, system, folder)
    report.print_table(result, console)
    history.write(asdict(result), out, "fmu")
    report.draw(result, out / "fmu.png")
    history.append(None if quick else history_path or _history_path() or out / "fmu-history.jsonl", result.history_line)
    console.print(f"results in {out}", markup=False, highlight=False)
    return result


def _host(folder: Path) -> Path:
    """The compiled host; Python exporters' FMUs need it to be a program of its own."""
    if version_of("ziglang") == "none":
        raise MissingExtraError("limberjack bench --fmu", "ziglang", "bench")
    try:
        return compile_host(folder / "cycle", [SOURCES / "cycle.c"], [sys.executable, "-m", "ziglang", "cc"])
    except HostBuildError as error:
        raise LimberjackError(f"bench --fmu: the C host does not compile here: {error}") from error


def _subjects(system: System, folder: Path, remarks: list[str]) -> list[Subject]:
    """Ours, then every peer that can be built here; why others cannot goes to the remarks."""
    subjects = [
        chain(system, folder, "2.0", "angle"),
        chain(system, folder, "3.0", "angle"),
        chain(system, folder, "3.0", "angle", scalar=True),
        chain(system, folder, "2.0", "torque"),
    ]
    for name, make in PEERS.items():
        try:
            subjects.append(make(folder))
        except PeerUnavailableError as error:
            remarks.append(f"no {name}: {error}")
    return subjects


def _run_coupled(result: FmuBenchResult, host: Path, system: System, folder: Path) -> None:
    """The process coupling and a bare echo over ipc, in turn; all processes on one processor."""
    cpus = None if result.core is None else (result.core,)
    engine_settings = Settings(endpoint=f"ipc://{folder}/engine", cpus=cpus)
    echoes, runs = [], []
    with EngineProcess(system, engine_settings, dt=DT, integrator=INTEGRATOR):
        subject = coupled(system, folder, engine_settings.endpoint)
        with bare_echo(f"ipc://{folder}/echo", ECHO_BYTES) as echo:
            for _ in range(result.rounds):
                runs += cycle_times.measure(host, [subject], 1, max(400, result.cycle_count // 10))
                echoes.append(_echo_us(echo, max(400, result.cycle_count // 10)))
    result.cycles.append(cycle_times.joined(runs))
    result.echo_us = spread(echoes)


def _echo_us(echo: Any, count: int) -> float:
    times = []
    for _ in range(count):
        begin = time.perf_counter_ns()
        echo()
        times.append(1e-3 * (time.perf_counter_ns() - begin))
    return float(np.median(times))


def _history_path() -> Path | None:
    path = history.default_path()
    return None if path is None else path.parent / "fmu" / "history.jsonl"
