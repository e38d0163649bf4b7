"""`limberjack bench --flexible`: the paper's counts, and a quick run end to end."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from limberjack.benchmarks.flexible.operations import articulated_body, composite_body
from limberjack.benchmarks.flexible.run import AGREEMENT, bench


def test_counts_are_those_of_the_papers_figure():
    """003 §6.2: more than 3 times at 5 modes and 7 times at 10, for ten bodies."""
    assert 3.0 < composite_body(10, 5) / articulated_body(10, 5) < 4.0
    assert 7.0 < composite_body(10, 10) / articulated_body(10, 10) < 8.0


@pytest.mark.long
def test_quick_run(tmp_path):
    pytest.importorskip("scipy", reason="modes need scipy")
    points = bench(quick=True, out=tmp_path, console=Console(file=(tmp_path / "screen").open("w")))
    assert {(p.bodies, p.modes) for p in points} == {(10, 0), (10, 2), (10, 5), (1, 4), (1, 16)}
    assert all(p.error <= AGREEMENT and p.timings[0].us.least > 0.0 for p in points)
    assert len(json.loads((tmp_path / "flexible.json").read_text())["points"]) == len(points)
    assert (tmp_path / "flexible.png").stat().st_size > 10_000
    assert not (tmp_path / "flexible-history.jsonl").exists()
