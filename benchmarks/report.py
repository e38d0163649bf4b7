"""The table on the terminal and the plot of a benchmark run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.engines import OPERATIONS
from benchmarks.measure import Spread, Timing
from benchmarks.result import BenchResult, ModelResult

COLOURS = {"Limberjack": "tab:blue", "Pinocchio": "tab:orange", "MuJoCo": "tab:green"}


def print_tables(result: BenchResult, console: Console) -> None:
    """One table an operation, then what could not be run, then how each engine was called."""
    console.print("ratio: their time over ours, median (quartiles) of neighbouring batches; above 1 ours is faster")
    for operation, title in OPERATIONS.items():
        rows = [(model, timings) for model in result.models if (timings := model.of(operation))]
        if rows:
            console.print(_table(title, rows, result.peers))
    for trip in result.round_trips:
        console.print(_round_trip_text(trip))
    for text in [*_notes(result), *result.remarks]:
        console.print(text, markup=False, highlight=False)


def _table(title: str, rows: Sequence[tuple[ModelResult, list[Timing]]], peers: Sequence[str]) -> Table:
    table = Table(title=f"\n{title}, µs a call", title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("model", no_wrap=True)
    for heading in ("ours", *(h for peer in peers for h in (peer, "ratio")), "ns/body"):
        table.add_column(heading, justify="right", no_wrap=True)
    for model, timings in rows:
        by_name = {timing.engine: timing for timing in timings}
        ours = by_name["Limberjack"]
        cells = [model.name, f"{ours.us.median:.4g}"]
        for peer in peers:
            found = by_name.get(peer)
            cells += [f"{found.us.median:.4g}", ratio_text(found.ratio)] if found else ["–", "–"]
        table.add_row(*cells, f"{1e3 * ours.us.median / model.bodies:.0f}")
    return table


def ratio_text(ratio: Spread) -> str:
    """Median and quartiles: "2.71 (2.68–2.75)"."""
    return f"{ratio.median:#.3g} ({ratio.q1:#.3g}–{ratio.q3:#.3g})"


def _round_trip_text(trip: dict[str, Any]) -> str:
    where = "placed by the system" if trip["pinned_cpu"] is None else "all on one core"
    return (
        f"lockstep round trip over ipc ({trip['model']}, {where}): {trip['round_trip_us']:.1f} µs; bare echo "
        f"{trip['echo_us']:.1f} µs, step {trip['step_us']:.2f} µs; ratio to echo plus step {trip['ratio']:.2f}"
    )


def _notes(result: BenchResult) -> list[str]:
    """One line for each engine and way of calling it."""
    lines: dict[str, None] = {}
    for model in result.models:
        for timing in model.timings:
            lines.setdefault(f"{timing.engine}: {timing.note.partition(';')[0]}")
    return list(lines)


def draw(result: BenchResult, path: Path) -> None:
    """Bars of the ratios by operation, and time a body against chain length, to a PNG."""
    from matplotlib.figure import Figure

    chains = [model for model in result.models if model.chain]
    figure = Figure(figsize=(13, 7), layout="constrained")
    grid = figure.subplots(2, len(OPERATIONS), squeeze=False, sharey="row")
    for upper, lower, operation in zip(*grid, OPERATIONS):
        _draw_ratios(upper, result, operation)
        _draw_chains(lower, chains, result, operation)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _draw_ratios(axes: Any, result: BenchResult, operation: str) -> None:
    names = [model.name for model in result.models]
    width = 0.8 / max(1, len(result.peers))
    for i, peer in enumerate(result.peers):
        at, ratios = [], []
        for x, model in enumerate(result.models):
            found = [t.ratio for t in model.of(operation) if t.engine == peer]
            at += [x + (i - 0.5 * (len(result.peers) - 1)) * width] * len(found)
            ratios += found
        medians = [ratio.median for ratio in ratios]
        bars = [[r.median - r.q1 for r in ratios], [r.q3 - r.median for r in ratios]]
        axes.bar(at, medians, width, yerr=bars if ratios else None, label=peer, color=COLOURS[peer], capsize=2)
    axes.axhline(1.0, color="black", linewidth=0.8)
    plain_log(axes.yaxis)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)
    axes.set_title(OPERATIONS[operation], fontsize=9)
    if operation == "forward":
        axes.set_ylabel("their time / Limberjack's\n(above 1: Limberjack is faster)", fontsize=8)
        if result.peers:
            axes.legend(fontsize=7)


def _draw_chains(axes: Any, chains: Sequence[ModelResult], result: BenchResult, operation: str) -> None:
    for engine in ("Limberjack", *result.peers):
        points = [(m.bodies, t.us) for m in chains for t in m.of(operation) if t.engine == engine]
        if points:
            bodies = np.array([n for n, _ in points], dtype=float)
            ns = [1e3 * us.median / n for n, us in points]
            axes.plot(bodies, ns, "o-", label=engine, color=COLOURS[engine], markersize=3)
    plain_log(axes.xaxis)
    plain_log(axes.yaxis)
    axes.set_xlabel("bodies in the chain", fontsize=8)
    axes.grid(True, which="both", linewidth=0.3)
    if operation == "forward":
        axes.set_ylabel("ns a body", fontsize=8)


def plain_log(axis: Any) -> None:
    """A logarithmic axis with ticks 1, 2, 5, 10 … written as plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())
