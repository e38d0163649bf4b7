"""Built FMUs of the shipped models with contacts: the bits of `Simulation` before, through and after they touch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import targets
from tests.fmu.judged import EXAMPLES
from tests.fmu.shim_build import OK
from tests.fmu.test_loop_run import Exported, Twin

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform"),
]
#: steps from one comparison to the next, and how many
RUNS = {"lander": (1000, 60), "debris": (10, 100), "docking/docking": (100, 80)}


@pytest.fixture(scope="module", params=[2, 3])
def version(request) -> int:
    return request.param


def opened(name: str, folder: Path, version: int) -> Twin:
    """An FMU at its start and the Simulation beside it, both at the model's own step."""
    system = lj.load(EXAMPLES / f"{name}.yaml")
    shown = {} if system.command_names else {"inputs": []}
    exported = Exported(system, folder, version, dt=system.dt, **shown)
    fmu = exported.open()
    assert fmu.start() == OK
    twin = Twin(exported, fmu, system)
    twin.agree()
    return twin


def run(twin: Twin, name: str) -> list[bool]:
    """Whether the model touched at each comparison."""
    touched, (steps, count) = [], RUNS[name]
    for _ in range(count):
        twin.step(steps)
        twin.agree()
        touched.append(bool(np.any(twin.sim.output["load"])))
    return touched


@pytest.mark.parametrize("name", ["lander", "debris"])
def test_the_bits_of_shipped_models_through_contacts(name, version, tmp_path):
    twin = opened(name, tmp_path, version)
    touched = run(twin, name)
    assert not touched[0], "it touches at the start"
    assert any(touched)
    twin.fmu.free()


def test_the_bits_of_docking_pushed_and_latched(version, tmp_path):
    """The thrusters push the chaser into the funnel, and the latch is commanded to close all the while."""
    twin = opened("docking/docking", tmp_path, version)
    twin.switch("latch", True)
    push(twin, -400.0)
    twin.step(1000)
    push(twin, 0.0)
    touched = run(twin, "docking/docking")
    assert any(touched)
    assert twin.sim.closed("latch"), "the tip did not come to the latch"
    twin.fmu.free()


def push(twin: Twin, force: float) -> None:
    """Along the chaser's x axis, N."""
    assert twin.fmu.set([twin.exported.places["external_force.thrust.fx_command"]], [force]) == OK
    twin.sim.command["thrust.fx"] = force
