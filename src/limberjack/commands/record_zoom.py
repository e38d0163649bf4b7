"""A zoomable page of a record: one self-contained HTML file, for any browser, without a network."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.commands.record_plot import COLOURS, MOST_EVENTS, MOST_LINES, MOST_NAMED, TITLES, Drawing, read_drawing
from limberjack.engine.common.errors import MissingExtraError
from limberjack.hil.events import Event

#: most numbers in a page, 11 bytes each: with more, each point is the range of several rows
MOST_NUMBERS = 1_500_000
#: with more numbers than this the graphics processor draws them, a little coarser
_FEW_NUMBERS = 400_000
_HEIGHT = 300
#: opacity of an event's line: there may be many overruns
_FAINT = {"overrun": 0.2}
_TOOLS = "xpan,xwheel_zoom,box_zoom,wheel_zoom,undo,reset,save"


def zoom_record(path: Path, patterns: list[str] | None, target: Path) -> None:
    """A panel for each kind and unit of signals, all with one time axis; events as lines with their texts.

    MissingExtraError without bokeh; UnknownNameError, ArgumentError as for a picture.
    """
    if importlib.util.find_spec("bokeh") is None:
        raise MissingExtraError("a plot that zooms", "bokeh", "plots")
    from bokeh.embed import file_html
    from bokeh.resources import INLINE

    drawing = read_drawing(path, patterns, MOST_NUMBERS)
    target.write_text(file_html(_page(drawing), INLINE, title=_plain(drawing.title)), encoding="utf-8")


def _page(drawing: Drawing) -> Any:
    """The page: panels below each other, as wide as the window."""
    from bokeh.layouts import column
    from bokeh.models import Div, Range1d

    time = drawing.envelope.time
    span = Range1d(float(time[0]), float(time[-1]), bounds=(float(time[0]), float(time[-1])))
    panels = [_panel(drawing, key, span) for key in drawing.panels]
    words = [drawing.title, drawing.trouble]
    if drawing.envelope.span > 1:
        words.append(f"Each point is the range of {drawing.envelope.span} rows; choose fewer signals for more detail.")
    words.append("Wheel: zoom in time. Drag: move. Box: zoom. A click on a name hides its line.")
    plain = {"render_as_text": True, "margin": (2, 8, 2, 8)}
    said = [Div(text=_plain(text), styles={"font": "14px system-ui, sans-serif"}, **plain) for text in words if text]
    said[0].styles = {"font": "bold 20px system-ui, sans-serif"}
    return column([*said, *panels], sizing_mode="stretch_width")


def _panel(drawing: Drawing, key: tuple[str, str], span: Any) -> Any:
    from bokeh.models import ColumnDataSource, HoverTool, Legend, LegendItem
    from bokeh.palettes import Category10, Turbo256
    from bokeh.plotting import figure

    (group, unit), members, envelope = key, drawing.panels[key], drawing.envelope
    shown = members[:MOST_LINES]
    title = TITLES.get(group, group) + (f", {len(shown)} of {len(members)}" if len(members) > len(shown) else "")
    made = figure(
        height=_HEIGHT, x_range=span, tools=_TOOLS, active_drag="xpan", active_scroll="xwheel_zoom",
        sizing_mode="stretch_width", title=_plain(title), x_axis_label="time / s", y_axis_label=_plain(unit) or "–",
        output_backend="canvas" if envelope.low.size <= _FEW_NUMBERS else "webgl",
    )  # fmt: skip
    colours = [
        Category10[10][i] if len(shown) <= 10 else Turbo256[10 + 236 * i // len(shown)] for i in range(len(shown))
    ]
    items, lines = [], []
    for (name, place), colour in zip(shown, colours):
        times, values = envelope.line(place)
        source = ColumnDataSource({"time": times, "value": np.ascontiguousarray(values)})
        lines.append(made.line("time", "value", source=source, color=colour, line_width=1.4, name=name))
        items.append(LegendItem(label={"value": _plain(name)}, renderers=[lines[-1]]))
    tips = [("signal", "$name"), ("time / s", "@time{0.000000}"), (_plain(unit) or "value", "@value{0.00000e+0}")]
    made.add_tools(HoverTool(renderers=lines, tooltips=tips, mode="mouse"))
    if len(members) <= MOST_NAMED:
        legend = Legend(items=items, click_policy="hide", label_text_font_size="9pt", spacing=0, padding=2)
        made.add_layout(legend, "right")
    _events(made, drawing.events[:MOST_EVENTS])
    return made


def _events(made: Any, events: list[Event]) -> None:
    """Add a vertical line for each event, whose text shows under the pointer."""
    from bokeh.models import ColumnDataSource, HoverTool

    if not events:
        return
    kinds = list(dict.fromkeys(event.kind for event in events))
    colours = [COLOURS[kinds.index(event.kind) % len(COLOURS)].removeprefix("tab:") for event in events]
    source = ColumnDataSource(
        {
            "time": [event.time for event in events],
            "what": [f"{event.kind} {event.source}: {event.text}" for event in events],
            "colour": colours,
            "alpha": [_FAINT.get(event.kind, 1.0) for event in events],
        }
    )
    lines = made.vspan(
        x="time", source=source, line_color="colour", line_alpha="alpha", line_dash="dashed", line_width=1.2
    )
    made.add_tools(HoverTool(renderers=[lines], tooltips=[("t / s", "@time{0.000}"), ("event", "@what")]))


def _plain(text: str) -> str:
    """A text that is not parsed as a formula, whatever it contains."""
    return text.replace("$$", "$ $")
