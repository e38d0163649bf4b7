"""A picture of the first mode shapes: the undeformed body in grey, the deformed one coloured by its displacement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from limberjack.engine.errors import ArgumentError
from limberjack.engine.modes.data import ModalData

MOST_SHOWN = 6
#: largest displacement in the picture, beside the body's largest extent
AMPLITUDE = 0.15
#: more lines than these are thinned out
MOST_LINES = 20_000


def plot_modes(data: ModalData, path: Path) -> None:
    """Up to six eigenmodes in one PNG. Raises ArgumentError for data without modes, OSError."""
    if not data.modes:
        raise ArgumentError("there are no modes to plot. Compute some, or leave --plot out.")
    shown = min(data.modes, MOST_SHOWN)
    columns = min(shown, 3)
    rows = -(-shown // columns)
    figure = plt.figure(figsize=(4.6 * columns, 4.2 * rows + 0.6), layout="constrained")
    figure.suptitle(f"{data.name}: {data.kind} modes", fontsize=14, fontweight="bold")
    shapes = data.shapes[:, 3:] @ data.eigenmodes()[1]
    for r, frequency in enumerate(data.frequencies()[:shown]):
        axis = figure.add_subplot(rows, columns, r + 1, projection="3d")
        _draw(axis, data, shapes[:, :, r])
        axis.set_title(f"{r + 1}:  {frequency:.4g} Hz")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw(axis: Any, data: ModalData, shape: np.ndarray) -> None:
    start, sizes = data.positions, np.linalg.norm(shape, axis=1)
    extent = float(np.ptp(start, axis=0).max()) or 1.0
    moved = start + shape * (AMPLITUDE * extent / max(float(sizes.max()), 1e-300))
    if data.lines is None:
        axis.scatter(*start.T, s=3, color="0.5")
        axis.scatter(*moved.T, s=8, c=sizes, cmap="viridis")
    else:
        pairs = data.lines[:: -(-len(data.lines) // MOST_LINES)] if len(data.lines) else data.lines
        axis.add_collection3d(Line3DCollection(start[pairs], colors="0.4", linewidths=1.0))
        colours = matplotlib.colormaps["viridis"](sizes[pairs].mean(axis=1) / max(float(sizes.max()), 1e-300))
        axis.add_collection3d(Line3DCollection(moved[pairs], colors=colours, linewidths=2.0))
    everything = np.vstack([start, moved])
    middle = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
    reach = 0.5 * float(np.ptp(everything, axis=0).max())
    for i, name in enumerate("xyz"):
        getattr(axis, f"set_{name}lim")(middle[i] - reach, middle[i] + reach)
        getattr(axis, f"set_{name}label")(f"{name} / m", fontsize=8)
        getattr(axis, f"{name}axis").set_major_locator(MaxNLocator(4))
    axis.tick_params(labelsize=7)
    axis.set_box_aspect((1, 1, 1))
