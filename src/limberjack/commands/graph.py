"""`limberjack info --graph`: the spanning tree, its cut edges and its aggregated nodes as an SVG drawing."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from limberjack.commands.graph_layout import LANE, LINE, MARGIN, Box, arrange, ends_of
from limberjack.commands.graph_loops import CLOSED, COLOURS, CutEdges
from limberjack.commands.svg import HALO, INK, curve, drawing, rectangle, text
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.loops.freedom import freedoms
from limberjack.engine.model.loops.plan import Plan

EDGE, FRAME, INSIDE = "#7b8794", "#2f6fbd", "#eaf2fb"
GROUPED = {"fill": INSIDE, "stroke": FRAME, "stroke_width": "1.6"}
NARROWEST, LEGEND = 620.0, 118.0


def write_graph(plan: Plan, path: Path) -> None:
    """Draw the graph of a model into an SVG file. Raises ArgumentError for another suffix, OSError."""
    if path.suffix.lower() != ".svg":
        raise ArgumentError(f"--graph {path}: the graph is an SVG drawing; give a name that ends in .svg.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(graph_svg(plan), encoding="utf-8")


def graph_svg(plan: Plan) -> str:
    """The text of the SVG file."""
    root = arrange(plan)
    boxes = root.everything()
    frames = {box.group: box for box in boxes if box.group is not None}
    bodies = {box.row: box for box in boxes if box.row is not None}
    end = max(box.y + box.height for box in boxes)
    bottom = end + LANE * sum(loop.group is None and len(ends_of(loop)) > 1 for loop in plan.loops) + 3.0 * MARGIN
    svg = drawing(max(root.span[0] + 2.0 * MARGIN, NARROWEST), bottom + LEGEND)
    for frame in frames.values():
        rectangle(svg, frame.x, frame.y, frame.width, frame.height, {"rx": "14"} | GROUPED)
    for joint in plan.tree.joints:
        _tree_edge(svg, bodies[joint.parent], bodies[joint.body + 1])
    edges = CutEdges(svg, bodies, frames, end + MARGIN)
    for loop in plan.loops:
        edges.add(loop)
    for frame in frames.values():
        _caption(svg, frame)
    for box in bodies.values():
        _body(svg, box)
    edges.add_labels()
    _legend(svg, plan, bottom)
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


def _caption(svg: Element, frame: Box) -> None:
    for i, line in enumerate(frame.lines):
        style = {"font_weight": "bold" if i == 0 else "normal", "fill": FRAME} | HALO | {"stroke": INSIDE}
        text(svg, frame.x + MARGIN, frame.y + 18.0 + LINE * i, line, style)


def _body(svg: Element, box: Box) -> None:
    fill = "#e4e7eb" if box.row == 0 else "#ffffff"
    style = {"rx": "4", "fill": fill, "stroke": INK, "stroke_width": "1.2"}
    rectangle(svg, box.x, box.y, box.width, box.height, style)
    for i, line in enumerate(box.lines):
        style = {"font_weight": "bold"} if i == 0 else {"font_size": "11px", "fill": "#52606d"}
        text(svg, box.x + 0.5 * box.width, box.y + 17.0 + LINE * i, line, {"text_anchor": "middle"} | style)


def _tree_edge(svg: Element, above: Box, below: Box) -> None:
    x0, y0 = above.x + 0.5 * above.width, above.y + above.height
    x1, y1 = below.x + 0.5 * below.width, below.y
    bend = 0.5 * (y1 - y0)
    path = f"M {x0:.1f} {y0:.1f} C {x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    curve(svg, path, {"stroke": EDGE, "stroke_width": "1.5"})


def _legend(svg: Element, plan: Plan, y: float) -> None:
    after = freedoms(plan)
    title = (
        f"{plan.system.name}: {plan.system.nv} velocities in the tree, {after} degree{'s' * (after != 1)} of freedom"
    )
    text(svg, MARGIN, y, title, {"font_weight": "bold"})
    lines = (
        (EDGE, "none", "hinge of the spanning tree"),
        (COLOURS["embed"], CLOSED, "cut edge, embedded"),
        (COLOURS["force"], CLOSED, "cut edge, by constraint force (dotted while open)"),
    )
    for i, (colour, dashes, words) in enumerate(lines, start=1):
        path = f"M {MARGIN:.1f} {y + 20.0 * i - 4.0:.1f} h 44"
        curve(svg, path, {"stroke": colour, "stroke_width": "1.8", "stroke_dasharray": dashes})
        text(svg, MARGIN + 54.0, y + 20.0 * i, words, {})
    y += 20.0 * (len(lines) + 1)
    rectangle(svg, MARGIN, y - 12.0, 44.0, 15.0, {"rx": "5"} | GROUPED)
    text(svg, MARGIN + 54.0, y, "bodies that are aggregated to one node, with their loops inside", {})
