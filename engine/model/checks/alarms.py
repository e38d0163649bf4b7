"""Checks of alarms: limits in order, names that exist, one alarm for a quantity."""

from __future__ import annotations

import math

from limberjack.engine.common.nearest import nearest
from limberjack.engine.files.numbers import usable
from limberjack.engine.files.patterns import compiled
from limberjack.engine.model.catalogue.catalogue import signal_names
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from limberjack.engine.model.places import Locate, refuse, where_is
from limberjack.engine.model.system import System


def check_alarms(system: System, locate: Locate) -> None:
    """Refuse limits that cross, names of nothing, and quantities with two alarms."""
    names = signal_names(system) if system.alarms else ()
    taken: dict[str, Alarm] = {}
    for alarm in system.alarms:
        _check_limits(alarm, locate)
        for name in _named(alarm, names, locate):
            if name in taken:
                what = f"'{name}' has two alarms, the first at {where_is(taken[name])}"
                refuse(alarm, "signal", what, "Give all limits of a quantity in one entry", locate)
            taken[name] = alarm


def alarms_of(system: System) -> dict[str, Alarm]:
    """Quantity → its alarm, of a checked System."""
    names = signal_names(system) if system.alarms else ()
    return {name: alarm for alarm in system.alarms for name in _matching(alarm.signal, names)}


def _matching(signal: str, names: tuple[str, ...]) -> list[str]:
    match = compiled(signal).match
    return [name for name in names if match(name)]


def _named(alarm: Alarm, names: tuple[str, ...], locate: Locate) -> list[str]:
    """The quantities that an alarm names."""
    if not isinstance(alarm.signal, str) or not alarm.signal.strip() or len(alarm.signal) > 1000:
        what = f"an alarm names {alarm.signal!r:.60}"
        refuse(alarm, "signal", what, "Give the name of a quantity, or a pattern with * and ?", locate)
    found = _matching(alarm.signal, names)
    if not found:
        what = f"an alarm names '{alarm.signal}', which is not a quantity of this model"
        refuse(alarm, "signal", what, _nearest(alarm.signal, names), locate)
    return found


def _nearest(signal: str, names: tuple[str, ...]) -> str:
    """What may be meant, also where the first part of the name is missing."""
    whole = {name.partition(".")[2]: name for name in names} | {name: name for name in names}
    near = nearest(signal, whole, count=1)
    if near:
        return f"Did you mean '{whole[near[0]]}'?"
    return "Name q., v., tau., output. or command. with a name of the model, or energy.total, momentum.linear.x, …"


def _check_limits(alarm: Alarm, locate: Locate) -> None:
    for field in ("warning", "critical"):
        bounds: Bounds = getattr(alarm, field)
        for value in (bounds.lower, bounds.upper):
            if not (usable(value) or math.isinf(value)):
                refuse(alarm, field, f"a limit of '{alarm.signal}' is {value}", "Give finite numbers", locate)
        if not bounds.lower < bounds.upper:
            what = f"the {field} limits of '{alarm.signal}' leave nothing between {bounds.lower:g} and {bounds.upper:g}"
            refuse(alarm, field, what, "Give lower < upper", locate)
    if alarm.warning == alarm.critical == Bounds():
        refuse(alarm, "", f"the alarm of '{alarm.signal}' has no limits", "Give warning, critical or both", locate)
    _check_order(alarm, locate)


def _check_order(alarm: Alarm, locate: Locate) -> None:
    """A value that leaves what is normal is warned of before it is critical, and something is normal."""
    inner, outer = alarm.warning, alarm.critical
    early = math.isfinite(inner.lower) and outer.lower > inner.lower
    late = math.isfinite(inner.upper) and outer.upper < inner.upper
    if early or late or not max(inner.lower, outer.lower) < min(inner.upper, outer.upper):
        what = (
            f"'{alarm.signal}' is critical outside {outer.lower:g} to {outer.upper:g}, but warned of outside "
            f"{inner.lower:g} to {inner.upper:g}"
        )
        refuse(alarm, "critical", what, "Give critical limits that enclose those of the warning", locate)
