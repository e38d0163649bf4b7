"""`limberjack bench`."""

from __future__ import annotations

import argparse

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
    from limberjack.benchmarks.fmu import run as fmu_run
    from limberjack.engine.kernel import announce_compilation

    announce_compilation()
    measure = fmu_run.bench if options.fmu else loops_run.bench if options.loops else run.bench
    measure(
        quick=options.quick,
        out=options.out,
        history_path=options.history,
        core=options.core,
        console=open_console(),
    )
