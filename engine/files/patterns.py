"""Patterns on the names of variables: * stands for any characters, ? for one, everything else for itself."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

MAX_PATTERN = 1000
PATTERN_REMEDY = (
    "Write a name, * for any characters, ? for one, as in hinge.*.angle; text that is not an identifier in 'quotes'"
)


def compiled(pattern: str) -> re.Pattern[str]:
    """Matches whole names; brackets are indices, not sets of characters."""
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]")))


def pattern_fault(pattern: str) -> str:
    """What is wrong with a pattern, "" if nothing is. Only an export can check whether it matches a name."""
    if not pattern or pattern != pattern.strip():
        return f"the pattern {pattern!r} is empty or begins or ends with a space"
    if len(pattern) > MAX_PATTERN or not pattern.isprintable() or not pattern.isascii():
        return f"the pattern {pattern[:60]!r} is longer than {MAX_PATTERN} characters or not of printable ASCII"
    exact = not set("*?") & set(pattern)
    if exact and re.sub(r"\\.", "", pattern).count("'") % 2:
        return f"the name {pattern!r} has a quote without its partner"
    return ""


@dataclass(frozen=True)
class Interface:
    """Which variables an exported FMU shows: patterns on their names, None for the defaults.

    * stands for any characters, ? for one: ("hinge.*.torque_command", "node.tool.*").
    """

    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    parameters: tuple[str, ...] | None = None
