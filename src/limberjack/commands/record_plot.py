"""A picture of a record: its signals by kind and unit, its events as vertical lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, UnknownNameError
from limberjack.engine.common.nearest import nearest
from limberjack.engine.files.patterns import compiled
from limberjack.hil.events import Event
from limberjack.hil.record.compare import open_table

#: with more than twice as many rows, each point drawn is the range of several rows
MOST_POINTS = 4000
#: largest numbers of lines with names in a panel, of lines in a panel, of panels, and of events drawn
MOST_NAMED, MOST_LINES, MOST_PANELS, MOST_EVENTS = 24, 60, 16, 200
TITLES = {"q": "coordinates", "v": "velocities", "tau": "efforts", "output": "outputs", "command": "commands"}
#: events that only report what is ordinary
_ORDINARY = ("command", "end")
COLOURS = ("tab:red", "tab:orange", "tab:purple", "tab:green", "tab:brown", "tab:pink", "black", "tab:cyan")


class Envelope:
    """Minimum and maximum of each signal in spans of rows; spans double in length whenever there are too many.

    time : starts of the spans (n,);  low, high : (n, signals);  span : rows in each
    """

    def __init__(self, width: int, most: int = 2 * MOST_POINTS) -> None:
        """most : spans"""
        self._most = most
        self.time, self.low, self.high = np.zeros(0), np.zeros((0, width)), np.zeros((0, width))
        self.span = 1

    def add(self, time: np.ndarray, rows: np.ndarray) -> None:
        """Rows (n, signals) at times (n,); the last span may hold fewer."""
        if len(time) == 0:
            return
        starts = np.arange(0, len(time), self.span)
        self.time = np.concatenate([self.time, time[starts]])
        self.low = np.concatenate([self.low, np.fmin.reduceat(rows, starts)])
        self.high = np.concatenate([self.high, np.fmax.reduceat(rows, starts)])
        while len(self.time) > self._most:
            pairs = np.arange(0, len(self.time), 2)
            self.time, self.span = self.time[pairs], 2 * self.span
            self.low, self.high = np.fmin.reduceat(self.low, pairs), np.fmax.reduceat(self.high, pairs)

    def line(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Times and values to draw of one signal."""
        if self.span == 1:
            return self.time, self.low[:, place]
        return np.repeat(self.time, 2), np.column_stack([self.low[:, place], self.high[:, place]]).ravel()


@dataclass(frozen=True)
class Drawing:
    """The parts of a record that are drawn.

    panels : (kind, unit) → name and place in the envelope of its signals;  events : all but ordinary ones
    trouble : why the record ends early, "" if it does not
    """

    panels: dict[tuple[str, str], list[tuple[str, int]]]
    envelope: Envelope
    events: list[Event]
    title: str
    trouble: str


def plot_record(path: Path, patterns: list[str] | None, target: Path) -> None:
    """Plot a panel for each kind and unit of signals. Raises UnknownNameError for a pattern that matches nothing."""
    _draw(read_drawing(path, patterns), target)


def read_drawing(path: Path, patterns: list[str] | None, most_numbers: int | None = None) -> Drawing:
    """The drawing of a record or log: with the spans for a picture, or as many as fit into so many numbers.

    UnknownNameError for a pattern that matches nothing; ArgumentError for a record without rows, or of too many panels.
    """
    table = open_table(path)
    chosen = _chosen(table.names, patterns or ["*"])
    most = 2 * MOST_POINTS if most_numbers is None else most_numbers // (2 * len(chosen) + 1)
    envelope, events, clock = Envelope(len(chosen), most), list[Event](), table.names.index("time")
    for batch in table.batches():
        envelope.add(batch.rows[:, clock], batch.rows[:, chosen])
        events.extend(batch.events)
    if len(envelope.time) == 0:
        raise ArgumentError(f"{path}: the record holds no rows, there is nothing to plot.")
    panels: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for place, i in enumerate(chosen):
        group, dot, rest = table.names[i].partition(".")
        group, name = (group, rest) if dot else ("", group)
        panels.setdefault((group, table.units[i]), []).append((name, place))
    if len(panels) > MOST_PANELS:
        raise ArgumentError(f"{path}: {len(panels)} panels are too many for a picture; choose with --signals.")
    title = str(table.meta.get("model", path.stem))
    notable = [event for event in events if event.kind not in _ORDINARY]
    return Drawing(panels, envelope, notable, title, table.trouble)


def _chosen(names: tuple[str, ...], patterns: list[str]) -> list[int]:
    kept = set()
    for pattern in patterns:
        found = {i for i, name in enumerate(names) if name != "time" and compiled(pattern).match(name)}
        if not found:
            near = nearest(pattern, names)
            hint = f"did you mean '{near[0]}'?" if near else f"it has {arguments.shorten(list(names))}."
            raise UnknownNameError(f"no signal of the record matches '{pattern}'; {hint}")
        kept |= found
    return sorted(kept)


@matplotlib.rc_context({"text.parse_math": False})  # a "$" in a name does not begin a formula
def _draw(drawing: Drawing, target: Path) -> None:
    panels, events, title, trouble = drawing.panels, drawing.events, drawing.title, drawing.trouble
    columns = 1 if len(panels) == 1 else 2
    rows = -(-len(panels) // columns)
    size = 7.5 * columns, 1.2 + 3.2 * rows
    figure, axes = plt.subplots(rows, columns, squeeze=False, sharex=True, figsize=size, layout="constrained")
    figure.suptitle(title + (f"\n{trouble}" if trouble else ""), fontsize=13, fontweight="bold")
    colours = dict(zip(dict.fromkeys(event.kind for event in events), COLOURS * 8))
    for axis, ((group, unit), members) in zip(axes.flat, panels.items()):
        _panel(axis, members, drawing.envelope)
        axis.set_title(TITLES.get(group, group), loc="left")
        axis.set_ylabel(unit or "–")
        for event in events[:MOST_EVENTS]:
            axis.axvline(event.time, color=colours[event.kind], lw=0.9, ls="--", zorder=0)
    for axis in list(axes.flat)[len(panels) :]:
        axis.remove()
    for axis in list(axes.flat)[max(len(panels) - columns, 0) : len(panels)]:
        axis.set_xlabel("time / s")
        axis.tick_params(labelbottom=True)
    if colours:
        lines = [Line2D([], [], color=colour, lw=1.2, ls="--", label=kind) for kind, colour in colours.items()]
        figure.legend(handles=lines, loc="outside lower center", ncols=8, fontsize=9, title="events")
    figure.savefig(target, dpi=110)
    plt.close(figure)


def _panel(axis: Axes, members: list[tuple[str, int]], envelope: Envelope) -> None:
    named = len(members) <= MOST_NAMED
    shown = members[:MOST_LINES]
    hues = matplotlib.colormaps["tab10" if len(shown) <= 10 else "turbo"]
    for i, (name, place) in enumerate(shown):
        colour = hues(i if len(shown) <= 10 else 0.03 + 0.94 * i / (len(shown) - 1))
        axis.plot(*envelope.line(place), color=colour, lw=1.1, label=name)
    axis.grid(alpha=0.3)
    if named:
        size = 8 if len(members) <= 12 else 6
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=size)
    else:
        text = f"{len(shown)} of {len(members)} signals" if len(members) > len(shown) else f"{len(members)} signals"
        axis.text(0.99, 0.97, text, transform=axis.transAxes, ha="right", va="top", fontsize=8, color="0.3")
