"""The script of the slews with uncertain modes: its law against differences and rotations, its spread."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from limberjack.examples import slew_spread as scene
from limberjack.examples.scenarios.slew_control import deviation, profile
from limberjack.hil.scenario.scenario_file import load_scenario

SCENARIO = Path(scene.__file__).parent / "scenarios" / "slew_spread.yaml"


def test_rates_and_accelerations_are_the_slopes_of_the_profile():
    slew = {name: np.array([value, 1.5 * value]) for name, value in scene.SLEW.items()}
    for time in (6.0, 13.0, 40.0, 64.0, 90.0):
        before, now, after = (profile(time + step, slew) for step in (-1e-4, 0.0, 1e-4))
        np.testing.assert_allclose(now[1], (after[0] - before[0]) / 2e-4, atol=1e-9)
        np.testing.assert_allclose(now[2], (after[1] - before[1]) / 2e-4, atol=1e-9)
    end = profile(1000.0, slew)
    np.testing.assert_allclose(end[0], slew["angle"], rtol=1e-12)
    np.testing.assert_allclose(end[1:], 0.0, atol=1e-15)


def test_deviations_are_small_rotations_from_the_target():
    half, small = 0.5 * 0.3, np.array([1e-5, -2e-5, 3e-5])
    target = np.array([np.cos(half), np.sin(half), 0.0, 0.0])
    w, v = 1.0, 0.5 * small
    attitude = np.array([target[0] * w - target[1] * v[0], *(target[0] * v + w * target[1:] + np.cross(target[1:], v))])
    for sign in (1.0, -1.0):
        np.testing.assert_allclose(deviation(sign * attitude[None], np.array([0.3]))[0], small, atol=1e-12)


def test_the_scenario_has_the_slew_of_the_script():
    assert load_scenario(SCENARIO).spec.devices[0].options["slew"] == scene.SLEW


@pytest.mark.long
def test_wings_that_differ_swing_more_and_their_spread_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(scene, "WORLDS", 40)
    text = scene.slew_spread(tmp_path)
    assert (tmp_path / "slew_spread.png").stat().st_size > 20_000
    alone, median, most = (float(number) for number in re.findall(r"([\d.]+)e-3", text))
    assert alone < 0.1 * most
    assert alone < median < most
