"""`limberjack bench --loops`, quick, on two small models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.closed_chains import loops_bench
from benchmarks.closed_chains.models import bars, four_bars
from benchmarks.closed_chains.result import OURS, PEERS, LoopBenchResult
from limberjack.cli import main
from limberjack.engine.common.errors import LimberjackError

CASES: list[loops_bench.Case] = [
    ("four-bar", "mechanisms", 0, lambda: four_bars(1)),
    ("6 bars", "bars", 6, lambda: bars(6)),
]


def quick(out: Path, console: Console, cases: list[loops_bench.Case]) -> LoopBenchResult:
    return loops_bench.bench(quick=True, out=out, console=console, chosen=cases)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_quick_run_end_to_end(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    console = Console(record=True, width=120, file=(tmp_path / "screen").open("w"))
    result = quick(tmp_path / "out", console, CASES)
    fourbar, loop = result.models
    for operation in loops_bench.OPERATIONS:
        assert set(fourbar.of(operation)) == {*OURS, *PEERS}
        assert set(loop.of(operation)) == set(OURS)
        faster = fourbar.best(operation, OURS)
        assert faster is not None
        assert faster.us.least > 0.0
    exact = {name: error for model in result.models for name, error in model.errors.items() if name != "MuJoCo"}
    assert max(exact.values()) < 1e-8
    text = console.export_text()
    assert "four-bar" in text
    assert "MuJoCo's loops are soft" in text
    stored = json.loads((tmp_path / "out" / "loops.json").read_text())
    assert [model["name"] for model in stored["models"]] == ["four-bar", "6 bars"]
    assert (tmp_path / "out" / "loops.png").exists()
    assert not (tmp_path / "out" / "loops-history.jsonl").exists()
    assert set(result.history_line("now")["models"]["6 bars"]) >= {"forward", "step", "errors", "loops"}


@pytest.mark.long
def test_engines_that_disagree_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops_bench, "AGREEMENT", -1.0)
    with pytest.raises(LimberjackError, match="6 bars: accelerations of Limberjack embed differ"):
        quick(tmp_path, Console(quiet=True), CASES[1:])


def test_one_subject_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--loops", "--fmu"])
    assert "not allowed with" in capsys.readouterr().err
