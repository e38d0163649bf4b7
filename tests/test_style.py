"""The form of the code: modules of at most 400 lines, functions of at most 70; the page of its structure is true."""

from __future__ import annotations

import ast
from pathlib import Path

from tests import architecture

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


def _place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_sizes_of_c_files():
    texts = {_place(path): path.read_text(encoding="utf-8").splitlines() for path in c_files()}
    assert [name for name, lines in texts.items() if len(lines) > MOST_MODULE_LINES] == []
    assert [name for name, lines in texts.items() if max(len(line) for line in lines) > 120] == []


def test_sizes_of_modules():
    lengths = {_place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {name: length for name, length in lengths.items() if length > MOST_MODULE_LINES} == {}


def _functions(path: Path) -> list[tuple[str, int]]:
    """Name and lines of each function, decorators counted."""
    found = []
    for item in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([item.lineno, *(d.lineno for d in item.decorator_list)])
            found.append((item.name, (item.end_lineno or first) - first + 1))
    return found


def test_sizes_of_functions():
    every = {f"{_place(path)}: {name}": lines for path in modules() for name, lines in _functions(path)}
    assert {name: lines for name, lines in every.items() if lines > MOST_FUNCTION_LINES} == {}


def test_the_page_of_the_architecture_shows_the_imports_as_they_are():
    assert architecture.PAGE.read_text(encoding="utf-8") == architecture.page(), "run python -m tests.architecture"
