"""`limberjack graph`: the spanning tree, its cut edges and its aggregated nodes as text for Graphviz or Mermaid."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limberjack import children
from limberjack.commands.info_loops import plan_of
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.load import load
from limberjack.engine.model.loops.freedom import freedoms
from limberjack.engine.model.loops.plan import LoopPlan, Plan
from limberjack.scratch import Scratch

#: format → ends of its files' names
FORMATS = {"dot": (".dot", ".gv"), "mermaid": (".mmd", ".mermaid"), "svg": (".svg",)}
#: longest time that Graphviz may compute, s
_DRAWING_S = 300.0
_INK, _EDGE, _FRAME, _INSIDE = "#1f2933", "#7b8794", "#2f6fbd", "#eaf2fb"
#: colour of a loop's edges by its method
_COLOURS = {"embed": "#d9730d", "force": "#b3261e"}
_LEGEND = (
    "solid: hinge of the spanning tree; dashed: cut edge, dotted while open",
    "orange: embedded; red: by constraint force; frame: aggregated to one node",
)


@dataclass(frozen=True)
class Graph:
    """The contents of the drawing. A body is identified by its row, 0 for the inertial frame.

    boxes : lines of text of each body;  tree : (parent, body) of each hinge
    groups : lines of text and bodies of each aggregated node;  loops : each with the bodies that it joins
    """

    title: str
    boxes: list[list[str]]
    tree: list[tuple[int, int]]
    groups: list[tuple[list[str], tuple[int, ...]]]
    loops: list[tuple[LoopPlan, list[int]]]


def graph(model: Path, load_options: dict[str, Any], format: str | None, out: Path | None) -> None:
    """Write the graph of a model to a file or standard output. ModelError, ArgumentError, OSError."""
    chosen = format or _format_of(out)
    text = _WRITERS[chosen](graph_of(plan_of(load(model, **load_options))))
    if out is None:
        print(text, end="")
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")


def _format_of(out: Path | None) -> str:
    if out is None:
        return "dot"
    for name, ends in FORMATS.items():
        if out.suffix.lower() in ends:
            return name
    known = ", ".join(end for ends in FORMATS.values() for end in ends)
    raise ArgumentError(f"--out {out}: no format has this ending. Give --format, or a name that ends in {known}.")


def graph_of(plan: Plan) -> Graph:
    """The graph of a model with its loops."""
    after = freedoms(plan)
    title = (
        f"{plan.system.name}: {plan.system.nv} velocities in the tree, {after} degree{'s' * (after != 1)} of freedom"
    )
    groups = [(_caption(plan, number), tuple(group.bodies)) for number, group in enumerate(plan.groups)]
    tree = [(joint.parent, joint.body + 1) for joint in plan.tree.joints]
    return Graph(title, _boxes(plan), tree, groups, [(loop, ends_of(loop)) for loop in plan.loops])


def ends_of(loop: LoopPlan) -> list[int]:
    """Rows of the bodies that a loop joins, or whose hinges it constrains."""
    closure = loop.closure
    rows = [closure.a, closure.b] if closure.joins else [term.row for term in closure.terms]
    return list(dict.fromkeys(rows))


def _boxes(plan: Plan) -> list[list[str]]:
    """Name and hinge of each body, and the bodies merged into it."""
    merged: dict[int, list[str]] = {}
    for name, (row, _) in plan.tree.frames.of_body.items():
        merged.setdefault(row, []).append(name or "")
    boxes = [["inertial frame", *_others(merged[0], "")]]
    for row, link in enumerate(plan.tree.frames.links, start=1):
        hinge, name = link.body.hinge, link.body.name
        kind = hinge.type if hinge.name == name else f"{hinge.type} '{hinge.name}'"
        boxes.append([name, kind, *_others(merged[row], name)])
    return boxes


def _others(names: list[str], own: str) -> list[str]:
    others = [name for name in names if name not in (own, "")]
    return ["+ " + ", ".join(others)] if others else []


def _caption(plan: Plan, number: int) -> list[str]:
    group = plan.groups[number]
    names = [plan.system.velocity_names[v] for v in group.independent]
    count, rank = len(group.dependent) + len(group.independent), len(group.dependent)
    free = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    rows = f"{rank} row{'s' * (rank != 1)}"
    return [f"group {number + 1}: {count} velocities − {rows} = {count - rank}", f"independent: {free or 'none'}"]


def dot(graph: Graph) -> str:
    """The graph in Graphviz's language."""
    lines = [
        "graph {",
        f"  label={_quoted([graph.title, *_LEGEND], 'l')}; labelloc=b; labeljust=l; newrank=true;",
        f'  graph [fontname=sans, fontsize=11]; edge [fontname=sans, fontsize=10, color="{_EDGE}"];',
        f'  node [fontname=sans, fontsize=11, shape=box, style=filled, fillcolor=white, color="{_INK}"];',
    ]
    lines += [f"  b{row} [label={_quoted(box)}];" for row, box in enumerate(graph.boxes)]
    for number, (caption, bodies) in enumerate(graph.groups, start=1):
        style = f'labelloc=t; style="rounded,filled"; color="{_FRAME}"; fillcolor="{_INSIDE}"; fontcolor="{_FRAME}"'
        members = " ".join(f"b{row};" for row in bodies)
        lines.append(f"  subgraph cluster_{number} {{ label={_quoted(caption, 'l')}; {style}; {members} }}")
    lines += [f"  b{above} -- b{below};" for above, below in graph.tree]
    for number, (loop, rows) in enumerate(graph.loops, start=1):
        lines += _dot_loop(f"l{number}", loop, rows)
    return "\n".join([*lines, "}", ""])


def _dot_loop(key: str, loop: LoopPlan, rows: list[int]) -> list[str]:
    """An edge between two bodies; if a loop joins one body or more than two, a separate box with an edge to each
    body."""
    colour, dashes = _COLOURS[loop.method], "dashed" if loop.closure.loop.closed else "dotted"
    style = f'style={dashes}, color="{colour}"'
    name = f'label={_quoted([loop.closure.loop.name])}, fontcolor="{colour}"'
    if len(rows) == 2:
        return [f"  b{rows[0]} -- b{rows[1]} [{name}, {style}, constraint=false];"]
    beside = f" {{ rank=same; b{rows[0]}; {key}; }}" if len(rows) == 1 else ""
    return [f"  {key} [{name}, shape=plain, style=solid];{beside}", *(f"  b{row} -- {key} [{style}];" for row in rows)]


def _quoted(lines: list[str], place: str = "n") -> str:
    """Lines of text, centred (n) or to the left (l), as one of Graphviz's strings, where \\, " and & are special."""
    signs = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})
    return '"' + "".join(line.translate(signs) + f"\\{place}" for line in lines) + '"'


def mermaid(graph: Graph) -> str:
    """The graph as a Mermaid flowchart."""
    lines = ["---", f"title: {json.dumps(graph.title, ensure_ascii=False)}", "---", "flowchart TD"]
    lines += [f"  %% {text}" for text in _LEGEND]
    lines += [f"  b{row}[{_labelled(box)}]" for row, box in enumerate(graph.boxes)]
    for number, (caption, bodies) in enumerate(graph.groups, start=1):
        members = [f"    b{row}" for row in bodies]
        lines += [f"  subgraph g{number}[{_labelled(caption)}]", *members, "  end"]
    lines += [f"  b{above} --- b{below}" for above, below in graph.tree]
    count = len(graph.tree)
    for number, (loop, rows) in enumerate(graph.loops, start=1):
        name = _labelled([loop.closure.loop.name])
        if len(rows) == 2:
            edges = [f"  b{rows[0]} -.-|{name}| b{rows[1]}"]
        else:
            lines.append(f"  l{number}([{name}])")
            edges = [f"  b{row} -.- l{number}" for row in rows]
        dashes = "7 4" if loop.closure.loop.closed else "2 4"
        links = ",".join(str(count + i) for i in range(len(edges)))
        lines += [*edges, f"  linkStyle {links} stroke:{_COLOURS[loop.method]},stroke-dasharray:{dashes}"]
        count += len(edges)
    return "\n".join([*lines, ""])


def _labelled(lines: list[str]) -> str:
    """Lines of text as one of Mermaid's strings; characters that could be markup are written as their numbers."""
    return (
        '"' + "<br/>".join(re.sub(r"[^\w .,:()+−='/-]", lambda sign: f"#{ord(sign[0])};", line) for line in lines) + '"'
    )


def svg(graph: Graph) -> str:
    """The graph drawn by Graphviz. Raises ArgumentError if Graphviz is missing or fails."""
    if shutil.which("dot") is None:
        text = "Graphviz draws SVG, and its program dot is not on PATH. Install it (Debian: apt-get install graphviz)"
        raise ArgumentError(f"{text}, or write the graph as text with --format dot or --format mermaid.")
    with Scratch("limberjack-graph-") as folder:
        source = folder / "graph.dot"
        source.write_text(dot(graph), encoding="utf-8")
        done = children.run(["dot", "-Tsvg", str(source)], processor_s=_DRAWING_S)
    if done.returncode != 0:
        text = f"Graphviz could not draw the graph: {done.stderr.strip()[-500:]}"
        raise ArgumentError(f"{text}. Write it as text with --format dot, and draw it with another of its programs.")
    return done.stdout


_WRITERS: dict[str, Callable[[Graph], str]] = {"dot": dot, "mermaid": mermaid, "svg": svg}
