"""Fixtures that several tests of FMUs use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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

    def open_(kind: str, **options: bool) -> Fmu:
        fmu = Fmu(shim_library, version, kind, location(folder, version), **options)
        made.append(fmu)
        assert fmu.c, fmu.log
        return fmu

    yield open_
    for fmu in made:
        fmu.free()
