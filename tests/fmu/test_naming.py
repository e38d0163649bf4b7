"""Names that every importer can read, and that never collide."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limberjack.fmu.variables.naming import MAX_IDENTIFIER, derivative, element, model_identifier, place, quoted

# The grammar of the standard (FMI 3.0.2, "variableNamingConvention = structured"), written down once more.
Q_CHAR = r"[A-Za-z0-9_!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]"
PART = rf"(?:[A-Za-z_][A-Za-z0-9_]*|'(?:{Q_CHAR}|\\['\"?\\abfnrtv])+')"
IDENTIFIER = rf"{PART}(?:\[\d+(?:,\d+)*\])?(?:\.{PART}(?:\[\d+(?:,\d+)*\])?)*"
STRUCTURED = re.compile(rf"{IDENTIFIER}|der\({IDENTIFIER}(?:,\d+)?\)")

NAMES = st.text(min_size=1, max_size=12) | st.text(alphabet="a1'\"\\{}U+07B`.ä[]", min_size=1, max_size=12)


def unquoted(part: str) -> str:
    """The user's name, read back from a part."""
    if not part.startswith("'"):
        return part
    plain = re.sub(r"\\(.)", r"\1", part[1:-1])
    return re.sub(r"\{U\+([0-9A-F]{4,6})\}", lambda code: chr(int(code[1], 16)), plain)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("elbow", "elbow"),
        ("_x1", "_x1"),
        ("1st", "'1st'"),
        ("joint 1", "'joint 1'"),
        ("a.b[2]", "'a.b[2]'"),
        ("it's", r"'it\'s'"),
        ('5"', r"'5\"'"),
        ("a\\b", r"'a\\b'"),
        ("Gelenkärmel", "'Gelenk{U+00E4}rmel'"),
        ("a`b", "'a{U+0060}b'"),
        ("{U+00E4}", "'{U+007B}U+00E4}'"),
        ("🦾", "'{U+1F9BE}'"),
    ],
)
def test_quoting(name, part):
    assert quoted(name) == part


@given(NAMES)
def test_every_name_becomes_a_structured_one_and_can_be_read_back(name):
    assert STRUCTURED.fullmatch(place("hinge", name, "angle"))
    assert STRUCTURED.fullmatch(derivative(element(place("sensor", name), 2)))
    assert unquoted(quoted(name)) == name  # so no two names share a part


def test_elements_count_from_one():
    assert element(place("node", "tool", "position"), 0) == "node.tool.position[1]"


@pytest.mark.parametrize(
    ("model", "identifier"),
    [
        ("space_arm", "space_arm"),
        ("Arm (2 links), v1.3", "Arm_2_links_v1_3"),
        ("Gelenkärmel", "Gelenkarmel"),
        ("7dof", "model_7dof"),
        ("机械臂", "model"),
        ("***", "model"),
        ("con", "model_con"),
        ("NUL", "model_NUL"),
        ("while", "model_while"),
        ("../../etc/passwd", "etc_passwd"),
    ],
)
def test_model_identifiers(model, identifier):
    assert model_identifier(model) == identifier


@given(st.text(max_size=200))
def test_model_identifiers_are_short_and_of_c(model):
    identifier = model_identifier(model)
    assert re.fullmatch("[A-Za-z][A-Za-z0-9_]*", identifier)
    assert len(identifier) <= MAX_IDENTIFIER
