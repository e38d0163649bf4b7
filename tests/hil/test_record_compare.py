"""Two records beside each other, Parquet tables, pictures."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.commands.record_plot import MOST_POINTS, Envelope
from limberjack.hil.events import Event
from limberjack.hil.record import compare as compare_module
from limberjack.hil.record.compare import compare, open_table
from limberjack.hil.record.mcap_file import McapFile, McapRecorder
from limberjack.hil.record.parquet import ParquetTable, export_parquet

NAMES, UNITS = ("time", "q.a", "q.b", "output.c"), ("s", "rad", "rad", "N")


def recorded(path, rows, names=NAMES, units=UNITS):
    recorder = McapRecorder(path)
    recorder.open(names, units, {"model": "toy", "dt": 1e-3})
    recorder.event(Event(0.02, "fault", "gyro", "bias set", {"frame": 21, "parameters": {"x": 0.1}}))
    for row in rows:
        recorder.row(np.array(row))
    recorder.close()
    return path


def rows_of(count=200):
    rows = np.random.default_rng(1).normal(size=(count, 4))
    rows[:, 0] = 1e-3 * np.arange(count)
    return rows


@pytest.fixture
def pair(tmp_path):
    """A record and another: its q.b is off by 1e-3 in row 100 and 0.5 in row 150, its c by 1e-9 from row 120 on."""
    rows = rows_of()
    other = rows.copy()
    other[100, 2] += 1e-3
    other[150, 2] -= 0.5
    other[120:, 3] += 1e-9
    return recorded(tmp_path / "a.mcap", rows), recorded(tmp_path / "b.mcap", other), rows


def test_the_first_and_the_largest_differences_are_found(pair):
    found = compare(McapFile(pair[0]), McapFile(pair[1]))
    assert (found.rows, found.only_rows, found.only_names) == (200, (0, 0), ((), ()))
    b, c = found.differing
    assert (b.name, b.unit, c.name, c.unit) == ("q.b", "rad", "output.c", "N")
    assert (b.first, c.first) == (pytest.approx(0.100), pytest.approx(0.120))
    assert (b.largest, b.time) == (pytest.approx(0.5), pytest.approx(0.150))
    assert not found.equal


def test_tolerances_allow_differences(pair):
    a, b = (McapFile(path) for path in pair[:2])
    (left,) = compare(a, b, absolute=1e-2).differing
    assert (left.name, left.first) == ("q.b", pytest.approx(0.150))
    assert compare(a, b, absolute=0.51).equal
    assert compare(a, b, relative=2.0).equal
    assert not compare(a, b, relative=1e-12).equal


def test_rows_and_signals_of_one_side_are_counted(tmp_path):
    rows = rows_of()
    coarse = recorded(tmp_path / "b.mcap", rows[::4, [0, 2]], ("time", "q.b"), ("s", "rad"))
    found = compare(McapFile(recorded(tmp_path / "a.mcap", rows)), McapFile(coarse))
    assert (found.rows, found.only_rows) == (50, (150, 0))
    assert found.only_names == (("q.a", "output.c"), ())
    assert not found.differing
    assert not found.equal
    other = recorded(tmp_path / "c.mcap", rows[:, [0, 2]], ("time", "v.b"), ("s", "rad/s"))
    with pytest.raises(lj.ArgumentError, match="no signal in common"):
        compare(McapFile(coarse), McapFile(other))


def test_numbers_that_are_not_finite_are_compared_too(tmp_path):
    rows = rows_of(20)
    rows[3, 1:3] = np.nan, np.inf
    other = rows.copy()
    other[5, 1], other[6, 2] = np.nan, -np.inf
    a, b = (McapFile(recorded(tmp_path / f"{i}.mcap", table)) for i, table in enumerate((rows, other)))
    assert compare(a, a).equal
    found = compare(a, b, absolute=1e9)
    assert [(s.name, round(1e3 * s.first), s.largest) for s in found.differing] == [
        ("q.a", 5, np.inf),
        ("q.b", 6, np.inf),
    ]


def test_a_parquet_table_holds_the_same_bits_units_and_events(pair, tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    monkeypatch.setattr("limberjack.hil.record.parquet._ROW_GROUP", 64)
    assert export_parquet(McapFile(pair[0]), path) == 200
    table = ParquetTable(path)
    batches = list(table.batches())
    assert np.concatenate([batch.rows for batch in batches]).tobytes() == pair[2].tobytes()
    assert (table.names, table.units, table.meta["model"], table.trouble) == (NAMES, UNITS, "toy", "")
    assert [event.data for event in batches[0].events] == [{"frame": 21, "parameters": {"x": 0.1}}]
    assert compare(table, McapFile(pair[0])).equal


def test_tables_of_other_makers_can_be_compared(pair, tmp_path):
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([["time [s]", "q.b [rad]"], *pair[2][:, [0, 2]].tolist()])
    found = compare(open_table(path), McapFile(pair[1]))
    assert [s.name for s in found.differing] == ["q.b"]
    path.write_text("a,b\n1,x\n")
    with pytest.raises(lj.ArgumentError, match="not a table of numbers"):
        open_table(path)
    with pytest.raises(lj.ArgumentError, match="ends in .mcap, .parquet, .csv"):
        open_table(tmp_path / "log.txt")


@pytest.mark.parametrize("times", [(0.0, 0.0, 0.01), (0.02, 0.01, 0.0), (0.0, math.nan, 0.01), (0.0, 1.0, math.inf)])
def test_tables_whose_time_does_not_go_on_are_refused(tmp_path, times):
    path, good = tmp_path / "log.csv", tmp_path / "good.csv"
    path.write_text("time,q.b\n" + "".join(f"{time},1\n" for time in times))
    good.write_text("time,q.b\n0,1\n0.01,1\n")
    for pair in ((path, good), (good, path), (path, path)):
        with pytest.raises(lj.ArgumentError, match=r"a row at t = .* is not after the one before"):
            compare(*map(open_table, pair))


def test_the_commands(pair, tmp_path, capsys):
    a, b = map(str, pair[:2])
    assert main(["compare", a, a]) == 0
    assert "200 rows of 3 signals: all within the tolerance" in capsys.readouterr().out
    assert main(["compare", a, b]) == 1
    text = capsys.readouterr().out
    assert "2 signals differ, first 'q.b' at t = 0.1 s" in text
    assert "0.15" in text
    assert main(["compare", a, b, "--absolute", "0.6"]) == 0
    assert main(["compare", a, b, "--absolute", "-1"]) == 2
    assert main(["compare", a, str(tmp_path / "none.mcap")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main(["parquet", a]) == 0
    assert main(["compare", a, str(tmp_path / "a.parquet")]) == 0
    assert main(["plot", a, "--signals", "q.*", "-o", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert main(["plot", a, "--signals", "x.*"]) == 2
    assert "no signal of the record matches 'x.*'; it has time, q.a, " in capsys.readouterr().err
    assert main(["plot", a, "--signals", "qq.b"]) == 2
    assert "matches 'qq.b'; did you mean 'q.b'?" in capsys.readouterr().err


def test_a_long_record_is_drawn_as_ranges_that_hold_every_value():
    envelope, rng = Envelope(2), np.random.default_rng(3)
    rows = rng.normal(size=(100_003, 2))
    rows[77_777, 1] = 40.0
    for start in range(0, len(rows), 777):
        part = rows[start : start + 777]
        envelope.add(1e-3 * np.arange(start, start + len(part)), part)
    assert len(envelope.time) <= 2 * MOST_POINTS
    assert np.all(np.diff(envelope.time) > 0)
    assert np.array_equal(envelope.low.min(axis=0), rows.min(axis=0))
    spike = int(envelope.high[:, 1].argmax())
    assert envelope.high[spike, 1] == 40.0
    assert envelope.time[spike] <= 77.777 <= envelope.time[spike + 1]


def test_times_are_matched_across_chunks(monkeypatch):
    """Batches of any sizes on both sides give what whole tables give."""

    class Pieces:
        names, units, trouble = ("time", "x"), ("s", "m"), ""

        def __init__(self, rows, sizes):
            self.rows, self.sizes = rows, sizes

        def batches(self):
            at = 0
            for size in self.sizes:
                rows = self.rows[at : at + size]
                yield compare_module.Batch(np.arange(len(rows)), np.zeros(len(rows), dtype=int), rows)
                at += size

    rng = np.random.default_rng(8)
    rows = np.column_stack([1e-3 * np.arange(1000), rng.normal(size=1000)])
    kept = np.flatnonzero(rng.random(1000) < 0.7)
    other = rows[kept] + [0.0, 1e-3]
    found = compare(Pieces(rows, [1, 0, 399, 600]), Pieces(other, [350, 0, 1, 1000]))
    assert (found.rows, found.only_rows) == (len(kept), (1000 - len(kept), 0))
    assert found.signals[0].largest == pytest.approx(1e-3)
    assert found.signals[0].first == pytest.approx(rows[kept[0], 0])
