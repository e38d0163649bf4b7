"""`limberjack bench --flexible`: the paper's counts, and a quick run end to end."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from benchmarks.flexible import peers
from benchmarks.flexible.flexible_bench import AGREEMENT, bench
from benchmarks.flexible.operations import articulated_body, composite_body


def test_counts_are_those_of_the_papers_figure():
    """003 §6.2: more than 3 times at 5 modes and 7 times at 10, for ten bodies."""
    assert 3.0 < composite_body(10, 5) / articulated_body(10, 5) < 4.0
    assert 7.0 < composite_body(10, 10) / articulated_body(10, 10) < 8.0


@pytest.mark.long
def test_quick_run(tmp_path):
    pytest.importorskip("scipy", reason="modes need scipy")
    results = bench(quick=True, out=tmp_path, console=Console(file=(tmp_path / "screen").open("w")))
    assert {(p.bodies, p.modes) for p in results.points} == {(10, 0), (10, 2), (10, 5), (1, 4), (1, 16)}
    assert all(p.error <= AGREEMENT and p.timings[0].us.least > 0.0 for p in results.points)
    assert len(json.loads((tmp_path / "flexible.json").read_text())["points"]) == len(results.points)
    assert (tmp_path / "flexible.png").stat().st_size > 10_000
    assert not (tmp_path / "flexible-history.jsonl").exists()
    assert all(length.error < 1e-9 for length in results.lengths)
    assert [one.model for one in results.spacecraft] == ["cassini", "solar_satellite", "long_arm"]
    assert all(one.us.least > 0.0 for one in results.spacecraft)


@pytest.mark.long  # exudyn solves the eigenvalues of its mesh
@pytest.mark.parametrize("modes", [1, 4, 8, 20])
def test_accelerations_of_a_floating_beam_are_exudyns(modes):
    """Its reduced-order floating frame, on the same particles and modes: to rounding."""
    pytest.importorskip("exudyn", reason="Exudyn is not installed (extra bench)")
    assert peers.floating_beam(modes, 1, 1e-4).error < 1e-12


def test_a_hub_with_two_panels_moves_as_in_basilisk():
    """A thousand RK4 steps of 1 ms: to rounding."""
    pytest.importorskip("Basilisk", reason="Basilisk is not installed (extra bench)")
    assert peers.hinged_panels(1, 1e-4).error < 1e-12


def test_peers_that_are_missing_are_left_out_with_a_remark(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    compared, remarks = peers.beside_peers(True, 1, 1e-4)
    assert not compared
    assert remarks[0] == 'Basilisk is not installed and left out: pip install "limberjack[bench]"'
