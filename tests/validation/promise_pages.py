"""The pages that go from requirement to test to result: the product's promises, and the questions of standards."""

from __future__ import annotations

from limberjack.hil.pages import escaped, heading
from tests.validation.contents import Answer, Contents, Factor
from tests.validation.layout import badge, badge_kind, prose, rows, section, test_name
from tests.validation.results import FAILED, PASSED, Findings, Shown, worst

WORDS = {"met": "met by the product", "in part": "met in part", "user": "for the user to add"}


def promises(contents: Contents, found: Findings) -> list[str]:
    """Requirement → tests → result, under the credibility factors."""
    verdict = worst(found.verdict_of(name) for name in found.promises)
    lead = (
        "What the product promises beside its physics, and the tests that show it, arranged by the credibility factors "
        "of NASA-STD-7009A. Its levels, 0 to 4, belong to a use of a model: the user assigns them, and this page gives "
        "evidence."
    )
    parts = [heading("Promises of the product", verdict, badge_kind(verdict)), f'<p class="lead">{escaped(lead)}</p>']
    return parts + [_factor(factor, contents, found) for factor in contents.factors]


def _factor(factor: Factor, contents: Contents, found: Findings) -> str:
    texts = [("What the factor asks", factor.asks), ("What there is", factor.here), ("What you add", factor.user)]
    parts = [f"<p><b>{head}.</b> {prose(text)}</p>" for head, text in texts]
    if factor.models:
        verdict = worst(found.verdict_of(name) for name in found.models)
        parts.append(f"<p><b>In this run</b>, the pages of the {len(contents.models)} models: {badge(verdict)}</p>")
    lines = []
    for name, promise in factor.promises.items():
        mark, title = f'<a id="{name}"></a><b>{name}</b>', escaped(promise.requirement)
        for shown in found.promises[name]:
            lines.append([mark, title, test_name(shown.test), _counted(shown), badge(shown.verdict)])
            mark = title = ""
    if lines:
        parts.append(rows(("promise", "requirement", "test", "cases", "result"), lines, (15, 33, 32, 12, 8)))
    return section(factor.title, *parts)


def _counted(shown: Shown) -> str:
    """How many cases passed, and why others did not."""
    passed = sum(case.outcome == PASSED for case in shown.cases)
    text = str(passed) if passed == len(shown.cases) else f"{passed} of {len(shown.cases)}"
    return text + (f'<br><span class="faint">{escaped(shown.why)}</span>' if shown.why else "")


def standards(contents: Contents, found: Findings) -> list[str]:
    """The questions of each standard and honest answers."""
    lead = (
        "A project that qualifies flight software with a simulation answers these questions for it. “Met by the "
        "product” can be taken over with the evidence that is named; the rest is for the project that uses it. Clauses "
        "are paraphrased: the standards' own text decides."
    )
    parts = ["<header><h1>Questions of standards</h1></header>", f'<p class="lead">{escaped(lead)}</p>']
    heads = ("clause", "asks for", "answer", "", "evidence in this run")
    for standard in contents.standards:
        lines = [_answer(answer, found) for answer in standard.answers]
        parts.append(
            section(standard.title, f"<p>{prose(standard.about)}</p>", rows(heads, lines, (10, 23, 10, 37, 20)))
        )
    return parts


def _answer(answer: Answer, found: Findings) -> list[str]:
    """An answer falls with its evidence."""
    links = [f"{_link(name, found)} {badge(found.verdict_of(name))}" for name in answer.evidence]
    lost = [name for name in answer.evidence if found.verdict_of(name) == FAILED]
    word = "not met in this run" if lost else WORDS[answer.status]
    cells = [escaped(answer.clause), prose(answer.asks), f"<b>{word}</b>", prose(answer.answer), "<br>".join(links)]
    return cells


def _link(name: str, found: Findings) -> str:
    page = f"promises.html#{name}" if name in found.promises else f"{name}.html"
    return f'<a href="{page}">{name}</a>'
