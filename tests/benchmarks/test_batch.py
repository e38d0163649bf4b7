"""`limberjack bench --batch` on two small models, `--campaign` with few runs."""

from __future__ import annotations

import json

import pytest

from benchmarks.batch import campaign_bench
from benchmarks.batch.batch_bench import bench


@pytest.mark.long
def test_a_quick_run_times_all_engines(tmp_path):
    result = bench(quick=True, out=tmp_path)
    kept = json.loads((tmp_path / "batch.json").read_text(encoding="utf-8"))
    assert [found["model"] for found in kept["models"]] == ["panda", "ten four-bars"]
    for found in result["models"]:
        assert {"one", "batch", "batch, all cores", "ratio"} <= set(found["rates"])
        assert found["rates"]["batch"]["median"] > 0.0
    panda, bars = result["models"]
    assert {"batch", "batch, all cores", "ratio", "Pinocchio", "Pinocchio, all cores"} == set(panda["states"])
    assert not bars["states"]
    assert bars["notes"][-1] == "without Pinocchio: Pinocchio's parallel routine has no loops."


@pytest.mark.long
def test_campaigns_over_batches_are_timed_beside_single_runs(tmp_path, monkeypatch, capsys):
    """Rows of both are compared before anything is printed; without Basilisk its line is left out, with a remark."""
    monkeypatch.setenv(campaign_bench.PEER, "false")
    result = campaign_bench.bench(quick=True, out=tmp_path)
    kept = json.loads((tmp_path / "campaign.json").read_text(encoding="utf-8"))
    assert kept["measured"] == result["measured"]
    assert [each["runs"] for each in result["measured"]] == [40, 3, 40, 3]
    assert all(each["cpu"] > 0.0 for each in result["measured"])
    assert "Basilisk is left out" in capsys.readouterr().out
