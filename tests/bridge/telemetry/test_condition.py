"""The state of an engine as the gateway sees it: what is heard and what is not, with a clock that tests set."""

from __future__ import annotations

import os
import signal

import pytest

from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.condition import Pulse
from tests.bridge.telemetry.engines import Recorder, engine, gateway, until

FREE = {"mode": "free-running", "steps_per_cycle": 2}
LOCKSTEP = {"mode": "lockstep"}


class Heard:
    """A pulse, its clock, and what a source would report to it."""

    def __init__(self, about: dict) -> None:
        self.now, self.steps, self.late = 100.0, 0, 0
        self.pulse = Pulse(lambda: self.now)
        self.about = about
        self.pulse.meet(about)

    def second(self, states: int, late: int = 0, failure: str | None = None) -> None:
        """A second with so many states, two steps each, and a heartbeat at its end."""
        for _ in range(states):
            self.now += 1.0 / states
            self.pulse.hear("state", None)
        self.now += 0.0 if states else 1.0
        self.steps, self.late = self.steps + 2 * states, self.late + late
        self.pulse.hear("heartbeat", {"step_count": self.steps, "overruns": self.late, "failure": failure})

    def state(self, later: float = 0.0) -> str:
        self.now += later
        return self.pulse.condition().state


def test_before_and_after_a_connection_the_engine_is_gone():
    assert Pulse().condition().state == "gone"
    heard = Heard(FREE)
    heard.second(100)
    assert heard.state() == "live"
    heard.pulse.lose()
    heard.now += 3.0
    condition = heard.pulse.condition()
    assert (condition.state, condition.current, condition.text, condition.age_s) == (
        "gone",
        False,
        "engine gone, last heard 3 s ago",
        3.0,
    )
    heard.pulse.meet(FREE)
    assert heard.state() == "live"


def test_silence_of_a_flow_is_stale_within_a_second_and_of_heartbeats_after_more():
    heard = Heard(FREE)
    heard.second(100)
    assert heard.state(0.5) == "live"
    assert heard.state(0.2) == "stale"
    condition = heard.pulse.condition()
    assert not condition.current
    assert condition.text == "stale: nothing from the engine for 0.7 s"
    heard.pulse.hear("state", None)
    assert heard.state() == "live"
    slow = Heard(FREE)
    slow.second(1)
    assert slow.state(2.4) == "live"
    assert slow.state(0.2) == "stale"


def test_an_engine_in_lockstep_is_paused_while_nobody_steps_it():
    heard = Heard(LOCKSTEP)
    assert heard.state() == "paused"
    heard.second(100)
    assert heard.state() == "live"
    assert heard.state(0.7) == "paused"
    assert heard.pulse.condition().current
    heard.second(0)
    assert heard.state() == "paused"
    assert heard.state(2.6) == "stale"


def test_a_failed_engine_is_failed_until_it_goes_on():
    heard = Heard(FREE)
    heard.second(100)
    heard.second(0, failure="not finite")
    assert heard.state() == "failed"
    heard.second(100)
    assert heard.state() == "live"


@pytest.mark.parametrize(("late", "state"), [(1, "live"), (2, "overrunning"), (31, "overrunning")])
def test_an_engine_that_misses_the_clock_is_overrunning(late, state):
    heard = Heard(FREE)
    heard.second(100, late=50)  # before the first heartbeat: nothing to compare with
    assert heard.state() == "live"
    for _ in range(5):
        heard.second(100, late=late)
    assert heard.state() == state
    for _ in range(5):
        heard.second(100)
    assert heard.state() == "live"


def test_a_reset_counts_again():
    heard = Heard(FREE)
    for _ in range(3):
        heard.second(100, late=50)
    assert heard.state() == "overrunning"
    heard.steps = 0
    heard.second(100)
    assert heard.state() == "live"


def test_the_gateway_reports_an_engine_that_is_stopped_killed_and_stepped(arm, endpoint):
    """As an operator meets them: frozen, resumed, killed; what went silent is reported once."""
    recorder = Recorder()
    settings = Settings(endpoint="tcp://127.0.0.1:*", mode="free-running", rate_hz=100.0)
    with EngineProcess(arm, settings) as process, gateway(process.endpoints.request, recorder) as running:
        until(lambda: running.condition().state in ("live", "overrunning"), "not live")
        until(lambda: len(recorder.samples) > 150, "no steady flow")  # frozen while it answers, it would be gone
        os.kill(process.pid, signal.SIGSTOP)
        until(lambda: running.condition().state == "stale", "not stale")
        until(lambda: recorder.texts("link"), "no notice of the silence")
        os.kill(process.pid, signal.SIGCONT)
        until(lambda: running.condition().current, "not live again")
        until(lambda: "the engine sends again." in recorder.texts("link"), "no notice of its end")
        process.kill()
        until(lambda: running.condition().state == "gone", "not gone")
    with engine(arm, endpoint, mode="lockstep"), gateway(endpoint) as running:
        assert running.condition().state == "paused"
