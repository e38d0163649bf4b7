"""The plot of a campaign: how each measured number is distributed, and how it depends on what was varied."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from limberjack.hil.campaign.table import Row

#: more than this cannot be read
MOST_CRITERIA, MOST_VARIED = 8, 5
#: letters in a line of a label
_LABEL = 30
_COLOURS = {True: "tab:blue", False: "tab:red"}


@matplotlib.rc_context({"text.parse_math": False})  # a "$" in a name is no formula
def write_plot(path: Path, name: str, rows: Sequence[Row]) -> Path:
    """Write a PNG: a row for each criterion whose number varies: its histogram and a diagram for each varied number."""
    judged = [row for row in rows if row.status in ("passed", "failed")]
    criteria = [c for c in dict.fromkeys(c for row in judged for c in row.measured) if _varies(judged, c)]
    varied = [v for v in dict.fromkeys(v for row in judged for v in row.values) if _numeric(judged, v)]
    criteria, varied = criteria[:MOST_CRITERIA], varied[:MOST_VARIED]
    height, width = max(1, len(criteria)), 1 + len(varied)
    figure = Figure(figsize=(3.4 * width, 2.6 * height + 0.8), layout="constrained")
    axes = figure.subplots(height, width, squeeze=False)
    figure.suptitle(_title(name, rows))
    for i, criterion in enumerate(criteria):
        number = np.array([row.measured.get(criterion, np.nan) for row in judged])
        good = np.array([criterion not in row.failed for row in judged])
        label = _with_unit(criterion, judged)
        _histogram(axes[i, 0], label, number, good)
        for j, quantity in enumerate(varied, 1):
            at = np.array([float(row.values[quantity]) for row in judged])
            _scatter(axes[i, j], quantity, at, number, good)
            axes[i, j].set_ylabel(label if j == 1 else "", fontsize="small")
    if not criteria:
        axes[0, 0].text(0.5, 0.5, "no number that was measured varies", ha="center", transform=axes[0, 0].transAxes)
    figure.savefig(path, dpi=110)
    return path


def _with_unit(criterion: str, rows: Sequence[Row]) -> str:
    """The label of a criterion's number."""
    unit = next((row.units[criterion] for row in rows if criterion in row.units), "")
    return textwrap.fill(f"{criterion} / {unit}" if unit else criterion, _LABEL)


def _short(path: str) -> str:
    """The label of what was varied: of initial.parameters[body.hand.mass] the name, of faults[noise].sigma both."""
    name = re.sub(r"^[a-z.]+\[(\D[^\]]*)\]", r"\1", path)
    return textwrap.fill(name.replace(".", ". "), _LABEL).replace(". ", ".")


def _title(name: str, rows: Sequence[Row]) -> str:
    passed = sum(row.status == "passed" for row in rows)
    others = [f"{n} {s}" for s in ("invalid", "error", "lost") if (n := sum(row.status == s for row in rows))]
    return ", ".join([f"{name}: {passed} of {len(rows)} runs passed", *others])


def _varies(rows: Sequence[Row], criterion: str) -> bool:
    """Whether a criterion has different numbers, or the only one that there is."""
    found = [row.measured.get(criterion, np.nan) for row in rows]
    kept = {number for number in found if np.isfinite(number)}
    return len(kept) > 1 or (len(kept) == 1 and len(rows) == 1)


def _numeric(rows: Sequence[Row], quantity: str) -> bool:
    values = [row.values.get(quantity) for row in rows]
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values) and len(set(values)) > 1


def _histogram(axes: Axes, criterion: str, number: np.ndarray, good: np.ndarray) -> None:
    """Passed and failed runs on each other."""
    finite = np.isfinite(number)
    bins = np.histogram_bin_edges(number[finite], bins=min(40, max(5, round(np.sqrt(finite.sum())))))
    parts = [number[finite & (good == kind)] for kind in (True, False)]
    axes.hist(parts, bins=list(bins), stacked=True, color=list(_COLOURS.values()), label=["passed", "failed"])
    axes.set_xlabel(criterion, fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_ylabel("runs")
    if not good.all():
        axes.legend(fontsize="small")


def _scatter(axes: Axes, quantity: str, at: np.ndarray, number: np.ndarray, good: np.ndarray) -> None:
    for kind, colour in _COLOURS.items():
        axes.plot(at[good == kind], number[good == kind], ".", color=colour, markersize=4)
    axes.set_xlabel(_short(quantity), fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(4))
