"""`limberjack bench` in a checkout: what to measure."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks import engine_bench
from benchmarks.batch import batch_bench, campaign_bench
from benchmarks.closed_chains import loops_bench
from benchmarks.contacts import contacts_bench
from benchmarks.flexible import flexible_bench
from benchmarks.fmu import fmu_bench
from benchmarks.realtime import realtime_bench
from benchmarks.telemetry import telemetry_bench
from limberjack.commands.console import open_console

#: option → what it measures
_SPECIAL: dict[str, Callable[..., object]] = {
    "batch": batch_bench.bench,
    "campaign": campaign_bench.bench,
    "contacts": contacts_bench.bench,
    "fmu": fmu_bench.bench,
    "loops": loops_bench.bench,
    "flexible": flexible_bench.bench,
    "real_time": realtime_bench.bench,
    "telemetry": telemetry_bench.bench,
}


def bench(options: argparse.Namespace) -> None:
    """Run the comparison; see docs/reference/benchmarks.md."""
    measure = next((_SPECIAL[name] for name in _SPECIAL if getattr(options, name)), engine_bench.bench)
    measure(
        quick=options.quick,
        out=options.out,
        history_path=options.history,
        core=options.core,
        console=open_console(),
    )
