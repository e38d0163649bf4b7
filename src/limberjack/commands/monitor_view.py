"""The monitor's picture on a terminal: a header, a table with sparklines, the newest notices."""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass

import numpy as np
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from limberjack.bridge.telemetry.dictionary import GROUPS, Quantity
from limberjack.bridge.telemetry.sample import Notice
from limberjack.bridge.telemetry.spans import least_span
from limberjack.commands.monitor_board import Picture

STYLES = ("", "yellow", "bold white on red")
MARKS = ("", "warning", "ALARM")
_BARS = "▁▂▃▄▅▆▇█"
#: rows of the screen besides the table's: header with frame, table's head, notices with frame, keys
_HEADER, _HEAD, _NOTICES, _KEYS = 5, 1, 7, 1
#: widths of columns: the longest name, value, unit, alarm with and without its limits, space between all, least trend
_NAME, _VALUE, _UNIT, _ALARM, _MARK, _BETWEEN, _TREND = 40, 13, 7, 24, 7, 8, 8
#: terminals narrower than this show no limits
_NARROW = 110
_MOMENTA = ("angular", "linear")
_OLD = "dim"  # values of an engine that is silent
_BAD = "bold white on red"
_CONDITIONS = dict.fromkeys(("stale", "gone", "failed"), _BAD)
_CONDITIONS |= {"live": "green", "overrunning": "yellow", "paused": "yellow"}


@dataclass
class Choice:
    """What the user wants to see.

    group : one group of the dictionary, "" for all;  patterns : of identifiers;  alarms : show only quantities in alarm
    first : first row shown;  paused : whether the picture is frozen
    """

    patterns: tuple[str, ...] = ("*",)
    group: str = ""
    alarms: bool = False
    first: int = 0
    paused: bool = False
    entering: str | None = None

    def rows(self, picture: Picture) -> list[int]:
        """Indices in the dictionary of the quantities to show."""
        return [
            place
            for place, quantity in enumerate(picture.dictionary)
            if (not self.group or quantity.group == self.group)
            and (not self.alarms or picture.severities[place])
            and any(fnmatch.fnmatchcase(quantity.id, pattern) for pattern in self.patterns)
        ]

    def next_group(self, picture: Picture, step: int) -> None:
        """The next group that the model has, "" (all) among them."""
        there = ["", *(group for group in GROUPS if group != "time" and group in picture.dictionary.groups)]
        self.group = there[(there.index(self.group) + step) % len(there)] if self.group in there else ""
        self.first = 0


def screen(picture: Picture, choice: Choice, where: str, width: int, height: int) -> RenderableType:
    """Everything, to fill a terminal of this size."""
    room = max(1, height - _HEADER - _HEAD - _NOTICES - _KEYS)
    rows = choice.rows(picture)
    choice.first = max(0, min(choice.first, len(rows) - room))
    shown = rows[choice.first : choice.first + room]
    body = table(picture, shown, width)
    left = room - max(1, len(shown))
    blank = Text("\n" * (left - 1)) if left else None
    parts = [header(picture, where), body, blank, notices(picture.notices, _NOTICES - 2), keys(choice, len(rows), room)]
    return Group(*(part for part in parts if part is not None))


def header(picture: Picture, where: str) -> RenderableType:
    """Model, condition of the engine, alarms, time, health."""
    value, condition = picture.value, picture.condition
    state = condition.text, _CONDITIONS[condition.state]
    first = Text.assemble((picture.dictionary.model, "bold"), f"  {where}  ", state, no_wrap=True)
    warned, critical = (int(np.count_nonzero(picture.severities == level)) for level in (1, 2))
    counts = f"{critical} in alarm, {warned} warned"
    if not condition.current:
        first.append(f"  alarms unknown ({counts} before)")
    elif warned or critical:
        first.append(f"  {counts}", STYLES[2 if critical else 1])
    pace = f"t {value('time'):.3f} s  step {value('engine.step'):.0f}  "
    pace += f"real-time factor {value('engine.real_time_factor'):.4f}  overruns {value('engine.overruns'):.0f}  "
    pace += f"worst {1e3 * value('engine.late_max'):.2f} ms  given up {value('engine.lost'):.3f} s"
    if value("engine.frame_p99") > 0.0:  # of a test bench
        pace += f"  frames {1e3 * value('engine.frame_p50'):.2f} ms, 99 % {1e3 * value('engine.frame_p99'):.2f} ms"
    angular, linear = (math.hypot(*(value(f"momentum.{kind}.{axis}") for axis in "xyz")) for kind in _MOMENTA)
    whole = f"energy {value('energy.total'):.6g} J  momentum {angular:.6g} N·m·s, {linear:.6g} N·s  "
    whole += f"refused {value('engine.refused'):.0f}  messages lost {picture.lost}"
    lines = [first, *(Text(line, no_wrap=True, overflow="ellipsis") for line in (pace, whole))]
    return Panel(Group(*lines), padding=(0, 1))


def table(picture: Picture, places: list[int], width: int) -> Table:
    """One row per quantity: name, value, unit, trend, range so far, alarm."""
    quantities = [picture.dictionary.quantities[place] for place in places]
    name = min(_NAME, max((len(quantity.id) for quantity in quantities), default=8))
    alarm = _ALARM if width >= _NARROW else _MARK
    trend = max(_TREND, width - name - _VALUE - _UNIT - alarm - _BETWEEN)
    drawn = Table(box=None, expand=False, pad_edge=False, padding=(0, 1), header_style="bold dim")
    drawn.add_column("quantity", width=name, no_wrap=True, overflow="ellipsis")
    drawn.add_column("value", width=_VALUE, justify="right", no_wrap=True)
    drawn.add_column("unit", width=_UNIT, no_wrap=True)
    drawn.add_column("trend", width=trend, no_wrap=True)
    drawn.add_column("alarm", width=alarm, no_wrap=True)
    for place, quantity in zip(places, quantities, strict=True):
        severity, current = int(picture.severities[place]), picture.condition.current
        style = STYLES[severity] if current else _OLD
        drawn.add_row(
            Text(quantity.id, style),
            Text(number(picture.newest[place]), style),
            Text(quantity.unit, "dim"),
            Text(sparkline(picture.history[-trend:, place], quantity.unit), "cyan" if current else _OLD),
            Text(alarm_text(quantity, severity), style),
        )
    if not places:
        drawn.add_row(Text("nothing to show", "dim"))
    return drawn


def sparkline(values: np.ndarray, unit: str) -> str:
    """One character per value, scaled from the least to the greatest; blank for a missing value.

    The scale spans at least what a plot of this unit does, so that rounding is a flat line.
    """
    known = values[np.isfinite(values)]
    if not len(known):
        return " " * len(values)
    low, span = float(known.min()), max(float(np.ptp(known)), least_span(unit, float(np.abs(known).max())))
    steps = [(value - low) / span * (len(_BARS) - 1) if math.isfinite(value) else -1.0 for value in values]
    return "".join(_BARS[round(step)] if step >= 0.0 else " " for step in steps)


def number(value: float) -> str:
    """Six digits, in a width that does not jump."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    return f"{value:.5e}" if size and not 1e-4 <= size < 1e7 else f"{value + 0.0:.6f}"[:12]  # no -0.000000


def alarm_text(quantity: Quantity, severity: int) -> str:
    """The alarm state and the limits, as text."""
    if not severity:
        return ""
    low, high = (quantity.warning, quantity.critical)[severity - 1]
    return f"{MARKS[severity]} {low:.3g}…{high:.3g}"


def notices(newest: tuple[Notice, ...], count: int) -> RenderableType:
    """The newest events, alarms, refusals; the latest last."""
    lines = [Text(f"t {each.time:.3f} s  {each.kind}: {each.text}", STYLES[each.severity]) for each in newest[-count:]]
    lines += [Text("")] * (count - len(lines))
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Panel(Group(*lines), title="events", title_align="left", padding=(0, 1))


def keys(choice: Choice, total: int, room: int) -> Text:
    """The last line: what is shown, what the keys do."""
    if choice.entering is not None:
        return Text(
            f" show: {choice.entering}▏  patterns as q.*,energy.total; Enter takes them", "reverse", no_wrap=True
        )
    last = min(total, choice.first + room)
    what = choice.group or "all groups"
    shown = f" {what}, {', '.join(choice.patterns)}{', in alarm' if choice.alarms else ''}: "
    shown += f"{choice.first + 1 if total else 0} to {last} of {total}{'   PAUSED' if choice.paused else ''}"
    text = f"{shown}   q end  Tab group  / patterns  a alarms  space pause  ↑↓ PgUp PgDn scroll"
    return Text(text, "reverse", no_wrap=True, overflow="ellipsis")
