"""Diagrams of a report: signals over time, the bounds that they were judged by, and what happened."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from limberjack.hil.events import EventLog
from limberjack.hil.scenario import schema_criteria as criteria
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.schema import ScenarioSpec

#: most points of a line; more are thinned to the least and the greatest of each stretch
MOST_POINTS = 4000
#: kinds of events that are drawn, with their colours
_MARKS = {
    "fault": "C3",
    "clear": "C2",
    "trip": "C1",
    "recover": "C2",
    "arm": "C2",
    "attach": "C4",
    "release": "C4",
    "lock": "C4",
    "touch": "C5",
    "capture": "C2",
}
MOST_MARKS = 12
MOST_NAMED = 12


@matplotlib.rc_context({"text.parse_math": False})  # a "$" in a name does not start a formula
def signals_figure(plot: tuple[str, tuple[str, ...]], spec: ScenarioSpec, built: Built, log: EventLog) -> Figure:
    """One diagram: lines, bounds of the criteria on the same signals, events."""
    title, names = plot
    figure = Figure(figsize=(10.4, 3.6))
    axis = figure.add_axes((0.075, 0.14, 0.7, 0.67))
    times, values = built.tape.table[:, 0], built.tape.columns(names)
    for i, name in enumerate(names):
        label = name if len(names) <= MOST_NAMED else None
        axis.plot(*_thinned(times, values[:, i]), lw=1.4, label=label)
    for criterion in spec.criteria:
        if getattr(criterion, "norm", False) and set(built.judged[criterion.name]) <= set(names):
            norm = np.linalg.norm(built.tape.columns(built.judged[criterion.name]), axis=1)
            axis.plot(*_thinned(times, norm), lw=1.4, color="0.1", label=f"norm, {criterion.name}")
        if set(names) & set(built.judged.get(criterion.name, ())):
            _limits(axis, criterion, float(times[-1]) if len(times) else 0.0)
    _marks(axis, log)
    units = {built.tape.units[built.tape.names.index(name)] for name in names} - {"", "1"}
    axis.set(xlabel="time / s", ylabel=", ".join(sorted(units)))
    axis.set_title(title, loc="left", fontsize=11, fontweight="bold", pad=30)
    axis.margins(x=0.01)
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), fontsize=8, frameon=False)
    return figure


def _limits(axis: Axes, criterion: criteria.CriterionSpec, end: float) -> None:
    """What a criterion allows, as dashed lines over its window."""
    match criterion:
        case criteria.BoundsSpec():
            levels = [level for level in (criterion.lower, criterion.upper) if level is not None]
            window = criterion.start, criterion.until or end
        case criteria.SettlingSpec():
            levels = [criterion.target - criterion.tolerance, criterion.target + criterion.tolerance]
            window = criterion.start + criterion.within, criterion.until or end
        case criteria.FinalSpec():
            levels = [criterion.target - criterion.tolerance, criterion.target + criterion.tolerance]
            window = 0.97 * end, end
        case criteria.DeadlineSpec():
            level = criterion.above if criterion.above is not None else criterion.below
            assert level is not None
            levels, window = [level], (0.0, criterion.by)
        case _:
            return
    axis.hlines(levels, *window, colors="0.25", linestyles=(0, (5, 3)), lw=1.1)


def _marks(axis: Axes, log: EventLog) -> None:
    """Vertical lines where something happened, named above the axes."""
    found = [event for event in log.events if event.kind in _MARKS][:MOST_MARKS]
    for i, event in enumerate(found):
        colour = _MARKS[event.kind]
        axis.axvline(event.time, color=colour, lw=1, ls=":")
        axis.annotate(
            f"{event.kind} {event.source}",
            (event.time, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, 3 + 9 * (i % 2)),  # in two rows, so that names of neighbours do not cover each other
            textcoords="offset points",
            color=colour,
            fontsize=7.5,
            annotation_clip=False,
        )


def _thinned(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most MOST_POINTS points that show every extreme."""
    if len(times) <= MOST_POINTS:
        return times, values
    length = -(-2 * len(times) // MOST_POINTS)
    starts = np.arange(0, len(times), length)
    places = [
        start + place
        for start in starts
        for place in sorted(
            {int(np.argmin(values[start : start + length])), int(np.argmax(values[start : start + length]))}
        )
    ]
    return times[places], values[places]
