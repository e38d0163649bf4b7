"""Scenarios as tests: `pytest_plugins = ["limberjack.hil.scenario.pytest_plugin"]` in conftest.py.

def test_wheel_failure(run_hil):
    result = run_hil("scenarios/wheel_failure.yaml", seed=3)
    assert result.values["reaches the target"] < 70.0
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.results import Result
from limberjack.hil.scenario.scenario_file import Scenario


@pytest.fixture
def run_hil(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Result]:
    """Runs a scenario in lockstep and fails the test where it fails, with its verdicts and the report's folder.

    The function takes a path (relative ones begin at the test's file) or a Scenario, check=False to judge yourself, and
    what `run_scenario` takes.
    """

    folders = (tmp_path / ("hil" if number == 1 else f"hil_{number}") for number in itertools.count(1))

    def run(source: Path | str | Scenario, *, check: bool = True, **options: Any) -> Result:
        found = source if isinstance(source, Scenario) else request.path.parent / source
        result = run_scenario(found, **{"out": next(folders), "paced": False, **options})
        if check and not result.passed:
            pytest.fail(f"{result.name}, report in {result.folder}:\n{result.explain()}", pytrace=False)
        return result

    return run
