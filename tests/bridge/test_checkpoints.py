"""Checkpoints: whole or not there, refused where they do not fit, and a run goes on from one with the same bits."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from dataclasses import replace

import msgpack
import numpy as np
import pytest

from limberjack.bridge import checkpoint_file, checkpoint_writer
from limberjack.bridge.checkpoint_file import Checkpoint, CheckpointError, Resume, read_checkpoint, write_whole
from limberjack.bridge.checkpoint_writer import Checkpoints, listed, newest
from limberjack.bridge.errors import EngineStartError
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError, ExitCode, exit_code_of
from limberjack.engine.model.archive import to_bytes
from tests.bridge.bridge_helpers import make_arm, make_dock, until


def moved(system, steps=7, **options):
    """A simulation after some steps under a command and a parameter."""
    simulation = Simulation(system, **options)
    simulation.parameters["gravity.z"] = -3.0
    simulation.command[simulation.command_names[0]] = 0.7
    simulation.step(steps)
    return simulation


@pytest.fixture
def written(arm, tmp_path):
    """A checkpoint in a file."""
    path = tmp_path / "0000000001.checkpoint"
    write_whole(path, Checkpoint.of(moved(arm), {"gravity.z": -3.0}).to_bytes())
    return path


def refused(path, *words):
    with pytest.raises(CheckpointError) as raised:
        read_checkpoint(path)
    for word in (str(path), *words):
        assert word in str(raised.value)


def forged(path, **changes):
    """The file with other fields, and a checksum that holds."""
    body = {**msgpack.unpackb(path.read_bytes()[40:]), **changes}
    packed = msgpack.packb({name: value for name, value in body.items() if value is not None})
    path.write_bytes(b"LJCHECK1" + hashlib.sha256(packed).digest() + packed)


# ---- files


@pytest.mark.parametrize("system", [make_arm(), make_dock()], ids=["arm", "dock"])
def test_a_simulation_goes_on_with_the_same_bits(system, tmp_path):
    simulation = moved(system, integrator="semi_implicit", substeps=2)
    write_whole(tmp_path / "c", Checkpoint.of(simulation, {"gravity.z": -3.0}).to_bytes())
    found = Resume("c", read_checkpoint(tmp_path / "c"))
    dt, integrator, substeps = found.steps(None, None, 1)
    other = Simulation(system, dt, integrator, substeps)
    found.apply(other)
    assert other.parameters["gravity.z"] == -3.0
    for each in (simulation, other):
        each.step(200)
    assert other.state.tobytes() == simulation.state.tobytes()
    assert other.output_vector.tobytes() == simulation.output_vector.tobytes()


def test_every_damaged_byte_is_found(written):
    whole = written.read_bytes()
    for at in range(0, len(whole), 7):
        written.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        refused(written)
    for length in range(0, len(whole), 11):
        written.write_bytes(whole[:length])
        refused(written)


def test_what_is_no_checkpoint_is_reported_with_cause_and_remedy(written, tmp_path):
    whole = written.read_bytes()
    model = tmp_path / "arm.yaml"
    model.write_text("limberjack: 1")
    refused(model, "it is not a checkpoint", "Give one that 'limberjack run --checkpoint' wrote")
    written.write_bytes(whole[:-1])
    refused(written, "damaged", "start without it")
    written.write_bytes(b"LJCHECK0" + whole[8:])
    refused(written, "belongs to another version")
    with written.open("wb") as stream:
        stream.truncate((1 << 30) + 1)  # of holes
    refused(written, "larger than")
    written.unlink()
    os.mkfifo(written)  # reading it would wait for ever
    refused(written, "not a file", "start without it")


@pytest.mark.parametrize(
    "changes",
    [{"snapshot": "text"}, {"snapshot": None}, {"more": 1}, {"parameters": {"a": "b"}}, {"dt": 1}, {"step": True}],
)
def test_content_of_another_kind_is_refused(written, changes):
    forged(written, **changes)
    refused(written, "not that of a checkpoint")


def test_an_older_version_is_refused_by_name(written):
    forged(written, engine="0.0.1")
    refused(written, "written by Limberjack 0.0.1", "Resume it with that version")


def test_another_model_or_another_step_is_refused(arm, written):
    found = Resume("there", read_checkpoint(written))
    with pytest.raises(CheckpointError, match=r"there: it is of another model, 'test arm' .*this one is 'dock'"):
        found.apply(Simulation(make_dock()))
    with pytest.raises(CheckpointError, match=r"there: it was written with dt = 0.001, this engine has 0.002"):
        found.apply(Simulation(arm, dt=0.002))
    with pytest.raises(CheckpointError, match=r"with substeps = 1, this engine has 3. Give --substeps 1"):
        found.apply(Simulation(arm, substeps=3))
    bad = replace(found.checkpoint, snapshot=found.checkpoint.snapshot[:-8])
    with pytest.raises(CheckpointError, match=r"there: this is not a snapshot, or it is damaged. Use an older"):
        Resume("there", bad).apply(Simulation(arm))
    bad = replace(found.checkpoint, parameters={"gravity.q": 1.0})
    with pytest.raises(CheckpointError, match=r"gravity.q"):
        Resume("there", bad).apply(Simulation(arm))


def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch):
    write_whole(tmp_path / "a", b"old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint_file.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"


# ---- a folder of them


@pytest.fixture
def kept(arm, tmp_path):
    """Checkpoints of a simulation, as often as anybody looks."""
    simulation = moved(arm)
    made = Checkpoints(simulation, to_bytes(arm), {"gravity.z": -3.0}, tmp_path / "c", 1e-6)
    yield simulation, made
    made.close()


def numbers(folder):
    return [int(path.stem) for path in listed(folder)]


def written_until(made, number):
    until(lambda: numbers(made.folder)[0] >= number, "no checkpoint was written")


def test_the_newest_two_are_kept_and_a_state_that_stands_still_is_not_written_again(kept):
    simulation, made = kept
    for number in range(2, 6):
        simulation.step()
        time.sleep(0.12)
        assert list(made.look()) == []
        written_until(made, number)
    until(lambda: numbers(made.folder) == [5, 4], "not the newest two are kept")
    time.sleep(0.12)
    assert list(made.look()) == []
    assert made.last.step == 11
    assert newest(made.folder, pytest.fail)[1].step == 11


def test_the_last_state_is_written_at_the_end(kept):
    simulation, made = kept
    simulation.step(100)
    made.close()
    assert newest(made.folder, pytest.fail)[1].step == 107
    made.close()  # does no harm


def test_a_damaged_newest_is_reported_and_the_one_before_taken(kept):
    simulation, made = kept
    simulation.step()
    time.sleep(0.12)
    list(made.look())
    written_until(made, 2)
    first, second = listed(made.folder)[::-1]
    second.write_bytes(second.read_bytes()[:-5])
    said = []
    assert newest(made.folder, said.append)[0] == first
    assert str(second) in said[0]
    first.write_bytes(b"")
    with pytest.raises(CheckpointError, match="no checkpoint in it can be used"):
        newest(made.folder, said.append)


def test_a_folder_has_one_writer(kept, arm):
    simulation, made = kept
    with pytest.raises(CheckpointError, match="another engine writes its checkpoints there"):
        Checkpoints(simulation, to_bytes(arm), {}, made.folder, 1.0)


def test_a_full_disk_is_reported_once_and_the_engine_goes_on(kept, monkeypatch):
    simulation, made = kept
    write = checkpoint_writer.write_whole

    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint_writer, "write_whole", full)
    simulation.step()
    time.sleep(0.12)
    list(made.look())
    until(lambda: made.trouble, "the trouble was not reported")
    assert "a checkpoint cannot be written, No space left on device" in next(made.look())
    monkeypatch.setattr(checkpoint_writer, "write_whole", write)
    simulation.step()
    time.sleep(0.12)
    list(made.look())
    written_until(made, 2)
    until(lambda: not made.trouble, "the trouble is reported for ever")


def test_a_place_that_cannot_be_written_is_reported_at_the_start(arm, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="checkpoints cannot be written there, Not a directory") as raised:
        Checkpoints(Simulation(arm), b"", {}, tmp_path / "file" / "c", 1.0)
    assert exit_code_of(raised.value) == ExitCode.BAD_INPUT


def test_period_and_folder_go_together(tmp_path):
    with pytest.raises(ArgumentError, match="go together"):
        Settings(checkpoint_s=1.0)
    with pytest.raises(ArgumentError, match="checkpoint_s is -1"):
        Settings(checkpoint_s=-1.0, checkpoints=tmp_path)


# ---- an engine


def test_a_killed_engine_goes_on_bit_for_bit(arm, endpoint, tmp_path):
    """The same commands in the same steps: uninterrupted in this process; killed and resumed in an engine."""
    commands = np.random.default_rng(3).normal(size=(400, 2))
    local = Simulation(arm)
    local.parameters["gravity.z"] = -3.0
    rows = []
    for shoulder, j1 in commands:
        local.command["shoulder"], local.command["j1"] = shoulder, j1
        local.step(5)
        rows.append(np.concatenate([local.q, local.v, local.tau, local.output_vector, local.command_vector]).tobytes())
    settings = Settings(endpoint, checkpoint_s=0.02, checkpoints=tmp_path / "c")

    def drive(client, first, last):
        for k in range(first, last):
            state = client.step(5, {"shoulder": commands[k, 0], "j1": commands[k, 1]})
            assert state.vector.tobytes() == rows[k]

    engine = EngineProcess(arm, settings)
    with engine.client() as client:
        client.parameter("gravity.z", -3.0)
        drive(client, 0, 250)
        until(lambda: newest(tmp_path / "c", pytest.fail)[1].step > 0, "no checkpoint was written")
        engine.kill()
    path, found = newest(tmp_path / "c", pytest.fail)
    assert 0 < found.step <= 1250
    with EngineProcess(arm, settings, resume=Resume(str(path), found)) as engine, engine.client() as client:
        state = client.state()
        assert state.step == found.step
        assert client.parameter("gravity.z") == -3.0
        drive(client, found.step // 5, 400)
    assert newest(tmp_path / "c", pytest.fail)[1].step == 2000  # written at the end


def test_a_free_running_engine_goes_on_bit_for_bit(arm, endpoint, tmp_path):
    settings = Settings(endpoint, mode="free-running", checkpoint_s=0.1, checkpoints=tmp_path / "c")
    engine = EngineProcess(arm, settings)
    folder = tmp_path / "c"
    until(lambda: newest(folder, pytest.fail)[1].step > 200, "no checkpoint was written")
    engine.kill()
    path, found = newest(folder, pytest.fail)
    with EngineProcess(arm, settings, resume=Resume(str(path), found)) as engine, engine.client() as client:
        until(lambda: client.state().step > found.step + 100, "it does not go on")
        state = client.state()
        assert client.status()["checkpoint"]["step"] >= found.step
    local = Simulation(arm)
    local.step(state.step)
    assert (state.q.tobytes(), state.v.tobytes()) == (local.q.tobytes(), local.v.tobytes())


def test_a_checkpoint_that_does_not_fit_keeps_the_engine_from_starting(arm, endpoint, written):
    found = replace(read_checkpoint(written), model_hash="0" * 32)
    with pytest.raises(EngineStartError, match="of another model") as raised:
        EngineProcess(arm, Settings(endpoint), resume=Resume("there", found))
    assert raised.value.exit_code == ExitCode.BAD_INPUT


def test_long_requests_are_checkpointed_too(arm, endpoint, tmp_path):
    settings = Settings(endpoint, checkpoint_s=0.05, checkpoints=tmp_path / "c")
    with EngineProcess(arm, settings) as engine, engine.client(timeout_s=60.0) as client:
        client.step(150_000)
        assert re.fullmatch(r"\d{10}\.checkpoint", listed(tmp_path / "c")[0].name)
        assert numbers(tmp_path / "c")[0] > 2
