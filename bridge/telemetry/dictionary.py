"""The telemetry dictionary: every published quantity with its identifier, unit, range, alarm limits and group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from limberjack.bridge.telemetry.spans import least_span
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common import arguments
from limberjack.engine.model.catalogue.catalogue import GROUPS as GROUPS_OF_MODELS
from limberjack.engine.model.catalogue.catalogue import SIGNALS, catalogue
from limberjack.engine.model.catalogue.number import NO_LIMITS, POSITIVE, Limits, Number
from limberjack.engine.model.checks.alarms import alarms_of
from limberjack.engine.model.elements.alarm import Alarm, Bounds
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Loop

#: groups in the order of the sample's vector, with what each holds
GROUPS = {name: GROUPS_OF_MODELS[name][0] for name in SIGNALS} | {"engine": "health of the engine"}
#: health of the engine: name, unit, meaning
HEALTH = (
    ("engine.running", "", "1 while the engine steps, 0 after a failure"),
    ("engine.step", "", "steps since the start"),
    ("engine.real_time_factor", "", "simulated over real time, free-running"),
    ("engine.overruns", "", "cycles that started after their deadline, free-running"),
    ("engine.late_max", "s", "worst delay of a cycle, free-running"),
    ("engine.late", "s", "worst delay of a cycle in the last seconds, free-running"),
    ("engine.overrun_share", "", "share of late cycles in the last seconds, free-running"),
    ("engine.lost", "s", "time given up because the engine could not keep pace, free-running"),
    ("engine.received", "", "requests received"),
    ("engine.refused", "", "requests refused"),
    ("engine.frame_p50", "s", "median of the work time of a frame; NaN without a test bench"),
    ("engine.frame_p99", "s", "99th percentile of the work time of a frame; NaN without a test bench"),
)
#: least heights of their axes: what is smaller is of no interest
_HEALTH_SPANS = {"engine.real_time_factor": 5e-3, "engine.overrun_share": 5e-3}
#: NaN where no test bench runs, which raises no alarm
OF_BENCH = ("engine.frame_p50", "engine.frame_p99")
_HEALTH_RANGES: dict[str, Limits] = {name: POSITIVE for name, _, _ in HEALTH}
_HEALTH_RANGES |= {"engine.running": (0.0, 1.0), "engine.overrun_share": (0.0, 1.0)}
#: what telemetry says of numbers of the model in its own words
_ALONG = {"q": "coordinate", "v": "velocity", "tau": "force along"}
_SAID = {"energy.potential": "potential energy of gravity"}
#: above the first share of late cycles an engine does not keep pace; above the second its states say little
OVERRUNS_MOST, _OVERRUNS_CRITICAL = 0.01, 0.1
#: s; from the first delay on, an engine gives time up at most rates
_LATE_MOST, _LATE_CRITICAL = 0.1, 1.0
_HEALTH_ALARMS = {
    each.signal: each
    for each in (
        Alarm("engine.running", critical=Bounds(lower=1.0)),
        Alarm("engine.late", Bounds(upper=_LATE_MOST), Bounds(upper=_LATE_CRITICAL)),
        Alarm("engine.overrun_share", Bounds(upper=OVERRUNS_MOST), Bounds(upper=_OVERRUNS_CRITICAL)),
    )
}


@dataclass(frozen=True)
class Quantity:
    """One number of the telemetry.

    id : stable identifier, "q.elbow": the group, then the name in the model with whatever characters it has there;
        `identifiers.safe_name` spells it for formats that allow fewer
    unit : SI symbol, "" where it has none;  description : one line for people
    low, high : what it can be by the model (the catalogue), infinite where nothing bounds it
    warning, critical : outside these it is in alarm; infinite where there is none
    may_lack : NaN says that there is no such number now, and is no alarm
    """

    id: str
    group: str
    unit: str
    description: str
    low: float = -math.inf
    high: float = math.inf
    warning: Limits = NO_LIMITS
    critical: Limits = NO_LIMITS
    may_lack: bool = False

    @property
    def span(self) -> float:
        """Least height of an axis that shows it, in its unit: what is smaller is rounding (`spans.py`)."""
        return _HEALTH_SPANS.get(self.id, least_span(self.unit))

    def severity(self, value: float) -> int:
        """0 normal, 1 warning, 2 critical; infinities are critical, and NaN but where the number may lack."""
        if self.may_lack and math.isnan(value):
            return 0
        if not (math.isfinite(value) and self.critical[0] <= value <= self.critical[1]):
            return 2
        return 0 if self.warning[0] <= value <= self.warning[1] else 1


@dataclass(frozen=True)
class Dictionary:
    """All quantities of a model, in the order of the vector of a sample (`sample.py`).

    model, model_hash : which model, as the engine gives them
    """

    model: str
    model_hash: str
    quantities: tuple[Quantity, ...] = field(repr=False)

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self.quantities)

    def __len__(self) -> int:
        return len(self.quantities)

    def __getitem__(self, id: str) -> Quantity:
        return self.quantities[self.place(id)]

    @cached_property
    def places(self) -> dict[str, int]:
        """Identifier → place in the vector of a sample."""
        return {quantity.id: i for i, quantity in enumerate(self.quantities)}

    def place(self, id: str) -> int:
        """Place of a quantity. UnknownNameError with the nearest identifiers."""
        if id in self.places:
            return self.places[id]
        return arguments.index_of("quantity", id, tuple(self.places))

    @cached_property
    def groups(self) -> dict[str, slice]:
        """Group → its places."""
        found, start = {}, 0
        for group, members in itertools.groupby(self.quantities, lambda quantity: quantity.group):
            stop = start + len(list(members))
            found[group], start = slice(start, stop), stop
        return found


def dictionary_of(simulation: Simulation) -> Dictionary:
    """The dictionary of a model: the wire's q, v, tau, outputs and command, then what is computed from them."""
    alarms = alarms_of(simulation.system) | _HEALTH_ALARMS

    def quantity(id: str, unit: str, text: str, limits: Limits) -> Quantity:
        alarm = alarms.get(id, Alarm(id))
        warning, critical = ((each.lower, each.upper) for each in (alarm.warning, alarm.critical))
        group, unit = id.split(".")[0], "" if unit == "1" else unit
        return Quantity(id, group, unit, text, *limits, warning, critical, id in OF_BENCH)

    listed = catalogue(simulation.system, *SIGNALS)
    model = [quantity(number.id, number.unit, _described(number), number.limits) for number in listed]
    health = [quantity(*row, _HEALTH_RANGES[row[0]]) for row in HEALTH]
    return Dictionary(simulation.system.name, simulation.model_hash, (*model, *health))


def _described(number: Number) -> str:
    """What telemetry says of a number of the model."""
    match number.group:
        case "q" | "v" | "tau":
            return f"{_ALONG[number.group]} {number.name}"
        case "output":
            assert isinstance(number.element, Sensor)
            said = f"{number.element.type.replace('_', ' ')} of {number.element.target}"
            return f"{said}, {number.component}" if number.component else said
        case "command":
            element = number.element
            return _asked(element, number.name) if isinstance(element, Actuator | Loop | Thruster) else number.text
        case "momentum":
            return f"{number.path[1]} momentum, inertial {number.component}"
    return _SAID.get(number.id, number.text)


def _asked(taker: Actuator | Loop | Thruster, command: str) -> str:
    """What a command asks for."""
    word = command.removeprefix(taker.name).removeprefix(".")
    if isinstance(taker, Loop):
        return f"1 closes loop {taker.name}, 0 opens it" if word == "closed" else f"{word} added to loop {taker.name}"
    if isinstance(taker, Thruster):
        return f"force of thruster {taker.name}"
    main = {"torque": "force", "velocity": "rate", "servo": "position"}.get(taker.mode, taker.mode)
    said = {"": main, "rate": "rate", "torque": "added force"}.get(word, word)
    return f"{said} of drive {taker.name}"
