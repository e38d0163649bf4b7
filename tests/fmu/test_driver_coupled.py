"""The process coupling under the C driver: the engine's numbers, saved states, misuse; an engine for each instance."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.fmu.judged import Judged, compiled, engine_rows, exported, random_commands
from tests.fmu.test_driver import SANITIZE, checks

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
STEPS, INNER = 60, 5
STARTS = {"engine.command": f"'{sys.executable}' -m limberjack run", "engine.timeout": 30.0}
#: every instance and every start again starts an engine: checks that start dozens are left to the embedded coupling
SKIPPED = "threads,siblings,opening_without_resources,unsupported,references,null_pointers"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("driver") / "driver", ["gcc"], SANITIZE)


@pytest.fixture(scope="module", params=["fmi3", "fmi2"])
def fmu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return exported("torque_arm", request.param, tmp_path_factory.mktemp("fmu"), coupling="process")


def test_the_engine_bit_for_bit(fmu: Judged, driver: Path, tmp_path: Path) -> None:
    commands = random_commands(fmu.system, STEPS)
    commands.tofile(tmp_path / "inputs.bin")
    options = ("--steps", STEPS, "--h", INNER * fmu.system.dt, "--inputs", tmp_path / "inputs.bin")
    done = fmu.run(driver, "run", *options, "--out", tmp_path / "out.bin", starts=STARTS)
    assert done.returncode == 0, done.stderr
    engine, rows, at = engine_rows(fmu.system, commands, INNER), fmu.rows(tmp_path / "out.bin"), fmu.numbers("output")
    if "q" in at:
        angles = rows[:, 1:][:, at["q"]]
    else:
        names = [f"hinge.{body.hinge.name}.angle" for body in fmu.system.bodies]
        angles = np.hstack([rows[:, 1:][:, at[name]] for name in names])
    assert np.array_equal(angles, engine["q"])


def test_a_state_goes_on_in_a_new_process_and_engine(fmu: Judged, driver: Path, tmp_path: Path) -> None:
    for way, out in (("--save", "here.bin"), ("--restore", "there.bin")):
        options = (way, tmp_path / "state.bin", "--steps", STEPS, "--out", tmp_path / out)
        done = fmu.run(driver, "state", *options, starts=STARTS)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "here.bin").read_bytes() == (tmp_path / "there.bin").read_bytes()


def test_misuse(fmu: Judged, driver: Path) -> None:
    done = fmu.run(driver, "misuse", "--skip", SKIPPED, step=fmu.system.dt, starts=STARTS)
    assert done.returncode == 0, done.stderr
    assert {"CS lives", "CS wrong_steps", "CS come_back", "CS after_error"} <= checks(done.stdout)
