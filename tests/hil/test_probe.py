"""What a probe says of a machine whose speed is made up, and the command on this one."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from limberjack.cli import main
from limberjack.commands.countdown import Countdown
from limberjack.hil.events import EventLog
from limberjack.hil.executive import Executive, Outcome
from limberjack.hil.frame_times import FrameLog
from limberjack.hil.frame_times_plot import frames_figure
from limberjack.hil.probe import Probe, Trial, _rates, _search, bare_loop, probe, run_at
from limberjack.hil.realtime_rights import RealtimeRights
from tests.hil.benches import FakeClock
from tests.hil.conftest import EXAMPLES

RAN = Outcome("completed", "", FrameLog(1000, 1), EventLog())


def statistics(overruns, frames=10_000):
    log = FrameLog(1000, 1)
    log.frames, log.overruns = frames, overruns
    return log.statistics()


@pytest.mark.parametrize(("fastest", "found"), [(3000.0, 2500.0), (2000.0, 2000.0), (1e5, 8000.0), (120.0, None)])
def test_the_search_ends_at_the_highest_clean_rate(fastest, found):
    """A machine that overruns above `fastest`."""
    tried = []

    def attempt(rate):
        tried.append(rate)
        return Trial(rate, statistics(0 if rate <= fastest else 5))

    trials = _search(_rates(150.0, 9000.0), attempt)
    probe = Probe(1000.0, None, None, tuple(trials))
    assert probe.highest_hz == found
    assert probe.nearly_hz == 8000.0
    assert len(tried) == len(set(tried)) <= 9
    assert [trial.rate_hz for trial in trials] == sorted(tried, reverse=True)


@pytest.mark.parametrize(("rate", "steps"), [(100.0, 10), (800.0, 2), (1000.0, 1), (3000.0, 1)])
def test_slower_frames_have_several_steps(arm, monkeypatch, rate, steps):
    found = []
    monkeypatch.setattr(Executive, "run", lambda self, seconds: found.append((self.steps, self.period)) or RAN)
    assert run_at(arm.system, rate, 1.0, None, RealtimeRights()) is RAN
    assert found == [(steps, pytest.approx(1.0 / rate))]


def test_the_user_may_stop_a_probe(arm, monkeypatch):
    monkeypatch.setattr(Executive, "run", lambda self, seconds: dataclasses.replace(RAN, reason="stopped"))
    with pytest.raises(KeyboardInterrupt):
        run_at(arm.system, 1000.0, 1.0, None, RealtimeRights())


def test_a_rate_at_which_the_model_fails_is_not_sustained():
    trial = Trial(10.0, statistics(0, 3), completed=False)
    assert not trial.clean
    assert not trial.nearly


def test_an_empty_loop_counts_what_the_machine_does():
    late = np.random.default_rng(3).integers(0, 1_300_000, 400)
    log = bare_loop(1000.0, 0.4, RealtimeRights(freeze=False), FakeClock(lambda k: int(late[k])))
    found = log.statistics()
    assert found.frames == 400
    assert found.overruns == log.overruns > 0
    assert found.compute.max == 0.0


def test_histograms_are_drawn_of_all_frames():
    log = FrameLog(1_000_000, 10)
    for k in range(200):
        deadline = k * 1_000_000
        log.add(deadline, deadline + 17 * k, deadline + 17 * k + 100_000 + 311 * k)
    axes = frames_figure(log, "title", log).axes
    assert len(axes) == 4
    for axis in axes:
        assert sum(axis.patches[0].get_data().values) == 200


def test_what_is_left_is_said_before_each_part(monkeypatch):
    """Never more than was said, and all of it is tried: 3 + 2 of 9 rates where every third is as long as it can be."""
    said = []
    monkeypatch.setattr("limberjack.hil.probe.bare_loop", lambda *_: None)
    outcome = SimpleNamespace(reason="completed", frames=SimpleNamespace(statistics=lambda: usual))
    usual = SimpleNamespace(compute=SimpleNamespace(p50=1e-3), overruns=1, frames=1)
    monkeypatch.setattr("limberjack.hil.probe.run_at", lambda *_: outcome)
    found = probe(SimpleNamespace(dt=1e-3), rate_hz=1000.0, seconds=10.0, say=lambda *each: said.append(each))
    lefts = [left for _, left in said]
    assert said[0][0] == "an empty loop at 1000 Hz, 10 s"
    assert said[1][0] == "the model at 1000 Hz, 10 s"
    assert len(said) == 2 + len(found.trials)
    assert lefts == sorted(lefts, reverse=True)
    assert lefts[-1] >= 2.0
    assert lefts[0] >= 20.0 + 2.0 * len(found.trials)


def test_the_countdown_is_lines_in_a_pipe(capfd):
    with Countdown() as countdown:
        countdown.say("one", 75.0)
        countdown.say("two", 5.0)
    assert capfd.readouterr().err == "one; at most 1 min 15 s to go\ntwo; at most 5 s to go\n"


def test_the_command(capsys, tmp_path):
    model = str(EXAMPLES / "space_manipulator.yaml")
    assert main(["hil", "--probe", model, "--seconds", "0.01", "--rate", "1e6", "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    for words in ("space_manipulator at 1e+06 Hz", "real-time factor", "empty loop", "highest rate tried"):
        assert words in text
    assert (tmp_path / "out" / "frames.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "wrong", [["--rate", "0"], ["--rate", "1e9"], ["--seconds", "-1"], ["--priority", "100"], ["--cpu", "4095"]]
)
def test_options_that_cannot_be(capsys, wrong):
    assert main(["hil", "--probe", str(EXAMPLES / "space_manipulator.yaml"), *wrong]) == 2
    assert capsys.readouterr().err.startswith("limberjack: ")
