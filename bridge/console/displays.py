"""The displays that the console opens with, made from the model: overview, joints, engine, single plots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from limberjack.bridge.console.objects import NAMESPACE, Objects, identifier, telemetry, thing
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.engine.model.system import System

_SERIES_MAX = 7  # most curves in one plot: more cannot be distinguished
_ROWS_MAX = 3  # most plots in a column: more leave no room for curves on a laptop's screen
_LINES = {"markers": False, "alarmMarkers": False, "limitLines": True}
_COLOURS = ("#4d9de0", "#e8a33d", "#5fbf77", "#c779d0", "#e15554", "#4bc0c0", "#d8d8d8")

#: a cell of a display: key of the object and its share of the column in percent
Cell = tuple[str, float]


def objects_of(dictionary: Dictionary, system: System, *, bench: bool = False) -> Objects:
    """All objects of a model for Open MCT, by key; "root" contains the others, and "overview" opens first.

    bench : whether the engine is a test bench, whose run has a panel
    """
    objects = telemetry(dictionary)
    joints = _joint_plots(dictionary, system)
    attitudes = _attitudes(dictionary)
    whole = [_energy(dictionary), *_momentum(dictionary), *_engine()]
    for made in (*joints, *attitudes, *whole, *_panels(dictionary)):
        objects[made["identifier"]["key"]] = made
    overviews = [_overview(joints, attitudes, bench), _narrow(joints, attitudes)]
    rows = _joints_displays(joints)
    displays = [*rows, *overviews, _health(), _duty()]
    displays += [thing("progress", "limberjack.progress", "Test run")] if bench else []
    objects |= {made["identifier"]["key"]: made for made in displays}
    rest = ["plots", "commands", "orders", "alarms", "alarms.history", "log", "telemetry"]
    plots = [made["identifier"]["key"] for made in (*joints, *attitudes, *whole)]
    objects["plots"] = thing("plots", "folder", "Plots", plots)
    run = ["progress"] if bench else []
    shown = [
        "overview",
        "overview.narrow",
        *run,
        *(made["identifier"]["key"] for made in rows),
        "values",
        "duty",
        "health",
        "view",
    ]
    objects["root"] = thing("root", "folder", f"Limberjack: {dictionary.model}", [*shown, *rest])
    for made in objects.values():
        made["location"] = "ROOT" if made is objects["root"] else f"{NAMESPACE}:{_holder(objects, made)}"
    return objects


def _holder(objects: Objects, made: dict[str, Any]) -> str:
    """The folder that contains an object."""
    wanted = made["identifier"]
    folders = (key for key, each in objects.items() if each["type"] == "folder" and wanted in each["composition"])
    return next(folders, "root")


# ---- plots


def plot(key: str, name: str, members: Sequence[str], label: str = "") -> dict[str, Any]:
    """An overlay plot with alarm limits as lines. members : identifiers of quantities;  label : of the y axis"""
    series = [
        {"identifier": identifier(id), **_LINES, "color": _COLOURS[place % len(_COLOURS)]}
        for place, id in enumerate(members)
    ]
    settings = {"series": series, "yAxis": {"label": label} if label else {}, "legend": {"position": "bottom"}}
    return thing(key, "telemetry.plot.overlay", name, members, configuration=settings)


def _joint_plots(dictionary: Dictionary, system: System) -> list[dict[str, Any]]:
    """Positions, rates and forces of the coordinates that turn or slide, driven ones first, a few in each plot."""
    driven = [actuator.coordinate for actuator in system.actuators]
    single = [
        name
        for body in system.bodies
        for name in body.hinge.velocity_names
        if name in system.coordinate_names and ".modes." not in name
    ]
    names = [name for name in dict.fromkeys((*driven, *single)) if name in single]
    made = []
    for first in range(0, len(names), _SERIES_MAX):
        part, page = names[first : first + _SERIES_MAX], first // _SERIES_MAX + 1
        number = f" {page}" if len(names) > _SERIES_MAX else ""
        for group, title in (("q", "Joint positions"), ("v", "Joint rates"), ("tau", "Joint forces")):
            ids = [f"{group}.{name}" for name in part if f"{group}.{name}" in dictionary.places]
            made.append(plot(f"plot.{group}.{page}", title + number, ids, _unit_label(dictionary, ids)))
    return made


def _unit_label(dictionary: Dictionary, ids: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(dictionary[id].unit for id in ids))


def _attitudes(dictionary: Dictionary) -> list[dict[str, Any]]:
    """For each quaternion a view of the attitude, and for each free or spherical hinge a plot of its rates."""
    made = []
    for id in dictionary.places:
        stem, dot, last = id.rpartition(".")
        parts = ("qw", "qx", "qy", "qz") if last == "qw" else ("w", "x", "y", "z")
        ids = [f"{stem}.{part}" for part in parts]
        if not dot or last != parts[0] or not all(each in dictionary.places for each in ids):
            continue
        name = stem.partition(".")[2]
        made.append(thing(f"attitude.{stem}", "limberjack.attitude", f"Attitude of {name}", quaternion=ids))
        rates = [f"v.{name}.{part}" for part in ("wx", "wy", "wz")]
        if stem.startswith("q.") and all(each in dictionary.places for each in rates):
            made.append(plot(f"plot.rates.{name}", f"Turn rates of {name}", rates, _unit_label(dictionary, rates)))
    return made


def _energy(dictionary: Dictionary) -> dict[str, Any]:
    ids = [f"energy.{part}" for part in ("kinetic", "potential", "strain", "total")]
    return plot("plot.energy", "Energy", ids, _unit_label(dictionary, ids))


def _momentum(dictionary: Dictionary) -> list[dict[str, Any]]:
    made = []
    for kind in ("angular", "linear"):
        ids = [f"momentum.{kind}.{axis}" for axis in "xyz"]
        made.append(plot(f"plot.momentum.{kind}", f"{kind.capitalize()} momentum", ids, _unit_label(dictionary, ids)))
    return made


def _engine() -> list[dict[str, Any]]:
    times = [f"engine.{part}" for part in ("late_max", "frame_p50", "frame_p99")]
    factor = plot("plot.factor", "Real-time factor", ["engine.real_time_factor"])
    return [plot("plot.engine", "Frame timing", times, "s"), factor]


def _panels(dictionary: Dictionary) -> list[dict[str, Any]]:
    health = [quantity.id for quantity in dictionary.quantities[dictionary.groups["engine"]]]
    return [
        thing("commands", "limberjack.commands", "Commands"),
        thing("alarms", "limberjack.alarms", "Alarms"),
        thing("alarms.history", "limberjack.alarmhistory", "Alarm history"),
        thing("orders", "limberjack.orders", "Command history"),
        thing("values", "limberjack.values", "Present values"),
        thing("view", "webPage", "3-D view", url="/view"),
        thing("log", "limberjack.log", "Event log"),
        thing("events.table", "table", "Event table", ["events"], configuration=_EVENT_COLUMNS),
        thing("engine.table", "limberjack.values", "Engine", quantities=health),
    ]


_EVENT_COLUMNS = {"hiddenColumns": {"name": True}, "autosize": True}


# ---- displays


def _display(key: str, name: str, columns: Sequence[tuple[float, Sequence[Cell]]]) -> dict[str, Any]:
    """A flexible layout. columns : width in percent, and the cells from top to bottom"""
    containers = [
        {
            "id": f"{key}.{place}",
            "size": width,
            "frames": [
                {"id": f"{key}.{cell}", "domainObjectIdentifier": identifier(cell), "size": share, "noFrame": False}
                for cell, share in cells
            ],
        }
        for place, (width, cells) in enumerate(columns)
    ]
    members = [cell for _, cells in columns for cell, _ in cells]
    settings = {"containers": containers, "rowsLayout": False}
    return thing(key, "flexible-layout", name, members, configuration=settings)


def _overview(joints: Sequence[dict[str, Any]], attitudes: Sequence[dict[str, Any]], bench: bool) -> dict[str, Any]:
    """The first display: motion, energy, the bodies, timing or a bench's run, events, alarms and commands."""
    first = [made["identifier"]["key"] for made in joints[:3]]
    turning = [made["identifier"]["key"] for made in attitudes[:2]]
    if not first:
        first, turning = turning, []
    moving = _shares(first)
    whole = _shares(["plot.energy", "plot.momentum.angular", "plot.momentum.linear"])
    if turning:
        energy, angular = ("plot.energy", 27.5), "plot.momentum.angular"  # its legend has one row more than the others
        rates = _shares([*turning[1:], angular], 50.5)
        whole = [(turning[0], 22.0), *rates[:-1], energy, rates[-1]]
    scene = [("view", 40.0), ("plot.engine", 32.0), ("log", 28.0)]
    scene = [("progress", 45.0), ("view", 30.0), ("log", 25.0)] if bench else scene
    duty = [("alarms", 35.0), ("commands", 65.0)]
    columns = [(27.0, moving), (26.0, whole), (27.0, scene), (20.0, duty)]
    return _display("overview", "Overview", [column for column in columns if column[1]])


def _narrow(joints: Sequence[dict[str, Any]], attitudes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The overview for narrow screens: fewer plots, each large enough to be read."""
    curves = [made["identifier"]["key"] for made in (*joints[:2], *attitudes[1:2])][:2]
    turning = [(made["identifier"]["key"], 28.0) for made in attitudes[:1]]
    scene = [("view", 72.0 - sum(share for _, share in turning)), *turning, ("log", 28.0)]
    duty = [("alarms", 35.0), ("commands", 65.0)]
    columns = [(38.0, _shares([*curves, "plot.energy"])), (34.0, scene), (28.0, duty)]
    return _display("overview.narrow", "Overview, narrow", columns)


def _shares(keys: Sequence[str], total: float = 100.0) -> list[Cell]:
    return [(key, total / len(keys)) for key in keys]


def _joints_displays(joints: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All joints: a column for positions, rates and forces each; as many displays as keep plots readable."""
    keys = [made["identifier"]["key"] for made in joints]
    rows = [keys[first : first + 3] for first in range(0, len(keys), 3)]
    count = max(1, -(-len(rows) // _ROWS_MAX))
    each = -(-len(rows) // count)
    made = []
    for page in range(count):
        columns = list(zip(*rows[page * each : (page + 1) * each], strict=True))
        number = f" {page + 1}" if count > 1 else ""
        made.append(
            _display(
                f"joints{number.replace(' ', '.')}",
                "Joints" + number,
                [(100.0 / 3.0, _shares(column)) for column in columns],
            )
        )
    return made


def _duty() -> dict[str, Any]:
    """Alarms and commands, now and in the past."""
    alarms = [("alarms", 50.0), ("alarms.history", 50.0)]
    return _display("duty", "Alarms and commands", [(55.0, alarms), (45.0, [("commands", 50.0), ("orders", 50.0)])])


def _health() -> dict[str, Any]:
    left = [("engine.table", 45.0), ("plot.engine", 30.0), ("plot.factor", 25.0)]
    return _display("health", "Engine and events", [(40.0, left), (60.0, [("events.table", 70.0), ("alarms", 30.0)])])
