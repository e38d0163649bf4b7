"""Free-running: paced steps, commands latest-wins, two streams, counted overruns."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from limberjack.bridge import Client, State
from limberjack.bridge.errors import EngineTimeoutError
from limberjack.bridge.pacing import Pacer
from limberjack.bridge.settings import Settings
from limberjack.engine.common.errors import ArgumentError, SimulationError
from tests.bridge.bridge_helpers import WAIT_S, until


def read_until(client, wanted):
    """Read the topic stream, with a bound, up to the message that is wanted."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        topic, body = client.next_event(timeout_s=WAIT_S)
        if wanted(topic, body):
            return body
    raise AssertionError("the topic stream did not bring it")


def test_states_are_published_and_commands_obeyed(engine, endpoint):
    engine(mode="free-running")
    with Client(endpoint) as client:
        first = client.latest()
        client.command({"shoulder": 3.0})
        client.command({"shoulder": -3.0})
        until(lambda: client.latest().command["shoulder"] == -3.0, "the last command is not in force")
        until(lambda: client.latest().step > first.step + 20, "the engine does not step")
        state = client.latest()
        damped = -3.0 - 0.05 * state.velocity["shoulder"]  # the drive and the hinge's own damping
        assert state.effort["shoulder"] == pytest.approx(damped, rel=1e-12)
        assert state.time == pytest.approx(state.step * 1e-3)


def test_the_conflated_stream_is_never_old(engine, endpoint):
    engine(mode="free-running")
    with Client(endpoint) as client:
        client.latest()
        asked = client.state().step
        time.sleep(0.3)  # a slow reader
        now = client.state().step
        client.latest()  # what waited: at most the newest when reading began
        assert client.latest().step >= now > asked


def test_the_topic_stream_counts_publications_and_divides(engine, endpoint):
    engine(mode="free-running", publish_divisor=10)
    with Client(endpoint) as client:
        states = []
        read_until(client, lambda topic, body: topic == "state" and (states.append(body) or len(states) == 5))
        assert {b.step - a.step for a, b in pairwise(states)} == {10}
        assert all(b.sequence > a.sequence for a, b in pairwise(states))


def test_heartbeats_and_refusals_are_published(engine, endpoint):
    engine(mode="free-running", publish_divisor=50)
    with Client(endpoint) as client:
        read_until(client, lambda topic, body: topic == "heartbeat")
        client._link._sequence -= 1  # the next request repeats a number
        with pytest.raises(Exception, match="already used"):
            client.state()
        event = read_until(client, lambda topic, body: topic == "event" and body["event"] == "refused")
        assert event["code"] == "replayed"
        beat = read_until(client, lambda topic, body: topic == "heartbeat")
        assert beat["refused"] == {"replayed": 1}
        assert {"overruns", "lost_s", "real_time_factor", "lease"} <= set(beat)


def test_lockstep_publishes_what_was_asked_for(engine, endpoint):
    engine(publish_divisor=2)
    with Client(endpoint) as client, Client(endpoint) as reader:
        with pytest.raises(EngineTimeoutError, match="no published state"):
            reader.latest(timeout_s=0.2)
        client.step(3)
        state = client.step(4)
        seen = reader.latest()
        assert isinstance(seen, State)
        assert seen.vector.tobytes() == state.vector.tobytes()


def test_a_failed_simulation_waits_for_a_reset(engine, endpoint, monkeypatch):
    server = engine(mode="free-running")
    simulation = server.service.simulation
    step = simulation.step

    def fail(steps=1, ahead=None):
        raise SimulationError("body 'link1' diverged at 0.1 s.")

    with Client(endpoint) as client:
        client.latest()
        monkeypatch.setattr(simulation, "step", fail)
        until(lambda: client.status()["status"] == "failed", "the failure is not reported")
        assert client.status()["failure"] == "body 'link1' diverged at 0.1 s."
        stopped = client.state().step
        assert client.state().step == stopped
        monkeypatch.setattr(simulation, "step", step)
        client.reset()
        until(lambda: client.state().step > 10, "a reset does not start it again")


def test_a_slow_simulation_counts_overruns_and_still_answers(engine, endpoint, monkeypatch):
    server = engine(mode="free-running")
    step = server.service.simulation.step

    def slow(steps=1, ahead=None):
        step(steps, ahead)
        time.sleep(0.01)

    monkeypatch.setattr(server.service.simulation, "step", slow)
    with Client(endpoint, timeout_s=WAIT_S) as client:
        until(lambda: client.status()["lost_s"] > 0.0, "time is not given up")
        status = client.status()
        assert status["overruns"] > 0
        assert status["real_time_factor"] < 0.9
        client.command({"shoulder": 1.0})
        assert client.state().command["shoulder"] == 1.0


def test_rate_sets_the_steps_of_a_cycle():
    assert Settings().steps_per_cycle(1e-3) == 1
    assert Settings().steps_per_cycle(1e-4) == 10
    assert Settings().steps_per_cycle(0.01) == 1
    assert Settings(rate_hz=50).steps_per_cycle(1e-3) == 20
    with pytest.raises(ArgumentError, match="whole number"):
        Settings(rate_hz=300).steps_per_cycle(1e-3)
    with pytest.raises(ArgumentError, match="whole number"):
        Settings(rate_hz=2000).steps_per_cycle(1e-3)


@pytest.mark.parametrize(
    "wrong",
    [{"mode": "fast"}, {"rate_hz": 0.0}, {"rate_hz": float("nan")}, {"lease_s": -1.0}, {"publish_divisor": 0},
     {"priority": 100}, {"steps_max": 0}, {"command_age_s": float("inf")}],
)  # fmt: skip
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ArgumentError):
        Settings(**wrong)


def test_deadlines_do_not_drift_and_lost_time_is_counted(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    pacer = Pacer(0.001, backlog_s=0.01)
    assert pacer.advance() == pytest.approx(100.001)
    now[0] = 100.0035  # one cycle took 3.5 ms: the next are due at once, in their places
    assert [pacer.advance() for _ in range(3)] == pytest.approx([100.002, 100.003, 100.004])
    assert (pacer.overruns, pacer.lost_s) == (2, 0.0)
    now[0] = 101.0
    assert pacer.advance() == pytest.approx(101.0)
    assert pacer.lost_s == pytest.approx(0.995)
    assert (pacer.late.most, pacer.late_max_s) == pytest.approx((0.995, 0.995))
    assert pacer.advance() == pytest.approx(101.001)
    for second in (102.0, 103.0, 104.0):  # on time again: the delay is past, the worst one stays
        now[0] = pacer.deadline = second
        pacer.advance()
    assert (pacer.late.most, pacer.late_max_s) == pytest.approx((0.0, 0.995))
