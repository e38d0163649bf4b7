"""Pictures of a log: coordinates and commands, tracking, efforts, motion of the base, conserved quantities."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from limberjack.commands.conservation import STRAIN, log_conserves, momentum_drift
from limberjack.commands.record import driven_names, tracking_errors

Columns = dict[str, np.ndarray]
Panel = Callable[[Axes, Columns], None]
#: with more coordinates than this, colours follow the order in the model and there is no legend
MOST_NAMED = 40
#: up to so many coordinates get clearly different colours; more of them share a colour map
MOST_DISTINCT = 10


def plot_log(log: Columns, title: str, path: Path) -> None:
    """Four panels, or six with a free base, in one PNG; the legend of the colours is below all of them."""
    panels = _panels(log)
    rows = len(panels) // 2
    figure, axes = plt.subplots(rows, 2, figsize=(13, 1.2 + 3.7 * rows), layout="constrained", sharex=True)
    figure.suptitle(title, fontsize=14, fontweight="bold")
    for axis, panel in zip(axes.flat, panels, strict=True):
        panel(axis, log)
        axis.grid(alpha=0.3)
        named = axis.get_legend_handles_labels()[0]
        if named:
            _legend_above(axis, named)
    for axis in axes[-1]:
        axis.set_xlabel("time / s")
    colours = _colours(log)
    if len(colours) <= MOST_NAMED:
        lines = [Line2D([], [], color=colour, lw=2.5, label=name) for name, colour in colours.items()]
        small = len(lines) > MOST_DISTINCT
        figure.legend(handles=lines, loc="outside lower center", ncols=6 if small else 7, fontsize=8 if small else 9)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _panels(log: Columns) -> list[Panel]:
    if _free_base(log) is None:
        return [_joints, _errors, _efforts, _energy]
    return [_joints, _errors, _efforts, _energy, _attitude, _momentum if log_conserves(log) else _position]


def _legend_above(axis: Axes, handles: list[Any]) -> None:
    """A legend beside the title, above the axes, where it hides no line."""
    axis.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, fontsize=9)


def _colours(log: Columns) -> dict[str, tuple[float, float, float, float]]:
    """Colour of every driven coordinate, the same in all panels."""
    names = driven_names(list(log))
    if len(names) <= MOST_DISTINCT:
        return {name: matplotlib.colormaps["tab10"](i) for i, name in enumerate(names)}
    return {name: matplotlib.colormaps["turbo"](x) for name, x in zip(names, np.linspace(0.03, 0.97, len(names)))}


def _joints(axis: Axes, log: Columns) -> None:
    colours = _colours(log)
    thin = 0.6 if len(colours) > MOST_DISTINCT else 1.0
    for name, colour in colours.items():
        axis.plot(log["time"], log[f"q.{name}"], color=colour, lw=3.0 * thin, alpha=0.7)
    for name in colours:
        axis.plot(log["time"], log[f"reference.{name}"], color="black", lw=thin, dashes=(4, 4))
    axis.set_title("joint coordinates", loc="left")
    axis.set_ylabel("rad or m")
    command = Line2D([], [], color="black", lw=1.0, dashes=(4, 4), label="command")
    _legend_above(axis, [Line2D([], [], color="grey", lw=3.0, alpha=0.7, label="simulated"), command])


def _errors(axis: Axes, log: Columns) -> None:
    colours = _colours(log)
    for name, error in tracking_errors(log).items():
        axis.plot(log["time"], error, color=colours[name], lw=1.3)
    axis.set_title("tracking errors (simulated less command)", loc="left")
    axis.set_ylabel("rad or m")


def _efforts(axis: Axes, log: Columns) -> None:
    for name, colour in _colours(log).items():
        axis.plot(log["time"], log[f"tau.{name}"], color=colour, lw=1.3)
    axis.set_title("joint efforts", loc="left")
    axis.set_ylabel("N·m or N")


def _energy(axis: Axes, log: Columns) -> None:
    axis.plot(log["time"], log["energy.kinetic"], label="kinetic")
    axis.plot(log["time"], log["energy.potential"] - log["energy.potential"][0], label="potential, change")
    if STRAIN in log:
        axis.plot(log["time"], log[STRAIN], label="strain")
    axis.set_title("energy", loc="left")
    axis.set_ylabel("J")


def _free_base(log: Columns) -> str | None:
    """Name of the first free hinge, from its quaternion and position."""
    for name in log:
        base = name.removesuffix(".qw")
        if name.startswith("q.") and base != name and all(f"{base}.{c}" in log for c in ("qx", "qy", "qz", *"xyz")):
            return base.removeprefix("q.")
    return None


def _attitude(axis: Axes, log: Columns) -> None:
    base = _free_base(log)
    w, x, y, z = (log[f"q.{base}.{c}"] for c in ("qw", "qx", "qy", "qz"))
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    for name, angle in (("roll", roll), ("pitch", pitch), ("yaw", yaw)):
        axis.plot(log["time"], np.degrees(np.unwrap(angle)), label=name)
    axis.set_title(f"attitude of '{base}'", loc="left")
    axis.set_ylabel("deg")


def _position(axis: Axes, log: Columns) -> None:
    base = _free_base(log)
    for c in "xyz":
        axis.plot(log["time"], log[f"q.{base}.{c}"], label=c)
    axis.set_title(f"position of '{base}'", loc="left")
    axis.set_ylabel("m")


def _momentum(axis: Axes, log: Columns) -> None:
    for label, unit, parts in (("linear", "N·s", ("px", "py", "pz")), ("angular", "N·m·s", ("Lx", "Ly", "Lz"))):
        drift = momentum_drift(log, parts)
        axis.semilogy(log["time"][1:], np.maximum(drift[1:], 1e-18), label=f"{label} / {unit}")
    axis.set_title("change of momentum", loc="left")
    axis.set_ylabel("magnitude")
