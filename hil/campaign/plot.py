"""The plot of a campaign: how each measured number is distributed, and how it depends on what was varied."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from limberjack.hil.campaign.findings import Limits, criteria_of, judged, measured, rank_correlation, varied
from limberjack.hil.campaign.table import Row

#: more than this cannot be read
MOST_CRITERIA, MOST_VARIED = 8, 5
#: letters in a line of a label
_LABEL = 30
#: diagrams of varied numbers beside a criterion's histogram in the report
MOST_FOLLOWED = 3
NO_LIMITS: Mapping[str, Limits] = MappingProxyType({})
#: path and values of what was varied
Quantities = Sequence[tuple[str, np.ndarray]]
_LIMIT: dict[str, Any] = {"color": "0.2", "linestyle": (0, (5, 3)), "lw": 1.1}
_COLOURS = {True: "tab:blue", False: "tab:red"}


@matplotlib.rc_context({"text.parse_math": False})  # a "$" in a name does not start a formula
def write_plot(path: Path, name: str, rows: Sequence[Row], bounds: Mapping[str, Limits] = NO_LIMITS) -> Path:
    """Write a PNG: a row for each criterion whose number varies: its histogram and a diagram for each varied number.

    bounds : criterion → its limits, drawn where runs come near them
    """
    known = judged(rows)
    criteria = [c for c in criteria_of(known) if _varies(known, c)][:MOST_CRITERIA]
    quantities = list(varied(known).items())[:MOST_VARIED]
    height, width = max(1, len(criteria)), 1 + len(quantities)
    figure = Figure(figsize=(3.4 * width, 2.6 * height + 0.8), layout="constrained")
    axes = figure.subplots(height, width, squeeze=False)
    figure.suptitle(_title(name, rows))
    for i, criterion in enumerate(criteria):
        _criterion(axes[i], known, criterion, quantities, bounds.get(criterion, Limits()))
    if not criteria:
        axes[0, 0].text(0.5, 0.5, "no measured quantity varies", ha="center", transform=axes[0, 0].transAxes)
    figure.savefig(path, dpi=110)
    return path


@matplotlib.rc_context({"text.parse_math": False})
def criterion_figure(rows: Sequence[Row], criterion: str, bounds: Limits) -> Figure | None:
    """One criterion: its histogram, and diagrams of the varied numbers that it follows most; None without any."""
    known = judged(rows)
    numbers = measured(known, criterion)
    if not np.isfinite(numbers).any():
        return None
    followed = {path: rank_correlation(values, numbers) for path, values in varied(known).items()}
    ordered = sorted(followed, key=lambda path: -abs(np.nan_to_num(followed[path])))[:MOST_FOLLOWED]
    quantities = [(path, varied(known)[path]) for path in ordered]
    figure = Figure(figsize=(10.4, 2.9), layout="constrained")
    axes = figure.subplots(1, 1 + MOST_FOLLOWED, squeeze=False)[0]
    _criterion(axes, known, criterion, quantities, bounds)
    for i, path in enumerate(ordered, 1):
        axes[i].set_title(f"ρ = {followed[path]:+.2f}", fontsize="small")
    for axis in axes[1 + len(ordered) :]:
        axis.remove()
    return figure


def _criterion(
    axes: Sequence[Axes], rows: Sequence[Row], criterion: str, quantities: Quantities, bounds: Limits
) -> None:
    """A row of diagrams, with the limits where they are near what was measured."""
    number, good = measured(rows, criterion), np.array([criterion not in row.failed for row in rows])
    label, levels = _with_unit(criterion, rows), _near(bounds, number)
    for axis in axes:
        axis.tick_params(labelsize="small")
    _histogram(axes[0], label, number, good, levels)
    for j, (path, at) in enumerate(quantities, 1):
        _scatter(axes[j], path, at, number, good)
        axes[j].set_ylabel(label if j == 1 else "", fontsize="small")
        for level in levels:
            axes[j].axhline(level, **_LIMIT)


def _near(bounds: Limits, number: np.ndarray) -> list[float]:
    """Limits at most three times the range of what was measured away from it: others would squeeze it to a line."""
    finite = number[np.isfinite(number)]
    if not len(finite):
        return []
    low, high = float(finite.min()), float(finite.max())
    reach = 3.0 * (high - low)
    return [level for level in bounds.levels if low - reach <= level <= high + reach]


def _with_unit(criterion: str, rows: Sequence[Row]) -> str:
    """The label of a criterion's number."""
    unit = next((row.units[criterion] for row in rows if criterion in row.units), "")
    return textwrap.fill(f"{criterion} / {unit}" if unit else criterion, _LABEL)


def short(path: str) -> str:
    """What was varied: of initial.parameters[body.hand.mass] the name, of faults[noise].sigma both."""
    return re.sub(r"^[a-z.]+\[(\D[^\]]*)\]", r"\1", path)


def _label(path: str) -> str:
    return textwrap.fill(short(path).replace(".", ". "), _LABEL).replace(". ", ".")


def _title(name: str, rows: Sequence[Row]) -> str:
    passed = sum(row.status == "passed" for row in rows)
    others = [f"{n} {s}" for s in ("invalid", "error", "lost") if (n := sum(row.status == s for row in rows))]
    return ", ".join([f"{name}: {passed} of {len(rows)} runs passed", *others])


def _varies(rows: Sequence[Row], criterion: str) -> bool:
    """Whether a criterion has different numbers, or the only one that there is."""
    found = [row.measured.get(criterion, np.nan) for row in rows]
    kept = {number for number in found if np.isfinite(number)}
    return len(kept) > 1 or (len(kept) == 1 and len(rows) == 1)


def _histogram(axes: Axes, criterion: str, number: np.ndarray, good: np.ndarray, levels: Sequence[float]) -> None:
    """Passed and failed runs on each other, limits across."""
    finite = np.isfinite(number)
    bins = np.histogram_bin_edges(number[finite], bins=min(40, max(5, round(np.sqrt(finite.sum())))))
    parts = [number[finite & (good == kind)] for kind in (True, False)]
    axes.hist(parts, bins=list(bins), stacked=True, color=list(_COLOURS.values()), label=["passed", "failed"])
    axes.set_xlabel(criterion, fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.set_ylabel("runs")
    for level in levels:
        axes.axvline(level, **_LIMIT, label="limit" if level == levels[0] else None)
    if levels or not good.all():
        axes.legend(fontsize="small")


def _scatter(axes: Axes, quantity: str, at: np.ndarray, number: np.ndarray, good: np.ndarray) -> None:
    for kind, colour in _COLOURS.items():
        axes.plot(at[good == kind], number[good == kind], ".", color=colour, markersize=4)
    axes.set_xlabel(_label(quantity), fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(4))
