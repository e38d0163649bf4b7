"""`limberjack graph`: every body, hinge, loop and group, as text for Graphviz and Mermaid, and drawn by Graphviz."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.commands import graph as graphs
from limberjack.commands.graph import Graph, dot, graph_of, mermaid
from limberjack.commands.info_loops import plan_of
from limberjack.engine.model.validate import validate
from tests.engine.model.test_loop_groups import gear, tree_of

EXAMPLES = Path("examples")
NAMES = ["four_bar", "stewart_platform", "solar_array", "space_manipulator", "dual_arm_grasp", "geared_arm"]
SVG = "{http://www.w3.org/2000/svg}"
needs_graphviz = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


def graph_for(system: lj.System) -> Graph:
    return graph_of(plan_of(validate(system)))


def nested() -> lj.System:
    """Groups beside and below each other, a group with two carried bodies below."""
    loops = [gear("a", 2, 3), gear("b", 6, 7), gear("c", 8, 9), gear("d", 4, 5)]
    return tree_of([0, 1, 1, 2, 2, 5, 5, 3, 8, 0], loops)


def example(name: str) -> lj.System:
    return nested() if name == "nested" else lj.load(EXAMPLES / f"{name}.yaml")


@pytest.mark.parametrize("name", [*NAMES, "nested"])
def test_the_graph_is_that_of_the_model(name):
    system = example(name)
    graph = graph_for(system)
    links = {box[0]: row for row, box in enumerate(graph.boxes)}
    parents = {below: above for above, below in graph.tree}
    merged = {other for box in graph.boxes for line in box[1:] for other in line.removeprefix("+ ").split(", ")}
    for body in system.bodies:
        assert body.name in links or body.name in merged
        if body.name in links and body.hinge.parent in links:
            assert parents[links[body.name]] == links[body.hinge.parent]
    assert sorted(parents) == list(range(1, len(graph.boxes)))
    assert [loop.closure.loop.name for loop, _ in graph.loops] == list(system.loop_names)
    members = [row for _, rows in graph.groups for row in rows]
    assert len(members) == len(set(members))
    for loop, rows in graph.loops:
        if loop.group is not None:
            assert {row for row in rows if row} <= {*graph.groups[loop.group][1], *parents.values()}


def edges_of(text: str, arrow: str) -> list[tuple[str, str]]:
    return re.findall(rf"^ +(\w+) {re.escape(arrow)}(?:\|[^|]*\|)? (\w+)", text, re.MULTILINE)


@pytest.mark.parametrize("name", [*NAMES, "nested"])
def test_both_languages_say_the_same(name):
    graph = graph_for(example(name))
    in_dot, in_mermaid = dot(graph), mermaid(graph)
    hinges = [(f"b{above}", f"b{below}") for above, below in graph.tree]
    ties = []
    for number, (_, rows) in enumerate(graph.loops, start=1):
        pair = len(rows) == 2
        ties += [(f"b{rows[0]}", f"b{rows[1]}")] if pair else [(f"b{row}", f"l{number}") for row in rows]
    beside = re.sub(r" \{ rank=same.*", "", in_dot)
    assert edges_of(beside, "--") == hinges + ties
    assert edges_of(in_mermaid, "---") == hinges
    assert edges_of(in_mermaid, "-.-") == ties
    styled = [int(n) for found in re.findall(r"linkStyle ([\d,]+)", in_mermaid) for n in found.split(",")]
    assert styled == list(range(len(hinges), len(hinges) + len(ties)))
    for number, (caption, rows) in enumerate(graph.groups, start=1):
        in_frame = re.search(rf"subgraph cluster_{number} \{{.*", in_dot)[0]
        assert caption[1] in in_frame
        assert re.findall(r" (b\d+);", in_frame) == [f"b{row}" for row in rows]
        block = in_mermaid.partition(f"subgraph g{number}[")[2].partition("\n  end")[0]
        assert re.findall(r"^ +(b\d+)$", block, re.MULTILINE) == [f"b{row}" for row in rows]


@needs_graphviz
@pytest.mark.parametrize("name", NAMES)
def test_graphviz_draws_every_body_hinge_group_and_loop(name, tmp_path):
    path = tmp_path / "deep" / f"{name}.svg"
    assert main(["graph", str(EXAMPLES / f"{name}.yaml"), "-o", str(path)]) == 0
    svg = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    words = {(element.text or "").strip() for element in svg.iter(f"{SVG}text")}
    graph = graph_for(example(name))
    assert {line for box in graph.boxes for line in box} <= words
    assert {line for caption, _ in graph.groups for line in caption} <= words
    assert {loop.closure.loop.name for loop, _ in graph.loops} <= words
    drawn = [element.get("class") for element in svg.iter(f"{SVG}g")]
    ties = sum(1 if len(rows) == 2 else len(rows) for _, rows in graph.loops)
    assert drawn.count("edge") == len(graph.tree) + ties
    assert drawn.count("cluster") == len(graph.groups)


@needs_graphviz
def test_graphviz_reads_any_name_as_it_is(tmp_path):
    """What is special in its language, in SVG or in Mermaid's stays text."""
    name = 'a"b\\n<c>&amp;[d]#e;\\'
    source = tmp_path / "graph.dot"
    source.write_text(dot(graph_for(replace(tree_of([0, 1]), name=name))), encoding="utf-8")
    done = subprocess.run(["dot", "-Tsvg", source], capture_output=True, text=True, check=True, timeout=60)
    words = [element.text for element in ElementTree.fromstring(done.stdout).iter(f"{SVG}text")]
    assert f"{name}: 2 velocities in the tree, 2 degrees of freedom" in words
    assert done.stderr == ""


def test_names_cannot_be_markup_in_mermaid():
    graph = graph_for(tree_of([0, 1]))
    boxes = [['"]', "<b>", "a#b;", "Ä-1 (x)"], *graph.boxes[1:]]
    assert '  b0["#34;#93;<br/>#60;b#62;<br/>a#35;b#59;<br/>Ä-1 (x)"]' in mermaid(replace(graph, boxes=boxes))


@pytest.mark.parametrize("words", [[], ["--format", "dot"]])
def test_text_goes_to_standard_output(words, capsys):
    assert main(["graph", str(EXAMPLES / "four_bar.yaml"), *words]) == 0
    assert capsys.readouterr().out == dot(graph_for(example("four_bar")))


def test_the_ending_or_the_option_chooses_the_format(tmp_path):
    expected = mermaid(graph_for(example("four_bar")))
    for words in (["-o", "a.mmd"], ["-o", "a.txt", "--format", "mermaid"]):
        path = tmp_path / words[1]
        assert main(["graph", str(EXAMPLES / "four_bar.yaml"), "-o", str(path), *words[2:]]) == 0
        assert path.read_text(encoding="utf-8") == expected


def test_what_cannot_be_drawn_is_reported(tmp_path, monkeypatch, capsys):
    assert main(["graph", str(EXAMPLES / "four_bar.yaml"), "-o", str(tmp_path / "graph.png")]) == 2
    assert "Give --format, or a name that ends in .dot" in capsys.readouterr().err
    monkeypatch.setattr(graphs.shutil, "which", lambda name: None)
    assert main(["graph", str(EXAMPLES / "four_bar.yaml"), "--format", "svg"]) == 2
    assert "dot is not on PATH. Install it (Debian: apt-get install graphviz)" in capsys.readouterr().err


def test_a_drawing_that_fails_is_reported(tmp_path, monkeypatch, capsys):
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\necho 'no memory' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert main(["graph", str(EXAMPLES / "four_bar.yaml"), "--format", "svg"]) == 2
    assert "Graphviz could not draw the graph: no memory. Write it as text" in capsys.readouterr().err


def test_long_chains_are_written():
    """No recursion: a chain of 1500 bodies."""
    graph = graph_for(tree_of(list(range(1500))))
    assert len(edges_of(dot(graph), "--")) == len(edges_of(mermaid(graph), "---")) == 1500
