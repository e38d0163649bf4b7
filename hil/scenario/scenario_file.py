"""Reads a scenario file to a checked `Scenario`; values can be overridden by path."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.files.patterns import compiled
from limberjack.engine.files.yaml_document import Document, Value, read_document
from limberjack.engine.model.readers.schema_errors import Dialect, validated
from limberjack.hil.scenario.schema import ScenarioSpec

PAGE = "docs/reference/scenario-format.md"
_DIALECT = Dialect(ScenarioSpec, PAGE)
#: one step of a path: a field, or a place, name or key in brackets
_STEP = re.compile(r"\.?([A-Za-z_][A-Za-z0-9_]*)|\[([^\]]+)\]")


@dataclass(frozen=True)
class Scenario:
    """A scenario and its file.

    spec : its fields;  document : the file with its lines;  folder : where its relative paths begin
    """

    spec: ScenarioSpec
    document: Document
    folder: Path

    def place(self, *path: str | int) -> str:
        """File, line and field path, "hold.yaml:12, faults[0].factor"."""
        return self.document.place(path)

    @contextlib.contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Within this context, errors of arguments become errors of this place in the file."""
        try:
            yield
        except ArgumentError as error:
            raise ModelError(str(error).rstrip("."), where=self.place(*path)) from None


def load_scenario(path: Path | str, overrides: Mapping[str, Any] | None = None) -> Scenario:
    """Read and check a scenario file.

    path : the file
    overrides : path → value, put in place of the file's before it is checked: "pacing.real_time", "faults[0].factor",
        "faults[wheel_2].factor" by name, "initial.parameters[body.hub.mass]"

    Raises ModelError with file, line and field path for an invalid file; models, devices and names of signals are
    checked when it is run.
    """
    if Path(path).suffix.lower() in (".urdf", ".xml", ".ljm"):
        raise _not_a_scenario("model", str(path))
    document = read_document(Path(path))
    if not isinstance(document.root.content, dict):
        remedy = f"Begin with 'limberjack_scenario: 1'; see {PAGE}"
        raise ModelError("the file is not a mapping of fields", where=document.place(()), remedy=remedy)
    _check_kind(document)
    for where, value in (overrides or {}).items():
        _override(document, where, value)
    spec = validated(ScenarioSpec, document, _DIALECT)
    scenario = Scenario(spec, document, Path(path).resolve().parent)
    _check_names(scenario)
    _check_faults(scenario)
    _check_watchdogs(scenario)
    _check_times(scenario)
    _check_sources(scenario)
    return scenario


def _check_kind(document: Document) -> None:
    """ModelError for a file that is a model or a campaign."""
    fields = document.root.content
    if "limberjack_scenario" in fields:
        return
    for field, kind in (("limberjack", "model"), ("limberjack_campaign", "campaign")):
        if field in fields:
            raise _not_a_scenario(kind, document.place((field,)))


def _not_a_scenario(kind: str, where: str) -> ModelError:
    commands = {"model": "'limberjack hil --probe' or 'limberjack run'", "campaign": "'limberjack campaign'"}
    remedy = f"Give it to {commands[kind]}, or give a scenario; see {PAGE}"
    return ModelError(f"this is a {kind}, not a scenario", where=where, remedy=remedy)


def _override(document: Document, where: str, value: Any) -> None:
    """Put a value at a path; mappings on the way are made. ArgumentError for a path that leads nowhere."""
    steps = [field or bracket for field, bracket in _STEP.findall(where)]
    if not steps or "".join(match[0] for match in _STEP.finditer(where)) != where:
        raise ArgumentError(f"'{where:.100}' is not a path; write fields with dots and [place], [name] or [key].")
    owner = document.root
    for i, step in enumerate(steps[:-1]):
        owner = _entered(owner, step, where, steps[i + 1])
    if isinstance(owner.content, list):
        owner.content[_place(owner, steps[-1], where)] = _valued(value, owner.line)
    elif isinstance(owner.content, dict):
        owner.content[steps[-1]] = _valued(value, owner.line)
    else:
        raise ArgumentError(f"{where}: the file has a single value before '{steps[-1]}', which has no parts.")


def _entered(owner: Value, step: str, where: str, following: str) -> Value:
    if isinstance(owner.content, list):
        found: Value = owner.content[_place(owner, step, where)]
        return found
    if not isinstance(owner.content, dict):
        raise ArgumentError(f"{where}: the file has a single value before '{step}', which has no parts.")
    if step not in owner.content:
        if following.isdigit():
            raise ArgumentError(f"{where}: the file has no {step}.")
        owner.content[step] = Value({}, owner.line)
    child: Value = owner.content[step]
    return child


def _place(owner: Value, step: str, where: str) -> int:
    """Place in a list, by number or by the name of an entry."""
    names = [str(item.plain().get("name")) if isinstance(item.content, dict) else "" for item in owner.content]
    if step in names:
        return names.index(step)
    if step.isdigit() and int(step) < len(names):
        return int(step)
    raise ArgumentError(
        f"{where}: the list has no entry '{step}'; it has {len(names)}: {', '.join(filter(None, names))}."
    )


def _valued(value: Any, line: int) -> Value:
    """A plain value with lines."""
    if isinstance(value, Mapping):
        return Value({str(key): _valued(part, line) for key, part in value.items()}, line)
    if isinstance(value, (list, tuple)):
        return Value([_valued(part, line) for part in value], line)
    return Value(value, line)


def _check_names(scenario: Scenario) -> None:
    """Names are unique in their list, and those that the file refers to exist."""
    for group in ("devices", "controllers", "watchdogs", "faults", "criteria"):
        seen: dict[str, int] = {}
        for i, part in enumerate(getattr(scenario.spec, group)):
            if part.name in seen:
                what = f"the name '{part.name}' is given twice, first to {group}[{seen[part.name]}]"
                raise ModelError(what, where=scenario.place(group, i, "name"), remedy="Give each its own")
            seen[part.name] = i


def _check_faults(scenario: Scenario) -> None:
    """Check that the timeline only begins existing faults that do not act yet, and only ends those that act."""
    names = {fault.name for fault in scenario.spec.faults}
    active: set[str] = set()
    for i, entry in sorted(enumerate(scenario.spec.timeline), key=lambda pair: pair[1].at):
        if entry.action not in ("fault", "clear"):
            continue
        name = str(getattr(entry, entry.action))
        where = scenario.place("timeline", i, entry.action)
        if name not in names:
            listed = f"; there are {', '.join(sorted(names))}" if names else ""
            raise ModelError(f"no fault is called '{name}'{listed}", where=where, remedy="Define it under faults")
        if (name in active) == (entry.action == "fault"):
            state = "acts already" if name in active else "does not act"
            raise ModelError(f"fault '{name}' {state} at {entry.at:g} s", where=where, remedy="Correct the times")
        active ^= {name}


def _check_watchdogs(scenario: Scenario) -> None:
    """Check that the timeline only arms existing watchdogs."""
    names = [watchdog.name for watchdog in scenario.spec.watchdogs]
    for i, entry in enumerate(scenario.spec.timeline):
        if entry.arm is not None:
            with scenario.at("timeline", i, "arm"):
                arguments.index_of("watchdog", entry.arm, names)


def _check_times(scenario: Scenario) -> None:
    """Check that nothing happens, or is judged, after the end."""
    end = scenario.spec.duration
    for i, entry in enumerate(scenario.spec.timeline):
        if entry.at >= end:
            what = f"nothing happens at {entry.at:g} s any more: the run ends at {end:g} s"
            raise ModelError(what, where=scenario.place("timeline", i, "at"), remedy="Correct it, or the duration")
    for i, criterion in enumerate(scenario.spec.criteria):
        within, last = getattr(criterion, "within", None), getattr(criterion, "until", None) or end
        start = getattr(criterion, "start", 0.0)
        if within is not None and start + within > last * (1.0 + 1e-9):
            what = f"within {within:g} s of {start:g} s is after {last:g} s, to when it is judged"
            raise ModelError(
                what, where=scenario.place("criteria", i, "within"), remedy="Give less, or judge for longer"
            )
        for field in ("start", "until", "by"):
            time = getattr(criterion, field, None)
            if time is not None and time > end:
                what = f"{field} is {time:g} s, and the run ends at {end:g} s"
                raise ModelError(what, where=scenario.place("criteria", i, field), remedy="Correct it, or the duration")


def _check_sources(scenario: Scenario) -> None:
    """Check that watchdogs, programs and faults exist on whose events criteria depend."""
    spec = scenario.spec
    faults = {part.name for part in spec.faults}
    watchdogs = {part.name for part in spec.watchdogs}
    sources = {"trip": watchdogs | {part.name for part in spec.controllers}, "recover": watchdogs, "arm": watchdogs}
    sources |= {"fault": faults, "clear": faults}
    for i, criterion in enumerate(spec.criteria):
        kind, source = getattr(criterion, "kind", ""), getattr(criterion, "source", "*")
        if source == "*" or kind not in sources:
            continue
        names = sorted(sources[kind])
        if not any(compiled(source).match(name) for name in names):
            listed = f"; there are {', '.join(names)}" if names else ""
            what = f"no '{kind}' can come from '{source}'{listed}"
            raise ModelError(what, where=scenario.place("criteria", i, "source"), remedy="Correct the name")
