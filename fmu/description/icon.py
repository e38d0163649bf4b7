"""Pictures of a model at its initial coordinates: the FMU's icon and the diagram of its documentation."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.model.system import Body, Hinge, System

#: pixels of the square icon; of the diagram
ICON_PIXELS, DIAGRAM_PIXELS = 256, (1200, 750)
#: more names than these would cover the drawing
MOST_LABELS = 30
_DOTS_PER_INCH = 100
_INK, _PAPER, _GROUND, _NODE = "#1f2a44", "#f4f1e8", "#8a8f9c", "#c8443c"
_LIMBS = ("#2f6690", "#3a7ca5", "#81a4cd", "#e09f3e", "#d1783c", "#9e5a63", "#6b8f71", "#4a7c59")
#: from a point (3,), m, to its place in the picture (2,), pixels
Placement = Callable[[np.ndarray], np.ndarray]
#: angle of view above the horizon, and the directions of view that are tried, radians
_ELEVATION = math.radians(18.0)
_AZIMUTHS = np.radians(np.arange(-60.0, 120.0, 15.0))


@dataclass(frozen=True)
class Skeleton:
    """A model as points and lines in the inertial frame, metres.

    limbs : (body's place, start (3,), end (3,)); slides : (start, end) of hinges that have moved along their axis
    hinges, nodes : (name, point (3,)); grounds : points (3,) where the tree is fixed
    """

    limbs: list[tuple[int, np.ndarray, np.ndarray]]
    slides: list[tuple[np.ndarray, np.ndarray]]
    hinges: list[tuple[str, np.ndarray]]
    nodes: list[tuple[str, np.ndarray]]
    grounds: list[np.ndarray]

    @property
    def points(self) -> np.ndarray:
        """All points (n, 3)."""
        ends = [point for _, start, end in self.limbs for point in (start, end)]
        return np.array([*ends, *(point for _, point in (*self.hinges, *self.nodes)), *self.grounds])


def skeleton(system: System) -> Skeleton:
    """Points and lines of the model at its initial coordinates: a body runs from its hinge to those of its children."""
    dynamics, q = Dynamics(system), system.q0
    frames = {name: dynamics.pose(name, q) for name in system.node_names}
    drawn = Skeleton([], [], [], [], [])
    for at, body in enumerate(system.bodies):
        rotation, position = frames[body.name]
        start = position + rotation @ body.hinge.outboard.position
        ends = [position + rotation @ point for point in _far_points(system, body)]
        drawn.limbs.extend((at, start, end) for end in ends)
        attachment = _attachment(body, frames)
        if body.hinge.nv and body.hinge.modes is None:
            drawn.hinges.append((body.hinge.name, start))
        if body.hinge.type == "free":
            continue
        drawn.slides.append((attachment, start))
        if body.hinge.parent is None:
            drawn.grounds.append(attachment)
    drawn.nodes.extend((node.name, frames[node.name][1]) for node in system.nodes if node.body is not None)
    return drawn


def _far_points(system: System, body: Body) -> list[np.ndarray]:
    """Where a body's limbs end, in its frame: at its children's hinges and nodes, else beyond the centre of mass."""
    start = body.hinge.outboard.position
    children = [_inboard(other.hinge) for other in system.bodies if other.hinge.parent == body.name]
    nodes = [node.pose.position for node in system.nodes if node.body == body.name]
    if children or any(not np.allclose(node, start) for node in nodes):
        return children + nodes
    return [2.0 * body.inertia.com - start]


def _inboard(hinge: Hinge) -> np.ndarray:
    """Origin of the hinge frame in the parent's, the parent undeformed."""
    return hinge.inboard.position if hinge.attachment is None else hinge.attachment.p0


def _attachment(body: Body, frames: dict[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Origin of the hinge frame on the parent, in the inertial frame."""
    inboard = _inboard(body.hinge)
    if body.hinge.parent is None:
        return inboard
    rotation, position = frames[body.hinge.parent]
    point: np.ndarray = position + rotation @ inboard
    return point


def _view(points: np.ndarray) -> np.ndarray:
    """Rows: the picture's x and y axes in inertial axes (2, 3), for the direction that shows the most."""

    def axes(azimuth: float) -> np.ndarray:
        c, s = math.cos(azimuth), math.sin(azimuth)
        up, over = math.cos(_ELEVATION), math.sin(_ELEVATION)
        return np.array([[-s, c, 0.0], [-over * c, -over * s, up]])

    spread = points - points.mean(axis=0)
    # widths are rounded, so that rounding errors do not decide between equally good directions
    widths = [round(float(np.ptp(spread @ axes(float(angle))[0])), 6) for angle in _AZIMUTHS]
    best: np.ndarray = axes(float(_AZIMUTHS[int(np.argmax(widths))]))
    return best


def icon_png(drawn: Skeleton) -> bytes:
    """The icon: a rounded tile with the model, on a transparent background."""
    return _picture(drawn, (ICON_PIXELS, ICON_PIXELS), names=False)


def diagram_png(drawn: Skeleton) -> bytes:
    """The diagram: the model with the names of its hinges and nodes, as far as they fit."""
    return _picture(drawn, DIAGRAM_PIXELS, names=True)


def _picture(drawn: Skeleton, pixels: tuple[int, int], *, names: bool) -> bytes:
    """A PNG whose bytes depend only on the drawing: default style, no date, no name of software."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.style.context("default"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # a box stands for the character
        figure = Figure(figsize=(pixels[0] / _DOTS_PER_INCH, pixels[1] / _DOTS_PER_INCH), dpi=_DOTS_PER_INCH)
        figure.patch.set_alpha(0.0)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_axis_off()
        _draw(axes, drawn, pixels, names=names)
        stream = io.BytesIO()
        FigureCanvasAgg(figure)
        figure.savefig(stream, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return stream.getvalue()


def _draw(axes: Any, drawn: Skeleton, pixels: tuple[int, int], *, names: bool) -> None:
    """Tile, limbs from base to tip, hinges, nodes, names. Places are in pixels from the lower left corner."""
    from matplotlib.patches import FancyBboxPatch

    width, height = pixels
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    edge = 0.02 * height
    tile = f"round,pad=0,rounding_size={0.12 * min(pixels)}"
    size = (width - 2 * edge, height - 2 * edge)
    axes.add_patch(FancyBboxPatch((edge, edge), *size, boxstyle=tile, facecolor=_PAPER, edgecolor=_INK, linewidth=1.5))
    place = _placement(drawn.points, pixels, (0.22 if names else 0.13, 0.13))
    thick = height * (0.028 if names else 0.062) * min(1.0, (12.0 / len(drawn.limbs)) ** 0.35)
    _draw_lines(axes, drawn, place, thick)
    _draw_marks(axes, drawn, place, thick)
    if names:
        _draw_names(axes, drawn, place, thick)


def _placement(points: np.ndarray, pixels: tuple[int, int], margins: tuple[float, float]) -> Placement:
    """From points to places; margins: left and right, above and below, as parts of the height."""
    view = _view(points)
    flat = points @ view.T
    low, high = flat.min(axis=0), flat.max(axis=0)
    room = np.array(pixels) - 2.0 * min(pixels) * np.array(margins)
    scale = float(np.min(room / np.maximum(high - low, 1e-12)))
    if float(np.max(high - low)) < 1e-9:
        scale = 0.0
    centre, middle = (low + high) / 2.0, np.array(pixels) / 2.0
    return lambda point: middle + scale * (view @ point - centre)


def _draw_lines(axes: Any, drawn: Skeleton, place: Placement, thick: float) -> None:
    """Slides, then each limb with its outline, base to tip."""
    from matplotlib.collections import LineCollection

    lines = [(_ends(place, start, end), _GROUND, 0.35 * thick) for start, end in drawn.slides]
    for at, start, end in drawn.limbs:
        ends = _ends(place, start, end)
        lines += [(ends, _INK, thick + 3.0), (ends, _LIMBS[at % len(_LIMBS)], thick)]
    if not lines:
        return
    ends, colors, widths = zip(*lines)
    points = 72.0 / _DOTS_PER_INCH  # line widths are in 1/72 inch
    axes.add_collection(
        LineCollection(ends, colors=colors, linewidths=points * np.array(widths), capstyle="round", zorder=2)
    )


def _ends(place: Placement, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A line in the picture (2, 2); a line along the direction of view is a dot."""
    return np.array([place(start), place(end) + np.array([1e-3, 0.0])])


def _draw_marks(axes: Any, drawn: Skeleton, place: Placement, thick: float) -> None:
    from matplotlib.collections import EllipseCollection
    from matplotlib.patches import Rectangle

    for point in drawn.grounds:
        x, y = place(point)
        box = (x - 1.3 * thick, y - 0.9 * thick)
        axes.add_patch(
            Rectangle(box, 2.6 * thick, 0.9 * thick, facecolor=_GROUND, edgecolor=_INK, linewidth=1.2, zorder=3)
        )
    for marks, part, color, order in ((drawn.hinges, 0.84, _PAPER, 4), (drawn.nodes, 0.6, _NODE, 5)):
        sizes = np.full(len(marks), part * thick)
        round_marks = EllipseCollection(
            sizes,
            sizes,
            np.zeros(len(marks)),
            units="xy",
            offsets=np.array([place(point) for _, point in marks]).reshape(-1, 2),
            offset_transform=axes.transData,
            facecolor=color,
            edgecolor=_INK,
            linewidth=1.2,
            zorder=order,
        )
        axes.add_collection(round_marks)


def _draw_names(axes: Any, drawn: Skeleton, place: Placement, thick: float) -> None:
    """Names right of their points; one that would cover another is moved down, and left out after a few tries."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground=_PAPER)]
    taken: list[tuple[float, float]] = []
    line, wide = 18.0, 130.0
    for (name, point), color in [*((h, _INK) for h in drawn.hinges), *((n, _NODE) for n in drawn.nodes)][:MOST_LABELS]:
        x, y = place(point) + np.array([0.9 * thick, 0.6 * thick])
        for _ in range(6):
            if all(abs(y - other_y) >= line or abs(x - other_x) >= wide for other_x, other_y in taken):
                break
            y -= line
        else:
            continue
        taken.append((float(x), float(y)))
        short = name if len(name) <= 24 else name[:23] + "…"
        style = {"color": color, "fontsize": 11, "va": "center", "zorder": 6}
        axes.text(x, y, short, parse_math=False, path_effects=halo, **style)
