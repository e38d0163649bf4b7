"""Verdicts on runs that should not pass: late frames, controllers that died, windows that were never reached."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree
from pathlib import Path

import pytest

from limberjack.cli import main
from limberjack.hil.events import Event, EventLog
from limberjack.hil.executive import Outcome
from limberjack.hil.frame_times import FrameLog
from limberjack.hil.overruns import OverrunPolicy, Overruns
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.real_time import judge_pace
from limberjack.hil.scenario.schema import PacingSpec
from tests.hil.test_scenario import PENDULUM, controllers, of, verdict, write

MS = 1_000_000
BOUNDED = "criteria:\n  - {name: small, type: bounds, signals: [q.swing], upper: 1}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    return tmp_path


def paced(frames: int, late: dict[int, int], period_ns: int = 4 * MS, **fields: object) -> tuple[bool, str]:
    """Verdict on a run whose frame k ended late[k] ns after its deadline, the others in time."""
    pacing = PacingSpec.model_validate(fields)
    log, overruns = FrameLog(period_ns, 1), Overruns(OverrunPolicy(start_up_frames=pacing.start_up_frames), period_ns)
    for frame in range(1, frames + 1):
        overruns.count(frame, -late.get(frame, -1))
    log.frames = frames
    (found,) = judge_pace(pacing, Outcome("completed", "", log, EventLog(), overruns=overruns))
    return found.passed, found.text


def test_many_overruns_fail_a_run_and_few_do_not():
    late = dict.fromkeys(range(1, 1121), 300 * MS)  # as seen: 1120 of 6000 frames, by up to 300 ms
    passed, text = paced(6000, late)
    assert not passed
    assert text.startswith("1120 of 6000 frames overran (18.7 %), by up to 300 ms; at most 1 % may, by at most 40 ms")
    assert paced(6000, late, overrun_share=0.2, most_late_s=0.3)[0]
    assert not paced(6000, late, overrun_share=0.18, most_late_s=0.3)[0]
    assert not paced(6000, late, overrun_share=0.2, most_late_s=0.299)[0]


@pytest.mark.parametrize(
    ("frames", "late", "period_ns", "passes"),
    [
        (100, {7: MS}, 4 * MS, True),
        (100, {7: MS, 8: MS}, 4 * MS, False),  # 2 % of the frames
        (99, {7: MS}, 4 * MS, False),
        (1000, {7: 40 * MS}, 4 * MS, True),  # ten frames
        (1000, {7: 40 * MS + 1}, 4 * MS, False),
        (1000, {7: 20 * MS}, MS, True),  # short frames: 20 ms
        (1000, {7: 20 * MS + 1}, MS, False),
    ],
)
def test_the_bounds_of_pace(frames, late, period_ns, passes):
    assert paced(frames, late, period_ns)[0] is passes


def test_frames_of_the_start_up_are_not_judged():
    late = dict.fromkeys(range(1, 11), 500 * MS)
    assert not paced(100, late)[0]
    assert paced(100, late, start_up_frames=10)[0]
    passed, text = paced(10, late, start_up_frames=10)
    assert (passed, text[:35]) == (False, "no frame ran after the 10 of the st")


@pytest.mark.long
def test_a_slow_controller_fails_a_paced_run_and_only_that(folder, capsys):
    """Each frame of 10 ms takes 15 ms: whatever the machine, nearly all overrun."""
    (folder / "slow.py").write_text(
        "import time\ndef law(wiring):\n    return lambda t, s: time.sleep(0.015) or [0.0]\n"
    )
    path = write(folder, BOUNDED + "devices:\n  - {name: d, uri: 'python:slow:law', commands: [swing]}\n")
    paced, out = ["--set", "pacing.real_time=true"], folder / "out"
    assert main(["hil", str(path), "--out", str(out), *paced]) == 1
    assert "real time of the run" in capsys.readouterr().out
    (case,) = xml.etree.ElementTree.parse(out / "junit.xml").findall(".//testcase[@name='real time of the run']")
    result = next(c for c in json.loads((out / "result.json").read_text())["criteria"] if c["name"].startswith("real"))
    for text in (case.find("failure").get("message"), result["text"], (out / "report.html").read_text()):
        assert re.search(r"\d+ of 50 frames overran .* at most 1 % may, by at most 100 ms", text)
    relaxed = ["--set", "pacing.overrun_share=1", "--set", "pacing.most_late_s=100"]
    assert main(["hil", str(path), "--out", str(out), *paced, *relaxed]) == 0
    assert main(["hil", str(path), "--out", str(out)]) == 0  # in lockstep nothing is late
    assert "real time" not in (out / "junit.xml").read_text()


@pytest.mark.parametrize("expect", ["completed", "tripped"])
def test_a_controller_that_crashed_at_0_s_passes_no_criterion_and_is_quoted(folder, expect):
    text = f"expect: {expect}\n{BOUNDED}  - {{name: quiet, type: no_event, kind: fault}}\n"
    program = "import sys; print('gains read', flush=True); sys.exit('no torque sensor\\nwithout it, no servo')"
    result = run_scenario(write(folder, text + controllers(program, start_s=60.0)), out=folder / "out")
    assert [found.word for found in result.criteria[:3]] == ["failed", "undecided", "undecided"]
    assert not result.passed
    ending, small, _ = result.criteria[:3]
    assert ending.text.endswith("\nc.log ends with:\n  gains read\n  no torque sensor\n  without it, no servo")
    assert small.text.startswith("the run ended at 0 s, before 0.5 s")
    assert "UNDECIDED  small" in result.explain()
    page = (folder / "out" / "report.html").read_text()
    assert "without it, no servo" in page
    assert '<span class="badge undecided">undecided</span>' in page
    cases = xml.etree.ElementTree.parse(folder / "out" / "junit.xml").findall(".//failure")
    assert [case.get("type") for case in cases] == ["criterion", "undecided", "undecided"]
    assert "without it, no servo" in cases[0].text


def test_only_the_end_of_a_long_output_is_quoted(folder):
    program = "for i in range(100_000): print(i, '\\033[31m', 'x' * 300)\nraise SystemExit(1)"
    ending = run_scenario(write(folder, controllers(program, start_s=60.0))).criteria[0]
    lines = ending.text.split("\n")[2:]
    assert [line.split()[0] for line in lines] == [str(i) for i in range(99_992, 100_000)]
    assert max(map(len, lines)) <= 202
    assert "\033" not in ending.text


@pytest.mark.parametrize(
    ("criterion", "word"),
    [
        (of("bounds", "x", upper=9.0), "undecided"),
        (of("bounds", "x", upper=0.5), "failed"),  # left at 0 s: that stays so
        (of("settling", "x", target=-0.2, tolerance=0.01, within=15.0), "undecided"),
        (of("settling", "x", target=-0.2, tolerance=0.01, within=4.0), "failed"),  # settles at 4.61 s
        (of("settling", "y", target=0.0, tolerance=0.1, within=15.0), "undecided"),
        (of("settling", "x", target=0.5, tolerance=0.1, within=9.0), "failed"),  # outside at 10 s, after 9 s
        (of("rms", "y", most=9.0), "undecided"),
        (of("rms", "y", most=9.0, until=9.0), "passed"),
        (of("final", "x", target=-0.2, tolerance=1.0), "undecided"),
        (of("deadline", "x", below=0.0, by=15.0), "passed"),
        (of("deadline", "x", below=-9.0, by=15.0), "undecided"),
        (of("deadline", "x", below=-9.0, by=9.0), "failed"),
        (of("event", kind="trip"), "passed"),
        (of("event", kind="trip", least=2), "undecided"),
        (of("event", kind="trip", least=2, until=9.0), "failed"),
        (of("no_event", kind="trip"), "failed"),
        (of("no_event", kind="fault"), "undecided"),
        (of("no_event", kind="fault", until=9.0), "passed"),
        (of("bounds", "x", upper=9.0, start=12.0), "undecided"),
    ],
)
def test_what_a_run_that_ended_at_10_s_of_20_s_decides(criterion, word):
    log = EventLog()
    log.add(Event(2.0, "trip", "speed", "too fast"))
    found = verdict(criterion, log, duration=20.0, meant=False)
    assert found.word == word, found.text
    assert found.text.startswith("the run ended at 10 s, before ") == found.undecided


@pytest.mark.parametrize("begins", [False, True])
def test_a_fault_that_never_began_is_named(folder, begins):
    text = "faults:\n  - {name: reversal, type: reversed, commands: [swing]}\n"
    timeline = "timeline:\n  - {at: 0.1, fault: reversal}\n" if begins else ""
    ending = run_scenario(write(folder, text + timeline)).criteria[0]
    assert ending.passed
    assert ("fault 'reversal' never began: the timeline begins" in ending.text) == (not begins)
