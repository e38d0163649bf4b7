"""Run a scenario and judge it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, ExitCode, exit_code_of
from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.bench_interfaces import Visitor
from limberjack.hil.events import Event, EventLog
from limberjack.hil.executive import Outcome
from limberjack.hil.scenario.bench_setup import Built, build
from limberjack.hil.scenario.criteria import judge
from limberjack.hil.scenario.evidence import Evidence, Verdict
from limberjack.hil.scenario.programs import Programs
from limberjack.hil.scenario.real_time import judge_pace
from limberjack.hil.scenario.results import FILES, Result, write_judgement, write_signals
from limberjack.hil.scenario.scenario_file import Scenario, load_scenario
from limberjack.hil.scenario.tape import Columns

#: makes the visitor of a run, or None if there is none, and ends it when the run has ended
Visit = Callable[[Built], AbstractContextManager[Visitor | None]]
#: reasons for refused messages of a device that the verdict on the end of a run lists
_REASONS = 3


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

    source : its path, or what `load_scenario` read
    out : folder for the report, made if need be; None: write nothing
    seed, paced : instead of the scenario's;  overrides : as for `load_scenario`, for a path only
    visit : makes a visitor of the run, who may watch it and act on it

    ModelError or ArgumentError for what cannot be run, HilError where a device cannot be opened; what goes wrong later
    is in the Result, but for a folder in which no report can be written: HilError.
    """
    if isinstance(source, Scenario) and overrides:
        raise ArgumentError("overrides are for a scenario's path; give them to load_scenario, which made this one.")
    scenario = source if isinstance(source, Scenario) else load_scenario(source, overrides)
    spec, folder = scenario.spec, None if out is None else Path(out)
    chosen = spec.seed if seed is None else arguments.count("seed", seed, 0, 2**63 - 1)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:  # of a run before, whose verdict would pass for this one's if this one does not end
            (folder / name).unlink(missing_ok=True)
    pace = spec.pacing.real_time if paced is None else paced
    programs = Programs(scenario, folder)
    built = build(scenario, chosen, pace, [programs], folder)
    with programs.running(), visit(built) if visit is not None else nullcontext() as visitor:
        built.executive.visitor = visitor
        outcome = built.executive.run(spec.duration)
        ending = ending_of(scenario, outcome, programs, built.executive.devices)
    verdicts, values = conclude(scenario, outcome, ending, built.executive.devices, built.tape, built.judged)
    if folder is not None:
        verdicts.append(write_signals(scenario, built, outcome, folder))
    passed = all(verdict.passed for verdict in verdicts)
    result = Result(spec.name, passed, outcome, verdicts, folder, values, chosen, built)
    if folder is not None:
        write_judgement(result, scenario, folder)
    return result


def conclude(
    scenario: Scenario,
    outcome: Outcome,
    ending: Verdict,
    devices: Sequence[BenchDevice],
    tape: Columns,
    judged: dict[str, tuple[str, ...]],
) -> tuple[list[Verdict], dict[str, float]]:
    """The verdicts on a run, its end first, and criterion → what was measured.

    ending : from `ending_of`;  judged : criterion → its signals
    """
    spec = scenario.spec
    _report_silent(devices, outcome.log)
    evidence = Evidence(tape, outcome.log, judged, spec.duration, meant=ending.passed)
    verdicts = [ending, *(judge(criterion, evidence) for criterion in spec.criteria)]
    values = {verdict.name: verdict.value for verdict in verdicts[1:]}
    return verdicts + judge_pace(spec.pacing, outcome), values


def ending_of(scenario: Scenario, outcome: Outcome, programs: Programs, devices: Sequence[BenchDevice]) -> Verdict:
    """Whether the run ended as it was expected to; if not, with the last words of its programs.

    devices : those whose messages were refused are named, whether it passed or not
    """
    expected = scenario.spec.expect
    passed = outcome.reason == expected and not programs.lost
    was = "" if outcome.reason in ("completed", "failed") else "was "
    text = f"the run {was}{outcome.reason}"
    text += f": {outcome.text}" if outcome.text else ""
    by = " by a watchdog" if programs.lost and expected == "tripped" else ""
    text += "" if passed else f" (expected: {expected}{by}){programs.last_lines()}"
    text += _never_began(scenario, outcome) if outcome.reason == "completed" else ""
    text += "".join(f"; {_refused(mounted)}" for mounted in devices if mounted.device.link.refused())
    time = outcome.log.events[-1].time if outcome.log.events else float("nan")
    machine = outcome.error is not None and exit_code_of(outcome.error) == ExitCode.MACHINE
    aborted = outcome.reason in ("aborted", "stopped")
    return Verdict("end of the run", passed, text, time=time, machine=machine, aborted=aborted)


def _never_began(scenario: Scenario, outcome: Outcome) -> str:
    """Which faults nobody began: neither the timeline nor a client."""
    begun = {event.source for event in outcome.log.events if event.kind == "fault"}
    unused = [f"'{fault.name}'" for fault in scenario.spec.faults if fault.name not in begun]
    if not unused or outcome.log.dropped:
        return ""
    what = f"fault {unused[0]}" if len(unused) == 1 else f"faults {', '.join(unused)}"
    return f"; {what} never began: the timeline begins a fault with an entry 'fault: NAME'"


def _refused(mounted: BenchDevice) -> str:
    """How many messages of a device were refused, and why, most frequent reason first."""
    refused = mounted.device.link.refused()
    reasons = sorted(refused, key=lambda reason: -refused[reason])
    listed = ", ".join(f"{refused[reason]} × '{reason}'" for reason in reasons[:_REASONS])
    more = f" and {len(reasons) - _REASONS} more reasons" if len(reasons) > _REASONS else ""
    return f"the bench refused {sum(refused.values())} messages of device '{mounted.name}': {listed}{more}"


def _report_silent(devices: Sequence[BenchDevice], log: EventLog) -> None:
    """An event for every device that sets commands and was never heard: criteria alone may not notice."""
    time = log.events[-1].time if log.events else 0.0
    for mounted in devices:
        if len(mounted.commands) and not mounted.device.link.received:
            log.add(Event(time, "device", mounted.name, "never sent a message: its commands kept their initial values"))
