"""Exported FMUs of the process coupling in FMPy, each with an engine of its own: the simulation's bits."""

from __future__ import annotations

from importlib.resources import as_file, files

import fmpy
import numpy as np
import pytest

import limberjack as lj
from limberjack.fmu.export import export_fmu
from tests.fmu.coupled_fmu import COMMAND, children
from tests.fmu.shim_build import compiler

STEP, COUNT = 0.01, 50


@pytest.fixture(scope="module")
def manipulator():
    with as_file(files("limberjack.examples") / "space_manipulator.yaml") as path:
        return lj.load(path)


@pytest.mark.parametrize(("fmi", "scalar"), [("3.0", False), ("3.0", True), ("2.0", True)])
def test_fmpy_gets_the_bits_of_the_simulation(manipulator, tmp_path, fmi, scalar):
    compiler()
    path = export_fmu(manipulator, tmp_path / "arm.fmu", coupling="process", fmi=fmi, scalar=scalar)
    description = fmpy.read_model_description(path, validate=True)
    assert description.coSimulation.needsExecutionTool
    assert description.modelExchange is None
    found = fmpy.simulate_fmu(
        path, start_values={"engine.command": COMMAND}, stop_time=COUNT * STEP, output_interval=STEP
    )
    names = [f"hinge.{name}" for name in manipulator.coordinate_names]
    assert len(found) == COUNT + 1
    simulation = lj.Simulation(manipulator)
    for k, row in enumerate(found):
        simulation.step(round(STEP / simulation.dt) if k else 0)
        if not scalar:
            assert np.array_equal(row["q"], simulation.q)
            assert np.array_equal(row["tau"], simulation.tau)
        for name, value in zip(names, simulation.q):
            given = name if name in found.dtype.names else f"{name}.angle"
            assert row[given] == value
    assert children() == []
