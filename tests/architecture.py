"""The picture and the table of docs/architecture.md, made from imports and docstrings: `python -m tests.architecture`.

Arrows are imports between rooms; those that follow from others are left out. The table has the first paragraph of each
room's `__init__.py`.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
_MARKED = re.compile(r"(<!-- made by python -m tests\.architecture -->\n).*?(<!-- end -->\n)", re.S)
#: rooms of the picture beside those of the engine
_SHOWN = ("commands", "hil", "bridge", "fmu")

Arrows = set[tuple[str, str]]


def _room(module: str) -> str:
    parts = module.split(".")[1:]
    if parts[:1] == ["engine"] and len(parts) > 1:
        return f"engine.{parts[1]}"
    return parts[0] if parts and parts[0] in _SHOWN else ""


def arrows() -> Arrows:
    """Which room imports which."""
    graph = grimp.build_graph("limberjack")
    pairs = (
        (_room(module), _room(imported))
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    )
    return {(a, b) for a, b in pairs if a and b and a != b}


def _needed(pairs: Arrows) -> Arrows:
    """The arrows from which all others follow; the rooms have no circles."""

    def leads(start: str, goal: str) -> bool:
        return any(b == goal or leads(b, goal) for a, b in pairs if a == start)

    return {(a, b) for a, b in pairs if not any(leads(m, b) for start, m in pairs if start == a and m != b)}


def picture() -> str:
    """The rooms and their arrows as Mermaid text."""
    pairs = sorted(_needed(arrows()))
    inside = sorted({room for pair in pairs for room in pair if room.startswith("engine.")})
    lines = ["```mermaid", "flowchart TD", "  subgraph engine"]
    lines += [f"    {room}[{room.removeprefix('engine.')}]" for room in inside]
    return "\n".join([*lines, "  end", *(f"  {a} --> {b}" for a, b in pairs), "```"])


def table() -> str:
    """A row for each room: what is in it."""
    rows = ["| room | what is in it |", "|---|---|"]
    for top in ("engine", "bridge", "fmu", "hil"):
        for path in sorted((ROOT / top).rglob("__init__.py")):
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            first = " ".join(text.partition("\n\n")[0].split())
            rows.append(f"| `{path.parent.relative_to(ROOT)}/` | {first} |")
    return "\n".join(rows)


def page() -> str:
    """The page with picture and table as they should be."""
    parts = iter([picture(), table()])
    return _MARKED.sub(lambda found: f"{found[1]}{next(parts)}\n{found[2]}", PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
