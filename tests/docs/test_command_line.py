"""The overview of commands has every command."""

from __future__ import annotations

import argparse
from pathlib import Path

from limberjack.cli import _parser

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "command-line.md"


def test_the_overview_has_every_command():
    table = PAGE.read_text(encoding="utf-8").split("\n## ")[0]
    (commands,) = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    rows = [line.split(" | ")[0].replace("limberjack ", "") for line in table.splitlines() if line.startswith("| `")]
    assert sorted(name for name in commands.choices if not any(f"`{name}" in row for row in rows)) == []
