"""Table and plot of `limberjack bench --fmu`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.fmu.result import FmuBenchResult
from benchmarks.measure import Spread


def print_table(result: FmuBenchResult, console: Console) -> None:
    """A row an FMU, with what its calls cost; the round trip beside a bare one; what was left out."""
    console.print("one cycle: set 20 inputs, doStep, get 20 outputs, µs; median (quartiles) over the rounds")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in ("one cycle", "p99", "over the step"):
        table.add_column(heading, justify="right", no_wrap=True)
    for calls in result.calls[:1]:
        table.add_row("engine step in the FMU", _text(calls.engine), "–", "–")
    for time in [*result.steps, *result.cycles]:
        over = result.over_step(time.name)
        table.add_row(time.name, _text(time.us), f"{time.p99.median:.3g}", "–" if over is None else _text(over))
    console.print(table)
    over_ipc = result.over_ipc()
    if over_ipc is not None and result.echo_us is not None:
        echo = f"a bare round trip through ZeroMQ ipc ({result.echo_us.median:.1f} µs)"
        console.print(f"engine process: {over_ipc:.1f} µs over {echo}")
    notes = [f"{time.name}: {time.note}" for time in [*result.steps, *result.cycles]]
    for text in [*notes, *result.remarks]:
        console.print(text, markup=False, highlight=False)


def _text(us: Spread) -> str:
    return f"{us.median:.3g} ({us.q1:.3g}–{us.q3:.3g})"


def draw(result: FmuBenchResult, path: Path) -> None:
    """Bars of one cycle on a logarithmic axis, steps without FMI in grey, to a PNG."""
    from matplotlib.figure import Figure

    times = [*result.steps, *result.cycles]
    figure = Figure(figsize=(9, 0.5 * len(times) + 1.5), layout="constrained")
    axes = figure.subplots()
    for row, time in enumerate(times):
        ours = time.name.startswith("Limberjack")
        colour = "0.6" if row < len(result.steps) else "tab:blue" if ours else "tab:orange"
        median, q1, q3 = time.us.median, time.us.q1, time.us.q3
        axes.barh(row, median, color=colour, xerr=[[median - q1], [q3 - median]], capsize=2)
        axes.text(1.08 * q3, row, f"{median:.3g}", va="center", fontsize=8)
    axes.set_yticks(range(len(times)), [time.name for time in times], fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(right=3 * max(time.us.q3 for time in times))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel("µs a cycle: set 20 inputs, doStep, get 20 outputs (grey: the engine's step alone)", fontsize=8)
    axes.grid(True, axis="x", which="major", linewidth=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
