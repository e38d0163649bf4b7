"""A kind of node is a module and its name in KINDS: what asks the kinds finds it there."""

from __future__ import annotations

import ast
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from limberjack.engine.kernels import nodes
from limberjack.engine.kernels.nodes import kinds, revolute
from limberjack.engine.tables.plant import PATH, TOPO

ROOMS = Path(nodes.__file__).resolve().parents[3]


def plant_of(*numbers: int) -> SimpleNamespace:
    """A Plant of bodies of kinds with these numbers."""
    topo = np.zeros((len(numbers), TOPO), dtype=np.int64)
    topo[:, PATH] = numbers
    return SimpleNamespace(topo=topo)


def kind_of(name: str, **offered: object) -> ModuleType:
    """A module of a kind that offers these names; functions say that they are of this room."""
    made = ModuleType(f"{nodes.__name__}.{name}")
    for key, value in offered.items():
        if callable(value):
            value.__module__ = made.__name__
        setattr(made, key, value)
    return made


def asked(kernel, numbers: range, *given: object) -> list[object]:
    plant = plant_of(*numbers)
    return [kernel(plant, None, k, *given) for k in numbers]


@pytest.fixture
def three(monkeypatch):
    """Kinds a, b and c, uncompiled; a and c share no function, b and c leave out one of two."""
    a = kind_of("a", move=lambda plant, work, k, x: ("a", x), only=lambda plant, work, k: "a", ROUND=True)
    b = kind_of("b", move=lambda plant, work, k, x: ("b", x))
    c = kind_of("c", move=lambda plant, work, k, x: ("c", x), FLAT=True)
    monkeypatch.setattr(kinds, "KINDS", (a, b, c))
    monkeypatch.setattr(kinds, "kernel", lambda function: function)
    return a, b, c


def test_each_body_gets_the_function_of_its_kind(three):
    assert asked(kinds.by_kind("move"), range(3), 7) == [("a", 7), ("b", 7), ("c", 7)]


def default(plant, work, k):
    return "-"


default.__module__ = nodes.__name__


def test_kinds_without_a_function_get_the_default(three):
    assert asked(kinds.by_kind("only", default), range(3)) == ["a", "-", "-"]


def test_a_kind_is_added_by_its_name_alone(three, monkeypatch):
    d = kind_of("d", move=lambda plant, work, k, x: ("d", x), FLAT=True)
    monkeypatch.setattr(kinds, "KINDS", (*three, d))
    assert asked(kinds.by_kind("move"), range(4), 1) == [("a", 1), ("b", 1), ("c", 1), ("d", 1)]
    flat = kinds.flag("FLAT")
    assert [flat(row) for row in plant_of(*range(4)).topo] == [False, False, True, True]


def test_a_function_that_kinds_share_is_tested_once(three, monkeypatch):
    a, b, _ = three
    b.move = a.move
    chosen = kinds.by_kind("move")
    assert asked(chosen, range(3), 2) == [("a", 2), ("a", 2), ("c", 2)]
    assert len(chosen.__closure__) == 3  # one test between two functions


def test_kinds_that_share_a_function_may_stand_apart(three, monkeypatch):
    a, b, c = three
    a.pair = c.pair = a.move
    b.pair = b.move
    last = [kind_of(name, pair=b.move) for name in "def"]
    monkeypatch.setattr(kinds, "KINDS", (a, b, c, *last))
    assert [name for name, _ in asked(kinds.by_kind("pair"), range(6), 0)] == list("ababbb")
    last[1].FLAT = True
    flat = kinds.flag("FLAT")
    assert [flat(row) for row in plant_of(*range(6)).topo] == [False, False, True, False, True, False]


def test_what_a_kind_imports_from_the_algebra_is_no_function_of_the_kind(three):
    three[2].turn = np.cross
    with pytest.raises(ValueError, match="a function that it imports"):
        kinds.by_kind("turn")


def test_a_last_two_default_changes_nothing():
    assert getattr(kinds.last_two, "py_func", kinds.last_two)(None, None, 0, "x", "w", "u") == ("w", "u")


def named(path: Path) -> set[str]:
    """The kinds' modules that a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    return {kind.__name__ for kind in kinds.KINDS} & found


def test_only_the_list_of_kinds_names_a_kind():
    rigid = {kind.__name__ for kind in kinds.KINDS if not getattr(kind, "DEFORMS", False)}
    files = [path for room in ("engine", "fmu", "bridge", "hil") for path in (ROOMS / room).rglob("*.py")]
    naming = {path.name for path in files if named(path) & rigid}
    assert len(files) > 300
    assert naming == {"kinds.py"}


def test_every_kind_says_which_hinges_it_serves():
    assert all(isinstance(kind.HINGES, tuple) for kind in kinds.KINDS)
    served = [hinge for kind in kinds.KINDS for hinge in kind.HINGES]
    assert len(served) == len(set(served))
    assert [name for name, number in kinds.NUMBERS.items() if not kinds.KINDS[number].HINGES] == ["general"]
    assert kinds.KINDS[kinds.NUMBERS["revolute"]] is revolute
