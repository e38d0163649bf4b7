"""What the scripts of the closed mechanisms share: run a model under a controller, keep what is asked for, draw it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import limberjack as lj

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODELS = Path(__file__).resolve().parent
#: what is zero is drawn here on a logarithmic axis
FLOOR = 1e-17

Row = Callable[[lj.Simulation], Any]
Rows = dict[str, np.ndarray]
Drive = Callable[[lj.Simulation], None]


def draw(scenes: Sequence[Callable[[Path], str]]) -> None:
    """Run every scene of a script; its first argument is the folder for the pictures, else that of the guide."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else MODELS.parent / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for scene in scenes:
        print(scene(folder), flush=True)
    print(f"pictures in {folder}")


def model(name: str) -> lj.System:
    """A model of this folder."""
    return lj.load(MODELS / f"{name}.yaml")


def record(
    simulation: lj.Simulation, duration: float, period: float, rows: Mapping[str, Row], drive: Drive | None = None
) -> Rows:
    """Step for a duration; each period set commands and keep what `rows` see."""
    steps = round(period / simulation.dt)
    kept: dict[str, list[Any]] = {name: [] for name in ("time", *rows)}
    for cycle in range(round(duration / period) + 1):
        simulation.step(steps if cycle else 0)
        kept["time"].append(simulation.time)
        for name, see in rows.items():
            kept[name].append(see(simulation))
        if drive:
            drive(simulation)
    return {name: np.array(values, dtype=float) for name, values in kept.items()}


def coordinate(name: str) -> Row:
    """A coordinate by name."""
    return lambda simulation: simulation.q[simulation.system.coordinate_names.index(name)]


def output(name: str) -> Row:
    """An output by name: a number, or the vector of a sensor's components."""
    return lambda simulation: simulation.output[name]


def energy(simulation: lj.Simulation) -> float:
    """Kinetic and potential energy, J."""
    return sum(simulation.dynamics.energy(simulation.q, simulation.v))


def smooth(time: float, duration: float) -> tuple[float, float]:
    """Place (0 to 1) and rate at a time of a quintic from rest to rest."""
    s = min(max(time / duration, 0.0), 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s), 30.0 * s * s * (1.0 - s) ** 2 / duration


def panels(title: str, rows: int, columns: int, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """A figure and its panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 0.8 + height * rows), layout="constrained")
    figure.suptitle(title, fontweight="bold")
    axes = list(np.atleast_1d(figure.subplots(rows, columns)).flat)
    for axis in axes:
        axis.grid(alpha=0.3)
    return figure, axes


def label(axis: Axes, title: str, y: str, x: str = "time / s", columns: int = 0) -> None:
    """Title at the left, units, a legend if lines have names: in that many columns above them, or (0) where it fits."""
    axis.set_title(title, loc="left", fontsize=11)
    axis.set(xlabel=x, ylabel=y)
    names = axis.get_legend_handles_labels()[0]
    if columns:
        low, high = axis.get_ylim()
        axis.set_ylim(low, high + (0.02 + 0.09 * math.ceil(len(names) / columns)) * (high - low))
        axis.legend(fontsize=9, ncols=columns, loc="upper center")
    elif names:
        axis.legend(fontsize=9)


def size(values: np.ndarray) -> np.ndarray:
    """Magnitudes for a logarithmic axis."""
    return np.asarray(np.maximum(np.abs(values), FLOOR))


def turned(angle: np.ndarray) -> np.ndarray:
    """Angles within half a turn, degrees, with a break where they jump."""
    degrees = (np.rad2deg(angle) + 180.0) % 360.0 - 180.0
    return np.asarray(np.where(np.abs(np.diff(degrees, prepend=degrees[0])) > 90.0, np.nan, degrees))
