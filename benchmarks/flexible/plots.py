"""The pictures of `limberjack bench --flexible`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.flexible.lengths import Length
from benchmarks.flexible.operations import articulated_body, composite_body
from benchmarks.flexible.peers import Comparison
from benchmarks.flexible.point import Point

STYLES = {"full": "-", "linearized": ":"}
COLOURS = {"articulated": "tab:blue", "composite": "tab:orange"}


def draw(
    points: Sequence[Point], lengths: Sequence[Length], compared: Sequence[Comparison], bodies: int, path: Path
) -> None:
    """Write one PNG: Fig. 2 of seed 003 in operations and in time, its ratio, growth with modes and bodies, peers."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 7.5), layout="constrained")
    ((counted, cost, gain), (modes, length, peers)) = figure.subplots(2, 3)
    chains = [p for p in points if p.bodies == bodies]
    _counted(counted, sorted({p.modes for p in chains}), bodies)
    _cost(cost, chains, bodies)
    _gain(gain, chains, bodies)
    alone = [p for p in points if p.bodies == 1]
    modes.loglog([p.modes for p in alone], [p.timings[0].us.median for p in alone], "o-", markersize=3)
    _label(modes, "one body, articulated, full", "modes", "µs, forward dynamics")
    length.loglog([p.bodies for p in lengths], [p.us.median for p in lengths], "o-", markersize=3)
    _label(length, f"{lengths[0].modes} modes a body, articulated, full", "bodies", "µs, forward dynamics")
    _peers(peers, compared)
    figure.savefig(path, dpi=120)


def _label(axes: Any, title: str, x: str, y: str) -> None:
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(True, which="both", linewidth=0.3)


def _counted(axes: Any, modes: Sequence[int], bodies: int) -> None:
    for name, count in (("articulated", articulated_body), ("composite", composite_body)):
        axes.plot(modes, [1e-3 * count(bodies, n) for n in modes], "o-", color=COLOURS[name], label=name, markersize=3)
    _label(axes, f"{bodies} bodies, counted in the paper", "modes a body", "thousand operations")
    axes.legend(fontsize=7)


def _cost(axes: Any, chains: Sequence[Point], bodies: int) -> None:
    for variant, style in STYLES.items():
        found = [p for p in chains if p.variant == variant]
        for i, (name, colour) in enumerate(COLOURS.items()):
            times = [p.timings[i].us.median for p in found]
            axes.plot(
                [p.modes for p in found], times, "o" + style, color=colour, label=f"{name}, {variant}", markersize=3
            )
    _label(axes, f"{bodies} bodies, measured", "modes a body", "µs, forward dynamics")
    axes.legend(fontsize=7)


def _gain(axes: Any, chains: Sequence[Point], bodies: int) -> None:
    for variant, style in STYLES.items():
        found = [p for p in chains if p.variant == variant]
        ratios = [p.timings[1].ratio.median for p in found]
        axes.plot([p.modes for p in found], ratios, "o" + style, label=f"measured, {variant}", markersize=3)
    axes.plot([p.modes for p in found], [p.counted for p in found], "k--", label="counted in the paper")
    _label(axes, f"{bodies} bodies, composite over articulated", "modes a body", "ratio")
    axes.legend(fontsize=7)


def _peers(axes: Any, compared: Sequence[Comparison]) -> None:
    for k, comparison in enumerate(compared):
        for offset, timing, colour in zip((-0.2, 0.2), comparison.timings, ("tab:blue", "tab:gray")):
            axes.barh(k + offset, timing.us.median, 0.38, color=colour)
            axes.text(timing.us.median, k + offset, f" {timing.engine} {timing.us.median:.3g}", va="center", fontsize=6)
    axes.set_yticks(range(len(compared)), [c.problem.replace(": ", ":\n") for c in compared], fontsize=6)
    axes.invert_yaxis()
    axes.set(title="beside peers", xlabel="µs", xscale="log")
    axes.margins(x=0.35)
    axes.grid(True, which="both", axis="x", linewidth=0.3)
