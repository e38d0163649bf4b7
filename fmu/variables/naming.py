"""Structured variable names (FMI 3.0.2, section 2.4.7.5.1, the same in FMI 2.0) and the model identifier.

A name is made of parts joined by points. Apostrophes enclose parts that are not identifiers: hinge.'joint 1'.angle.
Different user names always give different parts: what cannot be written there is written as its code, {U+00E4}.
"""

from __future__ import annotations

import re
import unicodedata

from limberjack.engine.model.catalogue.number import Number

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_Q_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_!#$%&()*+,-./:;<>=?@[]^{}|~ ")
_ESCAPED = frozenset("'\"\\")
_CODE = "{U+"

#: most characters of a model identifier: it is a file name inside the FMU and on every platform
MAX_IDENTIFIER = 64
#: words of C, and names of devices that Windows gives no file
_C_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register",
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while",
)
_DEVICES = (
    "con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9",
    "lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9",
)
_RESERVED = frozenset(word for line in (*_C_WORDS, *_DEVICES) for word in line.split(" "))


def quoted(name: str) -> str:
    """One part of a structured name from a user's name; different names give different parts."""
    if _IDENTIFIER.fullmatch(name):
        return name
    plain = name.replace(_CODE, f"{{U+{ord('{'):04X}}}U+")
    return "'" + "".join(_written(c) for c in plain) + "'"


def _written(character: str) -> str:
    if character in _ESCAPED:
        return "\\" + character
    return character if character in _Q_CHARS else f"{{U+{ord(character):04X}}}"


def place(group: str, user_name: str, leaf: str = "") -> str:
    """A structured name such as hinge.elbow.angle."""
    return ".".join(filter(None, (group, quoted(user_name), leaf)))


def element(name: str, index: int) -> str:
    """The name of one element of a vector; `index` counts from 0, names from 1."""
    return f"{name}[{index + 1}]"


def derivative(name: str) -> str:
    """The name of the time derivative of a variable."""
    return f"der({name})"


def named(number: Number) -> str:
    """The name of a number of the catalogue, or of the vector that it is part of."""
    name = place(*number.path)
    return derivative(name) if number.group in ("qdot", "vdot") else name


def model_identifier(model: str) -> str:
    """A C identifier and portable file name from a model's name: accents are dropped, other characters become _."""
    ascii_name = unicodedata.normalize("NFKD", model).encode("ascii", "ignore").decode()
    identifier = re.sub(r"[^A-Za-z0-9]+", "_", ascii_name).strip("_")[:MAX_IDENTIFIER].rstrip("_")
    if not identifier:
        return "model"
    if identifier[0].isdigit() or identifier.lower() in _RESERVED:
        return f"model_{identifier}"[:MAX_IDENTIFIER]
    return identifier
