"""The grasp of `limberjack demo`: the mission of examples/satellite_grasp.py with an engine process over ZeroMQ."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from limberjack.bridge.process import EngineProcess
from limberjack.engine.model.load import load
from limberjack.examples import satellite_grasp


def demo_grasp(model: Path, folder: Path, console: Console) -> None:
    """Grasp, move and push off a tumbling satellite; print what happened and draw it."""
    system = load(model)
    folder.mkdir(parents=True, exist_ok=True)
    console.print(f"starting an engine process on {system.name}: a loop that closes and opens while it runs")
    columns = TextColumn("the arm grasps a satellite"), BarColumn(), TextColumn("{task.percentage:3.0f} %")
    with (
        EngineProcess(system) as engine,
        engine.client() as client,
        Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as progress,
    ):
        task = progress.add_task("fly", total=1.0)
        step = satellite_grasp.remote(client)
        log = satellite_grasp.fly(system, step, heard=lambda done: progress.update(task, completed=done))
    for line in satellite_grasp.report(log):
        console.print(line, markup=False)
    names = [actuator.name for actuator in system.actuators]
    console.print(f"wrote {satellite_grasp.plot(log, names, folder / 'grasp.png')}", markup=False)
