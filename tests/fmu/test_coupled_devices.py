"""FMUs of the process coupling with instruments, motors and valves: the bits of `Simulation`, also when a step is taken
back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from tests.fmu.coupled_fmu import CoupledFmu, built, children
from tests.fmu.device_model import DT, equipped
from tests.fmu.shim_build import DISCARD, OK
from tests.fmu.test_shim_booleans import boolean_place

H = 0.01
COMMANDS = {"hinge.elbow.angle_command": "elbow drive", "thruster.late.force_command": "late"}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with built(equipped()) as folder:
        yield folder


@pytest.fixture
def coupled(place: Path) -> Iterator[CoupledFmu]:
    unit = CoupledFmu(place / "coupled.so", place / "resources", equipped(), 3)
    assert unit.start() == OK, unit.log
    yield unit
    unit.free()
    assert children() == []


class Twin:
    """An FMU and a Simulation that do the same; every number compared, and the truth values."""

    def __init__(self, unit: CoupledFmu) -> None:
        self.unit, self.sim, self.time = unit, lj.Simulation(equipped()), 0.0

    def command(self, *values: float) -> None:
        for (name, spoken), value in zip(COMMANDS.items(), values):
            assert self.unit.assign(name, value) == OK
            self.sim.command[spoken] = value

    def step(self, count: int) -> None:
        for _ in range(count):
            status, self.time = self.unit.step(self.time, H)
            assert status == OK, self.unit.log
        self.sim.step(round(count * H / DT))
        self.agree()

    def agree(self) -> None:
        assert np.array_equal(*self.unit.observed(self.sim))
        seen = boolean_place(self.unit, self.unit.references["sensor.tracker.valid"])
        assert seen == (OK, self.sim.output["tracker"][-1] == 1.0)


def test_the_bits_of_a_simulation_with_states_and_steps_taken_back(coupled):
    twin = Twin(coupled)
    twin.command(0.8, 12.0)
    twin.step(3)
    (status, saved), kept, time = coupled.save(), twin.sim.snapshot(), twin.time
    assert status == OK
    twin.command(-0.5, 0.0)
    twin.step(3)
    assert coupled.assign("noise.seed", 3.0) == coupled.assign("sensor.encoder.bias", 0.5) == OK
    twin.sim.parameters["noise.seed"], twin.sim.parameters["sensor.encoder.bias"] = 3.0, 0.5
    twin.step(2)

    assert coupled.assign("hinge.slide.damping", 1e9) == OK  # too stiff for the step: it diverges part of the way
    status, _ = coupled.step(twin.time, H)
    assert status == DISCARD, coupled.log
    assert coupled.assign("hinge.slide.damping", 0.5) == OK
    twin.step(2)

    assert coupled.restore(saved) == OK
    twin.sim.restore(kept)
    twin.sim.parameters["noise.seed"], twin.sim.parameters["sensor.encoder.bias"] = 7.0, 0.002
    twin.time = time
    twin.step(2)
