"""The benchmark of the workbench runs, checks both roads against each other, and writes its plot and table."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import workbench


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(workbench, "BATCHES", 1)
    monkeypatch.setattr(workbench, "BATCH_SECONDS", 1e-3)
    monkeypatch.setattr(workbench, "LARGEST_DENSE", 5)


def test_it_measures_prints_and_plots(short, tmp_path, capsys):
    results = workbench.main(tmp_path, sizes=(3, 6))
    assert set(results[3]) == set(workbench.COLUMNS)
    assert set(results[6]) == {"phi x", "psi x", "omega", "inverse"}
    assert all(seconds > 0 for row in results.values() for seconds in row.values())
    assert (tmp_path / "workbench.png").stat().st_size > 10_000
    assert "–" in capsys.readouterr().out


def test_nothing_is_timed_when_the_roads_disagree(short, monkeypatch):
    monkeypatch.setattr(workbench, "dense", lambda ops: dict.fromkeys(("omega dense", "inverse dense"), _wrong))
    with pytest.raises(ValueError, match="omega and dense numpy differ"):
        workbench.measure(3)


def _wrong() -> np.ndarray:
    return np.zeros((18, 18))
