"""Writes the files of a run: first signals and events, then the reports with verdicts, which mention these files
too."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common.errors import ExitCode
from limberjack.hil.errors import HilError
from limberjack.hil.executive import Outcome
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.evidence import Verdict
from limberjack.hil.scenario.html import write_html
from limberjack.hil.scenario.junit import write_junit
from limberjack.hil.scenario.scenario_file import Scenario

#: files that a run writes, besides the output of programs
FILES = ("report.html", "junit.xml", "result.json", "events.jsonl", "signals.csv", "record.mcap")


@dataclass(frozen=True)
class Result:
    """The result of a run of a scenario.

    name : the scenario's;  seed : of its random numbers;  outcome, built : of the executive, and what it ran
    passed : whether the run ended as expected, kept pace, all criteria hold, and what was to be recorded is
    criteria : the end of the run first, then the scenario's; of a paced run, whether it kept pace with the clock; where
        files are written, whether the record is complete
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
    def exit_code(self) -> ExitCode:
        """The exit code for the verdicts."""
        return exit_code_of_verdicts(self.criteria)

    def explain(self) -> str:
        """The verdicts as lines of text, failed ones first."""
        ordered = sorted(self.criteria, key=lambda verdict: verdict.passed)
        return "\n".join(f"{v.word if v.passed else v.word.upper()}  {v.name}: {v.text}" for v in ordered)


def exit_code_of_verdicts(verdicts: Sequence[Verdict]) -> ExitCode:
    """If the machine ended the run, or if only the record is incomplete, the code is that of a failure of the machine.

    An aborted run counts as stopped: it gives no result.
    verdicts : the end of the run first
    """
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if not failed:
        return ExitCode.DONE
    if verdicts[0].aborted:
        return ExitCode.STOPPED
    machine = failed[0].machine if failed[0] is verdicts[0] else all(verdict.machine for verdict in failed)
    return ExitCode.MACHINE if machine else ExitCode.FAILED


def write_signals(scenario: Scenario, built: Built, outcome: Outcome, folder: Path) -> Verdict:
    """Write signals.csv and events.jsonl; returns whether they, and the record that the run wrote, are complete."""
    tape, record, log = built.tape, scenario.spec.record, outcome.log
    wanted: dict[str, Callable[[Path], None]] = {"events.jsonl": lambda path: _write_events(outcome, path)}
    if record.csv:
        wanted["signals.csv"] = lambda path: tape.write_csv(path, built.listed, record.every)
    missing = [outcome.unrecorded] if outcome.unrecorded else []
    if log.dropped:
        missing.append(f"{log.dropped} events found no room in the log, which holds {len(log.events)}.")
    for name, write in wanted.items():
        try:
            write(folder / name)
        except OSError as error:
            missing.append(f"{folder / name}: cannot be written whole, {error.strerror or error}.")
    named = [*(["record.mcap"] if built.recorded else []), *sorted(wanted)]
    text = f"{len(tape.table)} rows and {len(log.events)} events in {', '.join(named)}"
    return Verdict("record of the run", not missing, " ".join(missing) or text, machine=True)


def write_judgement(result: Result, scenario: Scenario, folder: Path) -> None:
    """Write report.html, junit.xml and result.json: all three, or none. HilError where that cannot be."""
    built, outcome, frames = result.built, result.outcome, result.outcome.frames.statistics()
    summary = {
        "scenario": result.name,
        "requirements": scenario.spec.requirements,
        "passed": result.passed,
        "exit_code": int(result.exit_code),
        "reason": outcome.reason,
        "text": outcome.text,
        "seed": result.seed,
        "criteria": [asdict(verdict) for verdict in result.criteria],
        "frames": frames.as_dict(),
        "devices": {mounted.name: asdict(mounted.device.link) for mounted in built.executive.devices},
    }
    try:
        write_html(folder / "report.html", scenario, built, outcome, result.criteria, result.seed)
        write_junit(folder / "junit.xml", result.name, result.criteria, frames.elapsed, scenario.spec.requirements)
        (folder / "result.json").write_text(_json(summary, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        for name in ("report.html", "junit.xml", "result.json"):
            (folder / name).unlink(missing_ok=True)
        why = error.strerror or error
        raise HilError(
            f"{folder}: the report of the run cannot be written, {why}; there is none. The run "
            f"{'passed' if result.passed else 'did not pass'}:\n{result.explain()}"
        ) from error


def _write_events(outcome: Outcome, path: Path) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(_json(asdict(event)) + "\n" for event in outcome.log.events)


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
