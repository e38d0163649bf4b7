"""Run a scenario and judge it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine import arguments
from limberjack.engine.errors import ArgumentError
from limberjack.hil.events import Event, EventLog
from limberjack.hil.executive import Outcome
from limberjack.hil.parts import Visitor
from limberjack.hil.scenario.build import Built, build
from limberjack.hil.scenario.criteria import Evidence, Verdict, judge
from limberjack.hil.scenario.html import write_html
from limberjack.hil.scenario.junit import write_junit
from limberjack.hil.scenario.load import Scenario, load_scenario
from limberjack.hil.scenario.programs import Programs

#: what a run writes, besides the output of programs
FILES = ("report.html", "junit.xml", "result.json", "events.jsonl", "signals.csv", "record.mcap")
#: makes the visitor of a run, and ends it when the run has ended
Visit = Callable[[Built], AbstractContextManager[Visitor]]


@dataclass(frozen=True)
class Result:
    """What a run of a scenario came to.

    passed : whether the run ended as expected and all criteria hold
    criteria : the end of the run first, then the scenario's
    folder : where report.html, junit.xml, result.json, events.jsonl, signals.csv and record.mcap are; None: nothing was
        written
    values : criterion → what was measured
    """

    name: str
    passed: bool
    outcome: Outcome
    criteria: list[Verdict]
    folder: Path | None
    values: dict[str, float]
    seed: int
    built: Built

    @property
    def exit_code(self) -> int:
        """0 passed, 1 failed."""
        return 0 if self.passed else 1

    def explain(self) -> str:
        """The verdicts as lines of text, failed ones first."""
        ordered = sorted(self.criteria, key=lambda verdict: verdict.passed)
        return "\n".join(f"{'passed' if v.passed else 'FAILED'}  {v.name}: {v.text}" for v in ordered)


def run_scenario(
    source: Path | str | Scenario,
    *,
    out: Path | str | None = None,
    seed: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    paced: bool | None = None,
    visit: Visit | None = None,
) -> Result:
    """Run a scenario to its end and judge it.

    out : folder for the report, made if need be; None: write nothing
    seed, paced : instead of the scenario's;  overrides : as for `load_scenario`, for a path only
    visit : makes a visitor of the run, who may watch it and act on it

    ModelError or ArgumentError for what cannot be run, HilError where a device cannot be opened; what goes wrong later
    is in the Result.
    """
    if isinstance(source, Scenario) and overrides:
        raise ArgumentError("overrides are for a scenario's path; give them to load_scenario, which made this one.")
    scenario = source if isinstance(source, Scenario) else load_scenario(source, overrides)
    spec, folder = scenario.spec, None if out is None else Path(out)
    chosen = spec.seed if seed is None else arguments.count("seed", seed, 0, 2**63 - 1)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:  # of a run before, whose verdict would pass for this one's if it does not come to its end
            (folder / name).unlink(missing_ok=True)
    pace = spec.pacing.real_time if paced is None else paced
    programs = Programs(scenario, folder)
    built = build(scenario, chosen, pace, [programs], folder)
    with programs.running(), visit(built) if visit is not None else nullcontext() as visitor:
        built.executive.visitor = visitor
        outcome = built.executive.run(spec.duration)
    _tell_silent(built, outcome.log)
    evidence = Evidence(built.tape, outcome.log, built.judged, spec.duration)
    verdicts = [_ending(scenario, outcome), *(judge(criterion, evidence) for criterion in spec.criteria)]
    values = {verdict.name: verdict.value for verdict in verdicts[1:]}
    passed = all(verdict.passed for verdict in verdicts)
    result = Result(spec.name, passed, outcome, verdicts, folder, values, chosen, built)
    if folder is not None:
        _write(result, scenario, folder)
    return result


def _ending(scenario: Scenario, outcome: Outcome) -> Verdict:
    """Whether the run ended as it was expected to."""
    expected = scenario.spec.expect
    was = "" if outcome.reason in ("completed", "failed") else "was "
    text = f"the run {was}{outcome.reason}"
    text += f": {outcome.text}" if outcome.text else ""
    wanted = "" if outcome.reason == expected else f" (expected: {expected})"
    time = outcome.log.events[-1].time if outcome.log.events else float("nan")
    return Verdict("end of the run", outcome.reason == expected, text + wanted, time=time)


def _tell_silent(built: Built, log: EventLog) -> None:
    """An event for every device that sets commands and was never heard: criteria alone may not notice."""
    time = built.executive.simulation.time
    for mounted in built.executive.devices:
        if len(mounted.commands) and not mounted.device.link.received:
            log.add(Event(time, "device", mounted.name, "was never heard: its commands stayed as they started"))


def _json(value: Any, indent: int | None = None) -> str:
    """Strict JSON: null for numbers that are not finite."""
    return json.dumps(_finite(value), indent=indent, default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return value


def _write(result: Result, scenario: Scenario, folder: Path) -> None:
    built, log = result.built, result.outcome.log
    if scenario.spec.record.csv:
        built.tape.write_csv(folder / "signals.csv", built.listed, scenario.spec.record.every)
    with (folder / "events.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(_json(asdict(event)) + "\n" for event in log.events)
    summary = {
        "scenario": result.name,
        "passed": result.passed,
        "reason": result.outcome.reason,
        "text": result.outcome.text,
        "seed": result.seed,
        "criteria": [asdict(verdict) for verdict in result.criteria],
        "frames": result.outcome.frames.statistics().as_dict(),
        "devices": {mounted.name: asdict(mounted.device.link) for mounted in built.executive.devices},
    }
    (folder / "result.json").write_text(_json(summary, indent=1) + "\n", encoding="utf-8")
    write_junit(folder / "junit.xml", result.name, result.criteria, result.outcome.frames.statistics().elapsed)
    write_html(folder / "report.html", scenario, built, result.outcome, result.criteria, result.seed)
