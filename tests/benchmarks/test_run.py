"""The whole harness, quick, on one small chain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import engine_bench
from benchmarks.engines import OPERATIONS
from limberjack.engine.common.errors import LimberjackError, ModelError

pytestmark = pytest.mark.long  # compiles four loops


def test_quick_run_end_to_end(no_compiler: None, tmp_path: Path) -> None:
    console = Console(record=True, width=80, quiet=False, file=(tmp_path / "screen").open("w"))
    result = engine_bench.bench((), (3, 5), quick=True, out=tmp_path / "out", console=console)
    assert [model.name for model in result.models] == ["chain 3", "chain 5"]
    for model in result.models:
        assert set(model.agreement) == {"Pinocchio", "MuJoCo"}
        assert all(worst <= 1e-9 for found in model.agreement.values() for worst in found.values())
        for operation in OPERATIONS:
            timings = model.of(operation)
            assert [t.engine for t in timings] == ["Limberjack", "Pinocchio", "MuJoCo"]
            assert all(0.0 < t.us.least <= t.us.q1 <= t.us.median <= t.us.q3 for t in timings)
    assert [trip["pinned_cpu"] for trip in result.round_trips] == [result.core, None]
    assert all(trip["round_trip_us"] > 0 for trip in result.round_trips)
    text = console.export_text()
    assert "called from Python" in text
    assert "lockstep round trip" in text
    stored = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert stored["models"][0]["name"] == "chain 3"
    assert (tmp_path / "out" / "bench.png").exists()
    assert not (tmp_path / "out" / "history.jsonl").exists()


def test_history_is_written_where_asked(no_compiler: None, tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    engine_bench.bench(
        (), (2,), repeats=1, round_trip=False, out=tmp_path, history_path=path, console=Console(quiet=True)
    )
    (line,) = [json.loads(text) for text in path.read_text().splitlines()]
    assert set(line["models"]["chain 2"]) == {"bodies", "nv", *OPERATIONS}


def test_a_missing_peer_is_a_remark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: object) -> object:
        raise engine_bench.PeerUnavailableError("the package mujoco is not installed")

    monkeypatch.setattr(engine_bench, "MuJoCo", absent)
    monkeypatch.setattr(engine_bench, "pinocchio", absent)
    result = engine_bench.bench((), (2,), quick=True, round_trip=False, out=tmp_path, console=Console(quiet=True))
    assert result.peers == []
    assert result.remarks == [
        "chain 2: no Pinocchio: the package mujoco is not installed",
        "chain 2: no MuJoCo: the package mujoco is not installed",
    ]


def test_engines_that_disagree_are_an_error(no_compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_bench, "AGREEMENT", -1.0)
    with pytest.raises(LimberjackError, match="chain 2: forward dynamics of Pinocchio differs"):
        engine_bench.bench((), (2,), quick=True, round_trip=False, out=tmp_path, console=Console(quiet=True))


def test_bad_arguments(tmp_path: Path) -> None:
    quiet = Console(quiet=True)
    with pytest.raises(ModelError, match="0 repeats"):
        engine_bench.bench((), (2,), repeats=0, out=tmp_path, console=quiet)
    with pytest.raises(ModelError, match="no benchmark robot 'hal'"):
        engine_bench.bench(("hal",), (), out=tmp_path, console=quiet)
