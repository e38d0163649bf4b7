"""The tables of docs/reference/model-format.md are those of the declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from limberjack.engine.model.elements.facts import facts_of, spec_of
from limberjack.engine.model.elements.reference import renewed
from limberjack.engine.model.elements.thruster import Thruster

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "model-format.md"


def test_tables_of_the_page_are_up_to_date():
    text = PAGE.read_text(encoding="utf-8")
    assert text.count("<!-- fields:") >= 8
    assert renewed(text) == text  # else: make docs


def test_a_mark_of_an_unknown_kind_is_found():
    with pytest.raises(KeyError, match="Catapult"):
        renewed("<!-- fields: Catapult -->\n<!-- end -->")


def test_a_row_has_unit_range_default_and_text():
    table = renewed("<!-- fields: Thruster -->\nold\n<!-- end -->")
    assert "| `minimum` | N | ≥ 0 | 0 | smallest force; commands below it, and negative ones, give no force |" in table
    assert "old" not in table
    assert {known.name for known in facts_of(Thruster)} == set(spec_of(Thruster).model_fields)
