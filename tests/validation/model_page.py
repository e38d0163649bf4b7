"""The page of a physical model: equations, sources, assumptions, range, and this run's figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from limberjack.hil.pages import broken, escaped, heading, table
from tests.validation.contents import Contents, Model
from tests.validation.equations import picture
from tests.validation.layout import badge, badge_kind, bullets, number, percent, prose, rows, section, test_name
from tests.validation.results import FAILED, PASSED, Findings, Run, Shown

HEADS = ("test", "figure", "this run", "expected", "error", "tolerance", "used", "from", "cases", "result")


def body(name: str, contents: Contents, run: Run, found: Findings) -> list[str]:
    """The page of a model, as parts of HTML."""
    model, verdict = contents.models[name], found.verdict_of(name)
    opened = [section("What no test here shows", bullets(model.open))] if model.open else []
    return [
        heading(model.title, verdict, badge_kind(verdict)),
        f'<p class="lead">{prose(model.summary)}</p>',
        section("Equations", *_equations(model)),
        section("Sources", _sources(model, contents), _code(model)),
        section("Assumptions", bullets(model.assumptions)),
        section("Range of validity", bullets(model.range)),
        section("Tests and this run's figures", _figures(found.models[name]), _legend()),
        *opened,
        section("This run", table(run.about.items())),
    ]


def _equations(model: Model) -> Iterator[str]:
    for equation in model.equations:
        said = f"<p>{prose(equation.text)}</p>" if equation.text else ""
        yield f'<div class="equation">{picture(equation.tex)}{said}</div>'
    if model.symbols:
        yield f"<p>{prose(model.symbols)}</p>"


def _sources(model: Model, contents: Contents) -> str:
    return bullets(f"{contents.papers[paper]}{where and f': {where}'}" for paper, where in model.sources.items())


def _code(model: Model) -> str:
    return "<p>Implemented in " + ", ".join(f"<code>{broken(path)}</code>" for path in model.code) + ".</p>"


def _figures(tests: Sequence[Shown]) -> str:
    lines = [line for shown in tests for line in _lines(shown)]
    return rows(HEADS, lines, (19, 20, 9, 7, 8, 8, 6, 13, 4, 6), numbers=(2, 3, 4, 5, 6, 8))


def _lines(shown: Shown) -> Iterator[Sequence[str]]:
    """A row for each figure of a test, the worst of its cases; a row for the test where that says more."""
    title, blank = test_name(shown.test), [""] * 6
    figures = worst_figures(shown)
    for entry, case, count in figures:
        verdict = PASSED if entry["holds"] else FAILED
        where = f'<br><span class="faint">worst in {broken(case)}</span>' if case and count > 1 else ""
        what = f"{escaped(entry['name'])}{where}"
        yield [title, what, *_numbers(entry), escaped(entry["oracle"]), str(count), badge(verdict)]
        title = ""
    if shown.verdict != PASSED or not figures:
        why = shown.why or "a case failed: see the test run"
        yield [title, f'<p class="why">{escaped(why)}</p>', *blank, str(len(shown.cases)), badge(shown.verdict)]


def worst_figures(shown: Shown) -> list[tuple[Mapping[str, Any], str, int]]:
    """(figure, the parameters of its case, number of cases) for each name: the case that uses most of its tolerance."""
    found: dict[str, tuple[Mapping[str, Any], str, int]] = {}
    for case in shown.cases:
        parameters = case.name.partition("[")[2].removesuffix("]")
        for entry in case.figures:
            before = found.get(entry["name"])
            count = before[2] + 1 if before else 1
            worse = before is None or entry["share"] > before[0]["share"]
            kept = (entry, parameters) if worse else before[:2]
            found[entry["name"]] = (*kept, count)
    return list(found.values())


def _numbers(entry: Mapping[str, Any]) -> list[str]:
    """This run, expected, error, tolerance and the part of the tolerance that is used, with units."""
    unit = f" {entry['unit']}" if entry["unit"] else ""
    here, share = f"{number(entry['found'])}{unit}", percent(entry["share"])
    if entry["way"] != "near":
        sign = "≤" if entry["way"] == "below" else "≥"
        return [here, "", "", f"{sign} {number(entry['tolerance'])}{unit}", share]
    error, tolerance = entry["error"], entry["tolerance"]
    if entry["relative"] and entry["expected"] != 0.0:
        error, tolerance, unit = error / abs(entry["expected"]), tolerance / abs(entry["expected"]), " rel."
    return [here, number(entry["expected"]), f"{number(error, 2)}{unit}", f"{number(tolerance, 2)}{unit}", share]


def _legend() -> str:
    return (
        "<p class='faint'>Each row is the comparison that the test asserts, at the entry, the time and the case that "
        "use most of the tolerance. “Cases” counts the cases of the test that record the figure.</p>"
    )
