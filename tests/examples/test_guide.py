"""The Python of docs/closed-chains.md and of README's section on closed chains runs as it is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def section(name: str) -> str:
    """The whole guide, or README's part of that heading."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.split("## Closed chains\n")[1].split("\n## ")[0] if name == "README.md" else text


@pytest.mark.parametrize("name", ["README.md", "docs/closed-chains.md"])
def test_python_blocks_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = PYTHON.findall(section(name))
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)


@pytest.mark.parametrize("name", ["README.md", "docs/closed-chains.md"])
def test_pictures_and_models_exist(name: str) -> None:
    for link in re.findall(r"\]\(([^)#]+)", section(name)):
        assert ((ROOT / name).parent / link).exists(), link
