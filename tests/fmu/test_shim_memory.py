"""Memory: none is asked for while the model runs, all is freed, and its end is an FMI error."""

from __future__ import annotations

import ctypes

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import (
    CO_SIMULATION,
    ERROR,
    MODEL_EXCHANGE,
    OK,
    TOY,
    Fmu,
    compile_c,
    location,
    shared_sources,
)
from tests.fmu.shim_model import DT, REFERENCE


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """The toy library with counted allocations."""
    renamed = [f"-D{name}=counted_{name}" for name in ("malloc", "calloc", "free")]
    sources = [*shared_sources(), TOY / "toy_kernels.c", TOY / "counted.c"]
    return compile_c(tmp_path_factory.mktemp("counted") / "toy.so", sources, "-shared", "-fPIC", *renamed)


class Counts:
    """The library's counters."""

    def __init__(self, library):
        self.lib = ctypes.CDLL(str(library))

    def __getattr__(self, name: str) -> int:
        return ctypes.c_long.in_dll(self.lib, f"toy_{name}").value

    def budget_of(self, allocations: int) -> None:
        ctypes.c_long.in_dll(self.lib, "toy_budget").value = allocations


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE])
def test_a_run_allocates_nothing_and_frees_all(counted, tmp_path, version, kind):
    counts = Counts(counted)
    fmu = Fmu(counted, version, kind, location(toy.PlantData().write(tmp_path / "resources"), version))
    assert 0 < counts.blocks <= 6
    made = counts.allocations
    assert fmu.start() == OK
    for k in range(10):
        fmu.assign("torque_command", 0.1 * k)
        if kind == CO_SIMULATION:
            assert fmu.step(k * DT, DT)[0] == OK
        else:
            fmu.set_states([0.1 * k + 1.0] * 9)
            assert fmu.numbers("GetEventIndicators", 4)[0] == OK
        fmu.value("energy")
        fmu.derivative([REFERENCE["der(v0)"]], [REFERENCE["angle"], REFERENCE["mass"]], [1.0, 1.0], 1)
    assert fmu.call("Reset") == OK
    assert fmu.get(10**6)[0] == ERROR
    assert counts.allocations == made
    assert fmu.save()[0] == OK  # not freed by the importer: freed with the instance
    assert fmu.save()[0] == OK
    fmu.free()
    assert counts.blocks == 0


def test_the_end_of_memory_is_an_error(counted, tmp_path, version):
    counts = Counts(counted)
    resources = location(toy.PlantData().write(tmp_path / "resources"), version)
    for allowed in range(20):
        counts.budget_of(allowed)
        fmu = Fmu(counted, version, CO_SIMULATION, resources)
        if fmu.c:
            break
        assert "no memory" in fmu.errors()[0]
        assert counts.blocks == 0
    assert 3 < allowed < 20
    counts.budget_of(0)
    assert fmu.save()[0] == ERROR
    assert "no memory" in fmu.log[-1][2]
    assert fmu.call("Reset") == OK
    counts.budget_of(-1)
    fmu.free()
    assert counts.blocks == 0


def test_refused_files_leave_no_memory_behind(counted, tmp_path, version):
    counts = Counts(counted)
    for data in (toy.PlantData(version=1), toy.PlantData(ints=(1, 2)), toy.with_row("angle", offset=9)):
        fmu = Fmu(counted, version, CO_SIMULATION, location(data.write(tmp_path / "resources"), version))
        assert fmu.c is None
        assert counts.blocks == 0
