"""The report of a run: one HTML file with its pictures inside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from limberjack.hil.devices.device import Link
from limberjack.hil.executive import Outcome
from limberjack.hil.frame_times_plot import frames_figure
from limberjack.hil.pages import broken, escaped, heading, picture, table, write_page
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.evidence import Verdict
from limberjack.hil.scenario.plots import signals_figure
from limberjack.hil.scenario.scenario_file import Scenario

#: most events shown, and most overruns among them; events.jsonl has them all
MOST_SHOWN, MOST_OVERRUNS = 200, 10


def write_html(
    path: Path, scenario: Scenario, built: Built, outcome: Outcome, verdicts: Sequence[Verdict], seed: int
) -> None:
    """Write the report: verdicts, diagrams with bounds and events, events, times of the frames, rights."""
    spec = scenario.spec
    passed = all(verdict.passed for verdict in verdicts)
    kind = "passed" if passed else "failed"
    word = "aborted" if verdicts[0].aborted else kind
    parts = [
        heading(spec.name, word, kind),
        f"<p>{escaped(spec.description)}</p>" if spec.description else "",
        _facts(scenario, built, outcome, seed),
        "<h2>Criteria</h2>",
        _verdicts(verdicts),
        "<h2>Signals</h2>" if built.plotted else "",
        *(
            f"<section>{picture(signals_figure(plot, spec, built, outcome.log))}</section><br>"
            for plot in built.plotted
        ),
        "<h2>Events</h2>",
        _events(outcome),
        "<h2>Times of the frames</h2>",
        _frames(built, outcome),
    ]
    write_page(path, f"{spec.name}: {word}", parts)


def _facts(scenario: Scenario, built: Built, outcome: Outcome, seed: int) -> str:
    simulation, executive = built.executive.simulation, built.executive
    pace = f"paced by the clock, {executive.policy.policy}" if executive.paced else "in lockstep"
    shown = scenario.spec.requirements
    velocities = "1 velocity" if simulation.system.nv == 1 else f"{simulation.system.nv} velocities"
    rows = [
        *[("requirement" + "s" * (len(shown) > 1), ", ".join(shown))] * bool(shown),
        ("model", f"{simulation.system.name} ({velocities}), hash {simulation.model_hash}"),
        ("step", f"{simulation.dt:g} s, {simulation.integrator}, {executive.steps} in a frame; {pace}"),
        ("simulated", f"{simulation.time:.6g} s of {scenario.spec.duration:g} s; {outcome.reason}. {outcome.text}"),
        ("seed", str(seed)),
    ]
    for spec, mounted in zip(scenario.spec.devices, executive.devices, strict=True):
        rows.append(("device", f"{spec.name}: {spec.uri}; {_traffic(mounted.device.link)}"))
    return f"<section>{table(rows)}</section>"


def _traffic(link: Link) -> str:
    """What a device was sent and what came from it."""
    refused = [f"{count} refused ({reason})" for reason, count in link.rejected.items()]
    return ", ".join([f"{link.sent} sent, {link.received} received, {link.dropped} dropped", *refused])


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    rows, traced = [], any(verdict.requirements for verdict in verdicts)
    if traced:
        rows.append("<tr><th></th><th>criterion</th><th>what was found</th><th>requirement</th></tr>")
    for verdict in verdicts:
        badge = f'<td><span class="badge {verdict.word}">{verdict.word}</span></td>'
        said = f'<td class="said">{escaped(verdict.text)}</td>'
        shows = f"<td>{'<br>'.join(map(broken, verdict.requirements))}</td>" if traced else ""
        rows.append(f"<tr>{badge}<td><b>{escaped(verdict.name)}</b></td>{said}{shows}</tr>")
    return f"<section><table>{''.join(rows)}</table></section>"


def _events(outcome: Outcome) -> str:
    late = outcome.log.of("overrun")[MOST_OVERRUNS:]
    hidden = set(map(id, late))
    shown = [event for event in outcome.log.events if id(event) not in hidden][:MOST_SHOWN]
    rows = [(f"{event.time:.6g} s", event.kind, event.source, event.text) for event in shown]
    left = len(outcome.log.events) - len(shown)
    more = f"<p>{left} more are in events.jsonl.</p>" if left else ""
    more += f"<p>{outcome.log.dropped} found no room in the log.</p>" if outcome.log.dropped else ""
    return f"<section>{table(rows, ('time', 'kind', 'source', 'what'))}{more}</section>"


def _frames(built: Built, outcome: Outcome) -> str:
    found = outcome.frames.statistics()
    spreads = [("work", found.compute)]
    if built.executive.paced:
        spreads += [
            ("end after the deadline", found.finish),
            ("start after the deadline", found.lateness),
            ("jitter", found.jitter),
        ]
    rows = [
        (name, *(f"{1e6 * value:.1f}" for value in (spread.p50, spread.p99, spread.p999, spread.max)))
        for name, spread in spreads
    ]
    text = f"{found.frames} frames of {1e3 * found.period:g} ms in {found.elapsed:.3f} s"
    shown = ""
    if built.executive.paced and found.frames:
        text += f"; {found.overruns} overruns, {found.most_consecutive} in a row at most, {found.skipped} skipped"
        shown = picture(frames_figure(outcome.frames, ""))
    rights = [(right.name, "granted" if right.granted else "refused", right.text) for right in outcome.rights]
    times = table(rows, ("µs", "p50", "p99", "p99.9", "max"))
    return f"<section><p>{text}.</p>{times}{shown}<p></p>{table(rights, ('requested privileges', '', ''))}</section>"
