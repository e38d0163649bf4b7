"""terminalsAndIcons.xml: the standard's schema, and its rules on terminals."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import fmpy
import pytest
from lxml import etree

from limberjack.fmu.description import terminals
from tests.fmu import contents

ALL = [(name, *kind) for name in contents.MODELS for kind in contents.KINDS]


@pytest.fixture(params=ALL, ids=lambda p: "-".join(p))
def made(request):
    return contents.content(*request.param)


def test_the_schema_holds(made):
    folder = Path(fmpy.__file__).parent / "schema" / "fmi3"
    schema = etree.XMLSchema(file=str(folder / "fmi3TerminalsAndIcons.xsd"))
    schema.assertValid(etree.fromstring(terminals.document(made)))


def test_members_are_variables_that_may_be_connected(made):
    root = ElementTree.fromstring(terminals.document(made))
    assert root.get("fmiVersion") == "3.0"
    by_name = {variable.name: variable for variable in made.variables}
    found = [terminal.get("name") for terminal in root.iter("Terminal")]
    assert len(set(found)) == len(found)
    for terminal in root.iter("Terminal"):
        assert terminal.get("matchingRule") == "bus"
        assert terminal.get("terminalKind").startswith("org.limberjack.")
        members = [member.attrib for member in terminal]
        assert members
        names = [member["memberName"] for member in members]
        assert len(set(names)) == len(names)
        for member in members:
            assert by_name[member["variableName"]].causality in ("input", "output", "parameter")
            assert member["variableKind"] == "signal"


def test_every_variable_of_a_hinge_is_in_its_terminal(made):
    root = ElementTree.fromstring(terminals.document(made))
    inside = {member.get("variableName") for member in root.iter("TerminalMemberVariable")}
    expected = {
        variable.name
        for variable in made.variables
        if variable.name.startswith("hinge.") and variable.causality in ("input", "output", "parameter")
    }
    assert expected <= inside


def test_one_terminal_a_joint():
    made = contents.content("space_manipulator", "3.0", "scalar")
    root = ElementTree.fromstring(terminals.document(made))
    names = [terminal.get("name") for terminal in root.iter("Terminal")]
    assert names == [f"hinge.{body.hinge.name}" for body in made.system.bodies]
    elbow = next(terminal for terminal in root.iter("Terminal") if terminal.get("name") == "hinge.elbow_pitch")
    assert elbow.get("terminalKind") == "org.limberjack.hinge.revolute"
    members = {member.get("memberName"): member.get("variableName") for member in elbow}
    for word in ("angle", "rate", "torque", "angle_command", "rate_command", "torque_command"):
        assert members[word] == f"hinge.elbow_pitch.{word}"


def test_whole_vectors_have_a_terminal():
    root = ElementTree.fromstring(terminals.document(contents.content("space_manipulator", "3.0", "arrays")))
    machine = next(terminal for terminal in root.iter("Terminal") if terminal.get("name") == terminals.MACHINE)
    assert {member.get("memberName") for member in machine} == {"q", "v", "tau", "command"}


def test_drives_that_share_a_hinge_are_in_its_terminal():
    made = contents.content("awkward", "2.0", "scalar")
    root = ElementTree.fromstring(terminals.document(made))
    commands = {v.name for v in made.variables if v.causality == "input"}
    assert len(commands) == 4
    first = next(iter(root.iter("Terminal")))
    assert commands <= {member.get("variableName") for member in first}
