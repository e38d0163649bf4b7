"""`limberjack info` on closed chains."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from limberjack.cli import main

EXAMPLES = Path("examples")


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["info", *arguments]) == 0
    return re.sub(" +", " ", capsys.readouterr().out)


def test_info_shows_cut_edges_rows_groups_and_freedoms(capsys):
    out = output_of(capsys, str(EXAMPLES / "four_bar.yaml"))
    assert "crank revolute, 2.094 kg group 1" in out
    assert "pin cut revolute coupler – rocker embed it names independent velocities 2 of 5: ux uy closed" in out
    assert "group carried by velocities rows bodies independent dependent" in out
    assert "1 world 3 2 crank, coupler, rocker crank " in out
    assert "degrees of freedom: 1 (3 velocities in the tree, 2 of them dependent in 1 group)" in out


def test_info_shows_forces_switches_and_reasons(capsys):
    out = output_of(capsys, str(EXAMPLES / "solar_array.yaml"))
    assert "cable_2 coupling fold_2, fold_1 embed its group of 4 velocities and 3 rows is small 1 closed" in out
    assert "rows state commands" in out
    assert "latch lock root force it can be switched 1 open, switchable latch.closed" in out
    assert "degrees of freedom: 6 (10 velocities in the tree, 3 of them dependent in 1 group, 1 taken by" in out


def test_info_shows_reach(capsys):
    out = output_of(capsys, str(EXAMPLES / "satellite_grasp.yaml"))
    assert "it can be switched 6 open, switchable, reach 0.05 m grasp.closed" in out


def test_info_counts_redundant_rows_by_force_once(capsys):
    """Two arms of six hinges and a box, held at both hands: redundant rows would not count."""
    out = output_of(capsys, str(EXAMPLES / "dual_arm_grasp.yaml"))
    assert "its group of 26 velocities and 12 rows is large 6 closed" in out
    assert "degrees of freedom: 14 (26 velocities in the tree, 12 taken by constraint forces at the start)" in out


def test_names_are_whole_on_a_narrow_terminal(monkeypatch):
    """Columns of zeros and dashes make room; the lists of an aggregated node are wrapped between names."""
    shown = io.StringIO()
    console = Console(markup=False, file=shown, width=80, color_system=None)
    monkeypatch.setattr("limberjack.commands.info.open_console", lambda: console)
    assert main(["info", str(EXAMPLES / "stewart_platform.yaml")]) == 0
    out = shown.getvalue()
    assert all(len(line.rstrip()) <= 80 for line in out.splitlines())
    words = re.split(r"[ ,\n]+", out)
    for name in (
        *(f"foot_{i}.angle{j}" for i in range(1, 7) for j in (1, 2)),
        *(f"strut_{i}.torque" for i in range(1, 7)),
    ):
        assert name in words, name
    assert words.count("platform.wx") == 2  # the velocity, and one of the independent ones
    assert "armature" in out
    assert "stiffness" not in out
    assert "-0.15 … 0.15" in out
    assert "    independent: platform.wx, platform.wy," in out


def test_info_of_a_tree_speaks_of_no_loops(capsys):
    out = output_of(capsys, str(EXAMPLES / "space_manipulator.yaml"))
    assert "loops" not in out
    assert "group" not in out
