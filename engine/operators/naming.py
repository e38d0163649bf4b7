"""Names of operators as they were typed, for messages: "H phi K", "I - H psi K", "(I + H phi K)*"."""

from __future__ import annotations

from typing import Any

#: letters of a name as a part of another one; names would double with each turn of a loop like X = X + X A
LONGEST = 200


def bracketed(name: str) -> str:
    """The name as a factor of a product."""
    name = shortened(name)
    outer = _outside_brackets(name)
    return f"({name})" if " + " in outer or " - " in outer or outer.startswith("-") else name


def shortened(name: str) -> str:
    """The name without the middle of a very long one."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2]} … {name[-LONGEST // 4 :]}"


def marked(name: str, mark: str) -> str:
    """The name under a star or as an inverse; twice starred is plain."""
    name = shortened(name)
    if " " in _outside_brackets(name):
        return f"({name}){mark}"
    return name[:-1] if mark == "*" and name.endswith("*") else name + mark


def _outside_brackets(name: str) -> str:
    kept, depth = "", 0
    for letter in name:
        depth += (letter == "(") - (letter == ")")
        kept += letter if depth == 0 else ""
    return kept


def scaled_name(factor: Any, name: str) -> str:
    """The name times a number."""
    return f"-{bracketed(name)}" if factor == -1 else f"{factor:g} {bracketed(name)}"


def sum_name(terms: list[tuple[Any, str]]) -> str:
    """The name of a sum of (factor, name)."""
    text = ""
    for factor, name in terms:
        if factor == 1:
            text += f" + {shortened(name)}" if text else shortened(name)
        elif factor == -1:
            text += f" - {bracketed(name)}" if text else f"-{bracketed(name)}"
        else:
            text += (" + " if text else "") + scaled_name(factor, name)
    return text
