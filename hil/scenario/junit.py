"""Verdicts as JUnit XML, which CI systems read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from limberjack.hil.scenario.evidence import Verdict

#: characters that XML 1.0 cannot hold
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Case:
    """One test case.

    text : what was found;  tag : "" passed, "failure", "error" what the machine failed at, or "skipped"
    kind : type of a failure or an error;  requirements : identifiers, properties of the case
    """

    name: str
    text: str
    tag: str = ""
    kind: str = ""
    requirements: Sequence[str] = ()


def write_suite(
    path: Path, name: str, cases: Sequence[Case], elapsed_s: float, requirements: Sequence[str] = ()
) -> None:
    """One test suite with its cases; time and requirements are the whole suite's."""
    counts = {"tests": len(cases)}
    counts |= {
        count: sum(case.tag == tag for case in cases)
        for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    about = {"name": _clean(name), "time": f"{elapsed_s:.6f}", **{key: str(count) for key, count in counts.items()}}
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", about)
    _trace(suite, requirements)
    for case in cases:
        found = ElementTree.SubElement(suite, "testcase", classname=_clean(name), name=_clean(case.name), time="0")
        _trace(found, case.requirements)
        if not case.tag:
            ElementTree.SubElement(found, "system-out").text = _clean(case.text)
            continue
        about = {"message": _clean(case.text), **({"type": case.kind} if case.kind else {})}
        ElementTree.SubElement(found, case.tag, about).text = _clean(case.text)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _trace(element: ElementTree.Element, requirements: Sequence[str]) -> None:
    """Requirements as properties, where there are any."""
    listed = ElementTree.SubElement(element, "properties") if requirements else None
    for identifier in requirements:
        assert listed is not None
        ElementTree.SubElement(listed, "property", name="requirement", value=_clean(identifier))


def write_junit(
    path: Path, name: str, verdicts: Sequence[Verdict], elapsed_s: float, requirements: Sequence[str] = ()
) -> None:
    """The suite of a scenario with its requirements, a case a verdict.

    What the machine failed at is an error, the rest are failures, of the type "criterion", "undecided" or "aborted".
    """
    write_suite(path, name, [_case(verdict) for verdict in verdicts], elapsed_s, requirements)


def _case(verdict: Verdict) -> Case:
    if verdict.passed:
        return Case(verdict.name, verdict.text, requirements=verdict.requirements)
    kinds = {"machine": verdict.machine, "undecided": verdict.undecided, "aborted": verdict.aborted}
    kind = next((name for name, is_so in kinds.items() if is_so), "criterion")
    tag = "error" if verdict.machine else "failure"
    return Case(verdict.name, verdict.text, tag, kind, verdict.requirements)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
