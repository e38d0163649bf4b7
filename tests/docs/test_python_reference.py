"""The page of the Python API has every public name, and docstrings say what their signatures need.

Read from the signatures: each parameter is named, arrays have shapes and units, plain numbers units, results both;
what a function raises itself is named. A class may say it once for its methods. A docstring explains no parameter that
the signature does not have. Tests damage docstrings and see each of these refused.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
import limberjack.bridge
import limberjack.engine.modes
import limberjack.engine.operators
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.engine.model.elements.facts import facts_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"
TEXT = PAGE.read_text(encoding="utf-8")
LISTED = re.findall(r"^\.\. auto(?:class|function|exception):: limberjack\.(\S+)$", TEXT, re.M)
WITH_MEMBERS = re.findall(r"^\.\. autoclass:: limberjack\.(\S+)\n   :members:$", TEXT, re.M)
SHAPE = r"\((?:\d+|[\w.+* ]+),(?:[^()]*)\)"
_UNITS = r"(?:s|m|kg|rad|Hz|N|J|ratio|ratios|SI|1)(?![\w-])"  # or with more of them: m/s², N·m, kg·m², 1/s
#: a unit after a word that announces one, or a bracket
A_UNIT = rf"(?:[,:;] |\(| in | or | and |\) )(?:unit )?{_UNITS}"
#: in the part of a line that begins with the name, up to the next name
UNIT = rf"[^\n;]*?{A_UNIT}"
#: numbers without a unit, said in words
BARE = r"matrix that takes|rotation|quaternion|direction|\baxis|\baxes of|unit vector|numbers?\b|indices|which of"
ARRAY = re.compile(r"ArrayLike|ndarray")
FLOAT = re.compile(r"\bfloat\b")
#: the rest of what a docstring says of a name: up to the next one after a semicolon, or the next line that explains one
ENTRY = r"(?:[^;\n]|\n {4,})*?"
#: names that a line explains: "q, v : ..." or "q (nq,), v (nv,) : ...", also after a semicolon
DEFINED = re.compile(r"(?:^|; +)((?:`{0,2}[A-Za-z_]\w*`{0,2}(?: \([^()]*\))?(?:, )?)+) :(?= |$)", re.M)
#: lines that explain parameters, with what belongs to them
PARAMETERS = re.compile(
    r"^`{0,2}[A-Za-z_]\w*`{0,2}(?:(?: \([^()]*\))?, `{0,2}\w+`{0,2})*(?: \([^()]*\))? :(?: .*)?(?:\n +.*)*", re.M
)
#: packages that say what of them is public
PACKAGES = (lj, limberjack.bridge, limberjack.engine.modes, limberjack.engine.operators)


def found(name: str) -> object:
    """What a name of the page means; a package's own names go before its modules."""
    thing, path = lj, "limberjack"
    for part in name.split("."):
        path += f".{part}"
        thing = getattr(thing, part) if hasattr(thing, part) else import_module(path)
    return thing


def functions() -> Iterator[tuple[str, object, str, str]]:
    """(name, function, its docstring, that of its class) of all that the page shows."""
    for name in LISTED:
        thing = found(name)
        if not inspect.isclass(thing):
            yield name, thing, inspect.getdoc(thing) or "", ""
            continue
        about = _with_bases(thing)
        if name in WITH_MEMBERS:
            for member in sorted(vars(thing)):
                function = _function(inspect.getattr_static(thing, member))
                if function is not None and not member.startswith("_"):
                    said = inspect.getdoc(getattr(thing, member)) or ""
                    yield f"{name}.{member}", function, said, about
        yield name, thing, about, ""


def _with_bases(thing: type) -> str:
    """The docstring of a class and those of the classes of ours that it has its fields from."""
    ours = [base for base in thing.__mro__ if base.__module__.startswith("limberjack")]
    return "\n".join(inspect.getdoc(base) or "" for base in ours)


def _function(member: object) -> object:
    """What is called, of methods and properties."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    return member if inspect.isfunction(member) else None


CASES = list(functions())
IDS = [case[0] for case in CASES]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_the_page_has_every_public_name(package):
    prefix = f"{package.__name__}.".removeprefix("limberjack.")
    listed = {name.removeprefix(prefix) for name in LISTED if name.startswith(prefix)}
    elsewhere = {"__version__", *(lj.__all__ if package is not lj else ())}  # shown as limberjack's own
    assert set(package.__all__) - elsewhere == {name for name in listed if "." not in name}


@pytest.mark.parametrize(("name", "function", "said", "about"), CASES, ids=IDS)
def test_a_docstring_says_what_the_signature_needs(name, function, said, about):
    assert said, f"{name} has no docstring"
    assert list(missing(function, said, f"{said}\n{about}")) == []


def missing(function: object, said: str, text: str) -> Iterator[str]:
    """What is not in a docstring. said : its own;  text : with that of its class"""
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
        elif ARRAY.search(kind) and "Callable" not in kind:
            if not re.search(rf"\b{name}\b{ENTRY}(?:{A_UNIT}|{BARE})", text):
                yield f"no unit of {name}"
        elif kind in ("float", "float | None") and not re.search(rf"\b{name}\b{UNIT}", text) and name[-2:] != "_s":
            yield f"no unit of {name}"
    result = PARAMETERS.sub("", said)
    if ARRAY.search(str(signature.return_annotation)) and not re.search(SHAPE, result):
        yield "no shape of the result"
    if FLOAT.search(str(signature.return_annotation)) and not re.search(A_UNIT, result):
        yield "no unit of the result"
    yield from (f"{name} is no parameter" for name in defined(said) - allowed(function))
    yield from (f"no word about {error}" for error in raised(function) if error not in text)


def defined(said: str) -> set[str]:
    """Names that a docstring explains."""
    bare = (re.sub(r"\([^()]*\)", "", entry) for entry in DEFINED.findall(said))
    return {name for entry in bare for name in re.findall(r"\w+", entry)}


def allowed(function: object) -> set[str]:
    """Names that a docstring may explain: parameters, attributes and fields, a class's methods' parameters, errors."""
    names = set(inspect.signature(function).parameters) | {name for name in dir(lj) if name.endswith("Error")}
    if inspect.isclass(function):
        ours = [base for base in function.__mro__ if base.__module__.startswith("limberjack")]
        members = [_function(inspect.getattr_static(function, name)) for name in dir(function)]
        names.update(dir(function), *(vars(base).get("__annotations__", {}) for base in ours))
        names.update(*(inspect.signature(member).parameters for member in members if member is not None))
        names.update(*(re.findall(r"\bself\.(\w+)", inspect.getsource(base)) for base in ours))
    return names


def raised(function: object) -> set[str]:
    """Names of our errors that the function itself raises."""
    if inspect.isclass(function):
        return set()
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    names = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    home = vars(inspect.getmodule(function))
    return {name for name in names if inspect.isclass(home.get(name)) and issubclass(home[name], LimberjackError)}


def _explained(value: float, name: str = "x") -> float:
    """The same again, N.

    value : a number, m;  name : of it

    Raises ArgumentError for an empty name.
    """
    if not name:
        raise ArgumentError("the name is empty.")
    return value


def _at_state(q: np.ndarray) -> np.ndarray:
    """Accelerations (nv,), m/s².

    q : coordinates (nq,), rad
    """
    return q


@pytest.mark.parametrize(
    ("function", "said", "instead", "found"),
    [
        (_explained, "", "", []),
        (_at_state, "", "", []),
        (_explained, "a number, m", "a number", ["no unit of value"]),
        (_explained, "a number, m;", "a number;  other : m;", ["no unit of value", "other is no parameter"]),
        (_explained, "again, N", "again", ["no unit of the result"]),
        (_explained, "value :", "amount :", ["amount is no parameter", "no word about value"]),
        (_explained, "name : of it", "title : of it", ["title is no parameter"]),
        (_explained, "Raises ArgumentError for", "Raises for", ["no word about ArgumentError"]),
        (_at_state, "(nq,), rad", "(nq,)", ["no unit of q"]),
        (_at_state, "coordinates (nq,), rad", "coordinates, rad", ["no shape of q"]),
        (_at_state, "(nv,), ", "", ["no shape of the result"]),
    ],
)
def test_a_damaged_docstring_is_refused(function, said, instead, found):
    text = inspect.getdoc(function) or ""
    damaged = text.replace(said, instead) if said else text
    assert sorted(missing(function, damaged, damaged)) == found
