"""The report's first page: the verdict, what ran, all models and promises, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from limberjack.hil.pages import escaped, table
from tests.validation.contents import Contents
from tests.validation.layout import badge, percent, rows, section, test_name
from tests.validation.model_page import worst_figures
from tests.validation.results import ELSEWHERE, INCOMPLETE, Findings, Run, Shown

INTRODUCTION = (
    "This report says why a figure of Limberjack can be trusted, and where the reasons end. Every number comes from "
    "one run of the tests of the revision below: the same calls that assert a tolerance record what is shown here. A "
    "test that is missing, was skipped or left out is not shown, and makes the report incomplete. A test about other "
    "processors than this one does not apply, and is listed."
)


def body(contents: Contents, run: Run, found: Findings) -> list[str]:
    """The first page, after its heading."""
    return [
        f'<p class="lead">{escaped(INTRODUCTION)}</p>',
        section("This run", table(run.about.items())),
        *_missing(found),
        *(section(chapter.title, _models(chapter.models, contents, found)) for chapter in contents.chapters),
        section("Promises of the product", _promises(contents, found)),
        section("Standards", _standards(contents)),
    ]


def _missing(found: Findings) -> Iterator[str]:
    """What keeps the report from being complete, and what is not about this machine."""
    lines = _why(found, INCOMPLETE)
    if found.restricted:
        lines.insert(0, ["tests chosen by name", escaped(found.restricted)])
    if lines:
        yield section("Not shown in this run", rows(("test", "why"), lines, (60, 40)))
    apart = _why(found, ELSEWHERE)
    if apart:
        yield section("Does not apply to this machine", rows(("test", "why"), apart, (60, 40)))


def _why(found: Findings, verdict: str) -> list[list[str]]:
    """The tests of a verdict, each once, and why."""
    tests = {one.test: one for one in found.tests if one.verdict == verdict}
    return [[test_name(one.test), escaped(one.why)] for one in tests.values()]


def _models(names: Sequence[str], contents: Contents, found: Findings) -> str:
    lines = []
    for name in names:
        tests = found.models[name]
        link = f'<a href="{name}.html">{escaped(contents.models[name].title)}</a>'
        cases = sum(len(shown.cases) for shown in tests)
        entries = [entry for shown in tests for entry, _, _ in worst_figures(shown) if entry["way"] == "near"]
        most = max(entries, key=lambda entry: float(entry["share"]), default=None)
        used = f"{percent(most['share'])}: {escaped(most['name'])}" if most else ""
        verdict = badge(found.verdict_of(name))
        lines.append([link, str(len(tests)), str(cases), str(_comparisons(tests)), used, verdict])
    heads = ("model", "tests", "cases", "comparisons", "largest error, as a share of its tolerance", "result")
    return rows(heads, lines, (32, 7, 7, 11, 34, 9), numbers=(1, 2, 3))


def _comparisons(tests: Sequence[Shown]) -> int:
    """How many numbers were compared."""
    return sum(entry["count"] for shown in tests for case in shown.cases for entry in case.figures)


def _promises(contents: Contents, found: Findings) -> str:
    lines = []
    for factor in contents.factors:
        title = escaped(factor.title)
        for name, promise in factor.promises.items():
            link = f'<a href="promises.html#{name}">{name}</a>'
            lines.append([title, link, escaped(promise.requirement), badge(found.verdict_of(name))])
            title = ""
    heads = ("credibility factor (NASA-STD-7009A)", "promise", "requirement", "result")
    return rows(heads, lines, (20, 16, 54, 10))


def _standards(contents: Contents) -> str:
    lines = []
    for standard in contents.standards:
        words = [answer.status for answer in standard.answers]
        counts = ", ".join(f"{words.count(word)} {word}" for word in ("met", "in part", "user"))
        lines.append([f'<a href="standards.html">{escaped(standard.title)}</a>', escaped(counts)])
    return rows(("standard", "answers"), lines, (60, 40))
