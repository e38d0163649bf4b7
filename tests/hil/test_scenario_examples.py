"""The shipped scenarios, in lockstep: they pass, they repeat bit for bit, and without their remedy they fail."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from limberjack.cli import main
from limberjack.hil.scenario.execution import run_scenario
from tests.hil.links import free_port

SCENARIOS = Path(__file__).resolve().parents[2] / "examples" / "scenarios"


NAMES = sorted(path.stem for path in SCENARIOS.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_shipped_scenarios_pass(name):
    result = run_scenario(SCENARIOS / f"{name}.yaml", paced=False)
    assert result.passed, result.explain()
    assert result.exit_code == 0
    assert result.folder is None


@pytest.mark.long
def test_the_servo_in_c_repeats_on_a_link_that_is_late_and_loses():
    port = str(free_port())
    folder, files = "{folder}/../servo_controller", ("servo.c", "servo_udp.c", "servo_can.c")
    program = ["{python}", "-m", "limberjack.hil.c_program", *(f"{folder}/{file}" for file in files)]
    program += ["udp", port, "0.001"]
    uri = f"udp://127.0.0.1:{port}?layout=../servo_controller/servo_layout.yaml"
    changed = {"devices[servo].uri": uri, "controllers[servo].command": program, "pacing.answer_limit_s": 20}
    results = [run_scenario(SCENARIOS / "servo_in_c.yaml", overrides=changed, seed=seed) for seed in (3, 3, 4)]
    assert all(result.passed for result in results), results[0].explain()
    first, again, other = (result.built.tape.table for result in results)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_ones():
    path = SCENARIOS / "joint_step.yaml"
    first, again, other = (run_scenario(path, seed=seed).built.tape.table for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    before = first[:, 0] < 2.0  # the noise begins at 2 s
    assert np.array_equal(first[before], other[before])
    assert not np.array_equal(first, other)


def test_a_failed_criterion_is_exit_code_1_and_a_failure_in_junit(tmp_path, capsys):
    out = tmp_path / "out"
    job = ["hil", str(SCENARIOS / "joint_step.yaml"), "--out", str(out), "--set", "criteria[settles].within=0.1"]
    assert main(job) == 1
    assert "FAILED" in capsys.readouterr().out
    suite = ElementTree.parse(out / "junit.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("8", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["settles"]
    summary = json.loads((out / "result.json").read_text())
    assert summary["passed"] is False
    assert [found["name"] for found in summary["criteria"] if not found["passed"]] == ["settles"]
    table = np.genfromtxt(out / "signals.csv", delimiter=",", names=True)
    assert table["time"][-1] == 3.0
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 3
    assert "http" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")


def test_without_its_wheels_the_satellite_misses_its_target():
    dead = {"faults[wheel_2_dead].commands": ["wheel_?"]}
    result = run_scenario(SCENARIOS / "wheel_failure.yaml", overrides=dead)
    failed = {verdict.name for verdict in result.criteria if not verdict.passed}
    assert "reaches the target" in failed
