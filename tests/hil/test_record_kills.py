"""Records outlive what is done to their processes: nothing acknowledged is lost, what is left can be read."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.errors import HilError
from limberjack.hil.record.mcap_file import McapFile, McapRecorder

WIDTH = 40
NAMES = ("time", *(f"q.joint_{i}" for i in range(WIDTH - 1)))

#: a bench that records and prints: its recorder's number, then rows put and acknowledged
BENCH = """
import sys, time
import numpy as np
from tests.hil.test_record_kills import NAMES, row
from limberjack.hil.record.mcap_file import McapRecorder
recorder = McapRecorder(sys.argv[1], flush_s=0.03)
recorder.open(NAMES, [""] * len(NAMES), {})
print(recorder.pid, flush=True)
for k in range(10**6):
    acknowledged = recorder.acknowledged
    recorder.row(row(k))
    print(k + 1, acknowledged, flush=True)
    time.sleep(0.0005)
"""


def row(k):
    """The k-th row, any time it is asked for."""
    values = np.sin(np.arange(WIDTH) + 1.1 * k)
    values[0] = 1e-3 * k
    return values


def checked(path):
    """Rows of a record, each of which must be what was put."""
    record = McapFile(path)
    batch = record.read()
    assert batch.numbers.tolist() == list(range(len(batch.rows)))
    assert batch.rows.tobytes() == b"".join(row(k).tobytes() for k in range(len(batch.rows)))
    return record, len(batch.rows)


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_recording_process_leaves_all_it_acknowledged(seed, tmp_path):
    recorder = McapRecorder(tmp_path / "run.mcap", flush_s=0.02, ring_bytes=1 << 20)
    recorder.open(NAMES, [""] * WIDTH, {})
    until, k = time.monotonic() + random.Random(seed).uniform(0.05, 0.4), 0
    while time.monotonic() < until or recorder.acknowledged == 0:
        recorder.row(row(k))
        k += 1
        time.sleep(0.001)
    assert recorder.dropped == 0
    acknowledged = recorder.acknowledged
    os.kill(recorder.pid, signal.SIGKILL)
    for late in range(k, k + 4000):
        recorder.row(row(late))  # the bench goes on, and nothing waits
    assert recorder.dropped > 0
    with pytest.raises(HilError, match=rf"ended with code -9: \d+ of {recorder.rows} rows were acknowledged"):
        recorder.close()
    record, rows = checked(recorder.path)
    assert rows >= acknowledged > 0
    assert record.end == {}


def killed_bench(path, seed, recorder_too):
    """Rows put and acknowledged that a bench had reported when it was killed at a random moment."""
    command = [sys.executable, "-c", BENCH, str(path)]
    bench = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    recorder = int(bench.stdout.readline())
    until, reported = time.monotonic() + random.Random(seed).uniform(0.1, 0.6), "0 0"
    while time.monotonic() < until or reported.endswith(" 0"):
        reported = bench.stdout.readline().strip()
    if recorder_too:
        os.kill(recorder, signal.SIGKILL)
    bench.kill()
    bench.communicate()
    put, acknowledged = map(int, reported.split())
    return put, acknowledged


def finished(path):
    """Wait for the recording process to finish the file."""
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        record, rows = checked(path)
        if record.end:
            return record, rows
        time.sleep(0.05)
    raise AssertionError("the record was not finished")


def kill_bench_alone(path, seed):
    put, _ = killed_bench(path, seed, recorder_too=False)
    record, rows = finished(path)
    assert rows >= put > 0
    assert record.end["closed"] is False
    assert record.trouble == ""
    assert "ended without closing" in record.read().events[-1].text


def kill_both(path, seed):
    _, acknowledged = killed_bench(path, seed, recorder_too=True)
    _, rows = checked(path)
    assert rows >= acknowledged > 0


def test_a_killed_bench_leaves_every_row_and_a_finished_file(tmp_path):
    kill_bench_alone(tmp_path / "run.mcap", 1)


def test_both_killed_leave_what_was_acknowledged(tmp_path):
    kill_both(tmp_path / "run.mcap", 1)


@pytest.mark.long
def test_kills_at_many_moments(tmp_path):
    for seed in range(2, 12):
        kill_bench_alone(tmp_path / "alone.mcap", seed)
        kill_both(tmp_path / "both.mcap", 100 + seed)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A record of about 6 chunks."""
    path = tmp_path_factory.mktemp("whole") / "run.mcap"
    recorder = McapRecorder(path, flush_s=0.001)
    recorder.open(NAMES, [""] * WIDTH, {"note": "whole"})
    for k in range(300):
        recorder.row(row(k))
        if k % 50 == 49:
            until = time.monotonic() + 20.0
            while recorder.acknowledged <= k and time.monotonic() < until:
                time.sleep(0.005)
    recorder.close()
    assert checked(path)[1] == 300
    return path


def test_a_file_cut_anywhere_is_read_up_to_its_last_whole_chunk(whole, tmp_path):
    data, path = whole.read_bytes(), tmp_path / "cut.mcap"
    counts, head = [], data.index(b"limberjack.run") + 400
    for length in np.linspace(0, head - 500, 9).astype(int):
        path.write_bytes(data[:length])
        with pytest.raises(lj.ArgumentError, match="not a record of a run"):
            McapFile(path)
    for length in np.linspace(head, len(data) - 1, 50).astype(int):
        path.write_bytes(data[:length])
        record, rows = checked(path)
        assert record.trouble
        counts.append(rows)
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, 300)
    assert len(set(counts)) >= 5


def test_damage_is_reported_and_never_read_as_numbers(whole, tmp_path):
    data, path, rng = whole.read_bytes(), tmp_path / "damaged.mcap", random.Random(5)
    first = data.index(b"limberjack.run") + 400  # behind the names, which no checksum guards
    for _ in range(60):
        at = rng.randrange(first, len(data))
        path.write_bytes(data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :])
        numbers = McapFile(path).read()
        for number, values in zip(numbers.numbers.tolist(), numbers.rows):
            assert values.tobytes() == row(number).tobytes()


def test_a_full_disk_is_reported_and_leaves_what_was_written(tmp_path):
    recorder = McapRecorder(tmp_path / "run.mcap", flush_s=0.001)
    recorder.open(NAMES, [""] * WIDTH, {})
    resource.prlimit(recorder.pid, resource.RLIMIT_FSIZE, (60_000, 60_000))
    for k in range(400):
        recorder.row(row(k))
        time.sleep(0.001)
    with pytest.raises(HilError, match="the record is not complete, File too large"):
        recorder.close()
    _, rows = checked(recorder.path)
    assert 400 > rows >= recorder.acknowledged > 0


HARMS = {
    "removed": (lambda path: path.unlink(), "somebody moved, removed or replaced the file"),
    "moved": (lambda path: path.rename(path.with_name("elsewhere")), "somebody moved, removed or replaced the file"),
    "replaced": (lambda path: (path.unlink(), path.write_bytes(b"")), "somebody moved, removed or replaced the file"),
    "shortened": (lambda path: os.truncate(path, 1000), "somebody shortened the file"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_record_that_somebody_takes_away_is_not_complete(tmp_path, harm):
    """Its process wrote all rows without an error, to a file that nobody finds."""
    act, words = HARMS[harm]
    recorder = McapRecorder(tmp_path / "run.mcap", flush_s=0.001)
    recorder.open(NAMES, [""] * WIDTH, {})
    for k in range(200):
        recorder.row(row(k))
    deadline = time.monotonic() + 30.0
    while recorder.acknowledged < 200:
        assert time.monotonic() < deadline, "the rows are not written"
        time.sleep(0.01)
    act(recorder.path)
    with pytest.raises(HilError, match=f"the record is not complete, {words}"):
        recorder.close()


def test_in_lockstep_the_run_waits_for_room_and_nothing_is_lost(tmp_path):
    recorder = McapRecorder(tmp_path / "run.mcap", ring_bytes=1)
    recorder.open(NAMES, [""] * WIDTH, {"paced": False})
    for k in range(200):
        recorder.row(row(k))
    os.kill(recorder.pid, signal.SIGKILL)
    for k in range(200, 250):
        recorder.row(row(k))  # nor does it wait for the dead
    assert 250 - 200 - 16 <= recorder.dropped <= 50
    with pytest.raises(HilError, match="ended with code -9"):
        recorder.close()


def test_a_place_that_cannot_be_written_is_reported_at_once(tmp_path):
    recorder = McapRecorder(tmp_path / "none" / "run.mcap")
    with pytest.raises(HilError, match="cannot be written: No such file or directory"):
        recorder.open(NAMES, [""] * WIDTH, {})
    recorder.close()


def test_rows_leave_no_memory_behind(tmp_path):
    recorder = McapRecorder(tmp_path / "run.mcap", ring_bytes=1 << 20)
    recorder.open(NAMES, [""] * WIDTH, {})
    values = row(1)
    for _ in range(100):
        recorder.row(values)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20_000):
        recorder.row(values)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    with contextlib.suppress(HilError):  # rows came faster than any process writes
        recorder.close()
    assert grown < 2_000


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as lines:
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


@pytest.mark.long
def test_memory_is_flat_over_a_long_record(tmp_path):
    """400 s at 1 kHz, as fast as the recording process takes them."""
    recorder = McapRecorder(tmp_path / "run.mcap", flush_s=0.25)
    recorder.open(NAMES, [""] * WIDTH, {})
    sizes = []
    for k in range(400_000):
        recorder.row(row(k))
        if k % 2000 == 1999:
            while recorder.acknowledged < k - 5000:
                time.sleep(0.01)
        if k in (100_000, 399_999):
            sizes.append((resident_kb(os.getpid()), resident_kb(recorder.pid)))
    recorder.close()
    assert recorder.dropped == 0
    assert sizes[1][0] - sizes[0][0] < 2_000
    assert sizes[1][1] - sizes[0][1] < 4_000
