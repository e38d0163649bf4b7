"""Tables and plots of `limberjack bench --loops`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.closed_chains.result import EMBED, FORCE, OURS, PEERS, LoopBenchResult, LoopResult
from benchmarks.report import plain_log, ratio_text

HEADINGS = {
    EMBED: "embed",
    FORCE: "force",
    "Pinocchio lcaba": "Pin. lcaba",
    "Pinocchio constraintDynamics": "Pin. KKT",
    "MuJoCo": "MuJoCo",
}
COLOURS = {
    EMBED: "tab:blue",
    FORCE: "tab:cyan",
    "Pinocchio lcaba": "tab:orange",
    "Pinocchio constraintDynamics": "tab:red",
    "MuJoCo": "tab:green",
}
TITLES = {
    "forward": "forward dynamics",
    "step": "one step, symplectic Euler; ours closes the loops again, theirs do not",
}


def print_tables(result: LoopBenchResult, console: Console) -> None:
    """Times of all engines, then our two methods over the size of loops, then what was left out."""
    console.print("ratio: the fastest peer's time over the faster of ours, median (quartiles) of neighbouring batches")
    peers = [model for model in result.models if model.best("forward", PEERS) is not None]
    for operation, title in TITLES.items():
        if peers:
            console.print(_table(f"{title}, µs a call", peers, operation))
    console.print(_methods_table([model for model in result.models if model not in peers]))
    soft = [model.errors["MuJoCo"] for model in peers if "MuJoCo" in model.errors]
    if soft:
        text = f"MuJoCo's loops are soft: its accelerations are off by {min(soft):.0e} to {max(soft):.0e} (relative)"
        console.print(text, markup=False, highlight=False)
    for text in result.remarks:
        console.print(text, markup=False, highlight=False)


def _columns(title: str, headings: Sequence[str]) -> Table:
    table = Table(title=f"\n{title}", title_justify="left", box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("model", no_wrap=True)
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _table(title: str, models: Sequence[LoopResult], operation: str) -> Table:
    table = _columns(title, [*HEADINGS.values(), "ratio"])
    for model in models:
        found, peer = model.of(operation), model.best(operation, PEERS)
        cells = [f"{found[name].us.median:.4g}" if name in found else "–" for name in HEADINGS]
        table.add_row(model.name, *cells, ratio_text(peer.ratio) if peer else "–")
    return table


def _methods_table(models: Sequence[LoopResult]) -> Table:
    table = _columns("our two methods, µs a call", ["embed", "force", "embed, step", "force, step"])
    for model in models:
        cells = [f"{model.of(operation)[name].us.median:.4g}" for operation in TITLES for name in OURS]
        table.add_row(model.name, *cells)
    return table


def draw(result: LoopBenchResult, path: Path) -> None:
    """Ratios of the main models, time a loop in chains of four-bars, and our two methods over loop size, to a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 8), layout="constrained")
    grid = figure.subplots(2, 2)
    _draw_mechanisms(grid[0][0], result.family("mechanisms"))
    _draw_chains(grid[0][1], result)
    _draw_sizes(grid[1][0], result.family("bars"), "bars in one plane loop, the ground among them")
    _draw_sizes(grid[1][1], result.family("mesh"), "coupled loops in one mesh")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _draw_mechanisms(axes: Any, models: Sequence[LoopResult]) -> None:
    if not models:
        axes.set_axis_off()
        return
    width = 0.8 / len(HEADINGS)
    for i, engine in enumerate(HEADINGS):
        found = [(x, model.of("forward")[engine].us) for x, model in enumerate(models) if engine in model.of("forward")]
        at = [x + (i - 0.5 * (len(HEADINGS) - 1)) * width for x, _ in found]
        spans = [[us.median - us.q1 for _, us in found], [us.q3 - us.median for _, us in found]]
        axes.bar(at, [us.median for _, us in found], width, yerr=spans, color=COLOURS[engine], label=engine, capsize=1)
    axes.set_xticks(range(len(models)), [model.name for model in models], rotation=15, ha="right", fontsize=7)
    plain_log(axes.yaxis)
    axes.set_ylabel("µs, forward dynamics", fontsize=8)
    axes.grid(True, axis="y", linewidth=0.3)
    axes.legend(fontsize=7)


def _draw_chains(axes: Any, result: LoopBenchResult) -> None:
    named = {"four-bar": 1, "10 four-bars": 10}
    short = [(named[model.name], model) for model in result.family("mechanisms") if model.name in named]
    models = sorted([*short, *((model.size, model) for model in result.family("four-bars"))], key=lambda pair: pair[0])
    if not models:
        axes.set_axis_off()
        return
    for engine in HEADINGS:
        found = [(n, model.of("forward")[engine].us.median / n) for n, model in models if engine in model.of("forward")]
        if found:
            axes.plot(*zip(*found), "o-", color=COLOURS[engine], label=engine, markersize=3)
    plain_log(axes.xaxis)
    plain_log(axes.yaxis)
    axes.set_xlabel("four-bars in the chain", fontsize=8)
    axes.set_ylabel("µs a loop, forward dynamics", fontsize=8)
    axes.grid(True, which="both", linewidth=0.3)


def _draw_sizes(axes: Any, models: Sequence[LoopResult], label: str) -> None:
    if not models:
        axes.set_axis_off()
        return
    for engine in OURS:
        for operation, style in (("forward", "o-"), ("step", "o:")):
            times = [model.of(operation)[engine].us.median for model in models]
            name = f"{HEADINGS[engine]}, {'forward dynamics' if operation == 'forward' else 'step'}"
            axes.plot([m.size for m in models], times, style, color=COLOURS[engine], label=name, markersize=3)
    plain_log(axes.xaxis)
    plain_log(axes.yaxis)
    axes.set_xlabel(label, fontsize=8)
    axes.set_ylabel("µs", fontsize=8)
    axes.grid(True, which="both", linewidth=0.3)
    axes.legend(fontsize=7)
