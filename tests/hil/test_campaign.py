"""Campaigns: the same table on any number of workers and after any crash."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from limberjack.cli import main
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.campaign.campaign_file import load_campaign
from limberjack.hil.campaign.runner import head_of, report_run, run_campaign
from limberjack.hil.campaign.sampling import plan
from limberjack.hil.campaign.table import Journal, Row, columns, write_table
from limberjack.hil.errors import HilError
from tests.hil import campaign_runs

VARY = "vary:\n  a: {uniform: [0, 1]}\n  b: {normal: {mean: 0, sigma: 1}}\n  c: {choice: [x, 3]}\n"
ROOT = Path(__file__).parents[2]


def write(folder: Path, runs: int, more: str = "") -> Path:
    (folder / "s.yaml").write_text("limberjack_scenario: 1\n")
    path = folder / "c.yaml"
    path.write_text(f"limberjack_campaign: 1\nname: c\nscenario: s.yaml\nseed: 9\nruns: {runs}\n{VARY}{more}")
    return path


def tables(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in ("table.csv", "table.parquet")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """200 runs and their table, made here one after the other, without any pool."""
    folder = tmp_path_factory.mktemp("whole")
    path = write(folder, 200)
    campaign = load_campaign(path)
    (folder / "expected").mkdir()
    write_table(folder / "expected", [campaign_runs.cheap(campaign.scenario, job) for job in plan(campaign)])
    return path, folder / "expected"


def test_killed_half_way_with_workers_killed_and_resumed_is_the_same_table(whole, tmp_path):
    path, expected = whole
    pids, out = path.parent / "pids", tmp_path / "out"
    child = subprocess.Popen([sys.executable, "-m", "tests.hil.campaign_main", path, out, "2"], cwd=ROOT)
    kill_at(out, 60, lambda: os.kill(workers(pids)[-1], signal.SIGKILL))
    kill_at(out, 100, child.kill)
    child.wait()
    assert_gone(workers(pids))
    kept = len((out / "rows.jsonl").read_bytes().splitlines()) - 1
    assert 100 <= kept < 200
    with (out / "rows.jsonl").open("ab") as stream:  # what a crash in the middle of a line leaves
        stream.write(b'{"run": 7, "se')
    ran: list[int] = []
    again = {"run": campaign_runs.slow, "progress": lambda row, *_: ran.append(row.run)}
    run_campaign(path, out=out, workers=2, resume=True, **again)
    assert len(ran) == len(set(ran)) == 200 - kept
    assert tables(out) == tables(expected)


def kill_at(out: Path, rows: int, kill) -> None:
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            if (out / "rows.jsonl").read_bytes().count(b"\n") > rows:
                return kill()
        time.sleep(0.005)
    raise AssertionError("the campaign did not get so far")


def workers(pids: Path) -> list[int]:
    """Processes that have run something, the latest last; the line being written is left out."""
    lines = pids.read_text().split("\n")[:-1]
    return list(dict.fromkeys(int(line.split()[0]) for line in lines))


def assert_gone(processes: list[int]) -> None:
    deadline = time.monotonic() + 10.0
    while any(Path(f"/proc/{pid}").exists() for pid in processes):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 3])
def test_any_number_of_workers_makes_the_same_table(whole, tmp_path, count):
    path, expected = whole
    summary = run_campaign(path, out=tmp_path, workers=count, run=campaign_runs.slow)
    assert tables(tmp_path) == tables(expected)
    assert sum(summary.counts().values()) == 200
    assert (tmp_path / "summary.png").stat().st_size > 10_000


@pytest.mark.long
def test_workers_that_die_or_hang_cost_only_their_run(tmp_path):
    path = write(tmp_path, 20, "limit_s: 1\ntries: 2\nleast_passed: 0.5\n")
    summary = run_campaign(path, out=tmp_path / "out", workers=2, run=campaign_runs.troubled)
    rows = summary.rows
    assert [row.run for row in rows] == list(range(20))
    reported = {row.run: (row.status, row.cause) for row in rows if row.status not in ("passed", "failed")}
    assert reported == {
        3: ("lost", "its process was killed by SIGSEGV, at each of 2 tries"),
        5: ("lost", "its process gave no result within 1 s (limit_s) and was killed, at each of 2 tries"),
        7: ("error", "ZeroDivisionError: no wheel"),
        9: ("invalid", "mass is -1."),
        11: ("error", "SystemExit: 4"),
    }
    assert rows[13].status in ("passed", "failed")
    again = run_campaign(path, out=tmp_path / "out", workers=1, resume=True, run=campaign_runs.cheap)
    assert not again.counts()["lost"]
    assert again.counts()["error"] == 2


def test_a_first_run_that_is_refused_stops_the_campaign(tmp_path):
    with pytest.raises(ArgumentError, match=r"run 0 of c.yaml cannot be run: no parameter is called 'mess'"):
        run_campaign(write(tmp_path, 50), out=tmp_path / "out", workers=2, run=campaign_runs.refused)


def test_functions_that_other_processes_cannot_find_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="function of a module"):
        run_campaign(write(tmp_path, 2), out=tmp_path / "out", run=lambda scenario, job: None)


def test_rows_of_another_campaign_are_kept(tmp_path):
    head = {"campaign": "c", "digest": "0"}
    row = Row(0, 1, "passed", values={"a": 1}, measured={"m": math.nan, "n": 0.1 + 0.2})
    with Journal(tmp_path / "rows.jsonl", head) as journal:
        journal.add(row)
        with pytest.raises(HilError, match="open in another process"), Journal(tmp_path / "rows.jsonl", head):
            pass
    with Journal(tmp_path / "rows.jsonl", head) as journal:
        assert repr(journal.rows[0]) == repr(row)
    other = {**head, "digest": "1"}
    with pytest.raises(ArgumentError, match="another campaign"), Journal(tmp_path / "rows.jsonl", other):
        pass
    with Journal(tmp_path / "begun.jsonl", head):
        pass
    with Journal(tmp_path / "begun.jsonl", other) as journal:  # no rows are lost
        assert not journal.rows
    (tmp_path / "rows.jsonl").write_text('{"limberjack_rows": 1}\nnonsense\n')
    with pytest.raises(ArgumentError, match=r"rows.jsonl:2: not a row"), Journal(tmp_path / "rows.jsonl", {}):
        pass


def test_tables_have_all_columns_of_all_rows():
    rows = [Row(2, 5, "passed", values={"a": 1.5}, measured={"m": 1.0}), Row(1, 4, "lost", "why", {"a": 2})]
    table = columns(rows)
    assert list(table) == ["run", "status", "cause", "seed", "set.a", "measured.m"]
    assert table["run"] == [1, 2]
    assert math.isnan(table["measured.m"][0])


def test_a_folder_with_rows_is_not_overwritten(whole, tmp_path, capsys):
    path, expected = whole
    campaign = load_campaign(path)
    with Journal(tmp_path / "rows.jsonl", head_of(campaign)) as journal:
        for job in plan(campaign):
            journal.add(campaign_runs.cheap(campaign.scenario, job))
    assert main(["campaign", str(path), "--out", str(tmp_path)]) == 2
    assert "has 200 of 200 runs; go on with --resume" in capsys.readouterr().err
    assert main(["campaign", str(path), "--out", str(tmp_path), "--resume"]) == 1
    assert tables(tmp_path) == tables(expected)
    passed = sum(row.status == "passed" for row in journal.rows.values())
    assert f"c FAILED: 200 runs, {passed} passed" in capsys.readouterr().out
    assert (tmp_path / "summary.png").stat().st_size > 10_000


@pytest.mark.long
def test_runs_of_a_scenario_do_not_depend_on_their_worker(tmp_path):
    text = (ROOT / "examples/campaigns/joint_step_spread.yaml").read_text(encoding="utf-8")
    scenario = str(ROOT / "examples/scenarios/joint_step.yaml")
    path = tmp_path / "c.yaml"
    path.write_text(text.replace("../scenarios/joint_step.yaml", scenario).replace("runs: 60", "runs: 5"))
    summary = run_campaign(path, out=tmp_path / "out", workers=2)
    assert all(row.status in ("passed", "failed") for row in summary.rows)
    for number in (4, 1):  # the other way round, here
        row = report_run(path, number, tmp_path / "out")
        assert repr(row) == repr(summary.rows[number])
        assert (tmp_path / f"out/runs/{number}/report.html").is_file()


@pytest.mark.long
@pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="dask.distributed is not installed")
def test_a_cluster_makes_the_same_table(whole, tmp_path):
    import distributed

    path, expected = whole
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        run_campaign(path, out=tmp_path, scheduler=cluster.scheduler_address, run=campaign_runs.slow)
        assert tables(tmp_path) == tables(expected)
        trouble = write(tmp_path, 12, "limit_s: 2\ntries: 2\n")
        out = tmp_path / "trouble"
        summary = run_campaign(trouble, out=out, scheduler=cluster.scheduler_address, run=campaign_runs.troubled)
        assert {row.run: row.status for row in summary.rows if row.status not in ("passed", "failed")} == {
            3: "lost",
            5: "lost",
            7: "error",
            9: "invalid",
            11: "error",
        }
    with pytest.raises(ArgumentError, match="write tcp://HOST:PORT"):
        run_campaign(path, out=tmp_path / "gone", scheduler="nonsense", run=campaign_runs.slow)
    with pytest.raises(HilError, match="does not answer"):
        run_campaign(path, out=tmp_path / "gone", scheduler="tcp://127.0.0.1:1", run=campaign_runs.slow)


def test_a_scenario_in_the_place_of_a_campaign_is_reported(capsys):
    scenario = Path(__file__).parents[2] / "examples" / "scenarios" / "star_tracker.yaml"
    assert main(["campaign", str(scenario)]) == 2
    assert "this is a scenario, not a campaign. Pass it to 'limberjack hil'" in capsys.readouterr().err
