"""Docking by probe and drogue with contact: one approach, and the envelope of approaches that are captured and mated.

python examples/docking/docking.py [FOLDER]

One flight of docking.yaml under the controller of approach.yaml, aimed 25 cm beside the axis; then the campaign of
envelope.yaml, whose runs are made at once as worlds of a batch.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

import limberjack as lj
from limberjack.examples.docking.guidance import controller
from limberjack.examples.recording import Rows, draw, label, output, panels, record
from limberjack.hil.campaign.runner import run_campaign
from limberjack.hil.devices.device import Wiring
from limberjack.hil.scenario.scenario_file import load_scenario

HERE = Path(__file__).resolve().parent
#: columns of the campaign's table
MISS, TILT, SPEED = (f"set.devices[guidance].options.{name}" for name in ("miss[0]", "tilt", "speed"))


def flight(miss: float, duration: float) -> Rows:
    """An approach that aims so far beside the axis, m."""
    simulation = lj.Simulation(lj.load(HERE / "docking.yaml"), dt=0.002)
    options = load_scenario(HERE / "approach.yaml").spec.devices[0].options
    arrays = {name: np.array([options[name]]) for name in ("speed", "tilt")} | {"miss": np.array([[miss, 0.0]])}
    latch = {name: np.array([value]) for name, value in options["latch"].items()}
    law = controller(Wiring((), (), simulation.command_names, 1), latch=latch, **arrays)
    q, v = (names.index(first) for names, first in (
        (simulation.system.coordinate_names, "chaser.qw"), (simulation.system.velocity_names, "chaser.wx")
    ))  # fmt: skip

    def fly(simulation: lj.Simulation) -> None:
        seen = [simulation.output[name] for name in ("latch_point", "touching", "tip")]
        parts = [simulation.q[q : q + 7], simulation.v[v : v + 6], *seen, simulation.q[:4]]
        commands = law(simulation.time, np.hstack([np.atleast_1d(part) for part in parts])[None])[0]
        for name, value in zip(simulation.command_names, commands):
            simulation.command[name] = value

    names = ("load", "tip", "latch_point", "latch_load", "mate_load", "wing_tip")
    return record(simulation, duration, 0.01, {name: output(name) for name in names}, fly)


def envelope() -> dict[str, np.ndarray]:
    """Misses, m, tilts, rad, and speeds, m/s, of the campaign, and how far each run came: 0, 1 captured, 2 mated."""
    with tempfile.TemporaryDirectory() as folder:
        run_campaign(HERE / "envelope.yaml", out=folder, workers=1)
        rows = list(csv.DictReader((Path(folder) / "table.csv").open(encoding="utf-8")))
    reached = [sum(np.isfinite(float(row[f"measured.{name}"] or "inf")) for name in ("is captured", "the weld bears"))
               for row in rows]  # fmt: skip
    return {name: np.array([float(row[name]) for row in rows]) for name in (MISS, TILT, SPEED)} | {
        "reached": np.array(reached)
    }


def docking(folder: Path) -> str:
    """One approach and the envelope."""
    run, found = flight(0.25, 45.0), envelope()
    figure, axes = panels("Probe and drogue: contact, capture and mating with a satellite that bends", 2, 2)
    way = run["tip"] - run["latch_point"]
    for i, axis in enumerate("xyz"):
        axes[0].plot(run["time"], way[:, i], label=axis)
    label(axes[0], "tip, seen from the latch", "m")
    for name, text in (("load", "funnel"), ("latch_load", "latch"), ("mate_load", "mate")):
        axes[1].plot(run["time"], np.linalg.norm(run[name][:, -3:], axis=1), label=text)
    label(axes[1], "force of funnel, latch and mate", "N")
    twin = axes[2]
    twin.plot(run["time"], 1e3 * run["wing_tip"])
    label(twin, "first mode of the northern wing", "1e-3 m")
    kinds = ((0, "C3", "x", "misses"), (1, "C1", "^", "captured"), (2, "C2", "o", "mated"))
    for reached, colour, marker, text in kinds:
        some = found["reached"] == reached
        axes[3].scatter(found[MISS][some], found[SPEED][some], c=colour, marker=marker, s=18, label=text)
    label(axes[3], "approaches, tilted by up to 0.15 rad", "closing speed / (m/s)", "miss / m")
    figure.savefig(folder / "docking.png", dpi=100)
    counts = [np.count_nonzero(found["reached"] >= least) for least in (1, 2)]
    return f"docking: of {len(found['reached'])} approaches {counts[0]} are captured, {counts[1]} mated"


if __name__ == "__main__":
    draw((docking,))
