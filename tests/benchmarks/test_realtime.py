"""The executive beside a loop in C: what is counted, and a quick run of everything. No time decides."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.peer_build import PeerUnavailableError
from benchmarks.realtime import realtime_bench
from benchmarks.realtime.cyclictest import cyclictest_loop, latencies
from benchmarks.realtime.loops import Times, c_loop
from limberjack.hil.realtime_rights import RealtimeRights


def test_frames_of_all_rounds_are_counted_together() -> None:
    times = Times("loop", 1000.0)
    late, work = np.array([0, 10_000, 999_000, 200]), np.array([5_000, 5_000, 5_000, 999_900])
    times.add(late[:2], work[:2])
    times.add(late[2:], work[2:])
    found = times.as_dict()
    assert (found["frames"], found["overruns"]) == (4, 2)
    assert found["late"][0] == round(1e-3 * np.median(late), 2)
    assert found["end"][-1] == pytest.approx(1004.0)


@pytest.mark.parametrize("margin_ns", [0, 200_000])
def test_the_loop_in_c_wakes_after_each_deadline(margin_ns: int) -> None:
    pytest.importorskip("ziglang")
    late, work = c_loop(2000.0, margin_ns)(0.05, RealtimeRights(freeze=False))
    assert len(late) == len(work) == 100
    assert late.min() >= 0
    assert late.max() > 0


def test_a_report_of_cyclictest_has_every_cycle() -> None:
    report = {"thread": {"0": {"histogram": {"3": 2, "10": 1}, "cycles": 5, "max": 250_000}}}
    assert latencies(report).tolist() == [3000, 3000, 10_000, 250_000_000, 250_000_000]


@pytest.mark.skipif(shutil.which("cyclictest") is None, reason="rt-tests")
def test_cyclictest_wakes_after_each_deadline() -> None:
    late, work = cyclictest_loop(2000.0, RealtimeRights(freeze=False))(0.05, RealtimeRights(freeze=False))
    assert len(late) == len(work) == 100
    assert np.all(np.diff(late) >= 0)
    assert late.max() > 0


def test_cyclictest_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PeerUnavailableError, match="rt-tests"):
        cyclictest_loop(1000.0, RealtimeRights())


@pytest.mark.long
def test_quick_run_end_to_end(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=200)
    result = realtime_bench.bench(quick=True, out=tmp_path / "out", console=console)
    assert json.loads((tmp_path / "out" / "realtime.json").read_text())["rates"] == result["rates"]
    assert [rate["model"] for rate in result["rates"]] == ["cassini", "torque_arm"]
    for rate in result["rates"]:
        assert {"executive, no model", f"executive, {rate['model']}"} <= {loop["name"] for loop in rate["loops"]}
        assert all(loop["frames"] > 0 for loop in rate["loops"])
