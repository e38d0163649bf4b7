"""Names for formats that allow fewer characters than a model: reversible, the same in every export and every run.

A quantity's identifier ("q.left arm/elbow") holds the model's names as they are, which may have any printable
characters. XTCE forbids `.`, `/`, `:`, brackets and spaces; Prometheus, F Prime and COSMOS allow letters, digits and
`_` alone. `safe_name` spells an identifier with these:

    letter or digit of ASCII      itself, but for a digit at the beginning
    .                             __
    _ between letters or digits   itself, unless it begins what could be read as the last line: the _ of "a_x20/b"
    anything else                 _xHEX_ with the hexadecimal number of its code point: a space is _x20_

"q.elbow" is q__elbow, "output.imu_2.x" is output__imu_2__x. It depends on nothing but the name itself, so no name
changes because a model gains another; `original_name` turns it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from limberjack.engine.common.errors import ArgumentError

_PLAIN = re.compile(r"[A-Za-z0-9]")
_ESCAPE = re.compile(r"_x([0-9A-F]{1,6})_")
# Read as an escape once spelled: every character except letters and digits is spelled with a leading _.
_LIKE_ESCAPE = re.compile(r"_x[0-9A-F]{1,6}[^A-Za-z0-9]", re.DOTALL)
_SAFE = re.compile(r"[A-Za-z0-9_]+")
_TOKEN = re.compile(rf"{_ESCAPE.pattern}|(__)|(.)")


def safe_name(name: str) -> str:
    """The name in letters, digits and `_`, not beginning with a digit; different for every name."""
    return "".join(_spelled(name, i) for i in range(len(name)))


def _spelled(name: str, i: int) -> str:
    letter = name[i]
    if letter == ".":
        return "__"
    if _PLAIN.fullmatch(letter) and not (i == 0 and letter.isdigit()):
        return letter
    between = 0 < i < len(name) - 1 and _PLAIN.fullmatch(name[i - 1]) and _PLAIN.fullmatch(name[i + 1])
    if letter == "_" and between and not _LIKE_ESCAPE.match(name, i):
        return letter
    return f"_x{ord(letter):X}_"


def original_name(safe: str) -> str:
    """The name that `safe_name` spelled so. Raises ArgumentError for a text that it never makes."""
    if _SAFE.fullmatch(safe):
        name = "".join(_read(token) for token in _TOKEN.finditer(safe))
        if safe_name(name) == safe:
            return name
    raise ArgumentError(f"{safe!r:.80} is not an exported name; copy it unchanged from the exported dictionary.")


def _read(token: re.Match[str]) -> str:
    code, dot, letter = token.groups()
    if code is None:
        return "." if dot else letter
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else ""


def upper_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names for OpenC3 COSMOS: capitals, digits and single `_`, none at the end; all of them different.

    It does not distinguish "Arm" from "arm" and forbids `__`: "q.elbow" is Q_ELBOW. Of names that would be alike the
    first keeps its name, and the others get _2, _3, … in their order; one of which nothing is left is X.
    """
    taken: set[str] = set()
    found = []
    for name in names:
        plain = candidate = re.sub("_+", "_", safe_name(name).upper()).strip("_") or "X"
        number = 1
        while candidate in taken:
            number += 1
            candidate = f"{plain}_{number}"
        taken.add(candidate)
        found.append(candidate)
    return tuple(found)
