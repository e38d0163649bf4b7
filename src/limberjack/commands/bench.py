"""`limberjack bench`."""

from __future__ import annotations

import argparse


def bench(options: argparse.Namespace) -> None:
    """Run the comparison; see docs/benchmarks.md."""
    from limberjack.benchmarks.run import bench as measure
    from limberjack.engine.kernel import announce_compilation

    announce_compilation()
    measure(quick=options.quick, out=options.out, history_path=options.history, core=options.core)
