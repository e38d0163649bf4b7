"""Statistics, tables and history, with engines whose times are made up."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import history, report
from benchmarks.engines import OPERATIONS, pinned
from benchmarks.measure import Spread, calls_per_batch, compare, spread
from benchmarks.result import BenchResult, ModelResult


class Pretend:
    """An engine that claims a fixed time a call, and logs its batches."""

    note = "made up; always"

    def __init__(self, name: str, seconds: float, log: list[str]) -> None:
        self.name, self._seconds, self._log = name, seconds, log
        self.timers = dict.fromkeys(OPERATIONS, self._time)

    def _time(self, calls: int) -> float:
        self._log.append(self.name)
        return calls * self._seconds

    def result(self, operation: str, k: int) -> np.ndarray:
        return np.zeros(1)


def two_engines(log: list[str]) -> list[Pretend]:
    return [Pretend("Limberjack", 1e-6, log), Pretend("Pinocchio", 2.5e-6, log)]


def made_up() -> BenchResult:
    engines = two_engines([])
    models = [
        ModelResult(
            name,
            bodies,
            bodies,
            name.startswith("chain"),
            tuple(t for operation in OPERATIONS for t in compare(engines, operation, 3, 1e-3)),
            {"Pinocchio": {"forward": 1e-15}},
        )
        for name, bodies in (("arm", 7), ("chain 10", 10), ("chain 50", 50))
    ]
    return BenchResult(history.machine(), "abc", 1, 3, models, remarks=["arm: no MuJoCo: because"])


def test_batches_alternate_and_ratios_are_theirs_over_ours() -> None:
    log: list[str] = []
    engines = two_engines(log)
    for engine in engines:
        calls_per_batch(engine, "forward", 1e-3)
    log.clear()
    ours, theirs = compare(engines, "forward", 4, 1e-3)
    assert log[-8:] == ["Limberjack", "Pinocchio"] * 4
    assert theirs.ratio.median == pytest.approx(2.5)
    assert ours.ratio == Spread(1.0, 1.0, 1.0, 1.0)
    assert ours.us.median == pytest.approx(1.0)


def test_batch_length() -> None:
    assert calls_per_batch(Pretend("x", 1e-6, []), "forward", 1e-2) == 10_000
    assert calls_per_batch(Pretend("x", 1.0, []), "forward", 1e-2) == 1
    assert calls_per_batch(Pretend("x", 0.0, []), "forward", 1e-2) == 1_000_000


def test_batch_length_of_an_interrupted_call() -> None:
    """One slow call does not make a short batch."""
    engine = Pretend("x", 1e-6, [])
    slow = iter([1e-2])
    engine.timers["forward"] = lambda calls: next(slow, calls * 1e-6)
    assert calls_per_batch(engine, "forward", 1e-2) == 10_000


def test_spread_is_median_quartiles_least() -> None:
    assert spread([5.0, 1.0, 2.0, 4.0, 3.0]) == Spread(median=3.0, q1=2.0, q3=4.0, least=1.0)


def test_pinning_ends_with_the_block() -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no processor affinity here")
    before = os.sched_getaffinity(0)
    with pinned() as core:
        assert os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before


def test_table_shows_every_number_in_eighty_columns() -> None:
    console = Console(record=True, width=80, file=open(os.devnull, "w"))  # noqa: SIM115
    report.print_tables(made_up(), console)
    text = console.export_text()
    assert "2.50 (2.50–2.50)" in text
    assert "arm: no MuJoCo: because" in text
    assert "Pinocchio: made up" in text
    assert "…" not in text
    assert next(line for line in text.splitlines() if line.startswith("arm ")).split()[-1] == "143"


def test_plot_is_a_png(tmp_path: Path) -> None:
    report.draw(made_up(), tmp_path / "a" / "bench.png")
    assert (tmp_path / "a" / "bench.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_plot_without_peers_or_chains(tmp_path: Path) -> None:
    ours = two_engines([])[:1]
    model = ModelResult("arm", 7, 7, False, tuple(compare(ours, "forward", 3, 1e-3)), {})
    report.draw(BenchResult({}, None, None, 3, [model]), tmp_path / "bench.png")
    assert (tmp_path / "bench.png").stat().st_size > 1000


def test_history_keeps_one_line_a_commit_and_machine(tmp_path: Path) -> None:
    path, result = tmp_path / "history.jsonl", made_up()
    history.record(path, result.history_line("2026-01-01"))
    history.record(path, result.history_line("2026-01-02"))
    other = result.history_line("2026-01-03") | {"commit": "def"}
    history.record(path, other)
    elsewhere = result.history_line("2026-01-04") | {"machine": {"cpu": "another"}}
    history.record(path, elsewhere)
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    assert [line["date"] for line in lines] == ["2026-01-02", "2026-01-03", "2026-01-04"]
    assert lines[0]["models"]["arm"]["forward"]["Pinocchio"] == {"us": 2.5, "ratio": [2.5, 2.5, 2.5]}


def test_machine_facts_name_no_machine() -> None:
    facts = history.machine()
    assert {"cpu", "cores", "mhz", "python", "numba", "llvmlite", "pin", "mujoco"} <= set(facts)
    assert platform.node() not in " ".join(map(str, facts.values())).split()
