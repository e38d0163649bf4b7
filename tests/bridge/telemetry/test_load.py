"""Twenty outlets, one frozen, one that fails again and again: the others get everything, the engine never waits."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.bridge import Client
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.queues import SAMPLES
from tests.bridge.telemetry.engines import Recorder, engine, gateway, until

STEPS = 6000


class Failing(Recorder):
    """Fails at every seventh sample, as a reader does that comes and goes."""

    def sample(self, sample):
        super().sample(sample)
        if sample.sequence % 7 == 0:
            raise ConnectionError("the reader went away")


@pytest.mark.long
def test_twenty_outlets(arm, endpoint, monkeypatch):
    """Lockstep: no publication is lost but by the frozen one, whose queue is bounded and whose drops are counted."""
    monkeypatch.setattr("limberjack.bridge.telemetry.gateway._CLOSE_S", 5.0)
    good, frozen, failing = [Recorder(f"r{k}") for k in range(18)], Recorder("frozen"), Failing("failing")
    with engine(arm, endpoint, mode="lockstep"), Client(endpoint) as client:
        with gateway(endpoint, *good, frozen, failing) as running:
            until(lambda: client.step(1) and len(good[0].samples) > 2, "the stream brings nothing")
            frozen.go_on.clear()
            for k in range(STEPS):
                end = client.step(1).time
                if k % 50 == 0:  # the engine publishes without waiting: let the gateway keep up
                    until(lambda: good[0].samples[-1].time == end, "the gateway does not keep up")  # noqa: B023
            until(lambda: all(each.samples[-1].time == end for each in good), "samples are missing")
            status = running.status()
            frozen.go_on.set()
        record = [(each.sequence, each.time, each.gap) for each in good[0].samples]
        assert not any(gap for _, _, gap in record[2:])
        for each in good[1:]:
            assert [(other.sequence, other.time, other.gap) for other in each.samples] == record
        assert status["18.frozen"]["waiting"] <= SAMPLES + 1024
        assert status["18.frozen"]["dropped"] >= STEPS - SAMPLES - 1
        shown = [each for each in frozen.samples if each.gap]
        assert shown[-1].gap == status["18.frozen"]["dropped"]
        assert status["19.failing"]["failures"] > 100
        assert len(failing.samples) == len(record)


@pytest.mark.long
def test_an_engine_that_is_killed(arm, endpoint):
    """SIGKILL, then a new one at the same address: a notice, a break, and on it goes with the same outlets."""
    recorder = Recorder()
    settings = Settings(endpoint=endpoint, mode="free-running", rate_hz=200.0)
    with EngineProcess(arm, settings) as first, gateway(endpoint, recorder):
        until(lambda: len(recorder.samples) > 20, "no samples")
        first.kill()
        until(lambda: any("lost" in text for text in recorder.texts("link")), "the loss was not reported")
        count = len(recorder.samples)
        with EngineProcess(arm, settings):
            until(lambda: len(recorder.samples) > count + 20, "the samples of the second engine do not come")
    assert recorder.samples[count].gap == 1
    times = np.array([each.time for each in recorder.samples])
    assert np.all(np.diff(times[:count]) > 0.0)
    assert np.all(np.diff(times[count:]) > 0.0)
    assert recorder.closed == 1
