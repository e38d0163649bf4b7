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

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.modes.data import ModalData

MOST_SHOWN = 6
#: largest displacement in the picture, as a share of the body's largest extent
AMPLITUDE = 0.15
#: more lines than these are thinned out
MOST_LINES = 20_000
#: the picture's shortest side, as a share of its longest
FLATTEST = 0.3


def plot_modes(data: ModalData, path: Path) -> None:
    """Up to six eigenmodes in one PNG, all in the same frame. Raises ArgumentError for data without modes, OSError."""
    if not data.modes:
        raise ArgumentError("there are no modes to plot. Compute some, or leave --plot out.")
    shown = min(data.modes, MOST_SHOWN)
    columns = min(shown, 3)
    rows = -(-shown // columns)
    frame = _Frame(data, (data.shapes[:, 3:] @ data.eigenmodes()[1])[:, :, :shown])
    width, height = 4.8 * columns, 3.8 * rows + 0.8
    figure = plt.figure(figsize=(width, height))
    figure.suptitle(f"{data.name}: {data.kind} modes", fontsize=14, fontweight="bold", y=1.0 - 0.18 / height, va="top")
    text = f"grey: at rest; colour: displacement, the largest drawn as {100 * AMPLITUDE:g} % of the extent"
    figure.text(0.5, 1.0 - 0.5 / height, text, ha="center", va="top", fontsize=9, color="0.3")
    for r, frequency in enumerate(data.frequencies()[:shown]):
        column, row = r % columns, r // columns
        place = (column / columns, 1.0 - (0.8 + 3.8 * (row + 1)) / height, 0.96 / columns, 3.8 / height)
        axis = figure.add_axes(place, projection="3d")
        axis.set_title(f"mode {r + 1}:  {frequency:.4g} Hz", y=0.94)
        frame.draw(axis, r)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


class _Frame:
    """The body at rest and in its modes, and axes that hold all of these."""

    def __init__(self, data: ModalData, shapes: np.ndarray) -> None:
        self._start, self._shapes, lines = data.positions, shapes, data.lines
        self._sizes = np.linalg.norm(shapes, axis=1)
        extent = float(np.ptp(self._start, axis=0).max()) or 1.0
        largest = np.maximum(self._sizes.max(axis=0), 1e-300)
        self._moved = self._start[:, :, None] + shapes * (AMPLITUDE * extent / largest)
        self._pairs = lines[:: -(-len(lines) // MOST_LINES)] if lines is not None and len(lines) else lines
        self._nodes = {name: data.node(name) for name in dict.fromkeys((*data.interface, data.inboard)) if name}
        self._held = data.inboard
        everything = np.concatenate([self._start[None], np.moveaxis(self._moved, 2, 0)]).reshape(-1, 3)
        self._middle = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
        reach = np.ptp(everything, axis=0)
        self._reach = 0.55 * np.maximum(reach, FLATTEST * reach.max())

    def draw(self, axis: Any, mode: int) -> None:
        """One mode; its nodes of the interface are marked, and named in the first picture."""
        start, moved, sizes = self._start, self._moved[:, :, mode], self._sizes[:, mode]
        largest = max(float(sizes.max()), 1e-300)
        if self._pairs is None:
            axis.scatter(*start.T, s=3, color="0.6")
            axis.scatter(*moved.T, s=8, c=sizes, cmap="viridis")
        else:
            thin = len(self._pairs) > 200
            rest = Line3DCollection(start[self._pairs], colors="0.55", linewidths=0.4 if thin else 1.0)
            axis.add_collection3d(rest)
            colours = matplotlib.colormaps["viridis"](sizes[self._pairs].mean(axis=1) / largest)
            axis.add_collection3d(Line3DCollection(moved[self._pairs], colors=colours, linewidths=0.8 if thin else 2.2))
        for name, node in self._nodes.items():
            marker = "s" if name == self._held else "o"
            axis.scatter(*moved[node], s=18, marker=marker, color="black", depthshade=False, zorder=10)
            if mode == 0:
                axis.text(*moved[node], f"  {name}", fontsize=9, zorder=11)
        self._axes(axis)

    def _axes(self, axis: Any) -> None:
        finest = float(self._reach.max())
        for i, name in enumerate("xyz"):
            getattr(axis, f"set_{name}lim")(self._middle[i] - self._reach[i], self._middle[i] + self._reach[i])
            getattr(axis, f"set_{name}label")(f"{name} / m", fontsize=8, labelpad=1)
            getattr(axis, f"{name}axis").set_major_locator(MaxNLocator(max(int(5 * self._reach[i] / finest), 2)))
        axis.tick_params(labelsize=7, pad=0)
        axis.set_box_aspect(self._reach / finest, zoom=0.95)
