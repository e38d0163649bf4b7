"""`limberjack bench`: the benchmarks are in the repository, not in the installed package."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from limberjack.commands.arguments import check_processors
from limberjack.engine.common.errors import ArgumentError
from limberjack.version import __version__

#: top of the repository, if this file is in one
_TOP = Path(__file__).resolve().parents[3]


def bench(options: argparse.Namespace) -> None:
    """Run the comparison; checks processor and folders first. Raises ArgumentError outside the repository."""
    if not (_TOP / "benchmarks" / "command.py").is_file():
        raise ArgumentError(
            "the benchmarks are not in the installed package. Check out Limberjack's repository at version "
            f'{__version__} and run there: pip install -e ".[bench]", then limberjack bench.'
        )
    check_processors(() if options.core is None else (options.core,))
    options.out.mkdir(parents=True, exist_ok=True)
    if options.history is not None:
        options.history.parent.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(_TOP))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_TOP), os.environ.get("PYTHONPATH")]))  # of children
    from benchmarks.command import bench as measure

    measure(options)
