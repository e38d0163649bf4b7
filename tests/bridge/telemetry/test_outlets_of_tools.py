"""What PlotJuggler, readers of MCAP and Prometheus get, read back as those programs do."""

from __future__ import annotations

import errno
import io
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
import zmq
from mcap.reader import make_reader
from prometheus_client.parser import text_string_to_metric_families

import limberjack as lj
from limberjack.bridge.errors import EndpointError
from limberjack.bridge.telemetry.condition import STATES, Condition
from limberjack.bridge.telemetry.dictionary import Dictionary, dictionary_of
from limberjack.bridge.telemetry.outlets.mcap import McapOutlet
from limberjack.bridge.telemetry.outlets.plotjuggler import PlotJuggler
from limberjack.bridge.telemetry.outlets.prometheus import Prometheus
from limberjack.bridge.telemetry.outlets.rows import event
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.record.mcap_file import McapFile
from limberjack.hil.record.replay import check_replayable

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NOW = 1_790_000_000_123_456_789
WAIT_MS = 20_000  # bound on every wait; reached only when something is broken


@pytest.fixture(scope="module")
def dictionary() -> Dictionary:
    return dictionary_of(lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml")))


def make_sample(dictionary: Dictionary, sequence: int, gap: int = 0) -> Sample:
    """Numbers that need all their digits."""
    vector = np.random.default_rng(sequence).normal(size=len(dictionary)) * np.pi
    vector[0] = 0.001 * sequence
    return Sample(sequence, float(vector[0]), NOW + 1_000_000 * sequence, vector, gap)


ALARM = Notice("alarm", 2, "q.elbow is beyond its limit", 0.5, NOW, {"id": "q.elbow", "value": 2.0})


# ---- PlotJuggler


def flattened(prefix: str, value: Any) -> Iterator[tuple[str, float]]:
    """The series that PlotJuggler's parser of MessagePack makes: numbers in maps and arrays, all else dropped."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flattened(f"{prefix}/{key}", inner)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from flattened(f"{prefix}[{i}]", inner)
    elif isinstance(value, (bool, int, float)):
        yield prefix, float(value)


@pytest.mark.parametrize("connects", [False, True])
def test_plotjuggler_finds_every_number_under_its_name(dictionary, connects):
    """Bind or connect; frames topic, payload, seconds; one series a quantity, exact."""
    with zmq.Context() as context, context.socket(zmq.SUB) as reader:
        reader.linger, reader.rcvtimeo = 0, WAIT_MS
        reader.subscribe(b"")
        if connects:
            port = reader.bind_to_random_port("tcp://127.0.0.1")
            outlet = PlotJuggler(f"connect:tcp://127.0.0.1:{port}")
        else:
            outlet = PlotJuggler("tcp://127.0.0.1:*")
        outlet.open(dictionary)
        if not connects:
            reader.connect(outlet.address)
        sample = make_sample(dictionary, 7, gap=3)
        frames = None
        for _ in range(200):  # until the subscription has arrived
            outlet.sample(sample)
            if reader.poll(100):
                frames = reader.recv_multipart()
                break
        outlet.close()
    assert frames is not None
    topic, payload, stamp = frames
    assert abs(float(stamp) - 1e-9 * sample.unix_ns) < 1e-6
    series = dict(flattened(topic.decode(), msgpack.unpackb(payload)))
    model = dictionary.model
    assert series.pop(f"{model}/stream/sequence") == 7
    assert series.pop(f"{model}/stream/gap") == 3
    # "command.elbow_pitch" is a number, so "command.elbow_pitch.rate" stays one key
    assert f"{model}/command/elbow_pitch.rate" in series
    assert f"{model}/energy/kinetic" in series
    wanted = zip((quantity.id for quantity in dictionary), sample.vector.tolist(), strict=True)
    assert {name.replace("/", "."): value for name, value in series.items()} == {
        f"{model}.{id}": value for id, value in wanted
    }


def test_plotjuggler_binds_loopback_only(dictionary):
    with pytest.raises(EndpointError, match="other machines can reach"):
        PlotJuggler("tcp://0.0.0.0:9872")
    first = PlotJuggler("tcp://127.0.0.1:*")
    first.open(dictionary)
    with pytest.raises(EndpointError, match=r"in use.*Choose another"):
        PlotJuggler(first.address).open(dictionary)
    first.close()


# ---- MCAP


def test_mcap_file_is_read_by_mcap_and_by_our_own_reader(dictionary, tmp_path):
    """Every number bit for bit, in both readers; lost publications are missing rows; an older file stays."""
    wanted = tmp_path / "run.mcap"
    wanted.write_bytes(b"older")
    outlet = McapOutlet(wanted)
    outlet.open(dictionary)
    samples = [make_sample(dictionary, 1), make_sample(dictionary, 2), make_sample(dictionary, 9, gap=5)]
    for sample in samples:
        outlet.sample(sample)
    outlet.notice(ALARM)
    outlet.close()
    outlet.close()
    assert wanted.read_bytes() == b"older"
    assert outlet.path.name == "run-2.mcap"
    with outlet.path.open("rb") as stream:
        messages = list(make_reader(stream, validate_crcs=True).iter_messages())
    assert [channel.topic for _, channel, _ in messages].count("/signals") == 3
    assert [schema.name for schema, channel, _ in messages if channel.topic == "/events"] == ["foxglove.Log"]
    record = McapFile(outlet.path)
    with pytest.raises(ArgumentError, match="a gateway wrote this record"):
        check_replayable(record)
    whole = record.read()
    assert record.names == tuple(quantity.id for quantity in dictionary)
    np.testing.assert_array_equal(whole.rows, [sample.vector for sample in samples])
    assert whole.numbers.tolist() == [0, 1, 7]
    assert whole.walls.tolist() == [sample.unix_ns for sample in samples]
    assert whole.events[0].text == ALARM.text
    assert record.end["rows_dropped"] == 5


def test_mcap_survives_a_kill_up_to_the_last_chunk(dictionary, tmp_path, monkeypatch):
    """Nothing is finished: what was flushed is read; values that are no numbers come back as such."""
    monkeypatch.setattr("limberjack.bridge.telemetry.outlets.mcap._FLUSH_S", 0.0)
    outlet = McapOutlet(tmp_path / "run.mcap")
    outlet.open(dictionary)
    vector = np.full(len(dictionary), np.nan)
    vector[1], vector[2] = np.inf, -np.inf
    outlet.sample(Sample(1, 0.25, NOW, vector))
    copy = tmp_path / "killed.mcap"
    copy.write_bytes(outlet.path.read_bytes())
    outlet.close()
    np.testing.assert_array_equal(McapFile(copy).read().rows, [vector])


class Disk(io.FileIO):
    """A file on a disk that has room for so many bytes more."""

    room = 10**9

    def write(self, data: Any) -> int | None:
        if not Disk.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = super().write(bytes(data)[: Disk.room])
        Disk.room -= written or 0
        return written


def test_mcap_goes_on_in_another_file_when_a_full_disk_has_room_again(dictionary, tmp_path, monkeypatch):
    """Behind a part of a chunk nobody can read on: the first file ends with its last whole one, killed or not."""
    monkeypatch.setattr(Path, "open", lambda self, mode: io.BufferedWriter(Disk(self, mode)))
    outlet, lost = McapOutlet(tmp_path / "run.mcap"), []
    outlet.open(dictionary)
    for k in range(600):
        Disk.room = {100: 20_000, 400: 10**9}.get(k, Disk.room)
        chunk_ends = k % 50 == 49
        monkeypatch.setattr("limberjack.bridge.telemetry.outlets.mcap._FLUSH_S", 0.0 if chunk_ends else 1e9)
        try:
            outlet.sample(make_sample(dictionary, k))
        except OSError:
            lost.append(k)
    outlet.close()
    monkeypatch.undo()
    assert lost == [149, *range(150, 400)]
    walls = [McapFile(tmp_path / name).read().walls for name in ("run.mcap", "run-2.mcap")]
    assert np.concatenate(walls).tolist() == [
        make_sample(dictionary, k).unix_ns for k in (*range(100), *range(400, 600))
    ]


def test_mcap_says_where_it_cannot_write(dictionary, tmp_path):
    with pytest.raises(ArgumentError, match=r"No such file.*Choose a folder"):
        McapOutlet(tmp_path / "none" / "run.mcap").open(dictionary)


def test_mcap_leaves_no_file_that_was_not_begun(dictionary, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("limberjack.bridge.telemetry.outlets.mcap.Writer.flush", full)
    outlet = McapOutlet(tmp_path / "run.mcap")
    for _ in range(2):
        with pytest.raises(OSError, match="No space left"):
            outlet.open(dictionary)
    outlet.close()
    assert list(tmp_path.iterdir()) == []


# ---- Prometheus


def scrape(port: int) -> dict[tuple[str, frozenset], float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=WAIT_MS / 1000) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {(item.name, frozenset(item.labels.items())): item.value for each in families for item in each.samples}


def test_prometheus_scrapes_health_counts_and_alarms(dictionary):
    counts = {"sent": 1, "dropped": 7, "notices_dropped": 0, "failures": 0}
    conditions = [Condition("live", "live")]
    outlet = Prometheus(0, lambda: {"0.mcap": counts}, lambda: conditions[-1])
    outlet.open(dictionary)
    try:
        assert ("limberjack_sample_age_seconds", frozenset()) not in scrape(outlet.port)
        sample = make_sample(dictionary, 4, gap=2)
        sample.vector[dictionary.place("engine.overruns")] = 5.0
        outlet.sample(sample)
        outlet.notice(ALARM)
        found = scrape(outlet.port)
        assert ("limberjack_frame_p99_seconds", frozenset()) in found
        sample.vector[dictionary.place("engine.frame_p99")] = np.nan  # no bench
        assert ("limberjack_frame_p99_seconds", frozenset()) not in scrape(outlet.port)
        with pytest.raises(EndpointError, match=r"--prometheus .* in use.*Choose another"):
            Prometheus(outlet.port, dict, lambda: conditions[0]).open(dictionary)
        conditions.append(Condition("gone", "engine gone", 7.5))
        gone = scrape(outlet.port)
    finally:
        outlet.close()
    none: frozenset = frozenset()
    assert found["limberjack_engine_overruns_total", none] == 5.0
    assert found["limberjack_time_seconds", none] == sample.time
    assert found["limberjack_gateway_lost_total", none] == 2.0
    assert found["limberjack_notices_total", frozenset({("kind", "alarm"), ("severity", "critical")})] == 1.0
    assert found["limberjack_outlet_dropped_total", frozenset({("outlet", "0.mcap")})] == 7.0
    with pytest.raises(EndpointError, match="cannot be used"):
        Prometheus(70000, dict, lambda: conditions[0]).open(dictionary)
    for reported, state, silent in ((found, "live", 0.0), (gone, "gone", 7.5)):
        states = {dict(labels)["state"]: value for (name, labels), value in reported.items() if "condition" in name}
        assert states == {each: float(each == state) for each in STATES}
        assert reported["limberjack_engine_silent_seconds", none] == silent
        assert (("limberjack_engine_running", none) in reported) == (state == "live"), "what is old is not of now"
    assert gone["limberjack_engine_overruns_total", none] == 5.0


def test_a_notice_of_what_is_no_number_is_strict_json():
    data = {"id": "q.elbow", "value": np.nan, "limit": np.inf, "severity": 2}
    text = event(Notice("alarm", 2, "q.elbow is nan", np.nan, NOW, data), NOW)
    reported = json.loads(text, parse_constant=pytest.fail)
    assert reported["data"] == {"id": "q.elbow", "value": "nan", "limit": "inf", "severity": 2}
