"""What became of each test, and what that makes of models, promises and the report.

Each passed, failed or is incomplete; or it does not apply, where it is about processors other than this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.validation.contents import Contents, means

PASSED, FAILED, INCOMPLETE, ELSEWHERE = "passed", "failed", "incomplete", "does not apply"


@dataclass(frozen=True)
class Case:
    """What a run had of one case of a test.

    outcome : passed, failed, skipped or does not apply; "" where it was collected and did not run
    reason : why it was skipped or does not apply;  figures : entries of `figures.figure`
    """

    name: str
    outcome: str = ""
    reason: str = ""
    figures: Sequence[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Shown:
    """A test of a page: its cases in this run, and what they show together.

    why : what keeps it from being shown, where it is incomplete or cases do not apply
    """

    test: str
    cases: Sequence[Case]
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class Run:
    """A run's cases.

    restricted : what was chosen by hand of a file's tests;  about : what ran, where and when
    files : file → why it has no cases, of those that were skipped as a whole or could not be read
    """

    cases: Sequence[Case]
    restricted: str = ""
    about: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Findings:
    """What a run shows of the contents."""

    models: Mapping[str, Sequence[Shown]]
    promises: Mapping[str, Sequence[Shown]]
    restricted: str = ""

    def verdict_of(self, name: str) -> str:
        """Of a model or a promise."""
        return worst(shown.verdict for shown in (self.models.get(name) or self.promises[name]))

    @property
    def tests(self) -> list[Shown]:
        """The tests of all models, then of all promises; one that several name comes several times."""
        return [shown for tests in [*self.models.values(), *self.promises.values()] for shown in tests]

    @property
    def reasons(self) -> list[str]:
        """Why the report does not pass: a line for each of the first twenty tests, and how many more there are."""
        every = {shown.test: shown for shown in self.tests}
        short = [shown for shown in every.values() if shown.verdict in (FAILED, INCOMPLETE)]
        lines = [f"{shown.verdict}: {shown.test}: {shown.why}" for shown in short]
        chosen = [f"tests were chosen by name: {self.restricted}"] if self.restricted else []
        more = [f"and {len(lines) - 20} more tests"] if len(lines) > 20 else []
        return [*chosen, *lines[:20], *more]

    @property
    def verdict(self) -> str:
        """Of the report."""
        return worst(
            [*map(self.verdict_of, [*self.models, *self.promises]), *([INCOMPLETE] if self.restricted else [])]
        )


def findings(contents: Contents, run: Run) -> Findings:
    """Each test of the contents beside its cases."""
    by_function: dict[str, list[Case]] = {}
    for case in run.cases:
        by_function.setdefault(case.name.partition("[")[0], []).append(case)

    def shown(test: str, figures: bool) -> Shown:
        cases = [case for case in by_function.get(test.partition("[")[0], []) if means(test, case.name)]
        if not cases:
            return Shown(test, cases, INCOMPLETE, run.files.get(test.partition("::")[0], "this run has no such test"))
        return Shown(test, cases, *_verdict(cases, figures))

    return Findings(
        {name: [shown(test, True) for test in model.tests] for name, model in contents.models.items()},
        {name: [shown(test, False) for test in promise.tests] for name, promise in contents.promises.items()},
        run.restricted,
    )


def _verdict(cases: Sequence[Case], figures: bool) -> tuple[str, str]:
    """The verdict of a test's cases and, where some are missing or do not apply, why.

    figures : whether the cases must record some
    """
    other = [case for case in cases if case.outcome == ELSEWHERE]
    cases = [case for case in cases if case.outcome != ELSEWHERE]
    apart = "; ".join(sorted({case.reason for case in other}))
    if not cases:
        return ELSEWHERE, apart
    if any(case.outcome == FAILED for case in cases) or not all(one["holds"] for case in cases for one in case.figures):
        return FAILED, ""
    out = [case for case in cases if case.outcome != PASSED]
    if out:
        reasons = sorted({case.reason or "not run" for case in out})
        return INCOMPLETE, f"{len(out)} of {len(cases)} cases not run: {'; '.join(reasons)}"
    if figures and not all(case.figures for case in cases):
        return INCOMPLETE, "it recorded no figure"
    return PASSED, apart


def worst(verdicts: Iterable[str]) -> str:
    """Failed, if one failed; incomplete, if one is or there is none; passed, if one passed and no other says more."""
    found = set(verdicts)
    return next((word for word in (FAILED, INCOMPLETE, PASSED, ELSEWHERE) if word in found), INCOMPLETE)
