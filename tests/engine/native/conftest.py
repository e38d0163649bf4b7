"""Compiled models for the tests of the C interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import limberjack as lj
from limberjack.engine.model.system import System
from tests.engine.native.c_model import OK, CModel

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., CModel]]:
    """Compiles a model, opens it in C, and closes it in the end."""
    models: list[CModel] = []

    def open_(system: System, **options: object) -> CModel:
        model = CModel(lj.compile_model(system, tmp_path / f"{len(models)}.ljm", **options))  # type: ignore[arg-type]
        models.append(model)
        assert model.opened == OK, model.error
        return model

    yield open_
    for model in models:
        model.close()


@pytest.fixture
def arm() -> System:
    """Seven joints with drives that take torques."""
    return lj.load(EXAMPLES / "torque_arm.yaml")


@pytest.fixture
def array() -> System:
    """A solar array with two locks that may be switched."""
    return lj.load(EXAMPLES / "solar_array.yaml")
