"""Safe names: letters, digits and underscores, never two names alike, always back to the original."""

from __future__ import annotations

import contextlib
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limberjack.bridge.telemetry.identifiers import original_name, safe_name, upper_names
from limberjack.engine.common.errors import ArgumentError

TRICKY = st.text(alphabet="ab_x20F.9 /Aä", min_size=1, max_size=12)
NAMES = TRICKY | st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=40)


@given(NAMES)
def test_a_safe_name_has_safe_characters_and_turns_back(name):
    safe = safe_name(name)
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", safe)
    assert original_name(safe) == name


def test_every_short_name_of_what_escapes_are_made_of_turns_back():
    names = ["".join(letters) for n in range(1, 7) for letters in itertools.product("0xa_./", repeat=n)]
    safe = [safe_name(name) for name in names]
    assert len(set(safe)) == len(names)
    assert [original_name(each) for each in safe] == names


@given(st.text(alphabet="abx_20F9", max_size=12))
def test_a_text_is_refused_or_is_the_safe_name_of_what_it_is_read_as(text):
    with contextlib.suppress(ArgumentError):
        assert safe_name(original_name(text)) == text


@given(st.lists(TRICKY, max_size=12, unique=True))
def test_capitals_are_never_alike(names):
    upper = upper_names(names)
    assert len(set(upper)) == len(names)
    assert all(re.fullmatch("[A-Z0-9]+(_[A-Z0-9]+)*", each) for each in upper)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("time", "time"),
        ("q.elbow", "q__elbow"),
        ("output.imu_2.x", "output__imu_2__x"),
        ("q.left arm/elbow", "q__left_x20_arm_x2F_elbow"),
        ("q._a", "q___x5F_a"),
        ("q.a_x20_b", "q__a_x5F_x20_b"),
        ("q.a_x2/b", "q__a_x5F_x2_x2F_b"),
        ("6 legs", "_x36__x20_legs"),
        ("q.gelenk_ä", "q__gelenk_x5F__xE4_"),
    ],
)
def test_names_as_documented(name, safe):
    assert safe_name(name) == safe


def test_capitals_of_names_that_differ_in_them_alone():
    assert upper_names(["q.Arm", "q.arm", "q.arm_2"]) == ("Q_ARM", "Q_ARM_2", "Q_ARM_2_2")


@pytest.mark.parametrize("text", ["", "q.elbow", "q_", "9a", "a_x110000_b", "a_x0020_"])
def test_foreign_names_are_refused(text):
    with pytest.raises(ArgumentError, match="is not an exported name"):
        original_name(text)
