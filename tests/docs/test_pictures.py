"""A command makes every picture of the documentation, and a page shows it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.pictures.makers import IMAGES, MAKERS, ROOT, commands

SHOWN = re.compile(r"images/([\w-]+\.png)")


def shown() -> set[str]:
    """Pictures that README and the pages show."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return {name for page in pages for name in SHOWN.findall(page.read_text(encoding="utf-8"))}


def kept() -> set[str]:
    return {path.name for path in IMAGES.iterdir()}


def test_a_command_makes_every_picture():
    made = [name for maker in MAKERS for name in maker.pictures]
    assert sorted(made) == sorted(set(made))
    assert sorted(made) == sorted(kept())


def test_a_page_shows_every_picture():
    assert kept() == shown()


def test_commands_run_in_the_repository_and_write_to_their_folder(tmp_path):
    (tmp_path / "say.py").write_text("import sys; open(sys.argv[1], 'w').write(str(__import__('os').getcwd()))")
    commands(f"python {tmp_path}/say.py {{out}}/said.txt")(tmp_path)
    assert Path((tmp_path / "said.txt").read_text()) == ROOT


def test_a_command_that_fails_stops_the_work(tmp_path):
    with pytest.raises(Exception, match="non-zero exit status"):
        commands("python -c raise(SystemExit(3))")(tmp_path)
    assert sys.executable
