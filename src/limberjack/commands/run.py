"""`limberjack demo`, `run` and `plot`."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from rich.console import Console

from limberjack.commands.arguments import run_settings
from limberjack.commands.console import open_console
from limberjack.commands.drive import Job, run_job
from limberjack.commands.serving import serve_model
from limberjack.commands.serving_options import refuse_served
from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.engine.model.load import load

DEMO_MODEL, DEMO_SECONDS, GRASP_MODEL = "space_manipulator.yaml", 30.0, "satellite_grasp.yaml"
PICTURES, PAGE, RECORDS = (".png", ".pdf", ".svg"), ".html", (".mcap", ".parquet")
#: the table that a bench writes, without units; files of a results folder that can be plotted, in order of preference
BENCH_TABLE = "signals.csv"
PLOTTED = ("log.csv", "record.mcap", BENCH_TABLE)


def demo(folder: Path, part: str = "all") -> None:
    """Drive the shipped space manipulator in an engine process, then export it and drive the FMU in the same way;
    then let it grasp a satellite. part : "arm", "grasp" or "all"."""
    from limberjack.commands.grasp import demo_grasp

    console = open_console()
    with ExitStack() as stack:
        arm, grasp = (
            stack.enter_context(as_file(files("limberjack.examples") / name)) for name in (DEMO_MODEL, GRASP_MODEL)
        )
        if part != "grasp":
            job = Job(arm, folder, DEMO_SECONDS)
            run_job(job, console)
            _demo_fmu(job, console)
        if part != "arm":
            demo_grasp(grasp, folder, console)


def _demo_fmu(job: Job, console: Console) -> None:
    """Repeat the job with an FMU; without a C compiler only print what is missing."""
    from limberjack.commands.fmu_check import compare, drive_fmu, plot_comparison
    from limberjack.commands.record import driven_names, read_csv
    from limberjack.fmu.export import export_fmu

    system = load(job.model, **job.load)
    console.print("exporting the model as an FMU")
    try:
        path = export_fmu(system, job.folder / f"{system.name}.fmu", platforms="host")
    except MissingExtraError as error:
        console.print(f"no FMU: {error}", markup=False)
        return
    log = read_csv(job.folder / "log.csv")
    period_s = system.dt * job.settings.steps_per_cycle(system.dt)
    found = compare(log, drive_fmu(path, system, job.duration_s, period_s), system)
    plot_comparison(found, driven_names(list(log)), job.folder / "fmu.png")
    words = "equal bit for bit" if found.equal else f"largest difference {found.largest:.3g}"
    rows, columns = found.engine.shape
    console.print(f"the FMU against the engine process: {words} ({rows} rows of {columns} numbers)")
    console.print(f"wrote {path} and {job.folder / 'fmu.png'}", markup=False)


def run(options: argparse.Namespace, load_options: dict[str, Any]) -> None:
    """Serve a model, or drive it for some time. Raises ArgumentError for options that do not combine."""
    settings = run_settings(options)
    if options.duration is not None:
        refuse_served(options)
        if options.model is None:
            raise ArgumentError("no model is given. Give its file.")
    if options.duration is None:
        serve_model(options, load_options, settings)
        return
    job = Job(
        model=options.model,
        folder=options.out or Path("results") / options.model.stem,
        duration_s=options.duration,
        load=load_options,
        dt=options.dt,
        integrator=options.integrator,
        settings=settings,
        real_time=options.real_time,
    )
    run_job(job, open_console())


def plot(log: Path, out: Path | None, signals: list[str] | None = None) -> None:
    """Plot a log, or the record of a bench, as a picture or as a zoomable page.

    signals : patterns of those of a record, or on a page; None: all
    """
    from limberjack.commands.plots import plot_log
    from limberjack.commands.record import read_csv
    from limberjack.commands.record_plot import plot_record

    log = _in_folder(log) if log.is_dir() else log
    target = out or log.with_suffix(".png")
    if target.suffix.lower() not in (*PICTURES, PAGE):
        text = f"end its name in {', '.join(PICTURES)}, or {PAGE} for a page that zooms"
        raise ArgumentError(f"{target}: not a picture that can be drawn; {text}.")
    if not log.is_file():
        raise ArgumentError(f"{log}: there is no such log; give a results folder, its log.csv, or a record.")
    if target.suffix.lower() == PAGE:
        from limberjack.commands.record_zoom import zoom_record

        zoom_record(log, signals, target)
    elif log.suffix.lower() in RECORDS or log.name == BENCH_TABLE:
        plot_record(log, signals, target)
    elif signals:
        raise ArgumentError(
            f"{log}: --signals chooses from records ({', '.join(RECORDS)}) and {BENCH_TABLE}, "
            f"or for a page ({PAGE}); leave it out."
        )
    else:
        plot_log(read_csv(log), log.parent.name, target)
    print(target)


def _in_folder(folder: Path) -> Path:
    """The file of a results folder to plot. Raises ArgumentError if there is none."""
    for name in PLOTTED:
        if (folder / name).is_file():
            return folder / name
    raise ArgumentError(f"{folder}: the folder has no {' or '.join(PLOTTED)}; give the results folder of a run.")
