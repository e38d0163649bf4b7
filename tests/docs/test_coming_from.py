"""The page "Coming from another engine" runs: Pinocchio, MuJoCo and Basilisk give the numbers of the same models."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "coming-from.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def section(name: str) -> list[tuple[str, str]]:
    """(language, text) of the blocks under a heading; "" is what comes before the first."""
    parts = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text := PAGE.read_text(encoding="utf-8"), re.M | re.S))
    parts[""] = text.split("\n## ")[0]
    return BLOCK.findall(parts[name])


@pytest.mark.parametrize(
    ("peer", "module"), [("Pinocchio", "pinocchio"), ("MuJoCo", "mujoco"), ("Basilisk", "Basilisk")]
)
def test_a_peer_has_the_same_numbers(peer, module, tmp_path, monkeypatch):
    pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, text in section("") + section(peer):
        if language == "yaml":
            Path(text.splitlines()[0].removeprefix("# ")).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, f"{PAGE}: {peer}", "exec"), names)
