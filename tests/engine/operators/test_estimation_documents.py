"""The pages estimation.md and sensitivities.md run from top to bottom and print what they show."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("name", "count"), [("estimation.md", 6), ("sensitivities.md", 8)])
def test_the_document_runs_and_prints_what_it_shows(name, count, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "explanation" / name).read_text(encoding="utf-8")
    code = blocks(text, "python")
    assert len(code) == count
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n".join(code), f"docs/explanation/{name}", "exec"), {})
    assert printed.getvalue() == "".join(blocks(text, "text"))
