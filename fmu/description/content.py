"""The parts that model descriptions of FMI 2 and 3 share: the content of an FMU, its experiment, tokens, units as
XML."""

from __future__ import annotations

import hashlib
import math
import os
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from xml.etree import ElementTree

from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region
from limberjack.engine.tables.measures import Measure
from limberjack.fmu.variables.units import TYPES, UNITS, Unit
from limberjack.fmu.variables.variable import Variable

#: standardised log categories (FMI 2.0.5 section 2.2.4, FMI 3.0.2 section 2.4.5) that the binaries use
LOG_CATEGORIES: dict[str, str] = {
    "logEvents": "Begin and end of stops and limits, changes of the life cycle",
    "logStatusWarning": "Messages of calls that return a warning",
    "logStatusDiscard": "Messages of steps that could not be completed",
    "logStatusError": "Messages of calls that return an error",
    "logStatusFatal": "Messages of calls after which the instance cannot be used",
}
#: relative tolerance that variable-step solvers get by default (Model Exchange)
TOLERANCE = 1e-6
#: length of the default experiment, s, and its largest number of steps
STOP_TIME, MOST_STEPS = 10.0, 100_000
#: least number of communication points of the default experiment, if it has that many steps; most steps between two
COMMUNICATION_POINTS, MOST_BETWEEN = 1000, 100
#: a communication step with this relative distance to a multiple of dt counts as one (also in the binaries)
SAME_STEP = 1e-9

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Experiment:
    """The default experiment, from time 0: ``stop_time`` and communication step ``step_size``, both in s."""

    stop_time: float
    step_size: float
    tolerance: float = TOLERANCE


#: unknown → {known: kind of dependency}, all of them places in the list of variables; ascending
Dependencies = Mapping[int, Mapping[int, str]]


@dataclass(frozen=True)
class Content:
    """The data from which all files of an FMU are made.

    system : the model
    variables : the value reference of a variable is its place here; place 0 is the time
    dependencies : of every output, state derivative and event indicator, while the model runs
    initial_dependencies : of every output and state derivative without start value, during initialisation
    identifier : name of the binary files, a C identifier
    experiment, dt (s), integrator, substeps : how the engine steps
    fmi : "2.0" or "3.0"
    coupling : "embedded" (the engine inside) or "process" (talks to an engine process)
    platforms : names of `native.targets.TARGETS` for which the FMU has a binary
    token : instantiationToken or guid; made by `token_of` from everything else
    """

    system: System
    variables: tuple[Variable, ...]
    dependencies: Dependencies
    initial_dependencies: Dependencies
    identifier: str
    experiment: Experiment
    dt: float
    integrator: str
    substeps: int = 1
    fmi: str = "3.0"
    coupling: str = "embedded"
    platforms: tuple[str, ...] = ()
    token: str = ""
    places: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        h, dt = self.experiment.step_size, self.dt
        if self.whole_steps and internal_steps(h, dt)[1] != dt:
            who = "an engine process takes" if self.coupling == "process" else "instruments and valves take"
            raise ArgumentError(
                f"step_size of the default experiment is {h!r} s, not a multiple of the step dt = {dt!r} s; {who} "
                "whole steps only; give a multiple."
            )
        object.__setattr__(self, "places", {variable.name: at for at, variable in enumerate(self.variables)})

    def with_token(self, token: str) -> Content:
        """The same content with a token."""
        return replace(self, token=token)

    @property
    def has_model_exchange(self) -> bool:
        """Whether an importer's solver can integrate the model: the engine is inside, there are no closed loops, which
        would drift apart, and no instruments, motors, valves or contacts, whose states only change in steps."""
        return self.coupling == "embedded" and not self.system.loops and not self.system.has_devices

    @property
    def whole_steps(self) -> bool:
        """Whether a communication step must be a multiple of dt: an engine process counts steps, and so do instruments
        and valves of thrusters. Otherwise a communication step is divided into equal steps."""
        return self.coupling == "process" or self.system.counts_steps

    @property
    def outputs(self) -> tuple[int, ...]:
        """Places of the outputs."""
        return tuple(at for at, variable in enumerate(self.variables) if variable.causality == "output")

    @property
    def derivatives(self) -> tuple[int, ...]:
        """Places of the state derivatives, in the order of the states [q | v]."""
        found = [at for at, variable in enumerate(self.variables) if is_state_derivative(variable)]
        return tuple(
            sorted(found, key=lambda at: (self.variables[at].region != Region.RATE, self.variables[at].offset))
        )

    @property
    def indicators(self) -> tuple[int, ...]:
        """Places of the event indicators."""
        return tuple(at for at, variable in enumerate(self.variables) if variable.region == Region.SWITCH)

    @property
    def initial_unknowns(self) -> tuple[int, ...]:
        """Places of the outputs, states and state derivatives that the model itself computes at the start."""
        states = {self.places[self.variables[at].derivative_of] for at in self.derivatives}
        listed = states.union(self.outputs, self.derivatives)
        return tuple(at for at in sorted(listed) if initial_of(self.variables[at]) == "calculated")


def is_state_derivative(variable: Variable) -> bool:
    """Whether it is the derivative of a continuous state, not a velocity that is a state itself."""
    return bool(variable.derivative_of) and variable.region in (Region.RATE, Region.OBSERVED)


def initial_of(variable: Variable) -> str:
    """How a variable gets its first value: "exact" from its start value, "calculated" by the model, "" for the time."""
    if variable.causality == "independent":
        return ""
    return "exact" if variable.start else "calculated"


def default_experiment(dt: float, stop_time: float | None = None, step_size: float | None = None) -> Experiment:
    """The experiment that an importer offers by default.

    It lasts 10 s, or less if that would take more than 100,000 steps of dt, so that a first try is short. The
    communication step is the largest of 1, 2, 5, … 100 times dt that still gives 1000 communication points: curves look
    smooth, files are small, and the engine steps with exactly dt, since every point is a whole number of steps.
    """
    stop = _positive("stop_time", STOP_TIME if stop_time is None else stop_time)
    if stop_time is None and stop > MOST_STEPS * dt:
        stop = _round_below(MOST_STEPS * dt)
    if step_size is not None:
        return Experiment(stop, _positive("step_size", step_size))
    multiple = _round_below(stop / dt / COMMUNICATION_POINTS) if stop / dt > COMMUNICATION_POINTS else 1.0
    return Experiment(stop, float(f"{min(multiple, MOST_BETWEEN) * dt:.12g}"))


def internal_steps(h: float, dt: float) -> tuple[int, float]:
    """Number and length of the engine's steps in a communication step: multiples of dt, else equal shorter ones."""
    n = max(round(h / dt), 1)
    if abs(h - n * dt) <= SAME_STEP * h:
        return n, dt
    n = math.ceil(h / dt)
    return n, h / n


def _positive(name: str, value: float) -> float:
    if not isinstance(value, (int, float)) or not 0.0 < value < math.inf:
        raise ArgumentError(f"{name} of the default experiment is {value!r}; give a positive number of seconds.")
    return float(value)


def _round_below(value: float) -> float:
    """The largest of …, 1, 2, 5, 10, 20, … that is not above value > 0 (rounding errors aside)."""
    exponent = math.floor(math.log10(value * (1.0 + 1e-9)))
    leading = value * (1.0 + 1e-9) / 10.0**exponent
    return float(f"{max(n for n in (1, 2, 5) if n <= leading)}e{exponent}")


def token_of(parts: Iterable[bytes]) -> str:
    """An instantiation token: a UUID made from a hash of all parts, in braces. Equal parts give equal tokens."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return f"{{{uuid.UUID(bytes=digest.digest()[:16], version=5)}}}"


def source_date() -> str:
    """The date that SOURCE_DATE_EPOCH gives, such as 2026-01-31T12:00:00Z; "" without it, so that bytes repeat."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not seconds:
        return ""
    try:
        return datetime.fromtimestamp(int(seconds), tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError) as error:
        raise ArgumentError(f"SOURCE_DATE_EPOCH is {seconds!r}; give whole seconds since 1970 ({error}).") from error


def tool() -> str:
    """Name and version of the exporting tool."""
    from limberjack.version import __version__

    return f"Limberjack {__version__}"


def text(value: str) -> str:
    """A user's text in a form that XML allows: forbidden characters become U+FFFD, line ends and tabs spaces."""
    return re.sub("[\t\n\r]", " ", _NOT_XML.sub("�", value))


def number(value: float) -> str:
    """A number as text that reads back to the same bits."""
    return repr(float(value))


def numbers(values: Sequence[float]) -> str:
    """A list of numbers."""
    return " ".join(number(value) for value in values)


def flag(value: bool) -> str:
    """A truth value as XML writes it."""
    return "true" if value else "false"


def serialised(root: ElementTree.Element) -> bytes:
    """An XML document in UTF-8, indented; the same tree gives the same bytes."""
    ElementTree.indent(root)
    written: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{written}\n'.encode()


def root_attributes(content: Content) -> dict[str, str]:
    """Attributes of <fmiModelDescription> without the token, which the two versions name differently."""
    system = content.system
    date = source_date()
    return {
        "fmiVersion": content.fmi,
        "modelName": text(system.name) or "model",
        "description": f"Multibody model of {len(system.own_bodies)} bodies, {system.nv} degrees of freedom",
        "generationTool": text(tool()),
        **({"generationDateAndTime": date} if date else {}),
        "variableNamingConvention": "structured",
    }


def used_types(content: Content) -> tuple[Measure, ...]:
    """Declared types that a variable names, in the order of their table."""
    names = {variable.type_name for variable in content.variables}
    return tuple(declared for name, declared in TYPES.items() if name in names)


def used_units(content: Content) -> tuple[Unit, ...]:
    """Units that a variable or one of its types names, in the order of their table."""
    names = {variable.unit for variable in content.variables} | {declared.unit for declared in used_types(content)}
    return tuple(unit for name, unit in UNITS.items() if name in names)


def unit_definitions(content: Content) -> ElementTree.Element | None:
    """<UnitDefinitions>, alike in both versions; None if no variable has a unit (an empty list is not allowed)."""
    units = used_units(content)
    if not units:
        return None
    root = ElementTree.Element("UnitDefinitions")
    for unit in units:
        element = ElementTree.SubElement(root, "Unit", name=unit.name)
        exponents = {base: str(power) for base, power in unit.exponents.items()}
        factor = {} if unit.factor == 1.0 else {"factor": number(unit.factor)}
        ElementTree.SubElement(element, "BaseUnit", exponents | factor)
        for display in unit.display:
            ElementTree.SubElement(element, "DisplayUnit", name=display.name, factor=number(display.factor))
    return root


def log_categories() -> ElementTree.Element:
    """<LogCategories>, alike in both versions."""
    root = ElementTree.Element("LogCategories")
    for name, description in LOG_CATEGORIES.items():
        ElementTree.SubElement(root, "Category", name=name, description=description)
    return root


def experiment_element(experiment: Experiment) -> ElementTree.Element:
    """<DefaultExperiment>, alike in both versions."""
    return ElementTree.Element(
        "DefaultExperiment",
        startTime="0.0",
        stopTime=number(experiment.stop_time),
        tolerance=number(experiment.tolerance),
        stepSize=number(experiment.step_size),
    )


def type_attributes(declared: Measure) -> dict[str, str]:
    """Attributes of a declared floating-point type, alike in both versions."""
    listed = {"quantity": declared.quantity, "unit": declared.unit, "displayUnit": declared.display_unit}
    attributes = {name: value for name, value in listed.items() if value}
    if math.isfinite(declared.minimum):
        attributes["min"] = number(declared.minimum)
    return attributes


def float_attributes(variable: Variable) -> dict[str, str]:
    """Type, unit and range of a floating-point variable, alike in both versions.

    Units are also written at the variable, although its type names them: many importers read only these.
    """
    listed = {"declaredType": variable.type_name, "unit": variable.unit, "displayUnit": variable.display_unit}
    attributes = {name: value for name, value in listed.items() if value}
    for name, value in (("min", variable.minimum), ("max", variable.maximum)):
        if math.isfinite(value):
            attributes[name] = number(value)
    if variable.nominal != 1.0:
        attributes["nominal"] = number(variable.nominal)
    return attributes


class DependencyWriter:
    """Writes dependencies and their kinds, in ascending order; `first` is the number of the first variable.

    Many unknowns share one mapping, of hundreds of knowns: each is written once.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._written: dict[int, tuple[Mapping[int, str], dict[str, str]]] = {}

    def attributes(self, known: Mapping[int, str]) -> dict[str, str]:
        """The attributes of an <Unknown>, or of one of FMI 3's elements."""
        if id(known) not in self._written:  # stored with its mapping, so that no other mapping can get the same id
            places = sorted(known)
            listed = {
                "dependencies": " ".join(str(at + self._first) for at in places),
                "dependenciesKind": " ".join(known[at] for at in places),
            }
            self._written[id(known)] = known, listed
        return self._written[id(known)][1]
