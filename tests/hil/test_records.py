"""Records: what was put comes back with its bits, and a recorded run comes out the same when it is done again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.errors import HilError
from limberjack.hil.events import Event, EventLog
from limberjack.hil.executive import Executive
from limberjack.hil.record.mcap_file import McapFile, McapRecorder
from limberjack.hil.record.record_file import record_file
from limberjack.hil.record.replay import replay
from limberjack.hil.timeline import At, Command, Ramp, SetParameter, Switch, Timeline

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = ("time", "q.elbow", 'q.100 % "x"', "output.ä", "command.elbow")
UNITS = ("s", "rad", "", "N·m", "")


def written(path, rows, events=(), **options):
    """A record of rows, the events before the last row."""
    recorder = McapRecorder(path, **options)
    recorder.open(NAMES, UNITS, {"dt": 1e-3, "note": "é"})
    for row in rows[:-1]:
        recorder.row(row)
    for event in events:
        recorder.event(event)
    recorder.row(rows[-1])
    recorder.close()
    return McapFile(path)


def ugly_rows(count=500):
    """Doubles of all sizes and signs: any bits, but for those of NaN."""
    bits = np.random.default_rng(7).integers(0, 2**64, size=(count, len(NAMES)), dtype=np.uint64)
    rows = bits.view(np.float64)
    rows[~np.isfinite(rows)] = -0.0
    rows[:, 0] = 1e-3 * np.arange(count)
    rows[3, 1:4] = 5e-324, np.inf, -np.inf
    return rows


def test_rows_units_and_events_come_back_with_their_bits(tmp_path):
    rows = ugly_rows()
    event = Event(
        0.1 + 0.2, "fault", "gyro", "bias\nset", {"frame": 3, "parameters": {"a.b": 0.1 + 0.2}, "names": ["é"]}
    )
    record = written(tmp_path / "run.mcap", rows, [event])
    batch = record.read()
    assert (record.names, record.units) == (NAMES, UNITS)
    assert record.meta["note"] == "é"
    assert batch.rows.tobytes() == rows.tobytes()
    assert batch.numbers.tolist() == list(range(len(rows)))
    assert np.all(np.diff(batch.walls) >= 0)
    assert batch.events == [event]
    assert record.end == {"closed": True, "rows": 500, "events": 1, "rows_dropped": 0, "events_dropped": 0}
    assert record.trouble == ""


def test_nan_is_nan_again(tmp_path):
    rows = ugly_rows(5)
    rows[1, 2] = np.nan
    assert np.array_equal(written(tmp_path / "run.mcap", rows).read().rows, rows, equal_nan=True)


def test_patterns_choose_what_is_kept_beside_time_and_commands(tmp_path):
    rows = ugly_rows(9)
    record = written(tmp_path / "run.mcap", rows, signals=["output.*"])
    assert record.names == ("time", "output.ä", "command.elbow")
    assert record.read().rows.tobytes() == rows[:, [0, 3, 4]].tobytes()
    with pytest.raises(lj.UnknownNameError, match=r"no signal matches 'outptu\.\*'"):
        written(tmp_path / "other.mcap", rows, signals=["outptu.*"])


def test_other_readers_understand_it(tmp_path):
    """The reader of the MCAP project, with the index at the end of the file, sees JSON that its schema describes."""
    import json

    import jsonschema
    from mcap.reader import make_reader

    rows = ugly_rows(50)
    written(tmp_path / "run.mcap", rows, [Event(0.01, "trip", "gyro", "stale")])
    with (tmp_path / "run.mcap").open("rb") as stream:
        reader = make_reader(stream)
        assert reader.get_summary().statistics.message_count == 51
        messages = list(reader.iter_messages())
    for schema, channel, message in messages:
        assert (schema.encoding, channel.message_encoding) == ("jsonschema", "json")
        jsonschema.validate(json.loads(message.data), json.loads(schema.data))
    schema = json.loads(messages[0][0].data)["properties"]
    assert schema["q"]["properties"]["elbow"] == {"type": "number", "description": "rad"}
    log = next(json.loads(m.data) for s, _, m in messages if s.name == "foxglove.Log")
    assert (log["level"], log["name"], log["message"]) == (3, "gyro", "trip: stale")
    assert log["timestamp"] == {"sec": 0, "nsec": 10_000_000}


def run_of(model, entries, path, duration=0.5, prepare=None):
    """A lockstep run of a timeline, recorded; the simulation as it ended."""
    simulation = lj.Simulation(lj.load(model))
    if prepare:
        prepare(simulation)
    recorder = McapRecorder(path)
    outcome = Executive(simulation, paced=False, timeline=Timeline(entries), recorder=recorder).run(duration)
    assert outcome.reason == "completed", outcome.text
    return simulation


def arm_run(path):
    damping = "hinge.elbow_pitch.damping"
    entries = [At(0.05, Ramp("elbow_pitch", 0.4, 0.2)), At(0.1, Command("shoulder_yaw", -0.3))]
    entries += [At(0.2, SetParameter(damping, 3.0))]

    def prepare(simulation):
        simulation.parameters["hinge.wrist_roll.damping"] = 0.7
        simulation.command["wrist_roll"] = 0.2
        simulation.step(37)

    run_of(EXAMPLES / "space_manipulator.yaml", entries, path, prepare=prepare)
    return EXAMPLES / "space_manipulator.yaml"


def grasp_run(path):
    model = path.with_suffix(".yaml")
    text = (EXAMPLES / "satellite_grasp.yaml").read_text()
    model.write_text(text.replace("reach: 0.05", "reach: 100.0"))
    entries = [At(0.1, Switch("attach", "grasp")), At(0.12, Command("elbow_pitch.rate", 0.1))]
    entries += [At(0.3, Switch("release", "grasp")), At(0.4, Command("grasp.closed", 1.0))]
    simulation = run_of(model, entries, path)
    assert simulation.closed("grasp")
    return model


def flexible_run(path):
    entries = [At(0.0, Command("wheel_1", 0.2)), At(0.1, Ramp("drive_north.rate", 0.02, 0.2))]
    run_of(EXAMPLES / "solar_satellite.yaml", entries, path)
    return EXAMPLES / "solar_satellite.yaml"


@pytest.mark.parametrize("run", [arm_run, grasp_run, flexible_run])
def test_a_recorded_run_comes_out_the_same_bits(run, tmp_path):
    path = tmp_path / "run.mcap"
    model = run(path)
    result = replay(McapFile(path), lj.load(model))
    assert (result.equal, result.frames) == (True, 501), str(result.difference)


@pytest.fixture(scope="module")
def arm_record(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "run.mcap"
    arm_run(path)
    return path


def test_a_parameter_that_changed_behind_the_record_is_found(arm_record, tmp_path):
    """The change of 0.2 s is not reported to the recorder: replay finds the first frame and the signals it moves."""
    path = tmp_path / "run.mcap"

    class Deaf(McapRecorder):
        def event(self, event):
            if event.kind != "parameter":
                super().event(event)

    simulation = lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml"))
    entries = [At(0.05, Ramp("elbow_pitch", 0.4, 0.2)), At(0.2, SetParameter("hinge.elbow_pitch.damping", 30.0))]
    Executive(simulation, paced=False, timeline=Timeline(entries), recorder=Deaf(path)).run(0.3)
    result = replay(McapFile(path), lj.load(EXAMPLES / "space_manipulator.yaml"))
    assert not result.equal
    assert (result.difference.frame, result.frames) == (201, 201)
    assert result.difference.time == pytest.approx(0.201)
    assert result.difference.recorded != result.difference.replayed
    assert any("elbow_pitch" in name for name in (result.difference.signal, *result.difference.others))


def test_replay_stops_where_rows_are_missing_or_the_file_ends(arm_record, tmp_path):
    class Gappy(McapRecorder):
        def row(self, vector):
            if self.rows == 20:
                self.rows += 5
            super().row(vector)

    path, system = tmp_path / "run.mcap", lj.load(EXAMPLES / "space_manipulator.yaml")
    Executive(lj.Simulation(system), paced=False, recorder=Gappy(path)).run(0.05)
    result = replay(McapFile(path), system)
    assert (result.frames, result.stopped) == (20, "rows 20 to 24 are missing in the record.")
    path.write_bytes(arm_record.read_bytes()[:-400])
    result = replay(McapFile(path), system)
    assert (result.frames, result.difference) == (501, None)
    assert "it ends within a chunk or is damaged" in result.stopped
    assert main(["replay", str(path), "--model", str(EXAMPLES / "space_manipulator.yaml")]) == 1


def test_another_model_is_refused(arm_record):
    with pytest.raises(lj.ArgumentError, match="the record is of the model 'space_manipulator'"):
        replay(McapFile(arm_record), lj.load(EXAMPLES / "torque_arm.yaml"))


def test_a_model_with_other_names_is_refused(arm_record, tmp_path):
    text = (EXAMPLES / "space_manipulator.yaml").read_text(encoding="utf-8")
    (tmp_path / "renamed.yaml").write_text(text.replace("elbow_pitch", "elbow"), encoding="utf-8")
    with pytest.raises(lj.ArgumentError, match=r"run\.mcap: the record holds '.*elbow_pitch.*', which the model"):
        replay(McapFile(arm_record), lj.load(tmp_path / "renamed.yaml"))


def test_a_full_ring_counts_what_it_drops_and_the_record_shows_the_gap(tmp_path):
    """The recording process is stopped, 16 rows fit; when it goes on, the record reports the rows it lacks."""
    import os
    import signal
    import time

    log, path = EventLog(), tmp_path / "run.mcap"
    recorder = McapRecorder(path, ring_bytes=1, log=log)
    recorder.open(NAMES, UNITS, {})
    rows = ugly_rows(40)
    os.kill(recorder.pid, signal.SIGSTOP)
    for row in rows[:30]:
        recorder.row(row)
    assert recorder.dropped == 14
    os.kill(recorder.pid, signal.SIGCONT)
    until = time.monotonic() + 30.0
    while recorder.acknowledged < 16 and time.monotonic() < until:
        time.sleep(0.01)
    for row in rows[30:]:
        recorder.row(row)
    with pytest.raises(HilError, match=r"the record is not complete, its process was behind: it has 26 of 40 rows"):
        recorder.close()
    record = McapFile(path)
    batch = record.read()
    assert batch.numbers.tolist() == [*range(16), *range(30, 40)]
    assert batch.rows.tobytes() == rows[[*range(16), *range(30, 40)]].tobytes()
    assert [(e.kind, e.data) for e in batch.events] == [("dropped", {"first_row": 16, "rows": 14})]
    assert record.end["rows_dropped"] == 14
    assert [(e.kind, e.data) for e in log.events] == [("dropped", {"first_row": 16})]


def test_the_command_replays_and_reports_the_first_difference(arm_record, tmp_path, capsys):
    assert main(["replay", str(arm_record)]) == 0
    assert "501 frames of 74 signals equal bit for bit" in capsys.readouterr().out
    assert main(["replay", str(arm_record), "--model", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: there is no such file; give the model of the run" in capsys.readouterr().err
    assert main(["replay", str(EXAMPLES / "torque_arm.yaml")]) == 2
    assert "not a record of a run" in capsys.readouterr().err


def test_a_folder_in_place_of_a_record_names_the_record_inside(tmp_path):
    with pytest.raises(ArgumentError, match="a folder; give the record of a run.$"):
        record_file(tmp_path)
    for name in ("second.mcap", "record.mcap", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(ArgumentError, match=f"a folder; give the record of a run, here {tmp_path}/record.mcap.$"):
        record_file(tmp_path)
