"""Least heights of axes: every unit of every example has a floor of its own, far above rounding."""

from __future__ import annotations

from pathlib import Path

import pytest

from limberjack.bridge.telemetry.dictionary import dictionary_of
from limberjack.bridge.telemetry.spans import FLOORS, least_span
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.load import load

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.parametrize("name", ["space_manipulator", "cassini", "satellite_grasp", "solar_satellite"])
def test_every_quantity_of_a_model_has_a_floor(name):
    dictionary = dictionary_of(Simulation(load(EXAMPLES / f"{name}.yaml")))
    assert {each.unit for each in dictionary} <= {*FLOORS, ""}
    assert all(1e-10 < each.span < 1e-2 for each in dictionary)


def test_large_numbers_are_rounded_more():
    assert least_span("rad/s", 1e-13) == least_span("rad/s")
    assert least_span("J", 1e9) == pytest.approx(1.0)
    assert least_span("J", -1e9) == least_span("J", 1e9)
