"""The page of the Python API has every public name, and docstrings say what their signatures need.

Read from the signatures: each parameter is named, arrays have shapes, plain numbers units, results shapes; what a
function raises itself is named. A class may say it once for its methods.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import limberjack as lj
from limberjack.engine.common.errors import LimberjackError
from limberjack.engine.model.elements.facts import facts_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"
TEXT = PAGE.read_text(encoding="utf-8")
LISTED = re.findall(r"^\.\. auto(?:class|function|exception):: limberjack\.(\S+)$", TEXT, re.M)
WITH_MEMBERS = re.findall(r"^\.\. autoclass:: limberjack\.(\S+)\n   :members:$", TEXT, re.M)
SHAPE = r"\((?:\d+|[\w+* ]+),(?:[^()]*)\)"
#: a unit after a comma, a colon or an opening bracket, in the line that begins with the name
UNIT = r"[^\n]*?(?:[,:] |\()(?:s|m|kg|rad|rad/s|Hz|N|J|N·m|1|ratio)\b"
ARRAY = re.compile(r"ArrayLike|ndarray")


def found(name: str) -> object:
    thing: object = lj
    for part in name.split("."):
        thing = getattr(thing, part) if part != "bridge" else __import__("limberjack.bridge").bridge
    return thing


def functions() -> Iterator[tuple[str, object, str]]:
    """(name, function, docstring with that of its class) of all that the page shows."""
    for name in LISTED:
        thing = found(name)
        if not inspect.isclass(thing):
            yield name, thing, inspect.getdoc(thing) or ""
            continue
        about = inspect.getdoc(thing) or ""
        if name in WITH_MEMBERS:
            for member in sorted(vars(thing)):
                function = _function(inspect.getattr_static(thing, member))
                if function is not None and not member.startswith("_"):
                    yield f"{name}.{member}", function, f"{inspect.getdoc(function) or ''}\n{about}"
        yield name, thing, about


def _function(member: object) -> object:
    """What is called, of methods and properties."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    return member if inspect.isfunction(member) else None


CASES = list(functions())
IDS = [name for name, _, _ in CASES]


def test_the_page_has_every_public_name():
    assert set(lj.__all__) - {"__version__"} == {name for name in LISTED if "." not in name}


@pytest.mark.parametrize(("name", "function", "text"), CASES, ids=IDS)
def test_a_docstring_says_what_the_signature_needs(name, function, text):
    assert inspect.getdoc(function), f"{name} has no docstring"
    assert list(missing(function, text)) == []


def missing(function: object, text: str) -> Iterator[str]:
    if inspect.isclass(function) and issubclass(function, (Warning, Exception)):
        return
    signature = inspect.signature(function)
    known = {fact.name for fact in facts_of(function)} if dataclasses.is_dataclass(function) else set()
    for parameter in signature.parameters.values():
        name, kind = parameter.name, str(parameter.annotation)
        if name in {"self", "cls", "where", *known} or name.startswith("_") or kind == "object":
            continue
        if not re.search(rf"\b{name}\b", text):
            yield f"no word about {name}"
        elif ARRAY.search(kind) and not re.search(
            rf"\b{name}\b[^\n()]*(?:\([^()]*[a-z ][^()]*\))?[^\n()]*{SHAPE}", text
        ):
            yield f"no shape of {name}"
        elif kind in ("float", "float | None") and not re.search(rf"\b{name}\b{UNIT}", text) and name[-2:] != "_s":
            yield f"no unit of {name}"
    if ARRAY.search(str(signature.return_annotation)) and not re.search(SHAPE, inspect.getdoc(function) or ""):
        yield "no shape of the result"
    yield from (f"no word about {error}" for error in raised(function) if error not in text)


def raised(function: object) -> set[str]:
    """Names of our errors that the function itself raises."""
    if inspect.isclass(function):
        return set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    home = vars(inspect.getmodule(function))
    return {name for name in names if inspect.isclass(home.get(name)) and issubclass(home[name], LimberjackError)}
