"""Docking by probe and drogue with contact: one approach, and the envelope of approaches that reach the latch.

python examples/docking.py [FOLDER]

The chaser of docking.yaml flies at the funnel beside its axis; nothing steers it. The tip slides down the wall,
bounces, and is captured where it comes within LATCH of the latch. A batch flies every offset and speed at once.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.examples.recording import Rows, draw, label, model, output, panels, record

#: the latch closes on a tip that is this near, m, and slower than this relative to it, m/s
LATCH, SLOW = 0.03, 0.1
#: where the chaser is when its tip enters the funnel, m
MOUTH = 3.51
#: the tip starts this far before the funnel and has so far to the latch, m; then a run lasts so long, s
BEFORE, WAY, AFTER = 0.05, 0.55, 6.0
OFFSETS, SPEEDS = np.linspace(0.0, 0.6, 25), np.linspace(0.06, 0.27, 8)


def approach(system: lj.System, offset: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities of an approach beside the axis: m, m/s."""
    q, v = system.q0, system.v0
    x = system.coordinate_names.index("chaser.x")
    q[x : x + 3] = MOUTH + BEFORE, offset, 0.0
    v[system.velocity_names.index("chaser.vx")] = -speed
    return q, v


def captured(system: lj.System) -> np.ndarray:
    """For every speed and offset (speeds, offsets) whether the tip comes to rest in the latch."""
    grid = [(offset, speed) for speed in SPEEDS for offset in OFFSETS]
    states = [approach(system, *each) for each in grid]
    batch = lj.Batch(system, len(grid), dt=2e-3)
    batch.q, batch.v = np.array([q for q, _ in states]), np.array([v for _, v in states])
    found, before = np.zeros(len(grid), dtype=bool), None
    for _ in range(round((WAY / SPEEDS[0] + AFTER) / 0.02)):
        batch.step(10)
        apart = np.linalg.norm(batch.output["tip"] - batch.output["latch_point"], axis=1)
        if before is not None:
            found |= (apart < LATCH) & (np.abs(apart - before) / 0.02 < SLOW)
        before = apart
    return found.reshape(len(SPEEDS), len(OFFSETS))


def flight(system: lj.System) -> Rows:
    """One approach off the axis."""
    simulation = lj.Simulation(system)
    simulation.q, simulation.v = approach(system, 0.25, 0.1)
    rows = {name: output(name) for name in ("load", "tip", "latch_point")}
    return record(simulation, 12.0, 0.005, rows)


def docking(folder: Path) -> str:
    """One approach and the envelope."""
    system = model("docking")
    run, envelope = flight(system), captured(system)
    figure, axes = panels("Probe and drogue: contact with a satellite that bends", 2, 2)
    way = run["tip"] - run["latch_point"]
    for i, axis in enumerate("xyz"):
        axes[0].plot(run["time"], way[:, i], label=axis)
    label(axes[0], "tip, seen from the latch", "m")
    axes[1].plot(run["time"], np.linalg.norm(run["load"], axis=1))
    label(axes[1], "contact force", "N")
    axes[2].plot(way[:, 0], way[:, 1])
    label(axes[2], "way of the tip", "y / m", "x / m")
    step = [OFFSETS[1] - OFFSETS[0], SPEEDS[1] - SPEEDS[0]]
    edges = [np.append(each - 0.5 * d, each[-1] + 0.5 * d) for each, d in zip((OFFSETS, SPEEDS), step)]
    axes[3].pcolormesh(*edges, envelope, cmap="RdYlGn", vmin=-0.2, vmax=1.2, edgecolors="white", linewidth=0.3)
    label(axes[3], "green: comes to the latch", "closing speed / (m/s)", "offset / m")
    figure.savefig(folder / "docking.png", dpi=100)
    return f"docking: {np.count_nonzero(envelope)} of {envelope.size} approaches come to the latch"


if __name__ == "__main__":
    draw((docking,))
