"""The Python of README and of guides about models runs as written; links lead on; README stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


PLACES = ("README.md#From Python", "docs/how-to/closed-chains.md", "docs/how-to/flexible-spacecraft.md")


def section(place: str) -> str:
    """A whole page, or its part of a heading: page#heading."""
    name, _, heading = place.partition("#")
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.split(f"## {heading}\n")[1].split("\n## ")[0] if heading else text


@pytest.mark.parametrize("place", PLACES)
def test_python_blocks_run(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = PYTHON.findall(section(place))
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, place, "exec"), names)


@pytest.mark.parametrize("place", [*PLACES, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_pictures_and_models_exist(place: str) -> None:
    for link in re.findall(r"\]\(([^)#]+)", section(place)):
        assert link.startswith("https://") or ((ROOT / place.partition("#")[0]).parent / link).exists(), link


def test_readme_is_a_screen_and_a_half():
    assert len((ROOT / "README.md").read_bytes()) < 6000
