"""Fixtures that several tests of FMUs use."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from limberjack.engine.model.system import System
from tests.fmu import coupled_fmu
from tests.fmu.shim_build import Fmu, build_library, location
from tests.fmu.shim_model import PlantData


@pytest.fixture(scope="session")
def shim_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shim with the toy model, compiled once."""
    return build_library(tmp_path_factory.mktemp("shim"))


@pytest.fixture(params=[2, 3])
def version(request: pytest.FixtureRequest) -> int:
    """Of the FMI."""
    return request.param


@pytest.fixture
def opened(shim_library: Path, tmp_path: Path, version: int) -> Iterator[Callable[..., Fmu]]:
    """Opens instances of the toy FMU in this test's version and frees them at its end."""
    folder, made = PlantData().write(tmp_path / "resources"), []

    def open_(kind: str, **options: Any) -> Fmu:
        fmu = Fmu(shim_library, version, kind, location(folder, version), **options)
        made.append(fmu)
        assert fmu.c, fmu.log
        return fmu

    yield open_
    for fmu in made:
        if fmu.c:
            fmu.free()


@pytest.fixture(scope="module")
def arm() -> System:
    """The model of the FMUs that are coupled to an engine process."""
    return coupled_fmu.load_arm()


@pytest.fixture(scope="module")
def place(arm: System) -> Iterator[Path]:
    """A folder with the library of the process coupling and the resources, short enough for local sockets."""
    folder = Path(tempfile.mkdtemp(prefix="ljt"))
    coupled_fmu.build_library(folder)
    coupled_fmu.write_resources(folder, arm)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def fmu(place: Path, arm: System) -> Iterator[Callable[..., coupled_fmu.CoupledFmu]]:
    """Makes coupled instances, which are freed at the end; no engine may then be left."""
    made: list[coupled_fmu.CoupledFmu] = []

    def make(version: int = 3, **settings: object) -> coupled_fmu.CoupledFmu:
        made.append(coupled_fmu.CoupledFmu(place / "coupled.so", place / "resources", arm, version, **settings))
        return made[-1]

    yield make
    for instance in made:
        if instance.c:
            instance.free()
    assert coupled_fmu.children() == []


@pytest.fixture
def address() -> Iterator[str]:
    """Of an engine that a test runs itself."""
    folder = Path(tempfile.mkdtemp(prefix="lje"))
    yield f"ipc://{folder}/e"
    shutil.rmtree(folder)
