"""`limberjack bench --campaign`: runs a second and core of campaigns over batches, of single runs and of Basilisk."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import history
from limberjack.engine.common.errors import LimberjackError
from limberjack.hil.campaign.runner import run_campaign
from limberjack.hil.campaign.table import Row

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: environment variable that names a Python with Basilisk; this one without
PEER = "LIMBERJACK_BASILISK_PYTHON"
#: how many runs: at once, one by one, of Basilisk; enough of each that starting the processes is a small part
RUNS, ALONE, PEERS = 1000, 200, 60
QUICK_RUNS, QUICK_ALONE, QUICK_PEERS = 40, 3, 3
#: 10 s of solar_satellite in steps of 1 ms; the controller acts at 10 Hz, criteria see each frame
SCENARIO = """
limberjack_scenario: 1
name: slew of solar_satellite
model: {examples}/solar_satellite.yaml
steps_per_frame: {steps}
duration: 10
devices:
  - name: aocs
    uri: "arrays:{examples}/scenarios/slew_control.py:controller"
    signals: ["output.attitude.*", "output.rate.*"]
    commands: ["wheel_?"]
    every: {every}
    options:
      inertia: [48200, 2850, 48500]
      frequency: 0.02
      slew: {{start: 0.5, duration: 9, pulse: 3.15, angle: 0.0003}}
criteria:
  - {{name: attitude, type: final, signals: [output.attitude.x], target: 0.00015, tolerance: 1.0e-4}}
  - {{name: rate, type: rms, signals: ["output.rate.*"], most: 1.0e-3}}
  - {{name: wing, type: bounds, signals: [q.wing_north.modes.1], lower: -1, upper: 1}}
"""
CAMPAIGN = """
limberjack_campaign: 1
name: slew of solar_satellite
scenario: scenario.yaml
runs: {runs}
seed: 1
least_passed: 0
vary:
  "initial.parameters[body.hub.mass]": {{uniform: [2300, 2900]}}
  "initial.parameters[hinge.wing_north.modes.1.stiffness]": {{uniform: [0.38, 0.57]}}
  "initial.parameters[hinge.wing_south.modes.1.stiffness]": {{uniform: [0.38, 0.57]}}
  "initial.velocities[hub.wx]": {{uniform: [-1.0e-5, 1.0e-5]}}
"""
#: name → steps of a frame
FRAMES = {"frames of 100 ms": 100, "frames of 1 ms": 1}


def bench(
    *,
    quick: bool = False,
    out: Path = Path("bench-results"),
    history_path: Path | None = None,
    core: int | None = None,
    console: Console | None = None,
) -> dict[str, Any]:
    """Measure, print the table and write ``campaign.json`` to ``out``, a line to the history if one is given.

    Every campaign has one worker process, on one core. Figures are runs a second of processor time, of all processes
    with their start, plots and reports: what else the machine does changes them little. LimberjackError unless rows of
    single runs and of batches are the same.
    core : processor of all, default the last allowed one
    """
    console = console or Console()
    cores = os.sched_getaffinity(0)
    result: dict[str, Any] = {"commit": history.commit(), "machine": history.machine(), "measured": []}
    os.sched_setaffinity(0, {sorted(cores)[-1] if core is None else core})
    try:
        for name, steps in FRAMES.items():
            with console.status(name):
                result["measured"] += _ours(name, steps, quick)
        with console.status("Basilisk"):
            result["measured"] += _basilisk(QUICK_PEERS if quick else PEERS, console)
    finally:
        os.sched_setaffinity(0, cores)
    console.print(_table(result["measured"]))
    history.write(result, out, "campaign")
    if history_path is not None:
        history.record(history_path, result)
    return result


def _ours(name: str, steps: int, quick: bool) -> list[dict[str, Any]]:
    """A campaign over batches, and the first of its runs one by one."""
    found, tables = [], []
    for batch, runs in ((True, QUICK_RUNS if quick else RUNS), (False, QUICK_ALONE if quick else ALONE)):
        with tempfile.TemporaryDirectory() as folder:
            spent, rows = _campaign(Path(folder), steps, runs, batch)
        found.append({"name": f"{'batch' if batch else 'one by one'}, {name}", **spent})
        tables.append(rows)
    for one, among in zip(tables[1], tables[0], strict=False):
        if repr(one) != repr(among):
            raise LimberjackError(f"{name}: run {one.run} has another row in a batch than by itself.")
    return found


def _campaign(folder: Path, steps: int, runs: int, batch: bool) -> tuple[dict[str, Any], list[Row]]:
    """Runs, wall and processor time, s, of a campaign; its rows."""
    scenario = SCENARIO.format(examples=EXAMPLES, steps=steps, every=100 // steps)
    (folder / "scenario.yaml").write_text(scenario, encoding="utf-8")
    (folder / "campaign.yaml").write_text(CAMPAIGN.format(runs=runs), encoding="utf-8")
    cpu, wall = _used(), time.monotonic()
    summary = run_campaign(folder / "campaign.yaml", out=folder / "out", workers=1, batch=batch)
    spent = {"runs": runs, "wall": time.monotonic() - wall, "cpu": _used() - cpu}
    bad = [row for row in summary.rows if row.status not in ("passed", "failed")]
    if bad:
        raise LimberjackError(f"run {bad[0].run} was not judged: {bad[0].cause}")
    return spent, summary.rows


def _basilisk(runs: int, console: Console) -> list[dict[str, Any]]:
    """The peer, if there is a Python that has it."""
    python, program = os.environ.get(PEER, sys.executable), Path(__file__).with_name("basilisk_campaign.py")
    if subprocess.run([python, "-c", "import Basilisk"], capture_output=True, check=False).returncode:
        console.print(
            f"Basilisk is left out: {python} has none; pip install bsk, or name a Python that has it in {PEER}"
        )
        return []
    with tempfile.TemporaryDirectory() as folder:
        words = [python, str(program), str(runs), "1", folder]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LimberjackError(f"Basilisk's campaign failed: {done.stderr[-500:]}")
    report = json.loads(done.stdout.splitlines()[-1])
    return [{"name": "Basilisk", **{key: report[key] for key in ("runs", "wall", "cpu")}}]


def _used() -> float:
    """Processor time of this process and of those that have ended, s."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


def _table(measured: list[dict[str, Any]]) -> Table:
    table = Table(title="campaigns: 10 s of a flexible satellite at 1 kHz, one core", title_justify="left", box=None)
    table.add_column("", no_wrap=True)
    for heading in ("runs", "runs / s of processor time", "ms a run", "wall / s"):
        table.add_column(heading, justify="right")
    for each in measured:
        rate = each["runs"] / each["cpu"]
        table.add_row(each["name"], str(each["runs"]), f"{rate:.3g}", f"{1e3 / rate:.4g}", f"{each['wall']:.3g}")
    return table
