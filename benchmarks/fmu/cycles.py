"""Runs the C host in turn over several FMUs, and the bare engine beside them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import limberjack as lj
from benchmarks.fmu.models import DT, INTEGRATOR, RESTART, Subject
from benchmarks.measure import Spread, spread
from limberjack.engine.common.errors import LimberjackError
from limberjack.engine.model.system import System

HOST_SECONDS = 300.0


@dataclass(frozen=True)
class CycleTime:
    """Time of one cycle, µs: Spread over the rounds of the round's median and of its 99th percentile."""

    name: str
    note: str
    us: Spread
    p99: Spread


@dataclass(frozen=True)
class Calls:
    """What a cycle costs beyond the engine's step: µs a cycle, Spreads over the rounds of the medians over pairs.

    engine : one step of the engine, in one doStep over RESTART steps; over : a cycle of set, doStep and get of one
    step each, less that, under the same inputs and from the same start to the same last bit
    """

    name: str
    engine: Spread
    over: Spread


def run_host(host: Path, subject: Subject, cycles: int, pairs: int = 0) -> dict[str, Any]:
    """One run of the host; what it prints: times of single cycles, or of pairs of blocks.

    Raises LimberjackError when the host fails.
    """
    options = {"cycles": cycles, "warm": cycles // 20, "every": subject.restart, "h": subject.step, "pairs": pairs}
    words = [str(host), str(subject.facts)]
    for name, value in options.items():
        words += [f"--{name}", repr(value)]
    environment = os.environ | dict(subject.environment)
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=HOST_SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired as error:
        raise LimberjackError(f"{subject.name}: the host is not done after {HOST_SECONDS:g} s.") from error
    if done.returncode != 0:
        raise LimberjackError(f"{subject.name}: the host ends with {done.returncode}: {done.stderr.strip()[-300:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(host: Path, subjects: Sequence[Subject], rounds: int, cycles: int) -> list[CycleTime]:
    """All subjects in turn, `rounds` times, so that a change of the machine's pace falls on all."""
    found: dict[str, list[dict[str, Any]]] = {subject.name: [] for subject in subjects}
    for _ in range(rounds):
        for subject in subjects:
            found[subject.name].append(run_host(host, subject, cycles))
    return [_summary(subject, found[subject.name]) for subject in subjects]


def _summary(subject: Subject, runs: Sequence[dict[str, Any]]) -> CycleTime:
    """The clock's own time is taken off."""
    medians, tails = (spread([run["cycle"][key] - run["clock"]["p50"] for run in runs]) for key in ("p50", "p99"))
    return CycleTime(subject.name, subject.note, medians, tails)


def joined(times: Sequence[CycleTime]) -> CycleTime:
    """Several runs of one FMU as one: spreads over their medians."""
    medians, tails = spread([t.us.median for t in times]), spread([t.p99.median for t in times])
    return CycleTime(times[0].name, times[0].note, medians, tails)


def calls(host: Path, subjects: Sequence[Subject], rounds: int, cycles: int) -> list[Calls]:
    """What the calls of our FMUs cost, all in turn."""
    found: dict[str, list[dict[str, Any]]] = {subject.name: [] for subject in subjects}
    for _ in range(rounds):
        for subject in subjects:
            found[subject.name].append(run_host(host, subject, cycles, max(20, cycles // subject.restart)))
    return [
        Calls(name, *(spread([run[part]["p50"] for run in runs]) for part in ("engine", "over")))
        for name, runs in found.items()
    ]


def kernel_step(system: System, rounds: int, cycles: int) -> CycleTime:
    """One engine step of lj.Simulation, numba's code, in one call over RESTART steps each."""
    simulation = lj.Simulation(system, dt=DT, integrator=INTEGRATOR)
    medians, tails = [], []
    for _ in range(rounds):
        times = []
        for _ in range(max(20, cycles // RESTART)):
            simulation.reset()
            begin = time.perf_counter()
            simulation.step(RESTART)
            times.append(1e6 * (time.perf_counter() - begin) / RESTART)
        medians.append(float(np.median(times)))
        tails.append(float(np.percentile(times, 99)))
    return CycleTime("engine step, Simulation", f"{RESTART} steps a call", spread(medians), spread(tails))
