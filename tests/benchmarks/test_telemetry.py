"""What readers cost an engine: a quick run of everything. No time decides."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.telemetry import telemetry_bench


@pytest.mark.long
def test_quick_run_end_to_end(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    out = io.StringIO()
    result = telemetry_bench.bench(quick=True, out=tmp_path / "out", console=Console(file=out, width=200))
    assert json.loads((tmp_path / "out" / "telemetry.json").read_text()) == json.loads(json.dumps(result))
    assert [each["load"] for each in result["loads"]] == [each.name for each in telemetry_bench.LOADS]
    assert all(each["frames"] > 0 for each in result["loads"])
    nobody, one, twenty, direct = (set(each["late_us"]) for each in result["loads"])
    assert nobody == set()
    assert one == twenty == {"gateway", "plotjuggler", "console", "ccsds"}
    assert direct == {"topics"}
    assert "20 readers at the engine itself" in out.getvalue()
