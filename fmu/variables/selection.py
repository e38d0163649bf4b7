"""Which variables an FMU shows: patterns on structured names, from the model file or from the caller.

In a pattern, * stands for any characters and ? for one. A pattern without an index takes a whole vector; with a
vector kept whole, a pattern for one of its elements takes all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from limberjack.engine.common.errors import ArgumentError, ModelError
from limberjack.engine.common.nearest import nearest
from limberjack.engine.files.patterns import PATTERN_REMEDY, compiled, pattern_fault
from limberjack.engine.model.system import System
from limberjack.fmu.variables.variable import Variable


@dataclass(frozen=True)
class Candidate:
    """A variable that may appear. `answers` are more names that select it; `default`: there without a selection;
    `needed`: always there, a selection only makes it an output."""

    variable: Variable
    answers: tuple[str, ...] = ()
    default: bool = False
    needed: bool = False

    def answers_to(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(name) for name in (self.variable.name, *self.answers))


@dataclass(frozen=True)
class Patterns:
    """A selection: its group, the patterns (None: the defaults), and the place in a model file, "" for an argument."""

    group: str
    patterns: tuple[str, ...] | None = None
    where: str = ""


def patterns_of(group: str, given: Sequence[str] | None, system: System) -> Patterns:
    """The caller's patterns of a group if `given`, else the model's. Raises ArgumentError for no list of text."""
    if given is None:
        where = f"{system.source or system.name}, fmu.{group}"
        return Patterns(group, getattr(system.interface, group), where)
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
        raise ArgumentError(f"{group} = {given!r:.80} is not a list of name patterns; give for instance ['hinge.*'].")
    for i, fault in enumerate(pattern_fault(text) for text in given):
        if fault:
            raise ArgumentError(f"{group}[{i}]: {fault}. {PATTERN_REMEDY}.")
    return Patterns(group, tuple(given))


def choose(
    selection: Patterns, candidates: Sequence[Candidate], others: Mapping[str, Iterable[Candidate]]
) -> list[Variable]:
    """The variables of a group. A needed one that is not selected becomes local.

    others : what other groups and couplings offer, for the error about a pattern that matches nothing
    """
    if selection.patterns is None:
        chosen = {id(candidate) for candidate in candidates if candidate.default}
    else:
        chosen = set()
        for i, text in enumerate(selection.patterns):
            pattern = compiled(text)
            found = {id(candidate) for candidate in candidates if candidate.answers_to(pattern)}
            if not found:
                _refuse(selection, i, candidates, others)
            chosen |= found
    listed = []
    for candidate in candidates:
        if id(candidate) in chosen:
            listed.append(candidate.variable)
        elif candidate.needed:
            listed.append(replace(candidate.variable, causality="local"))
    return listed


def _refuse(
    selection: Patterns, index: int, candidates: Sequence[Candidate], others: Mapping[str, Iterable[Candidate]]
) -> None:
    """Raise the error about a pattern that matches nothing, naming the nearest name."""
    text = (selection.patterns or ())[index]
    what = f"the pattern '{text}' matches none of the model's {selection.group}"
    remedy = _remedy(text, selection.group, candidates, others)
    if selection.where:
        raise ModelError(what, where=f"{selection.where}[{index}]", remedy=remedy)
    raise ArgumentError(f"{selection.group}[{index}]: {what}. {remedy}.")


def _remedy(text: str, group: str, candidates: Sequence[Candidate], others: Mapping[str, Iterable[Candidate]]) -> str:
    pattern = compiled(text)
    for other, offered in others.items():
        if any(candidate.answers_to(pattern) for candidate in offered):
            return f"It matches {other}; name it there"
    names = list(
        dict.fromkeys(name for candidate in candidates for name in (candidate.variable.name, *candidate.answers))
    )
    if not names:
        return f"The model has no {group} to choose from; remove the pattern"
    near = nearest(text, names, count=1, cutoff=0.3)
    return f"The nearest name is '{near[0]}'" if near else f"There are for instance '{names[0]}' and '{names[-1]}'"
