"""docs/how-to/workbench.md runs from top to bottom, and every Python block prints the text block after it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "workbench.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, int]]:
    """(language, text, line of its first line) of every fenced block."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return [(m[1], m[2], text[: m.start(2)].count("\n") + 1) for m in FENCE.finditer(text)]


def run(code: str, line: int, names: dict) -> str:
    """What the block prints; its tracebacks point into the document."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + code, str(DOCUMENT), "exec"), names)
    return printed.getvalue()


def test_every_block_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed = ""
    for language, text, line in blocks():
        if language == "yaml":
            Path(text.splitlines()[0].removeprefix("# ")).write_text(text, encoding="utf-8")
        elif language == "python":
            assert not printed, f"what the block before line {line} prints is not shown"
            printed = run(text, line, names)
        elif language == "text":
            assert printed == text, f"line {line}"
            printed = ""
    assert not printed


def test_all_listings_of_the_paper_are_there_in_order():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [int(n) for n in re.findall(r"\*\*Listing (\d+)\.\*\*", text)] == list(range(1, 24))


@pytest.mark.parametrize("number", range(1, 24))
def test_each_listing_has_code(number):
    text = DOCUMENT.read_text(encoding="utf-8")
    section = text.split(f"**Listing {number}.**")[1].split("**Listing")[0]
    assert "```python\n" in section
