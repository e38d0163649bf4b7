"""The report of a campaign: one HTML file, and JUnit for CI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from limberjack.engine.common.errors import ExitCode
from limberjack.hil import pages
from limberjack.hil.campaign.campaign_file import Campaign
from limberjack.hil.campaign.findings import (
    FEWEST,
    Limits,
    chance,
    criteria_of,
    judged,
    measured,
    rank_correlation,
    varied,
    worst,
)
from limberjack.hil.campaign.plot import criterion_figure, short
from limberjack.hil.campaign.table import UNJUDGED, Row
from limberjack.hil.scenario.junit import Case, write_suite
from limberjack.version import __version__

#: worst runs of each criterion, runs that say nothing, and pictures that are shown
MOST_WORST, MOST_OTHERS, MOST_PICTURES = 5, 20, 24
#: sensitivities: columns of a table
MOST_COLUMNS = 8


@dataclass(frozen=True)
class Found:
    """What a report is of.

    rows : in order of their run;  bounds : criterion → limits;  word : passed or failed
    requirements : criterion → what it shows, "" → what the scenario shows
    """

    campaign: Campaign
    rows: Sequence[Row]
    bounds: Mapping[str, Limits]
    word: str
    folder: Path
    requirements: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def limits(self, criterion: str) -> Limits:
        """Of a criterion, infinite where they are not known."""
        return self.bounds.get(criterion, Limits())


def write_report(found: Found) -> Path:
    """Write report.html: verdict, each criterion with its distribution and worst runs, sensitivities."""
    spec, path = found.campaign.spec, found.folder / "report.html"
    known = judged(found.rows)
    criteria = criteria_of(known)
    parts = [
        pages.heading(spec.name, found.word, found.word),
        f"<p>{pages.escaped(spec.description)}</p>" if spec.description else "",
        _facts(found),
        "<h2>Criteria</h2>",
        _criteria(found, known, criteria),
        "<h2>Sensitivities</h2>",
        _sensitivities(known, criteria),
        "<h2>Distributions and worst runs</h2>",
        *(_criterion(found, known, name, place < MOST_PICTURES) for place, name in enumerate(criteria)),
        _others(found),
    ]
    pages.write_page(path, f"{spec.name}: {found.word}", parts)
    return path


def _facts(found: Found) -> str:
    spec, rows = found.campaign.spec, found.rows
    statuses = dict.fromkeys(row.status for row in rows)
    counts = ", ".join(f"{sum(row.status == status for row in rows)} {status}" for status in statuses)
    drawn = spec.sampling.replace("_", " ") if any(vary.grid is None for vary in spec.vary.values()) else "grid"
    shown = found.requirements.get("", ())
    facts = [
        ("scenario", spec.scenario),
        *[("requirement" + "s" * (len(shown) > 1), ", ".join(shown))] * bool(shown),
        ("runs", f"{len(rows)}: {counts}; {spec.least_passed:.4g} of them must pass"),
        ("values", f"{drawn}, seed {spec.seed}, of {', '.join(spec.vary) or 'nothing'}"),
        ("files", "table.csv has all runs; summary.png all pictures in one"),
        ("limberjack", __version__),
    ]
    return f"<section>{pages.table(facts)}</section>"


def _criteria(found: Found, known: Sequence[Row], criteria: Sequence[str]) -> str:
    """A line for each: how many passed, what was measured, the limit."""
    heads = ("", "criterion", "passed", "allowed", "least", "median", "95 % below", "largest", "unit", "worst run")
    lines = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for name in criteria:
        failed = sum(name in row.failed for row in known)
        kind = "failed" if failed else "passed"
        numbers = measured(known, name)
        there = numbers[~np.isnan(numbers)]
        spread = [_number(each) for each in _spread(there)] if len(there) else ["–"] * 4
        unit = next((row.units[name] for row in known if name in row.units), "")
        first = worst(found.rows, name, found.limits(name), 1)
        cells = [
            f'<td><span class="badge {kind}">{f"{failed} failed" if failed else kind}</span></td>',
            f"<td><b>{pages.escaped(name)}</b>{_shown(found, name)}</td>",
            *(f'<td class="number">{each}</td>' for each in (f"{len(known) - failed} of {len(known)}",)),
            f"<td>{found.limits(name)}</td>",
            *(f'<td class="number">{each}</td>' for each in spread),
            f"<td>{pages.escaped(unit)}</td><td>{_run(found, first[0]) if first else '–'}</td>",
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<section><table>{''.join(lines)}</table></section>"


def _shown(found: Found, criterion: str) -> str:
    """The requirements of a criterion, below its name."""
    return "".join(
        f'<br><span class="faint">{pages.broken(each)}</span>' for each in found.requirements.get(criterion, ())
    )


def _spread(numbers: np.ndarray) -> list[float]:
    """Least, median, the least that 95 of 100 do not exceed, largest; infinite ones are the largest."""
    ordered = np.sort(numbers)
    places = [0, (len(ordered) - 1) // 2, int(np.ceil(0.95 * len(ordered))) - 1, len(ordered) - 1]
    return [float(ordered[place]) for place in places]


def _number(value: float) -> str:
    return "never" if value == np.inf else f"{value:.5g}"


def _sensitivities(known: Sequence[Row], criteria: Sequence[str]) -> str:
    """Rank correlation of each varied value with each criterion, coloured by its size."""
    quantities = varied(known)
    numbers = {name: measured(known, name) for name in criteria}
    rhos = {name: [rank_correlation(at, numbers[name]) for at in quantities.values()] for name in criteria}
    rhos = {name: found for name, found in rhos.items() if not np.isnan(found).all()}
    if not quantities or not rhos:
        return f"<section><p>Nothing to correlate: it takes numbers that vary, in {FEWEST} runs or more.</p></section>"
    bound = chance(len(known))
    tables = []
    for first in range(0, len(quantities), MOST_COLUMNS):
        part = slice(first, first + MOST_COLUMNS)
        heads = "".join(
            f'<th title="{pages.escaped(path)}">{pages.broken(short(path))}</th>' for path in list(quantities)[part]
        )
        lines = [f"<tr><th>criterion</th>{heads}</tr>"]
        for name, found in rhos.items():
            cells = "".join(_rho(rho, bound) for rho in found[part])
            lines.append(f"<tr><td><b>{pages.escaped(name)}</b></td>{cells}</tr>")
        tables.append(f"<table>{''.join(lines)}</table>")
    text = (
        "Spearman's rank correlation ρ of each varied value with what each criterion measured: +1 where it always "
        "grows with the value, −1 where it always falls. Of values without influence 1 in 20 has |ρ| above "
        f"{bound:.2f} in {len(known)} runs; what is below is grey."
    )
    return f"<section><p>{text}</p>{'<br>'.join(tables)}</section>"


def _rho(rho: float, bound: float) -> str:
    if np.isnan(rho):
        return '<td class="faint">–</td>'
    colour = "31, 119, 180" if rho > 0 else "214, 39, 40"
    style = f' style="background: rgba({colour}, {0.55 * abs(rho):.2f})"' if abs(rho) > bound else ""
    return f'<td class="rho{"" if style else " faint"}"{style}>{rho:+.2f}</td>'


def _criterion(found: Found, known: Sequence[Row], name: str, drawn: bool) -> str:
    """Picture with the limits, and the runs nearest to them or beyond."""
    figure = criterion_figure(known, name, found.limits(name)) if drawn else None
    shown = "" if figure is None else pages.picture(figure)
    numbers = measured(known, name)
    never = int(np.isinf(numbers).sum())
    note = f"<p>{never} of {len(known)} runs never got there; the picture leaves them out.</p>" if never else ""
    lines = ["<tr><th>worst runs</th><th>measured</th><th></th><th>values</th></tr>"]
    for row in worst(found.rows, name, found.limits(name), MOST_WORST):
        kind = "failed" if name in row.failed else "passed"
        values = ", ".join(f"{short(path)} = {_value(value)}" for path, value in row.values.items())
        measured_here = row.measured.get(name, np.nan)
        lines.append(
            f'<tr><td>{_run(found, row)}</td><td class="number">{_number(measured_here)}</td>'
            f'<td><span class="badge {kind}">{kind}</span></td><td>{pages.broken(values)}</td></tr>'
        )
    inner = f"<h3>{pages.escaped(name)}</h3>{shown}{note}<table>{''.join(lines)}</table>"
    return f"<section>{inner}</section><br>"


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _run(found: Found, row: Row) -> str:
    """The run's number, as a link if the run has its own report."""
    there = (found.folder / "runs" / str(row.run) / "report.html").is_file()
    return f'<a href="runs/{row.run}/report.html">run {row.run}</a>' if there else f"run {row.run}"


def _others(found: Found) -> str:
    """Runs that say nothing of what was tested, and how reports of others are made."""
    others = [row for row in found.rows if row.status not in ("passed", "failed")]
    rows = [(f"run {row.run}", row.status, row.cause) for row in others[:MOST_OTHERS]]
    more = f"<p>And {len(others) - MOST_OTHERS} more, in table.csv.</p>" if len(others) > MOST_OTHERS else ""
    listed = f"<h2>Runs without a verdict</h2><section>{pages.table(rows)}{more}</section>" if others else ""
    file = pages.escaped(found.campaign.file.name)
    how = f"<code>limberjack campaign {file} --report N</code>"
    return f'{listed}<p class="faint">The report of any other run: {how}, with the same --out.</p>'


def write_campaign_junit(found: Found, code: ExitCode) -> Path:
    """Write junit.xml: the campaign's verdict, then a case a run. code : of the campaign

    Runs that did not pass are failures, or errors where the machine failed, if the campaign did not pass either; else
    they are skipped: it allows some. Requirements of the scenario and of its criteria are the suite's.
    """
    rows, spec, path = found.rows, found.campaign.spec, found.folder / "junit.xml"
    good = sum(row.status == "passed" for row in rows)
    passed = code == ExitCode.DONE
    text = f"{good} of {len(rows)} runs passed; {spec.least_passed:.4g} of them must"
    bad = ("error", "machine") if code == ExitCode.MACHINE else ("failure", "campaign")
    cases = [Case("runs that pass", text) if passed else Case("runs that pass", text, *bad)]
    for row in rows:
        name = f"run {row.run}"
        if row.status == "passed":
            cases.append(Case(name, "passed"))
        elif passed:
            cases.append(Case(name, f"{row.status}, which the campaign allows: {row.cause}", "skipped"))
        else:
            cases.append(Case(name, row.cause, "error" if row.status in UNJUDGED else "failure", row.status))
    every = dict.fromkeys(each for shown in found.requirements.values() for each in shown)
    write_suite(path, spec.name, cases, 0.0, list(every))
    return path
