"""The past of a gateway, and a record in place of an engine, over HTTP."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.bridge.console.access import Address
from limberjack.bridge.console.web_server import Console, Settings
from limberjack.bridge.telemetry.recorded import Recorded
from tests.bridge.console.asking import Asker
from tests.bridge.telemetry.engines import Recorder, until

STARTED_NS = 1_700_000_000_000_000_000


def test_a_moment_of_the_past_is_the_sample_of_then(pretended, serve, dock):
    with serve(dock) as bench:
        recorder = Recorder()
        bench.gateway.add(recorder)
        until(lambda: len(recorder.samples) > 400, "no samples")
        wanted = recorder.samples[100:400:60]
        until(lambda: bench.gateway.history.bounds()[1] > wanted[-1].unix_ns, "the history is behind")
        asked = "&".join(f"at={1e-6 * each.unix_ns + 0.0005:.4f}" for each in wanted)
        content = bench.ask.json(f"/api/frames?{asked}")
        assert [each["time"] for each in content["frames"]] == [each.time for each in wanted]
        for frame, sample in zip(content["frames"], wanted, strict=True):
            given = [np.nan if each is None else each for each in frame["values"].values()]
            assert np.array(given).tobytes() == sample.vector.tobytes()
            assert len(frame["view"]["poses"]) == 7 * len(dock.bodies)
        assert content["start"] < 1e-6 * wanted[0].unix_ns < content["end"]


@pytest.mark.parametrize("query", ["at=x", "at=1e400", "at=nan", "&".join(["at=1"] * 51)])
def test_questions_that_make_no_sense(still, query):
    status, text, _ = still.ask(f"/api/frames?{query}")
    assert status == 400
    assert "ms since 1970" in text


@pytest.fixture
def recorded(pretended, dock):
    """A record of 3 s at 100 Hz of one coordinate and the time, with a row missing and an event."""
    names = ["time", *(f"q.{name}" for name in dock.coordinate_names), *(f"v.{name}" for name in dock.velocity_names)]
    made = Recorded(dock, names, "run.mcap", STARTED_NS)
    rows = np.zeros((300, len(names)))
    rows[:, 0] = 0.01 * np.arange(300)
    rows[:, 1 : 1 + len(dock.coordinate_names)] = dock.q0
    gaps = np.zeros(300, dtype=int)
    gaps[150] = 3
    made.add_notice("engine", 1, "fault, gyro: begins", 1.0, {})
    made.add_rows(rows, gaps.tolist())
    yield made
    made.history.close()


def test_a_record_in_place_of_an_engine(recorded):
    console = Console(Settings(Address(port=0)), recorded)
    console.open(recorded.dictionary)
    try:
        ask = Asker(console.port)
        with ask.live() as ear:
            hello = ear.hear("hello")
        assert hello["condition"]["state"] == "replay"
        assert not hello["condition"]["current"]
        assert hello["alarms"] == []  # what the record lacks is no alarm
        at = 1e-6 * (STARTED_NS + 1_005_000_000)
        (frame,) = ask.json(f"/api/frames?at={at}")["frames"]
        assert frame["time"] == pytest.approx(1.0)
        assert frame["values"]["energy.total"] is not None
        assert frame["values"]["engine.running"] is None
        assert frame["alarms"] == []
        (notice,) = ask.json(f"/api/events?start={at - 2000}&end={at + 2000}")["notices"]
        assert notice["text"] == "fault, gyro: begins"
        values = ask.json(f"/api/history?ids=time&start={at - 2000}&end={at + 2500}")["values"]["time"]
        assert [value for _, value in values].count(None) == 1  # the rows that are missing
        status, _, _ = ask("/api/order", {"action": "reset"})
        assert status == 403
    finally:
        console.close()


def test_a_history_without_anything(recorded):
    assert recorded.history.newest_at(STARTED_NS - 1) is None
    first, last = recorded.history.bounds()
    assert (first, last) == (STARTED_NS, pytest.approx(STARTED_NS + 2_990_000_000, abs=1000))
