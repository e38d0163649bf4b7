"""`limberjack bench --batch` on two small models."""

from __future__ import annotations

import json

import pytest

from benchmarks.batch.batch_bench import bench


@pytest.mark.long
def test_a_quick_run_times_all_engines(tmp_path):
    result = bench(quick=True, out=tmp_path)
    kept = json.loads((tmp_path / "batch.json").read_text(encoding="utf-8"))
    assert [found["model"] for found in kept["models"]] == ["panda", "ten four-bars"]
    for found in result["models"]:
        assert {"one", "batch", "batch, all cores", "ratio"} <= set(found["rates"])
        assert found["rates"]["batch"]["median"] > 0.0
