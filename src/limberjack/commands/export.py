"""`limberjack export`: a model as an FMU."""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path
from typing import Any

from limberjack.commands.console import open_console
from limberjack.engine.model.load import load
from limberjack.fmu.export import export_fmu


def export(options: argparse.Namespace, load_options: dict[str, Any]) -> None:
    """Write the FMU and print what it contains."""
    system = load(options.model, **load_options)
    path = export_fmu(
        system,
        options.out or Path(f"{options.model.stem}.fmu"),
        fmi=options.fmi,
        scalar=options.scalar,
        coupling=options.coupling,
        platforms=options.platform,
        dt=options.dt,
        integrator=options.integrator,
        substeps=options.substeps,
        inputs=options.input,
        outputs=options.output,
        parameters=options.parameter,
        stop_time=options.stop_time,
        step_size=options.step_size,
        report=_report,
    )
    with zipfile.ZipFile(path) as archive:
        binaries = [name.split("/")[1] for name in archive.namelist() if name.startswith("binaries/")]
    kinds = "Co-Simulation and Model Exchange" if options.coupling == "embedded" else "Co-Simulation"
    open_console().print(
        f"{path}: FMI {options.fmi}, {kinds}, {path.stat().st_size / 1e6:.1f} MB, for {', '.join(binaries)}",
        highlight=False,
        soft_wrap=True,
    )


def _report(line: str) -> None:
    """Progress, for a person at a terminal."""
    if sys.stderr.isatty():
        print(line, file=sys.stderr, flush=True)
