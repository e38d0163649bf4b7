"""Verdicts as JUnit XML, which CI systems read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from limberjack.hil.scenario.criteria import Verdict

#: characters that XML 1.0 cannot hold
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, name: str, verdicts: Sequence[Verdict], elapsed_s: float) -> None:
    """One test suite of the scenario's name, one test case a verdict; the time is the whole run's.

    What the machine failed at is an error, the rest are failures, of the type "criterion",
    "undecided" or "aborted".
    """
    errors = sum(not verdict.passed and verdict.machine for verdict in verdicts)
    failures = sum(not verdict.passed for verdict in verdicts) - errors
    counts = {"tests": str(len(verdicts)), "failures": str(failures), "errors": str(errors)}
    about = {"name": _clean(name), "time": f"{elapsed_s:.6f}", **counts}
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", {**about, "skipped": "0"})
    for verdict in verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname=_clean(name), name=_clean(verdict.name), time="0")
        if verdict.passed:
            ElementTree.SubElement(case, "system-out").text = _clean(verdict.text)
        else:
            kinds = {"machine": verdict.machine, "undecided": verdict.undecided, "aborted": verdict.aborted}
            kind = next((name for name, is_so in kinds.items() if is_so), "criterion")
            tag = "error" if verdict.machine else "failure"
            failure = ElementTree.SubElement(case, tag, message=_clean(verdict.text), type=kind)
            failure.text = _clean(verdict.text)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
