"""`requirement:` of scenarios and criteria: read, refused where it is none, and carried into every report."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest

import limberjack as lj
from limberjack.hil.scenario.execution import run_scenario

MODEL = """
limberjack: 1
name: pendulum
bodies:
  - {name: swing, mass: 1, com: [0, 0, -1], inertia: {xx: 0.1, yy: 0.1, zz: 0.1},
     hinge: {type: revolute, parent: world, axis: [0, 1, 0]}}
"""
SCENARIO = """
limberjack_scenario: 1
name: stays
requirement: SYS-7
model: pendulum.yaml
duration: 0.05
criteria:
  - {name: at rest, requirement: [AOCS-1, "AOCS-2 <b>"], type: rms, signals: [v.swing], most: 1e-9}
  - {name: moves, requirement: AOCS-3, type: deadline, signals: [v.swing], above: 1, by: 0.02}
  - {name: of its own, type: final, signals: [q.swing], target: 0, tolerance: 1e-9}
"""


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(MODEL)
    path = tmp_path / "stays.yaml"
    path.write_text(SCENARIO)
    return path


def named(element: ElementTree.Element) -> list[str]:
    """Values of its own properties."""
    found = element.findall("properties/property")
    assert all(one.attrib["name"] == "requirement" for one in found)
    return [one.attrib["value"] for one in found]


def test_reports_say_which_requirement_each_criterion_shows(scenario, tmp_path):
    out = tmp_path / "out"
    result = run_scenario(scenario, out=out)
    shown = {verdict.name: (verdict.passed, verdict.requirements) for verdict in result.criteria}
    assert shown["at rest"] == (True, ("AOCS-1", "AOCS-2 <b>"))
    assert shown["moves"] == (False, ("AOCS-3",))
    assert shown["of its own"] == (True, ())
    suite = ElementTree.parse(out / "junit.xml").find("testsuite")
    assert named(suite) == ["SYS-7"]
    cases = {case.attrib["name"]: named(case) for case in suite.iter("testcase")}
    assert cases["at rest"] == ["AOCS-1", "AOCS-2 <b>"]
    assert cases["moves"] == ["AOCS-3"]
    assert cases["of its own"] == cases["end of the run"] == []
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<td>requirement</td><td>SYS-7</td>" in page
    assert "<th>requirement</th>" in page
    assert "AOCS-2 &lt;b&gt;" in page
    assert "AOCS-2 <b>" not in page
    document = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert document["requirements"] == ["SYS-7"]
    assert [entry["requirements"] for entry in document["criteria"]][1:3] == [["AOCS-1", "AOCS-2 <b>"], ["AOCS-3"]]


def test_without_requirements_reports_are_as_they_were(scenario, tmp_path):
    lines = (line for line in SCENARIO.splitlines() if "requirement" not in line)
    scenario.write_text("\n".join(lines))
    run_scenario(scenario, out=tmp_path / "out")
    assert "<properties" not in (tmp_path / "out" / "junit.xml").read_text(encoding="utf-8")
    assert "requirement" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("wrong", ["[]", "''", "3", "{a: b}", "[A, 3]", "x" * 201])
def test_what_is_no_identifier_is_refused_with_its_line(scenario, wrong):
    scenario.write_text(SCENARIO.replace("requirement: AOCS-3", f"requirement: {wrong}"))
    with pytest.raises(lj.ModelError, match=r"stays\.yaml:9, criteria\[1\]\.requirement"):
        run_scenario(scenario)
