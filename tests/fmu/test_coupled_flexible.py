"""FMUs of the process coupling with flexible bodies: the bits of `Simulation`, also from a saved state."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from tests.engine.kernels.flexible.models import MODELS
from tests.fmu.coupled_fmu import CoupledFmu, built, children
from tests.fmu.shim_build import OK
from tests.fmu.test_shim_booleans import boolean_place

pytestmark = pytest.mark.long
STEPS = 20


def agree(unit: CoupledFmu, sim: lj.Simulation, system: System) -> None:
    """Every number that the FMU shows is the simulation's."""
    assert np.array_equal(unit.values(unit.names(Region.Q, system)), sim.q)
    assert np.array_equal(unit.values(unit.names(Region.V, system)), sim.v)
    assert np.array_equal(*unit.observed(sim))
    for name in sim.output_names:
        if name.endswith(".valid"):
            seen = boolean_place(unit, unit.references[f"sensor.{name}"])
            assert seen == (OK, sim.output_vector[sim.output_names.index(name)] == 1.0)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_the_bits_of_a_simulation(name, version):
    system = MODELS[name]()
    with built(system) as folder:
        unit, sim = CoupledFmu(folder / "coupled.so", folder / "resources", system, version), lj.Simulation(system)
        try:
            assert unit.start() == OK, unit.log
            for command in unit.names(Region.COMMAND, system):
                assert unit.assign(command, 0.2) == OK
            sim.command_vector = np.full(len(system.command_names), 0.2)
            status, time = unit.step(0.0, STEPS * sim.dt)
            assert status == OK, unit.log
            sim.step(STEPS)
            agree(unit, sim, system)
            status, saved = unit.save()
            assert status == OK
            unit.step(time, STEPS * sim.dt)
            assert unit.restore(saved) == OK
            assert unit.step(time, STEPS * sim.dt)[0] == OK
            sim.step(STEPS)
            agree(unit, sim, system)
        finally:
            unit.free()
    assert children() == []
