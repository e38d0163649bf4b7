"""`limberjack bench --contacts`: the closed forms of its scenes, and a quick run end to end."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from rich.console import Console

from benchmarks.contacts import engines
from benchmarks.contacts.contacts_bench import bench
from benchmarks.contacts.exudyn_peer import ExudynBalls
from benchmarks.contacts.scenes import Scene
from benchmarks.peer_build import PeerUnavailableError


@pytest.mark.parametrize(
    ("scene", "most"),
    [
        (Scene("balls", 2, speed=1.0, friction=0.2), 2e-5),
        (Scene("box", 1, round=False, speed=1.0), 2e-6),
        (Scene("stack", 3, stacked=True), 5e-6),
    ],
)
def test_ours_ends_where_the_closed_form_does(scene, most):
    assert engines.OursRungeKutta(scene).error() < most


def test_closed_forms_of_the_scenes():
    """A ball has lost 2/7 of its speed when it rolls; a box has lost all its energy to friction."""
    rolls = Scene("ball", 1, speed=1.0, friction=0.2)
    slips = 2.0 / (7.0 * 0.2 * 9.81)
    assert np.allclose(rolls.end[0, 1], 6.0 / 7.0 * slips + 5.0 / 7.0 * (0.5 - slips))
    assert np.allclose(0.3 * 9.81 * Scene("box", 1, round=False, speed=1.0).end[0, 1], 0.5)


QUICK = ["4 balls", "1 box", "stack of 2", "ANYmal stands", "Panda pushes a box"]


@pytest.mark.long
def test_quick_run(tmp_path):
    result = bench(quick=True, out=tmp_path, console=Console(file=(tmp_path / "screen").open("w")))
    assert [scene["scene"] for scene in result["scenes"]] == QUICK
    for scene in result["scenes"]:
        assert scene["engines"][0]["engine"].startswith("Limberjack, ")
        assert all(one["us"]["least"] > 0.0 and one["error_m"] < 0.05 for one in scene["engines"])
    assert json.loads((tmp_path / "contacts.json").read_text())["scenes"] == result["scenes"]


def test_a_peer_that_is_missing_is_left_out_with_a_remark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydrake", None)
    with pytest.raises(PeerUnavailableError, match="Drake is not installed"):
        engines.Drake(Scene("ball", 1))


def test_exudyn_names_the_scenes_that_it_cannot_express(monkeypatch):
    monkeypatch.setattr("benchmarks.contacts.exudyn_peer.version_of", lambda package: "1.13")
    with pytest.raises(PeerUnavailableError, match="spheres and triangles"):
        ExudynBalls(Scene("box", 1, round=False))
    monkeypatch.setattr("benchmarks.contacts.exudyn_peer.version_of", lambda package: "none")
    with pytest.raises(PeerUnavailableError, match="pip install exudyn"):
        ExudynBalls(Scene("ball", 1))


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 4, 16])
def test_exudyn_ends_where_the_closed_form_does(count):
    pytest.importorskip("exudyn")
    assert ExudynBalls(Scene("balls", count, speed=1.0, friction=0.2)).error() < 1e-4
