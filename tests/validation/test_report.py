"""The report's verdicts, and that its pages say what a run did and did not show."""

from __future__ import annotations

import html
import json
import re

import pytest

from tests.validation import model_page, report
from tests.validation.contents import contents
from tests.validation.results import ELSEWHERE, FAILED, INCOMPLETE, PASSED, Case, Run, findings

CONTENTS = contents()
PAGE = "slosh"
TEST = CONTENTS.models[PAGE].tests[0]
ABOUT = {"Limberjack": "1.2.3", "machine": "a <fast> one"}


def entry(**changed):
    numbers = {"found": 1.5, "expected": 1.0, "error": 0.5, "tolerance": 1.0, "share": 0.5}
    about = {"name": "a <b>", "unit": "m", "oracle": "o", "way": "near", "relative": False, "count": 3, "holds": True}
    return about | numbers | changed


def whole() -> dict[str, Case]:
    """A run in which everything passed."""
    cases = {}
    for test in CONTENTS.tests:
        name = f"{test}-1]" if "[" in test else f"{test}[1]"
        cases[name] = Case(name, PASSED, "", [entry()])
    return cases


def verdicts(cases: dict[str, Case], restricted: str = "") -> tuple[str, str, str]:
    """Of the page, the report and of the test: why."""
    found = findings(CONTENTS, Run(list(cases.values()), restricted, ABOUT))
    (shown,) = (one for one in found.models[PAGE] if one.test == TEST)
    return found.verdict_of(PAGE), found.verdict, shown.why


def test_a_whole_run_passes():
    assert verdicts(whole()) == (PASSED, PASSED, "")


CHANGES = [
    (Case("", FAILED, "", [entry()]), FAILED, ""),
    (Case("", PASSED, "", [entry(holds=False)]), FAILED, ""),
    (Case("", "skipped", "no peer", [entry()]), INCOMPLETE, "1 of 2 cases not run: no peer"),
    (Case("", "", "", []), INCOMPLETE, "1 of 2 cases not run: not run"),
    (Case("", PASSED, "", []), INCOMPLETE, "it recorded no figure"),
    (Case("", ELSEWHERE, "other registers", []), PASSED, "other registers"),
]


@pytest.mark.parametrize(("second", "verdict", "why"), CHANGES)
def test_one_case_decides(second, verdict, why):
    name = f"{TEST}[2]"
    cases = whole() | {name: Case(name, second.outcome, second.reason, second.figures)}
    assert verdicts(cases) == (verdict, verdict, why)


def test_a_test_about_other_processors_is_listed_and_lacks_nothing(tmp_path):
    cases = whole()
    for name in [name for name in cases if name.startswith(TEST)]:
        cases[name] = Case(name, ELSEWHERE, "not these <registers>")
    assert verdicts(cases) == (PASSED, PASSED, "not these <registers>")
    run = Run(list(cases.values()), "", ABOUT)
    said = report.write(tmp_path, CONTENTS, run, findings(CONTENTS, run))
    assert said.startswith("validation passed")
    assert "Does not apply to this machine" in text(tmp_path / "index.html")
    for page in ("index", PAGE):
        assert "not these <registers>" in text(tmp_path / f"{page}.html")


def test_a_page_of_nothing_but_other_processors_does_not_pass():
    cases = {name: Case(name, ELSEWHERE, "other") for name in whole()}
    assert verdicts(cases) == (ELSEWHERE, ELSEWHERE, "other")


def test_a_test_that_is_gone_makes_the_report_incomplete():
    cases = {name: case for name, case in whole().items() if not name.startswith(TEST)}
    assert verdicts(cases) == (INCOMPLETE, INCOMPLETE, "this run has no such test")


def test_a_failure_outweighs_what_is_missing():
    cases = {name: case for name, case in whole().items() if not name.startswith(TEST)}
    other = next(iter(cases))
    cases[other] = Case(other, FAILED)
    assert verdicts(cases)[:2] == (INCOMPLETE, FAILED)


def test_tests_chosen_by_name_make_the_report_incomplete():
    assert verdicts(whole(), "tests/a.py::test_b")[:2] == (PASSED, INCOMPLETE)


def text(path) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8")))


def test_pages_show_figures_and_what_is_missing(tmp_path):
    cases = whole()
    skipped = next(name for name in cases if name.startswith(TEST))
    cases[skipped] = Case(skipped, "skipped", "no <peer>")
    broken = next(name for name in cases if name.startswith(CONTENTS.models[PAGE].tests[1]))
    cases[broken] = Case(broken, FAILED, "", [entry(holds=False, share=float("inf"), found=float("nan"))])
    run = Run(list(cases.values()), "", ABOUT)
    said = report.write(tmp_path, CONTENTS, run, findings(CONTENTS, run))
    assert f"incomplete: {TEST}: 1 of" in said
    assert "\nvalidation failed: " in said
    page = (tmp_path / f"{PAGE}.html").read_text(encoding="utf-8")
    assert "a <b>" not in page
    assert "a &lt;b&gt;" in page
    for words in ("no <peer>", "nan m", "1.5", "a <fast> one", "1.2.3"):
        assert words in text(tmp_path / f"{PAGE}.html"), words
    assert "no <peer>" in text(tmp_path / "index.html")
    document = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (document["verdict"], document["models"][PAGE]["verdict"]) == (FAILED, FAILED)
    assert document["models"]["integrators"]["verdict"] == PASSED
    for name in [*CONTENTS.models, "promises", "standards"]:
        assert (tmp_path / f"{name}.html").is_file()


def test_an_answer_to_a_standard_falls_with_its_evidence(tmp_path):
    cases = whole()
    golden = CONTENTS.promises["golden"].tests[0]
    failed = next(name for name in cases if name.startswith(golden))
    cases[failed] = Case(failed, FAILED)
    run = Run(list(cases.values()), "", ABOUT)
    report.write(tmp_path, CONTENTS, run, findings(CONTENTS, run))
    assert text(tmp_path / "standards.html").count("not met in this run") == 2


def test_the_pdf_has_all_pages(tmp_path):
    reason = "WeasyPrint is not installed (extra validation)"
    pytest.importorskip("weasyprint", reason=reason, exc_type=(ImportError, OSError))
    from tests.validation.pdf import write_pdf

    run = Run(list(whole().values()), "", ABOUT)
    body = model_page.body(PAGE, CONTENTS, run, findings(CONTENTS, run))
    pages = {"index": ["<h1>All</h1>", f'<a href="{PAGE}.html">to it</a>'], PAGE: body}
    assert write_pdf(tmp_path / "report.pdf", "title", pages, ABOUT) >= 3  # the first page, contents, the model's
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
