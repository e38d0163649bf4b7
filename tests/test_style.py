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


def c_files() -> list[Path]:
    """Every C source and header, of the product and of its tests."""
    found = [path for folder in (*FOLDERS, "tests") for end in ("*.c", "*.h") for path in (ROOT / folder).rglob(end)]
    return sorted(path for path in found if not any(parent.is_symlink() for parent in path.parents))


@pytest.mark.parametrize("path", c_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes_of_c_files(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_MODULE_LINES
    assert max(len(line) for line in lines) <= 120


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_sizes(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_MODULE_LINES
    for item in ast.walk(ast.parse(text)):
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([item.lineno, *(d.lineno for d in item.decorator_list)])
            assert item.end_lineno - first + 1 <= MOST_FUNCTION_LINES, item.name
