"""A parser of LLVM's text of one function: blocks of instructions, each with its result, kind, types and operands.

It only knows the instructions that occur in the engine's code after LLVM's passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

NAME = r'%(?:"[^"]*"|[\w.$-]+)'
_FLAGS = r"(?:(?:nnan|ninf|nsz|arcp|contract|afn|reassoc|fast|nuw|nsw|exact|disjoint|nneg|samesign|inbounds|nusw) )*"
_TYPE = r"<\d+ x \w+>|\w+"
_VALUE = rf"{NAME}|<[^>]*>|splat \([^)]*\)|[^ ,()]+"

_NOTES = re.compile(r"(?:, ![\w.]+ !\d+)*$")
_RESULT = re.compile(rf"^({NAME}) = (.*)$", re.S)
LABEL = re.compile(r'^("[^"]*"|[\w.$-]+):')
#: kind of instruction → pattern of its text, with groups "head" (flags and predicate), "type", "to", and operands
_FORMS: dict[str, re.Pattern[str]] = {
    kind: re.compile(form, re.S)
    for kind, form in {
        "unary": rf"(?P<head>(?:fneg|freeze) {_FLAGS})(?P<type>{_TYPE}) (?P<a>{_VALUE})",
        "binary": rf"(?P<head>(?:f?add|f?sub|f?mul|[fsu]div|[fsu]rem|shl|[la]shr|and|or|xor) {_FLAGS})"
        rf"(?P<type>{_TYPE}) (?P<a>{_VALUE}), (?P<b>{_VALUE})",
        "compare": rf"(?P<head>[fi]cmp {_FLAGS}\w+ )(?P<type>{_TYPE}) (?P<a>{_VALUE}), (?P<b>{_VALUE})",
        "convert": rf"(?P<head>(?:[su]itofp|fpto[su]i|trunc|[sz]ext|bitcast|ptrtoint) {_FLAGS})(?P<type>{_TYPE}) "
        rf"(?P<a>{_VALUE}) to (?P<to>{_TYPE})",
        "select": rf"select {_FLAGS}(?P<to>{_TYPE}) (?P<a>{_VALUE}), (?P<type>{_TYPE}) (?P<b>{_VALUE}), "
        rf"(?:{_TYPE}) (?P<c>{_VALUE})",
        "phi": rf"phi {_FLAGS}(?P<type>{_TYPE}) (?P<rest>.*)",
        "address": rf"getelementptr (?P<head>{_FLAGS})(?P<type>[^,]+), ptr (?P<a>{_VALUE})"
        rf"(?P<rest>(?:, \w+ (?:{_VALUE}))+)",
        "load": rf"load (?P<type>{_TYPE}), ptr (?P<a>{_VALUE}), align \d+",
        "store": rf"store (?P<type>{_TYPE}) (?P<a>{_VALUE}), ptr (?P<b>{_VALUE}), align \d+",
        "alloca": r"alloca (?P<type>\[[^]]*\]|\w+), align \d+",
        "barrier": rf'(?:tail )?call i64 asm "", "=r,0"\(i64 (?P<a>{_VALUE})\)(?: #\d+)?',
        "call": rf"(?:tail |notail )?call (?P<head>{_FLAGS})(?:[^@]*? )??(?P<type>{_TYPE}) @(?P<to>[\w.]+)"
        r"\((?P<rest>.*)\)(?: #\d+)?",
        "extract": rf"extractelement (?P<type>{_TYPE}) (?P<a>{_VALUE}), i64 (?P<rest>\d+)",
        "insert": rf"insertelement (?P<type>{_TYPE}) (?P<a>{_VALUE}), \w+ (?P<b>{_VALUE}), i64 (?P<rest>\d+)",
        "shuffle": rf"shufflevector (?P<type>{_TYPE}) (?P<a>{_VALUE}), (?:{_TYPE}) (?P<b>{_VALUE}), "
        r"(?P<to><\d+ x i32>) (?P<rest>.*)",
        "branch": rf"br i1 (?P<a>{_VALUE}), label (?P<b>{NAME}), label (?P<c>{NAME})",
        "jump": rf"br label (?P<b>{NAME})",
        "switch": rf"switch (?P<type>i\d+) (?P<a>{_VALUE}), label (?P<b>{NAME}) \[(?P<rest>.*)\]",
        "return": rf"ret (?P<type>{_TYPE})(?: (?P<a>{_VALUE}))?",
        "unreachable": r"unreachable",
    }.items()
}
#: first word of an instruction → its kind when that word last occurred
_KINDS: dict[str, str] = {}


class UnknownCode(Exception):
    """Raised for an instruction that fits none of `_FORMS`."""


@dataclass
class Instruction:
    """One instruction: `part` has the groups of its form; notes are its metadata."""

    kind: str
    result: str
    part: dict[str, str]
    notes: str

    @cached_property
    def type(self) -> str:
        """Type of the result; without a result, type of the value that is stored or compared."""
        if self.kind == "compare":
            count = lanes_of(self.part["type"])
            return f"<{count} x i1>" if count else "i1"
        if self.kind in ("convert",):
            return self.part["to"]
        if self.kind in ("address", "alloca"):
            return "ptr"
        return "i64" if self.kind == "barrier" else self.part.get("type") or ""

    def operands(self) -> list[str]:
        """The values from which the result follows, except addresses."""
        if self.kind == "phi":
            return [value for value, _ in self.incoming()]
        if self.kind in ("load", "alloca"):
            return []
        return [self.part[name] for name in "abc" if self.part.get(name)]

    def incoming(self) -> list[tuple[str, str]]:
        """For a phi: value and label of each block from which it may come."""
        return re.findall(rf"\[ ({_VALUE}), ({NAME}) \]", self.part["rest"])


def lanes_of(kind: str) -> int:
    """How many numbers a vector type has; 0 for a number."""
    return int(kind[1:].split(" ")[0]) if kind.startswith("<") else 0


@dataclass
class Block:
    label: str
    body: list[Instruction]


def instruction(line: str) -> Instruction:
    """An instruction from its text."""
    text = line.strip()
    notes = _NOTES.search(text).group()  # type: ignore[union-attr]
    text = text[: len(text) - len(notes)]
    found = _RESULT.match(text)
    result, text = found.groups() if found else ("", text)
    word = text.partition(" ")[0]
    for kind in dict.fromkeys([_KINDS.get(word, ""), *_FORMS]):
        if kind and (match := _FORMS[kind].fullmatch(text)):
            _KINDS[word] = kind
            return Instruction(kind, result, match.groupdict(), notes)
    raise UnknownCode(text)


def blocks(lines: list[str]) -> Iterator[Block]:
    """The blocks of a function's body."""
    block = Block("", [])
    for line in joined(lines):
        if label := LABEL.match(line):
            if block.body:
                yield block
            block = Block("%" + label.group(1), [])
        elif line.strip() and not line.lstrip().startswith(";"):
            block.body.append(instruction(line))
    yield block


def joined(lines: list[str]) -> Iterator[str]:
    """The lines, with all cases of a switch joined to one line."""
    open_lines: list[str] = []
    for line in lines:
        if open_lines or (line.lstrip().startswith("switch ") and not line.rstrip().endswith("]")):
            open_lines.append(line.strip())
            if line.strip().startswith("]"):
                yield " ".join(open_lines)
                open_lines = []
        else:
            yield line


@lru_cache(maxsize=1)
def taken_apart(text: str, symbol: str) -> tuple[str, list[Block], str]:
    """A module's parts: the function's parameters, its blocks, and the text after all functions. Do not change them."""
    header, lines, notes = parts(text, symbol)
    body = list(blocks(renamed(lines)))
    body[0].label = body[0].label or "%n0"
    return header, body, notes


#: names from this length on are shortened
_LONG = 60


def parts(text: str, symbol: str) -> tuple[str, list[str], str]:
    """A module's parts: the function's parameters, the lines of its body, and the text after all functions."""
    lines = text.split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("define ") and f"@{symbol}(" in line)
    end = lines.index("}", begin)
    header = lines[begin].split(f"@{symbol}(", 1)[1].rpartition(") ")[0]
    notes = [line for line in lines[end:] if line.startswith(("attributes ", "!"))]
    return header, lines[begin + 1 : end], "\n".join(notes)


def renamed(body: list[str]) -> list[str]:
    """The lines with new names, which LLVM accepts in any order and number."""
    short: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        old = found[0]
        if old[1:].isdecimal():
            return f"%n{old[1:]}"
        return old if len(old) < _LONG else short.setdefault(old, f"%long.{len(short)}")

    lines = []
    for line in body:
        if label := LABEL.match(line):
            line = f"{name(re.match(NAME, f'%{label[1]}'))[1:]}:"  # type: ignore[arg-type]
        else:
            notes = line.find(", !")
            text, rest = (line, "") if notes < 0 else (line[:notes], line[notes:])
            line = re.sub(NAME, name, text) + rest
        lines.append(line)
    return lines


def handed(each: Instruction) -> list[tuple[str, str]]:
    """Type and value of each argument of a call."""
    return [
        (text.split()[0], text.split()[-1]) if text[0] != "<" else _typed(text) for text in split(each.part["rest"])
    ]


def _typed(text: str) -> tuple[str, str]:
    kind, _, value = text.partition("> ")
    return f"{kind}>", value.split()[-1]


def split(text: str) -> list[str]:
    """The parts of a text, split at commas outside brackets."""
    return [part.strip() for part in re.findall(r'(?:<[^>]*>|\([^)]*\)|"[^"]*"|[^,<("])+', text) if part.strip()]
