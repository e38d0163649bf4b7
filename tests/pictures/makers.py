"""Every picture of docs/images and what makes it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.pictures import screens

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"


@dataclass(frozen=True)
class Maker:
    """What makes pictures.

    pictures : name in docs/images -> file that the work leaves in its folder
    work : makes them in a folder
    measured : whether the pictures show times of a machine, so that a page's tables belong to them
    """

    pictures: dict[str, str]
    work: Callable[[Path], None]
    measured: bool = False


def commands(*lines: str) -> Callable[[Path], None]:
    """Commands to run in the repository; {out} is the folder."""

    def work(folder: Path) -> None:
        paths = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(paths)}
        for line in lines:
            words = [word.format(out=folder) for word in line.split()]
            program = {"python": (sys.executable,), "limberjack": (sys.executable, "-m", "limberjack")}[words[0]]
            subprocess.run([*program, *words[1:]], check=True, cwd=ROOT, env=environment)

    return work


def then(*steps: Callable[[Path], None]) -> Callable[[Path], None]:
    """One after the other, in the same folder."""

    def work(folder: Path) -> None:
        for step in steps:
            step(folder)

    return work


def _example(script: str, *names: str) -> Maker:
    return Maker({name: name for name in names}, commands(f"python examples/{script} {{out}}"))


def _bench(option: str, name: str, made: str) -> Maker:
    line = f"limberjack bench {option} --out {{out}} --history {{out}}/history.jsonl"
    return Maker({name: made}, commands(" ".join(line.split())), measured=True)


def panda() -> Path:
    """URDF of the Panda arm (pip install "limberjack[robots]")."""
    robots = Path(sysconfig.get_path("purelib")) / "cmeel.prefix/share/example-robot-data/robots"
    return robots / "panda_description/urdf/panda.urdf"


_LOOPS = ("four_bar", "geared_arm", "wishbone", "stewart_platform", "delta_robot", "dual_arm_grasp", "solar_array")
_GRASP = "--signals v.target.v? --signals tau.*_* --signals output.grasp*"

MAKERS = (
    _example("closed_chains.py", *(f"closed_chains_{name}.png" for name in _LOOPS)),
    _example("docking/docking.py", "docking.png"),
    _example("driven_loops.py", "driven_loops.png"),
    _example("lander.py", "lander.png"),
    _example("debris.py", "debris.png"),
    _example("rolling.py", "rolling.png"),
    _example("flexible_spacecraft.py", "spacecraft_wings.png", "spacecraft_arm.png", "spacecraft_cassini.png"),
    _example("satellite_grasp.py", "satellite_grasp.png"),
    _example("slew_spread.py", "slew_spread.png"),
    _example("cosimulate.py", "cosimulate.png"),
    _example("cosimulate_fmus.py", "cosimulate_fmus.png"),
    Maker({"estimation.png": "estimation.png"}, commands("python examples/estimation_view.py {out}/estimation.png")),
    Maker({"demo.png": "run.png"}, commands("limberjack demo --out {out}")),
    Maker({"panda.png": "run.png"}, commands(f"limberjack run {panda()} --duration 6 --out {{out}}")),
    Maker(
        {"modes.png": "wing.png"},
        commands("limberjack modes examples/modes/solar_wing.yaml -o {out}/wing.npz --plot {out}/wing.png"),
    ),
    Maker(
        {"record.png": "record.png"},
        commands(
            "limberjack hil tests/pictures/grasps.yaml --out {out} --no-progress",
            f"limberjack plot {{out}}/record.mcap -o {{out}}/record.png {_GRASP}",
        ),
    ),
    Maker(
        {"servo_in_c.png": "servo.png"},
        commands(
            "limberjack hil examples/scenarios/servo_in_c.yaml --out {out} --no-progress",
            "limberjack plot {out}/record.mcap -o {out}/servo.png --signals q.* --signals command.*",
        ),
    ),
    Maker(
        {"hil-report.png": "report.png"},
        then(
            commands("limberjack hil examples/scenarios/wheel_failure.yaml --out {out} --no-progress"),
            screens.report(1100, 1950),
        ),
    ),
    Maker(
        {"campaign-report.png": "report.png"},
        then(
            commands("limberjack campaign examples/campaigns/joint_step_spread.yaml --out {out}"),
            screens.report(1120, 1520),
        ),
    ),
    Maker({"console.png": "console.png"}, screens.console),
    Maker({"view3d.png": "view3d.png"}, screens.view),
    Maker({"monitor.png": "monitor.png"}, screens.monitor),
    _bench("", "bench.png", "bench.png"),
    _bench("--loops", "bench_loops.png", "loops.png"),
    _bench("--flexible", "bench_flexible.png", "flexible.png"),
    _bench("--fmu", "bench_fmu.png", "fmu.png"),
    Maker(
        {"workbench.png": "workbench.png"},
        commands("python -m benchmarks.workbench {out}"),
        measured=True,
    ),
    Maker(
        {"frames_cassini.png": "frames.png"},
        commands("limberjack hil --probe examples/cassini.yaml --rate 1000 --seconds 20 --out {out}"),
        measured=True,
    ),
)


def make(maker: Maker, folder: Path) -> list[Path]:
    """Make the pictures of one maker in a folder; returns them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        maker.work(Path(scratch))
        for name, made in maker.pictures.items():
            shutil.move(Path(scratch) / made, folder / name)
    return [folder / name for name in maker.pictures]
