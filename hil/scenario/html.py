"""The report of a run: one HTML file with its pictures inside."""

from __future__ import annotations

import html
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from limberjack.hil.devices.device import Link
from limberjack.hil.executive import Outcome
from limberjack.hil.frame_times_plot import frames_figure
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.criteria import Verdict
from limberjack.hil.scenario.plots import signals_figure
from limberjack.hil.scenario.scenario_file import Scenario

#: most events shown, and most overruns among them; events.jsonl has them all
MOST_SHOWN, MOST_OVERRUNS = 200, 10

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1d2733; background: #f4f6f8; margin: 0; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 26px; margin: 0; } h2 { font-size: 18px; margin: 34px 0 10px; }
header { display: flex; gap: 16px; align-items: center; flex-wrap: wrap; }
.badge { font-weight: 700; padding: 3px 14px; border-radius: 14px; color: #fff; white-space: nowrap; }
.passed { background: #1a7f4b; } .failed { background: #b3261e; } .undecided { background: #7a5a00; }
.said { white-space: pre-wrap; overflow-wrap: anywhere; }
section { background: #fff; border: 1px solid #dde3e9; border-radius: 8px; padding: 4px 16px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; color: #5b6875; }
th, td { padding: 6px 14px 6px 0; border-top: 1px solid #e8ecf0; vertical-align: top; }
tr:first-child th, tr:first-child td { border-top: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { display: block; width: 100%; height: auto; margin: 10px 0; } p { max-width: 75ch; }
"""


def write_html(
    path: Path, scenario: Scenario, built: Built, outcome: Outcome, verdicts: Sequence[Verdict], seed: int
) -> None:
    """Write the report: verdicts, diagrams with bounds and events, events, times of the frames, rights."""
    spec = scenario.spec
    passed = all(verdict.passed for verdict in verdicts)
    kind = "passed" if passed else "failed"
    word = "aborted" if verdicts[0].aborted else kind
    parts = [
        f'<header><h1>{_text(spec.name)}</h1><span class="badge {kind}">{word}</span></header>',
        f"<p>{_text(spec.description)}</p>" if spec.description else "",
        _facts(scenario, built, outcome, seed),
        "<h2>Criteria</h2>",
        _verdicts(verdicts),
        "<h2>Signals</h2>" if built.plotted else "",
        *(
            f"<section>{_picture(signals_figure(plot, spec, built, outcome.log))}</section><br>"
            for plot in built.plotted
        ),
        "<h2>Events</h2>",
        _events(outcome),
        "<h2>Times of the frames</h2>",
        _frames(built, outcome),
    ]
    title = f"{spec.name}: {word}"
    head = f'<meta charset="utf-8"><title>{_text(title)}</title><style>{_STYLE}</style>'
    body = "\n".join(part for part in parts if part)
    text = f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body><main>\n{body}\n</main></body></html>\n'
    path.write_text(text, encoding="utf-8")


def _facts(scenario: Scenario, built: Built, outcome: Outcome, seed: int) -> str:
    simulation, executive = built.executive.simulation, built.executive
    pace = f"paced by the clock, {executive.policy.policy}" if executive.paced else "in lockstep"
    rows = [
        ("model", f"{simulation.system.name} ({simulation.system.nv} velocities), hash {simulation.model_hash}"),
        ("step", f"{simulation.dt:g} s, {simulation.integrator}, {executive.steps} in a frame; {pace}"),
        ("simulated", f"{simulation.time:.6g} s of {scenario.spec.duration:g} s; {outcome.reason}. {outcome.text}"),
        ("seed", str(seed)),
    ]
    for spec, mounted in zip(scenario.spec.devices, executive.devices, strict=True):
        rows.append(("device", f"{spec.name}: {spec.uri}; {_traffic(mounted.device.link)}"))
    return f"<section>{_table(rows)}</section>"


def _traffic(link: Link) -> str:
    """What a device was sent and what came from it."""
    refused = [f"{count} refused ({reason})" for reason, count in link.rejected.items()]
    return ", ".join([f"{link.sent} sent, {link.received} received, {link.dropped} dropped", *refused])


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    rows = []
    for verdict in verdicts:
        badge = f'<td><span class="badge {verdict.word}">{verdict.word}</span></td>'
        said = f'<td class="said">{_text(verdict.text)}</td>'
        rows.append(f"<tr>{badge}<td><b>{_text(verdict.name)}</b></td>{said}</tr>")
    return f"<section><table>{''.join(rows)}</table></section>"


def _events(outcome: Outcome) -> str:
    late = outcome.log.of("overrun")[MOST_OVERRUNS:]
    hidden = set(map(id, late))
    shown = [event for event in outcome.log.events if id(event) not in hidden][:MOST_SHOWN]
    rows = [(f"{event.time:.6g} s", event.kind, event.source, event.text) for event in shown]
    left = len(outcome.log.events) - len(shown)
    more = f"<p>{left} more are in events.jsonl.</p>" if left else ""
    more += f"<p>{outcome.log.dropped} found no room in the log.</p>" if outcome.log.dropped else ""
    return f"<section>{_table(rows, ('time', 'kind', 'source', 'what'))}{more}</section>"


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
    picture = ""
    if built.executive.paced and found.frames:
        text += f"; {found.overruns} overruns, {found.most_consecutive} in a row at most, {found.skipped} skipped"
        picture = _picture(frames_figure(outcome.frames, ""))
    rights = [(right.name, "granted" if right.granted else "refused", right.text) for right in outcome.rights]
    table = _table(rows, ("µs", "p50", "p99", "p99.9", "max"))
    return f"<section><p>{text}.</p>{table}{picture}<p></p>{_table(rights, ('asked of the machine', '', ''))}</section>"


def _table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    head = "<tr>" + "".join(f"<th>{_text(name)}</th>" for name in heads) + "</tr>" if heads else ""
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{head}{body}</table>"


def _picture(figure: Figure) -> str:
    """A figure as SVG inside the page."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg")
    found = stream.getvalue()
    return found[found.index("<svg") :]


def _text(text: str) -> str:
    return html.escape(text)
