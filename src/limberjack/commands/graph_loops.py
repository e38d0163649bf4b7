"""Cut edges in the drawing of a graph of bodies: from the sides of the boxes down to a lane of their own."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from limberjack.commands.graph_layout import CHARACTER, LANE, MARGIN, SLOT, Box, ends_of, shorten
from limberjack.commands.svg import HALO, Style, curve, rectangle, text
from limberjack.engine.model.loops.plan import LoopPlan

#: colour of a loop's edge by its method, dashes while it is closed and while it is open
COLOURS = {"embed": "#d9730d", "force": "#b3261e"}
CLOSED, OPEN = "7 4", "2 4"


class CutEdges:
    """Draws loops one after the other, each in the next free lane; labels go on top at last.

    Embedded loops have their lanes in the group's frame, those by force below everything, from `y` on.
    """

    def __init__(self, svg: Element, bodies: dict[int, Box], frames: dict[int, Box], y: float) -> None:
        self._svg, self._bodies, self._frames, self._y = svg, bodies, frames, y
        self._lanes: dict[int | None, int] = {}
        self._slots = dict.fromkeys(bodies, 0)
        self._labels: list[tuple[float, float, LoopPlan]] = []

    def add(self, loop: LoopPlan) -> None:
        """Draw one loop."""
        rows = ends_of(loop)
        pattern = CLOSED if loop.closure.loop.closed else OPEN
        dashes = {"stroke": COLOURS[loop.method], "stroke_width": "1.8", "stroke_dasharray": pattern}
        if len(rows) == 1:
            self._around(rows[0], loop, dashes)
        else:
            self._between(rows, loop, dashes)

    def _around(self, row: int, loop: LoopPlan, dashes: Style) -> None:
        """A loop at one hinge, such as a lock."""
        box = self._bodies[row]
        count = self._slots[-1 - row] = self._slots.get(-1 - row, 0) + 1
        off = 5.0 * count
        style = {"rx": "8", "fill": "none", **dashes}
        rectangle(self._svg, box.x - off, box.y - off, box.width + 2.0 * off, box.height + 2.0 * off, style)
        self._labels.append((box.x + box.width + 14.0, box.y + 13.0 * (count - 1), loop))

    def _between(self, rows: list[int], loop: LoopPlan, dashes: Style) -> None:
        lane = self._lanes[loop.group] = self._lanes.get(loop.group, 0) + 1
        y = self._y + LANE * lane
        if loop.group is not None:
            frame = self._frames[loop.group]
            y = frame.y + frame.height - MARGIN - LANE * (frame.lanes - lane)
        places = []
        for row in rows:
            box = self._bodies[row]
            self._slots[row] += 1
            x, side, middle = box.right + SLOT * self._slots[row], box.x + box.width, box.y + 0.5 * box.height
            curve(self._svg, f"M {side:.1f} {middle:.1f} H {x - 4.0:.1f} q 4 0 4 4 V {y:.1f}", dashes)
            places.append(x)
        curve(self._svg, f"M {min(places):.1f} {y:.1f} H {max(places):.1f}", dashes)
        room = max(places) - min(places)
        words = CHARACTER * len(shorten(loop.closure.loop.name))
        self._labels.append((max(places) - words if room > words + 8.0 * SLOT else max(places) + 5.0, y - 3.0, loop))

    def add_labels(self) -> None:
        """The names of all loops."""
        for x, y, loop in self._labels:
            style = {"font_size": "11px", "fill": COLOURS[loop.method]} | HALO
            text(self._svg, x, y, shorten(loop.closure.loop.name), style)
