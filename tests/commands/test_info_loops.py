"""`limberjack info` on closed chains, and the drawing of the graph."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.commands.graph import graph_svg
from limberjack.commands.graph_layout import arrange, ends_of
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.plan import Plan, plan
from limberjack.engine.model.validate import validate
from tests.system.test_loop_groups import gear, tree_of

EXAMPLES = Path("examples")


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["info", *arguments]) == 0
    return re.sub(" +", " ", capsys.readouterr().out)


def planned(system: lj.System) -> Plan:
    checked = validate(system)
    return plan(checked, assemble(checked))


def test_info_shows_cut_edges_rows_groups_and_freedoms(capsys):
    out = told(capsys, str(EXAMPLES / "four_bar.yaml"))
    assert "crank revolute, 2.094 kg group 1" in out
    assert "pin cut revolute coupler – rocker embed it names independent velocities 2 of 5: ux uy closed" in out
    assert "group carried by velocities rows bodies independent dependent" in out
    assert "1 world 3 2 crank, coupler, rocker crank " in out
    assert "degrees of freedom: 1 (3 velocities in the tree, 2 of them dependent in 1 group)" in out


def test_info_shows_forces_switches_and_reasons(capsys):
    out = told(capsys, str(EXAMPLES / "solar_array.yaml"))
    assert "cable_2 coupling fold_2, fold_1 embed its group of 4 velocities and 3 rows is small 1 closed" in out
    assert "rows state commands" in out
    assert "latch lock root force it can be switched 1 open, switchable latch.closed" in out
    assert "degrees of freedom: 6 (10 velocities in the tree, 3 of them dependent in 1 group, 1 taken by" in out


def test_info_shows_reach(capsys):
    out = told(capsys, str(EXAMPLES / "satellite_grasp.yaml"))
    assert "it can be switched 6 open, switchable, reach 0.05 m grasp.closed" in out


def test_info_counts_redundant_rows_by_force_once(capsys):
    """Two arms of six hinges and a box, held at both hands: redundant rows would not count."""
    out = told(capsys, str(EXAMPLES / "dual_arm_grasp.yaml"))
    assert "its group of 26 velocities and 12 rows is large 6 closed" in out
    assert "degrees of freedom: 14 (26 velocities in the tree, 12 taken by constraint forces at the start)" in out


def test_info_of_a_tree_speaks_of_no_loops(capsys):
    out = told(capsys, str(EXAMPLES / "space_manipulator.yaml"))
    assert "loops" not in out
    assert "group" not in out


@pytest.mark.parametrize("name", ["four_bar", "stewart_platform", "solar_array", "space_manipulator", "dual_arm_grasp"])
def test_graph_draws_every_body_group_and_loop(name, tmp_path, capsys):
    path = tmp_path / "deep" / f"{name}.svg"
    assert f"graph: {path}" in told(capsys, str(EXAMPLES / f"{name}.yaml"), "--graph", str(path))
    svg = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    words = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    system = lj.load(EXAMPLES / f"{name}.yaml")
    made = planned(system)
    assert {*system.body_names, *system.loop_names} <= set(words)
    assert sum((word or "").startswith("group ") for word in words) == len(made.groups)
    dashed = [element.get("stroke-dasharray") for element in svg.iter("{http://www.w3.org/2000/svg}path")]
    lines = [len(ends) + 1 for loop in made.loops if len(ends := ends_of(loop)) > 1]
    assert sum(dash not in (None, "none") for dash in dashed) == sum(lines) + 2  # two in the legend


def nested() -> lj.System:
    """Groups beside and below each other, a group with two carried bodies below, a lock, loops by force."""
    loops = [gear("a", 2, 3), gear("b", 6, 7), gear("c", 8, 9), gear("d", 4, 5)]
    return tree_of([0, 1, 1, 2, 2, 5, 5, 3, 8, 0], loops)


def test_boxes_do_not_overlap_and_frames_hold_their_members_only():
    made = planned(nested())
    boxes = arrange(made).everything()
    frames = [box for box in boxes if box.row is None]
    bodies = [box for box in boxes if box.row is not None]
    assert len(bodies) == 11
    for i, first in enumerate(bodies):
        assert all(apart(first, second) for second in bodies[i + 1 :])
    for frame in frames:
        members = made.groups[frame.group].bodies
        for box in bodies:
            assert apart(frame, box) != (box.row in members)
            assert box.row not in members or frame.x < box.x < box.x + box.width < frame.x + frame.width


def apart(first, second) -> bool:
    beside = first.x + first.width <= second.x or second.x + second.width <= first.x
    return beside or first.y + first.height <= second.y or second.y + second.height <= first.y


def test_long_chains_can_be_drawn():
    """No recursion: a chain of 1500 bodies."""
    text = graph_svg(planned(tree_of(list(range(1500)))))
    assert text.count("<rect") == 1 + 1501 + 1


def test_names_are_escaped():
    system = tree_of([0, 1])
    assert "&lt;arm&gt; &amp; co" in graph_svg(planned(replace(system, name="<arm> & co")))


def test_graph_wants_svg(capsys, tmp_path):
    assert main(["info", str(EXAMPLES / "four_bar.yaml"), "--graph", str(tmp_path / "graph.png")]) == 2
    assert "give a name that ends in .svg" in capsys.readouterr().err
