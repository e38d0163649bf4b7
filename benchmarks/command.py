"""`limberjack bench` in a checkout: what to measure."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks import run
from benchmarks.closed_chains import run as loops_run
from benchmarks.flexible import run as flexible_run
from benchmarks.fmu import run as fmu_run
from benchmarks.realtime import run as realtime_run
from benchmarks.telemetry import run as telemetry_run
from limberjack.commands.console import open_console
from limberjack.engine.compile.kernel import announce_compilation

#: option → what it measures
_SPECIAL: dict[str, Callable[..., object]] = {
    "fmu": fmu_run.bench,
    "loops": loops_run.bench,
    "flexible": flexible_run.bench,
    "real_time": realtime_run.bench,
    "telemetry": telemetry_run.bench,
}


def bench(options: argparse.Namespace) -> None:
    """Run the comparison; see docs/benchmarks.md."""
    announce_compilation()
    measure = next((_SPECIAL[name] for name in _SPECIAL if getattr(options, name)), run.bench)
    measure(
        quick=options.quick,
        out=options.out,
        history_path=options.history,
        core=options.core,
        console=open_console(),
    )
