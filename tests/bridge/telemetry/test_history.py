"""The history: exact while it is full, extremes kept when it is not, bounded, survives kills and restarts."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.history.store import HistoryError, Store
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.engine.common.errors import ArgumentError

MS, S = 10**6, 10**9
T0 = 1_700_000_000 * S


def dictionary(*ids: str, model: str = "m") -> Dictionary:
    return Dictionary(model, f"hash of {model}", tuple(Quantity(id, "q", "", "") for id in ids))


TWO = dictionary("time", "q.a")


def wave(k: np.ndarray | int) -> np.ndarray:
    return np.sin(0.01 * np.asarray(k)) * (1.0 + 1e-7 * np.asarray(k))


def fill(history: History, first: int, stop: int, *, step_ns: int = MS, gaps: dict[int, int] | None = None) -> None:
    values = wave(np.arange(first, stop))
    for k, value in zip(range(first, stop), values, strict=True):
        vector = np.array([1e-9 * step_ns * k, value])
        history.sample(Sample(k, vector[0], T0 + step_ns * k, vector, (gaps or {}).get(k, 0)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.db"


def test_many_samples_at_once_are_kept_as_one_by_one(path, monkeypatch):
    """A failure to write loses those in memory and the rest of the list, which the next sample reports as a gap."""
    history = History(path)
    history.open(TWO)
    many = [Sample(k, 0.0, T0 + MS * k, np.array([0.001 * k, wave(k)]), int(k == 300)) for k in range(1000)]
    history.sample_many(many[:5])
    history.sample_many(many[5:700])
    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", lambda *_: (_ for _ in ()).throw(HistoryError("full")))
        with pytest.raises(HistoryError, match="full"):
            history.sample_many(many[700:990])
    history.sample_many(many[990:])
    found = history.query(["q.a"], T0, T0 + 10**12, most_points=10_000)["q.a"]
    written = [
        *range(512),
        *range(990, 1000),
    ]  # two blocks of 256; then all until the failure is lost
    assert found.unix_ns.tolist() == [T0 + MS * k for k in written]
    assert np.array_equal(found.last, wave(np.array(written)))
    assert {k: int(gap) for k, gap in zip(written, found.gap, strict=True) if gap} == {0: 1, 300: 1, 990: 990 - 512}
    history.close()


def test_orders_survive_a_flood_of_alarms_and_a_restart_and_can_be_searched(path, monkeypatch):
    """Each kind has its own bound: a thousand alarms drive out no order."""
    monkeypatch.setattr("limberjack.bridge.telemetry.history.history._NOTICES", 50)
    said = (("command", "alice: shelve q.a for 600 s: 50% off", "shelve"), ("refused", "bob: reset refused", "reset"))
    history = History(path)
    history.open(TWO)
    for k, (kind, text, action) in enumerate(said):
        history.notice(Notice(kind, k, text, 0.1, T0 + k, {"who": text[:5], "order": "x", "action": action}))
    for k in range(1000):
        history.notice(Notice("alarm", 1, f"q.a is {k}", 0.1, T0 + 10 + k, {}))
    history.close()
    history = History(path)
    history.open(TWO)
    end = T0 + S

    def found(what: str, search: str = "") -> list[str]:
        return [each.text for each in history.notices(0, end, 50, what=what, search=search)]

    texts = [text for _, text, _ in said]
    assert found("orders") == texts
    assert found("orders", "ALICE 600") == texts[:1]
    assert found("orders", "50%") == texts[:1]
    for nothing in ("5_%", "alice reset", "!", "'; DROP TABLE notice"):
        assert found("orders", nothing) == []
    assert found("all") == [f"q.a is {k}" for k in range(950, 1000)]
    history.notice(Notice("command", 0, "alice: acknowledge q.a.", 0.2, end - 1, {"action": "acknowledge"}))
    assert found("alarms")[-2:] == ["q.a is 999", "alice: acknowledge q.a."]
    assert [each.text for each in history.notices(0, T0 + 10, 50, what="alarms")] == texts[:1]
    for k in range(100):
        history.notice(Notice("command", 0, f"carol {k}", 0.1, end - 1, {}))
    assert found("orders") == [f"carol {k}" for k in range(50, 100)]
    with pytest.raises(ArgumentError, match="at most 200"):
        history.notices(0, end, search="x" * 201)
    with pytest.raises(ArgumentError, match="kind of notices"):
        history.notices(0, end, what="alarm")
    history.close()


def test_orders_of_a_file_of_before_are_found(path):
    history = History(path)
    history.open(TWO)
    history.close()
    with contextlib.closing(sqlite3.connect(path)) as file:
        file.execute("DROP TABLE order_notice")
        row = (T0, 0.1, "command", 0, "alice: reset.", "{}")
        file.execute("INSERT INTO notice (unix_ns, time, kind, severity, text, data) VALUES (?, ?, ?, ?, ?, ?)", row)
        file.commit()
    for _ in range(2):
        history = History(path)
        history.open(TWO)
        assert [each.text for each in history.notices(0, T0 + S, what="orders")] == ["alice: reset."]
        assert len(history.notices(0, T0 + S)) == 1
        history.close()


def test_every_sample_of_the_last_minutes_bit_for_bit(path):
    history = History(path)
    history.open(TWO)
    fill(history, 0, 3000, gaps={1000: 7})
    found = history.query(["q.a", "time"], T0, T0 + 3 * S, 5000)
    np.testing.assert_array_equal(found["q.a"].unix_ns, T0 + MS * np.arange(3000))
    for each in (found["q.a"].minimum, found["q.a"].maximum, found["q.a"].last):
        np.testing.assert_array_equal(each, wave(np.arange(3000)))
    np.testing.assert_array_equal(found["time"].last, 1e-3 * np.arange(3000.0))
    assert {k: int(found["q.a"].gap[k]) for k in np.flatnonzero(found["q.a"].gap)} == {0: 1, 1000: 7}
    part = history.query(["q.a"], T0 + 100 * MS, T0 + 110 * MS)["q.a"]
    np.testing.assert_array_equal(part.unix_ns, T0 + MS * np.arange(100, 110))
    history.close()


def test_fewer_points_keep_extremes_and_gaps(path):
    history = History(path)
    history.open(TWO)
    fill(history, 0, 10_000, gaps={4321: 5})
    series = history.query(["q.a"], T0, T0 + 10 * S, 100)["q.a"]
    rows = wave(np.arange(10_000)).reshape(100, 100)
    np.testing.assert_array_equal(series.minimum, rows.min(axis=1))
    np.testing.assert_array_equal(series.maximum, rows.max(axis=1))
    np.testing.assert_array_equal(series.last, rows[:, -1])
    assert series.gap[43] == 5
    assert series.gap.sum() == 6
    history.close()


def test_what_is_older_comes_from_coarser_points(path):
    """50 Hz for 400 s, full only for the last 20 s: the rest in bins of a second, exact extremes."""
    history = History(path, full_s=20.0)
    history.open(TWO)
    fill(history, 0, 20_000, step_ns=20 * MS)
    series = history.query(["q.a"], T0, T0 + 400 * S, 100_000)["q.a"]
    assert (np.diff(series.unix_ns) > 0).all()
    full = series.unix_ns >= T0 + 381 * S
    np.testing.assert_array_equal(series.last[full], wave(np.arange(19_050, 20_000)))
    rows = wave(np.arange(20_000)).reshape(400, 50)
    np.testing.assert_array_equal(series.minimum[:370], rows.min(axis=1)[:370])
    np.testing.assert_array_equal(series.maximum[:370], rows.max(axis=1)[:370])
    history.close()


@pytest.mark.parametrize("full_s", [20.0, 21.0, 27.5])
def test_no_sample_is_missing_where_coarser_points_begin(path, full_s):
    """Of a ramp, each point begins where the one before it ended, at the latest."""
    history = History(path, full_s=full_s)
    history._tiers = (history._tiers[0], dataclasses.replace(history._tiers[1], keep_s=70.0), history._tiers[2])
    history.open(TWO)
    for k in range(4000):
        history.sample(Sample(k, 0.05 * k, T0 + 50 * MS * k, np.array([0.05 * k, k])))
    series = history.query(["q.a"], T0, T0 + 200 * S, 5000)["q.a"]
    assert (series.minimum[0], series.maximum[-1]) == (0.0, 3999.0)
    assert len(np.unique(np.diff(series.unix_ns) > 25 * S)) == 2, "there are no points of all lengths"
    assert np.all(np.diff(series.unix_ns) > 0)
    assert np.all(series.minimum[1:] <= series.maximum[:-1] + 1.0)
    history.close()


def test_the_file_stays_small(path):
    """Ten times more than fits: the newest is there, and the file no larger than asked for (and its log)."""
    history = History(path, size_bytes=2_000_000)
    wide = dictionary("time", *(f"q.{k}" for k in range(199)))
    history.open(wide)
    rows = np.random.default_rng(1).normal(size=(100, 200))
    for k in range(12_000):
        history.sample(Sample(k, 1e-3 * k, T0 + MS * k, rows[k % 100], 0))
    series = history.query(["q.5"], T0, T0 + 12 * S, 100_000)["q.5"]
    assert series.unix_ns[-1] == T0 + 11_999 * MS
    history.close()
    assert path.stat().st_size < 3_000_000


def test_a_restart_goes_on_and_shows_the_break(path):
    for first in (0, 2000):
        history = History(path)
        history.open(TWO)
        fill(history, first, first + 1000)
        history.notice(Notice("link", 1, f"run {first}", 0.1, T0 + MS * first, {"x": 1}))
        history.close()
    history = History(path)
    history.open(dictionary("time", "q.other", model="n"))
    series = history.query(["q.a"], T0, T0 + 10 * S, 10_000)["q.a"]
    np.testing.assert_array_equal(series.last, wave(np.r_[0:1000, 2000:3000]))
    assert np.flatnonzero(series.gap).tolist() == [0, 1000]
    assert len(history.query(["q.other"], 0, 2**100)["q.other"].last) == 0
    assert [each.text for each in history.notices(0, T0 + 10 * S)] == ["run 0", "run 2000"]
    assert history.notices(0, T0 + 10 * S, 1)[0].data == {"x": 1}
    with pytest.raises(ArgumentError, match=r"no quantity is called 'q.b'"):
        history.query(["q.b"], T0, T0 + S)
    history.close()


WRITER = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.bridge.telemetry.test_history import *
history = History(Path({path!r}))
history.open(TWO)
for first in range(0, 10**9, 1000):
    fill(history, first, first + 1000, step_ns=20 * MS)
    print(first + 1000, flush=True)
"""


@pytest.mark.long
def test_killed_while_it_writes(path):
    """Killed with SIGKILL: all but the last block is there, also in the coarser points."""
    root = str(Path(__file__).parents[3])
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER.format(root=root, path=str(path))], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    output = [int(child.stdout.readline()) for _ in range(20)]
    os.kill(child.pid, signal.SIGKILL)
    output += [int(each) for each in child.stdout.read().split()]
    child.wait()
    history = History(path)
    history.open(TWO)
    series = history.query(["q.a"], T0, T0 + 10**6 * S, 100_000)["q.a"]
    count = len(series.last)
    assert count >= output[-1] - 256
    np.testing.assert_array_equal(series.last, wave(np.arange(count)))
    store = history._opened()
    seconds = list(store.read(1, 1, 1, T0, T0 + 10**6 * S))
    last = np.concatenate([each.values[0, 2] for each in seconds])
    np.testing.assert_array_equal(last[: count // 50], wave(np.arange(49, count, 50)))
    history.close()


def test_files_that_cannot_be_used(path, tmp_path):
    path.write_text("this is no database, but long enough to look like one" * 100)
    with pytest.raises(HistoryError, match="not a database.*Give another path"):
        History(path).open(TWO)
    first, second = History(tmp_path / "h"), History(tmp_path / "h")
    first.open(TWO)
    with pytest.raises(HistoryError, match="history of another gateway"):
        second.open(TWO)
    first.close()
    with pytest.raises(HistoryError, match="closed"):
        first.query(["q.a"], 0, 1)
    second.open(TWO)
    for wrong in ({"most_points": 0}, {"ids": []}, {"ids": ["q.a"] * 100}, {"start_ns": 0.5}):
        with pytest.raises(ArgumentError):
            second.query(**{"ids": ["q.a"], "start_ns": 0, "end_ns": 1, **wrong})
    second.close()
    with pytest.raises(OSError, match="No such file"):
        History(tmp_path / "no" / "h").open(TWO)


def test_a_file_that_could_not_be_opened_is_free_for_the_next_attempt(path, monkeypatch):
    history = History(path)
    with monkeypatch.context() as patched:
        patched.setattr(Store, "whole_blocks", lambda *_: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="full"):
            history.open(TWO)
    history.open(TWO)
    history.close()


def test_a_file_is_one_file_under_each_of_its_names(path, tmp_path):
    other = tmp_path / "link"
    other.symlink_to(path)
    history = History(path)
    history.open(TWO)
    with pytest.raises(HistoryError, match="history of another gateway"):
        History(other).open(TWO)
    history.close()


def test_a_full_disk_loses_samples_and_says_so(path, monkeypatch):
    """What cannot be written shows as a gap once there is room again."""
    history = History(path)
    history.open(TWO)
    fill(history, 0, 256)
    store = history._opened()
    store._writer.execute(f"PRAGMA max_page_count = {store._writer.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(HistoryError, match="full"):
        fill(history, 256, 100_000)
    store._writer.execute("PRAGMA max_page_count = 1000000")
    lost = int(history._broken)
    assert lost > 0
    fill(history, 100_000, 100_256)
    series = history.query(["q.a"], T0, T0 + 200 * S, 100_000)["q.a"]
    assert series.gap[np.flatnonzero(series.unix_ns == T0 + 100_000 * MS)[0]] == lost
    history.close()
