"""Models that the tests of the bench share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

import limberjack as lj

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(autouse=True)
def frozen() -> Iterator[None]:
    """Runs collect garbage before they begin and thaw all objects when they end: those of the tests stay left alone."""
    yield
    gc.freeze()


@pytest.fixture(scope="session")
def arm_simulation():
    return lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml"), dt=1e-3)


@pytest.fixture
def arm(arm_simulation):
    """The space manipulator at its initial state."""
    arm_simulation.reset()
    return arm_simulation
