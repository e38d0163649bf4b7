"""`pytest --validation-report=FOLDER` writes the validation report of a run; `-m validation` selects its tests.

A run may have two parts: the first keeps its results with `--validation-keep=FILE`; the second reports them beside its
own with `--validation-earlier=FILE`, and leaves out the tests that have passed in the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.validation import figures, parts
from tests.validation.contents import contents, means
from tests.validation.results import ELSEWHERE, PASSED, Case, Run, findings
from tests.validation.scope import DoesNotApply

OPTION, PDF, KEEP, EARLIER = "--validation-report", "--validation-pdf", "--validation-keep", "--validation-earlier"
#: what a worker of xdist hands over: the names of its tests, before some were deselected
_COLLECTED = "validation_collected"
_FIGURES = "validation_figures"
_SCOPE = "validation_scope"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, type=Path, metavar="FOLDER", help="write the validation report of this run to FOLDER")
    parser.addoption(PDF, action="store_true", help="write it as PDF as well, which needs WeasyPrint")
    parser.addoption(KEEP, type=Path, metavar="FILE", help="keep this run's results for the report of a later part")
    parser.addoption(EARLIER, type=Path, metavar="FILE", help="report these results of an earlier part too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "validation: the validation report is about it (added by tests/validation)")
    earlier = parts.read(config.getoption(EARLIER)) if config.getoption(EARLIER) else {}
    config.pluginmanager.register(_Collection(config, earlier), "validation-collection")
    if (config.getoption(OPTION) or config.getoption(KEEP)) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Report(config, earlier), "validation-report")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Hand over what a test records with its result, from workers as well; a model's test must record something."""
    figures.begin()
    try:
        result = yield
    except DoesNotApply as other:
        item.user_properties.append((_SCOPE, str(other)))
        raise
    finally:
        found = figures.end()
        if found:
            item.user_properties.append((_FIGURES, found))
    if not found and any(means(test, item.nodeid) for test in _of_models()):
        pytest.fail("a page of tests/validation/models names this test, but the test records no figure")
    return result


@cache
def _of_models() -> frozenset[str]:
    """The tests that pages of models name."""
    return frozenset(test for model in contents().models.values() for test in model.tests)


class _Collection:
    """Marks the tests that the report is about, and keeps their names before options deselect some."""

    def __init__(self, config: pytest.Config, earlier: dict[str, Case]) -> None:
        self.config, self.earlier = config, earlier
        self.names: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        functions = {test.partition("[")[0] for test in contents().tests}
        for item in items:
            if item.nodeid.partition("[")[0] in functions:
                item.add_marker("validation")
                self.names.append(item.nodeid)
        done = [item for item in items if item.nodeid in self.earlier and self.earlier[item.nodeid].outcome == PASSED]
        if done:
            items[:] = [item for item in items if item not in set(done)]
            self.config.hook.pytest_deselected(items=done)

    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput[_COLLECTED] = self.names


class _Report:
    """Gathers a run's results; at its end writes the report, or keeps them for that of a later part."""

    def __init__(self, config: pytest.Config, earlier: dict[str, Case]) -> None:
        self.config, self.earlier = config, earlier
        self.collected: dict[str, None] = {}
        self.cases: dict[str, Case] = {}
        self.files: dict[str, str] = {}
        self.said = ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.collected |= dict.fromkeys(getattr(node, "workeroutput", {}).get(_COLLECTED, []))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Why a file has no tests: a peer that it needs is not installed, or it cannot be read."""
        if report.outcome != "passed":
            self.files[report.nodeid] = _reason(report) if report.skipped else "its file could not be read"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test fails with its worst phase; the last one has all that it recorded."""
        before = self.cases.get(report.nodeid, Case(report.nodeid, PASSED))
        skipped = report.outcome == "skipped" or hasattr(report, "wasxfail")
        outcome, reason = ("skipped", _reason(report)) if skipped else (report.outcome, "")
        scope = dict(report.user_properties).get(_SCOPE)
        outcome, reason = (outcome, reason) if scope is None else (ELSEWHERE, scope)
        if before.outcome == "failed" or (outcome == PASSED and before.outcome != PASSED):
            outcome, reason = before.outcome, before.reason
        recorded = [entry for name, entries in report.user_properties if name == _FIGURES for entry in entries]
        self.cases[report.nodeid] = Case(report.nodeid, outcome, reason, recorded)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A report that does not pass makes the run fail, also where tests are missing."""
        from tests.validation import machine, report

        known = self.collected | dict.fromkeys(self.config.pluginmanager.get_plugin("validation-collection").names)
        if self.config.getoption(KEEP):
            parts.write(self.config.getoption(KEEP), [self.cases[name] for name in known if name in self.cases])
        if not self.config.getoption(OPTION):
            return
        cases = self.earlier | self.cases
        listed = [*cases.values(), *(Case(name) for name in known if name not in cases)]
        run = Run(listed, self._restricted(), machine.about(), self.files)
        found = findings(contents(), run)
        folder = self.config.getoption(OPTION).resolve()
        self.said = report.write(folder, contents(), run, found, pdf=self.config.getoption(PDF))
        if found.verdict != PASSED and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _restricted(self) -> str:
        """What was chosen by hand so that pytest does not know what it left out."""
        return ", ".join(argument for argument in self.config.args if "::" in argument)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(self.said)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}"
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
