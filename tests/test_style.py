"""Size limits of the code: modules of at most 400 lines, functions of at most 70."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("engine", "bridge", "fmu", "hil", "src/limberjack", "benchmarks", "examples")
MOST_MODULE_LINES, MOST_FUNCTION_LINES = 400, 70


def modules() -> list[Path]:
    """Every Python module of the product, links left aside."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in found if not any(parent.is_symlink() for parent in path.parents))


def test_the_folders_are_there():
    assert len(modules()) > 40


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_MODULE_LINES
    for item in ast.walk(ast.parse(text)):
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([item.lineno, *(d.lineno for d in item.decorator_list)])
            assert item.end_lineno - first + 1 <= MOST_FUNCTION_LINES, item.name
