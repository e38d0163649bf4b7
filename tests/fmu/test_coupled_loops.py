"""FMUs of the process coupling with closed loops: the bits of `Simulation` across attach and release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.native.plant_file import Region
from tests.fmu.closed_model import docking
from tests.fmu.coupled_fmu import CoupledFmu, built, children
from tests.fmu.shim_build import OK
from tests.fmu.test_shim_booleans import assign_place, boolean_place

H = 0.01


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with built(docking()) as folder:
        yield folder


@pytest.fixture
def coupled(place: Path) -> Iterator[Callable[[int], CoupledFmu]]:
    """Makes instances, each with an engine process of its own."""
    made: list[CoupledFmu] = []

    def make(version: int) -> CoupledFmu:
        made.append(CoupledFmu(place / "coupled.so", place / "resources", docking(), version))
        assert made[-1].start() == OK, made[-1].log
        return made[-1]

    yield make
    for unit in made:
        unit.free()
    assert children() == []


class Twin:
    """An FMU and a Simulation that do the same; every number compared, and the truth values."""

    def __init__(self, unit: CoupledFmu) -> None:
        self.unit, self.sim, self.time = unit, lj.Simulation(docking()), 0.0

    def switch(self, loop: str, close: bool) -> None:
        assert assign_place(self.unit, self.unit.references[f"loop.{loop}.closed"], close) == OK
        self.sim.command[f"{loop}.closed"] = float(close)

    def step(self, count: int) -> None:
        for _ in range(count):
            status, self.time = self.unit.step(self.time, H)
            assert status == OK, self.unit.log
        self.sim.step(round(count * H / self.sim.dt))
        self.agree()

    def agree(self) -> None:
        system = self.sim.system
        assert np.array_equal(self.unit.values(self.unit.names(Region.Q, system)), self.sim.q)
        assert np.array_equal(self.unit.values(self.unit.names(Region.V, system)), self.sim.v)
        assert np.array_equal(*self.unit.observed(self.sim))
        held = boolean_place(self.unit, self.unit.references["sensor.held"])
        assert held == (OK, self.sim.closed("grasp"))


@pytest.mark.parametrize("version", [2, 3])
def test_the_bits_of_a_simulation_across_attach_and_release(coupled, version):
    twin = Twin(coupled(version))
    twin.step(3)
    twin.switch("grasp", True)
    twin.step(4)
    assert twin.sim.closed("grasp")
    assert twin.sim.impacts["grasp"] > 0.0
    twin.switch("brake", True)
    twin.step(2)
    twin.switch("grasp", False)
    twin.step(2)
    assert not twin.sim.closed("grasp")
    twin.switch("brake", False)
    twin.step(2)


def test_saved_states_know_what_is_closed(coupled):
    unit = coupled(3)
    twin = Twin(unit)
    twin.switch("grasp", True)
    twin.step(2)
    (status, saved), kept, time = unit.save(), twin.sim.snapshot(), twin.time
    assert status == OK
    twin.switch("grasp", False)
    twin.step(2)
    assert unit.restore(saved) == OK
    twin.sim.restore(kept)
    twin.time = time
    twin.agree()
    twin.step(2)
    assert twin.sim.closed("grasp")
