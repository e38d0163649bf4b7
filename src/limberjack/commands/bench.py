"""`limberjack bench`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from limberjack.commands.arguments import check_processors
from limberjack.commands.console import open_console


def bench(options: argparse.Namespace) -> None:
    """Run the comparison; see docs/benchmarks.md. Processor and folders are tried before anything is measured."""
    check_processors(() if options.core is None else (options.core,))
    options.out.mkdir(parents=True, exist_ok=True)
    if options.history is not None:
        options.history.parent.mkdir(parents=True, exist_ok=True)
    from limberjack.benchmarks import run
    from limberjack.benchmarks.closed_chains import run as loops_run
    from limberjack.benchmarks.flexible import run as flexible_run
    from limberjack.benchmarks.fmu import run as fmu_run
    from limberjack.benchmarks.realtime import run as realtime_run
    from limberjack.benchmarks.telemetry import run as telemetry_run
    from limberjack.engine.compile.kernel import announce_compilation

    announce_compilation()
    special: dict[str, Callable[..., object]] = {
        "fmu": fmu_run.bench,
        "loops": loops_run.bench,
        "flexible": flexible_run.bench,
        "real_time": realtime_run.bench,
        "telemetry": telemetry_run.bench,
    }
    measure = next((special[name] for name in special if getattr(options, name)), run.bench)
    measure(
        quick=options.quick,
        out=options.out,
        history_path=options.history,
        core=options.core,
        console=open_console(),
    )
