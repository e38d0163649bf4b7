"""A run that is paused, stepped and aborted by somebody outside."""

from __future__ import annotations

import threading
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError, ExitCode
from limberjack.hil.executive import Executive
from limberjack.hil.scenario.execution import run_scenario
from tests.bridge.telemetry.engines import until
from tests.hil.benches import FakeClock, FakeRecorder, fake
from tests.hil.progress_runs import write


class Paused:
    """An executive that runs in a thread and was paused before its first frame."""

    def __init__(self, simulation: lj.Simulation, frames: int, **options) -> None:
        self.recorder = FakeRecorder()
        self.bench = Executive(simulation, recorder=self.recorder, **options)
        self.bench.hold.pause("tester", "to look")
        self.outcome = None
        self._thread = threading.Thread(target=self._run, args=(frames * simulation.dt,), daemon=True)
        self._thread.start()
        until(lambda: self.kinds() == ["pause"], "the run did not wait")

    def _run(self, duration: float) -> None:
        self.outcome = self.bench.run(duration)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.bench.log.events]

    def end(self):
        self._thread.join(20.0)
        assert self.outcome is not None
        return self.outcome


def test_a_paused_run_takes_single_frames_and_then_the_rest(arm):
    run = Paused(arm, 10, paced=False, **fake())
    assert arm.step_count == 0
    for frames, reached in ((1, 1), (3, 4)):
        run.bench.hold.step("tester", frames)
        until(lambda reached=reached: len(run.recorder.rows) == reached + 1, "the frames did not come")
        assert run.bench.hold.paused
    run.bench.hold.resume("tester")
    outcome = run.end()
    assert outcome.reason == "completed"
    assert [(event.kind, event.source) for event in outcome.log.events] == [
        ("pause", "tester"), ("resume", "tester"), ("end", "completed"),
    ]  # fmt: skip
    assert outcome.log.events[0].text == "to look"


def test_a_pause_changes_no_bit(arm):
    straight = FakeRecorder()
    Executive(arm, paced=False, recorder=straight, **fake()).run(20 * arm.dt)
    arm.reset()
    run = Paused(arm, 20, paced=False, **fake())
    run.bench.hold.step("tester", 7)
    until(lambda: len(run.recorder.rows) == 8, "the frames did not come")
    run.bench.hold.resume("tester")
    run.end()
    assert np.array_equal(straight.rows, run.recorder.rows)


def test_a_pause_is_no_overrun_and_no_time_of_the_run(arm):
    clock = FakeClock()
    run = Paused(arm, 50, **fake(clock))
    clock.spend(3_600_000_000_000)
    run.bench.hold.resume("tester")
    outcome = run.end()
    frames = outcome.frames.statistics()
    assert (outcome.reason, frames.overruns) == ("completed", 0)
    assert frames.elapsed == pytest.approx(50 * arm.dt)
    assert frames.jitter.max == 0.0


def test_a_pause_in_the_middle_keeps_the_frames_times(arm):
    clock = FakeClock()
    bench = Executive(arm, **fake(clock))
    frame = iter(range(100))

    def wait_until(deadline_ns: int, before=clock.wait_until) -> int:
        if next(frame) == 20:
            bench.hold.pause("tester")
            threading.Timer(0.05, lambda: (clock.spend(10**9), bench.hold.resume("tester"))).start()
        return before(deadline_ns)

    clock.wait_until = wait_until
    frames = bench.run(50 * arm.dt).frames.statistics()
    assert (frames.frames, frames.overruns, frames.jitter.max) == (50, 0, 0.0)
    assert frames.elapsed == pytest.approx(50 * arm.dt)


def test_a_paused_run_can_be_stopped(arm):
    run = Paused(arm, 10, paced=False, **fake())
    run.bench.stop()
    assert run.end().reason == "stopped"


def test_a_step_of_no_frame_is_refused(arm):
    with pytest.raises(ArgumentError, match="frames"):
        Executive(arm, **fake()).hold.step("tester", 0)


def test_an_aborted_run_says_why_in_report_junit_and_exit_code(tmp_path: Path):
    result = run_scenario(write(tmp_path), out=tmp_path / "out", paced=False, visit=_aborting)
    assert result.exit_code == ExitCode.STOPPED == 130
    (first, *others) = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot().iter("testcase")
    failure = first.find("failure")
    assert failure is not None
    assert failure.get("type") == "aborted"
    assert "aborted: by tester: smoke <here>" in str(failure.get("message"))
    assert next(case.find("failure").get("type") for case in others if case.find("failure") is not None) == "undecided"
    page = (tmp_path / "out" / "report.html").read_text()
    assert '<span class="badge failed">aborted</span>' in page
    assert "by tester: smoke &lt;here&gt;" in page


class _aborting:
    """A visit that aborts the run before its first frame."""

    def __init__(self, built) -> None:
        self._bench = built.executive

    def __enter__(self) -> None:
        timeline = self._bench.timeline

        def begin(before=timeline.begin) -> None:
            before()
            self._bench.abort("tester", "smoke <here>")

        timeline.begin = begin

    def __exit__(self, *_) -> None:
        """Nothing is open."""
