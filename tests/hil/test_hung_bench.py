"""A bench that hangs, or is killed, within its run: it is ended, and JUnit, result and exit code say so."""

from __future__ import annotations

import json
import time
import xml.etree.ElementTree

import pytest

from limberjack.cli import main
from limberjack.hil.record.mcap_file import McapFile
from tests.hil.test_scenario import PENDULUM, write

CONTROLLER = """
import os, signal, time

def hangs(wiring):
    def law(t, signals):
        if t > 0.2:
            time.sleep(600)
        return [0.0]
    return law

def dies(wiring):
    def law(t, signals):
        if t > 0.2:
            os.kill(os.getpid(), signal.SIGKILL)
        return [0.0]
    return law

def slow_to_begin(wiring):
    time.sleep(3.5)
    return lambda t, signals: [0.0]
"""
DEVICE = "devices:\n  - {{name: d, uri: 'python:culprit:{0}', signals: [v.swing], commands: [swing]}}\n"


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    (tmp_path / "culprit.py").write_text(CONTROLLER)
    return lambda which: write(tmp_path, DEVICE.format(which))


@pytest.mark.parametrize(
    ("which", "words"), [("hangs", "the bench hung: no frame for 1.5 s"), ("dies", "was killed by signal 9")]
)
@pytest.mark.parametrize("pace", [[], ["--no-pace"]], ids=["paced", "lockstep"])
def test_a_bench_that_does_not_come_to_its_end_is_reported(scenario, which, words, pace, tmp_path, capfd):
    out, begun = tmp_path / "out", time.monotonic()
    job = [
        "hil",
        str(scenario(which)),
        "--out",
        str(out),
        "--hung-after",
        "1.5",
        "--set",
        "pacing.real_time=true",
        *pace,
    ]
    assert main(job) == 3
    assert time.monotonic() - begun < 120.0
    assert words in capfd.readouterr().err
    result = json.loads((out / "result.json").read_text())
    assert (result["passed"], result["exit_code"]) == (False, 3)
    assert words in result["text"]
    suite = xml.etree.ElementTree.parse(out / "junit.xml").find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    until = time.monotonic() + 30.0
    while not (record := McapFile(out / "record.mcap")).read().numbers.size and time.monotonic() < until:
        time.sleep(0.05)
    assert record.read().rows[-1][0] == pytest.approx(0.2, abs=0.02)  # what the bench did is in the record


@pytest.mark.long
def test_a_bench_that_is_watched_comes_out_as_one_that_is_not(scenario, tmp_path):
    out = tmp_path / "out"
    job = ["hil", str(scenario("slow_to_begin")), "--out", str(out), "--no-pace", "--set", "duration=0.3"]
    assert main([*job, "--hung-after", "3"]) == 0  # a bench that begins slowly does not hang
    watched = McapFile(out / "record.mcap").read().rows
    assert main(job) == 0
    assert McapFile(out / "record.mcap").read().rows.tobytes() == watched.tobytes()


def test_a_time_that_is_none(scenario, capsys):
    assert main(["hil", str(scenario("hangs")), "--hung-after", "-1"]) == 2
    assert "--hung-after" in capsys.readouterr().err
