"""Parameters that are tuned while an exported FMU runs: the engine's bits, and what does not go together is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

import limberjack as lj
from limberjack.engine.compile import targets
from limberjack.engine.model.system import System

pytestmark = [
    pytest.mark.long,  # exports FMUs: the first compiles the engine
    pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform"),
]
STEP = 5  # engine steps of a communication step
ARM = """
limberjack: 1
name: tuned
bodies:
  - {name: upper, mass: 2.0, com: [0.2, 0, 0], inertia: {xx: 0.01, yy: 0.03, zz: 0.03},
     hinge: {name: shoulder, type: revolute, parent: world, axis: [0, 1, 0], limits: {lower: -1, upper: 1},
             damping: 0.2}}
  - {name: lower, mass: 1.0, com: [0.2, 0, 0.05], inertia: {xx: 0.01, yy: 0.02, zz: 0.02},
     hinge: {name: elbow, type: revolute, parent: upper, position: [0.4, 0, 0], axis: [0, 0, 1]}}
actuators:
  - {name: shoulder, coordinate: shoulder, mode: servo, kp: 60, kd: 4, limit: 30, initial: 0.3}
"""


class Run:
    """A Co-Simulation instance under FMPy, its variables by name, and its log."""

    def __init__(self, path: Path, version: str) -> None:
        description = fmpy.read_model_description(str(path))
        self._folder = fmpy.extract(str(path))
        self._references = {v.name: v.valueReference for v in description.modelVariables}
        kind: Any = FMU3Slave if version == "3" else FMU2Slave
        self.fmu = kind(
            guid=description.guid,
            unzipDirectory=self._folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="tuned",
        )
        self._set = self.fmu.setFloat64 if version == "3" else self.fmu.setReal
        self._get = self.fmu.getFloat64 if version == "3" else self.fmu.getReal
        self.fmu.instantiate(loggingOn=True)
        self.start()

    def start(self) -> None:
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self._done = 0

    def tune(self, name: str, value: float) -> None:
        self._set([self._references[name]], [value])

    def step(self, dt: float) -> None:
        self.fmu.doStep(self._done * dt, STEP * dt)
        self._done += STEP

    def values(self, *names: str) -> list[float]:
        return list(self._get([self._references[name] for name in names]))

    def close(self) -> None:
        self.fmu.freeInstance()
        shutil.rmtree(self._folder)


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> System:
    path = tmp_path_factory.mktemp("model") / "arm.yaml"
    path.write_text(ARM)
    return lj.load(path)


@pytest.fixture
def run(arm: System, tmp_path: Path) -> Iterator[Callable[[str], Run]]:
    made = []

    def make(version: str) -> Run:
        path = lj.export_fmu(arm, tmp_path / "arm.fmu", fmi=version, platforms="host", parameters=["*"])
        made.append(Run(path, version))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize("version", ["2", "3"])
def test_tuned_masses_gains_damping_and_stops_have_the_engines_bits(
    arm: System, run: Callable[[str], Run], version: str
) -> None:
    fmu, simulation, rng = run(version), lj.Simulation(arm), np.random.default_rng(3)
    names = ["body.lower.mass", "actuator.shoulder.kp", "actuator.shoulder.kd", "hinge.shoulder.damping"]
    for _ in range(20):
        for name in [*names, "hinge.shoulder.upper"]:
            value = rng.uniform(0.1, 2.0) * (simulation.parameters[name] if name in names else 1.0)
            fmu.tune(name, value)
            simulation.parameters[name] = value
        fmu.step(arm.dt)
        simulation.step(STEP)
        assert fmu.values("hinge.shoulder.angle", "hinge.elbow.angle") == simulation.q.tolist()
    assert abs(simulation.v).max() > 1e-3


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("look", [False, True])
def test_stops_that_are_crossed_in_a_run(
    arm: System, run: Callable[[str], Run], version: str, look: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each alone is in its range; together they leave no way, also when an output was read in between."""
    fmu = run(version)
    fmu.step(arm.dt)
    fmu.tune("hinge.shoulder.lower", 1.5)
    if look:
        fmu.values("hinge.shoulder.torque")
    with pytest.raises(FMICallException):
        fmu.step(arm.dt)
    assert "cannot go on: the stops of velocity 'shoulder'" in capfd.readouterr().out
    fmu.fmu.reset()
    fmu.start()
    fmu.tune("hinge.shoulder.lower", 1.5)  # the order of two calls does not matter
    fmu.tune("hinge.shoulder.upper", 2.0)
    fmu.step(arm.dt)
    assert fmu.values("hinge.shoulder.angle")[0] > 0.0
