"""Debris strikes a flexible panel: the tip with one mode to eight, and the balance of momentum.

python examples/debris.py [FOLDER]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import yaml

import limberjack as lj
from limberjack.examples.recording import MODELS, Rows, draw, label, output, panels, record


def strike(modes: int, duration: float = 1.0) -> Rows:
    """A run with so many of the panel's modes."""
    file = yaml.safe_load((MODELS / "debris.yaml").read_text(encoding="utf-8"))
    panel = file["bodies"][1]["flexible"]
    panel["modes"], panel["file"] = modes, str(MODELS / panel["file"])
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "debris.yaml"
        other.write_text(yaml.safe_dump(file), encoding="utf-8")
        simulation = lj.Simulation(lj.load(other))
    rows = {"tip": output("tip"), "load": output("load"), "survey": lambda simulation: simulation.survey()[3:9]}
    return record(simulation, duration, 0.0002, rows)


def debris(folder: Path) -> str:
    """Tip and force for each number of modes; momentum of the run with all."""
    runs = {modes: strike(modes) for modes in (1, 4, 5, 8)}
    figure, axes = panels("Debris at the tip of a flexible panel", 2, 2)
    for modes, run in runs.items():
        axes[0].plot(run["time"], run["tip"][:, 2], label=f"{modes} modes" if modes > 1 else "1 mode")
        first = run["time"] < 0.02
        axes[1].plot(1e3 * run["time"][first], np.linalg.norm(run["load"][first], axis=1))
    label(axes[0], "tip of the panel", "m")
    label(axes[1], "force of the strike", "N", "time / ms")
    change = np.abs(runs[8]["survey"] - runs[8]["survey"][0])
    axes[2].semilogy(runs[8]["time"], np.maximum(change[:, 3:].max(axis=1), 1e-17), label="linear, N·s")
    axes[2].semilogy(runs[8]["time"], np.maximum(change[:, :3].max(axis=1), 1e-17), label="angular, N·m·s")
    label(axes[2], "change of momentum", "")
    counts = range(1, 9)
    axes[3].plot(counts, [-strike(n)["tip"][:, 2].min() for n in counts], "o-")
    label(axes[3], "largest deflection of the tip", "m", "number of modes")
    figure.savefig(folder / "debris.png", dpi=100)
    return f"debris: momentum changes by {change[:, 3:].max():.1e} N·s and {change[:, :3].max():.1e} N·m·s"


if __name__ == "__main__":
    draw((debris,))
