"""Pictures of a log: joint angles and references, efforts, what the base does, what should be conserved."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

Columns = dict[str, np.ndarray]
#: more lines than this in one panel are drawn without a legend
MOST_NAMED = 12


def plot_log(log: Columns, title: str, path: Path) -> None:
    """Four panels in one PNG."""
    figure, axes = plt.subplots(2, 2, figsize=(13, 8.5), layout="constrained", sharex=True)
    figure.suptitle(title, fontsize=14, fontweight="bold")
    _joints(axes[0, 0], log)
    _efforts(axes[0, 1], log)
    _base(axes[1, 0], log)
    _conserved(axes[1, 1], log)
    for axis in axes.flat:
        axis.grid(alpha=0.3)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=8, ncols=2, loc="best")
    for axis in axes[1]:
        axis.set_xlabel("time / s")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _driven(log: Columns) -> list[str]:
    return [name.removeprefix("reference.") for name in log if name.startswith("reference.")]


def _joints(axis: Axes, log: Columns) -> None:
    names = _driven(log)
    for i, name in enumerate(names):
        line = axis.plot(log["time"], log[f"q.{name}"], label=name if len(names) <= MOST_NAMED else None)[0]
        command = "command" if i == 0 else None
        axis.plot(log["time"], log[f"reference.{name}"], "--", lw=0.9, color=line.get_color(), label=command)
    axis.set(title="joint coordinates (solid) and commands (dashed)", ylabel="rad or m")


def _efforts(axis: Axes, log: Columns) -> None:
    names = _driven(log)
    for name in names:
        axis.plot(log["time"], log[f"tau.{name}"], label=name if len(names) <= MOST_NAMED else None)
    axis.set(title="joint efforts", ylabel="N·m or N")


def _free_base(log: Columns) -> str | None:
    """Name of the first free hinge, from its quaternion."""
    for name in log:
        if name.startswith("q.") and name.endswith(".qw") and f"{name[:-3]}.x" in log:
            return name[2:-3]
    return None


def _base(axis: Axes, log: Columns) -> None:
    base = _free_base(log)
    if base is None:
        for name in _driven(log):
            axis.plot(log["time"], log[f"q.{name}"] - log[f"reference.{name}"])
        axis.set(title="tracking errors", ylabel="rad or m")
        return
    w, x, y, z = (log[f"q.{base}.{c}"] for c in ("qw", "qx", "qy", "qz"))
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    for name, angle in (("roll", roll), ("pitch", pitch), ("yaw", yaw)):
        axis.plot(log["time"], np.degrees(angle), label=name)
    axis.set(title=f"attitude of '{base}': the base answers the arm", ylabel="deg")


def _conserved(axis: Axes, log: Columns) -> None:
    if _free_base(log) is None:
        axis.plot(log["time"], log["energy.kinetic"], label="kinetic")
        axis.plot(log["time"], log["energy.potential"] - log["energy.potential"][0], label="potential, change")
        axis.set(title="energy", ylabel="J")
        return
    for label, unit, parts in (("linear", "N·s", ("px", "py", "pz")), ("angular", "N·m·s", ("Lx", "Ly", "Lz"))):
        drift = momentum_drift(log, parts)
        axis.semilogy(log["time"][1:], np.maximum(drift[1:], 1e-18), label=f"{label} / {unit}")
    axis.set(title="momentum drift from its first value", ylabel="magnitude of the change")


def momentum_drift(log: Columns, parts: tuple[str, ...]) -> np.ndarray:
    """|p(t) - p(0)| of the named momentum components."""
    table = np.column_stack([log[f"momentum.{part}"] for part in parts])
    return np.asarray(np.linalg.norm(table - table[0], axis=1))
