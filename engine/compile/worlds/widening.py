"""A function for one world → the same for several: which values become vectors, and the text of the whole."""

from __future__ import annotations

import re

from limberjack.engine.compile.compiled import FLOATS, INTS, MATRIX, REAL, VECTOR, WORLDS, Compiled
from limberjack.engine.compile.worlds.calls import Calls
from limberjack.engine.compile.worlds.llvm_text import (
    NAME,
    Block,
    Instruction,
    UnknownCode,
    handed,
    split,
    taken_apart,
)
from limberjack.engine.compile.worlds.parting import Parting

#: arguments by which numba passes an array: memory information, parent, items, item size, data, shape and strides
_OF_ARRAY = {INTS: 7, FLOATS: 7, VECTOR: 7, MATRIX: 9}
_DATA = 4
_PARAMETER = re.compile(rf"^(ptr|i\d+|double)\b(.*?) ?({NAME})$")


def widened(known: Compiled, text: str, worlds: int) -> str:
    """LLVM's text of a function for several worlds, a power of two from 2 to 64. Raises `llvm_text.UnknownCode`."""
    return Widening(known, text, worlds).text()


def declined(known: Compiled, text: str, worlds: int) -> str:
    """The same function where it is not worth widening: its caller finds that worlds disagree, and takes each alone."""
    return Widening(known, text, worlds).declined()


class Widening(Parting, Calls):
    """One function, rewritten."""

    def __init__(self, known: Compiled, text: str, worlds: int) -> None:
        self._head = "\n".join(line for line in text.split("\n") if line.startswith("target "))
        self._header, body, self._notes = taken_apart(text, known.symbol)
        super().__init__(known, body, worlds)

    def text(self) -> str:
        """The module's text. Raises UnknownCode if it has an instruction that cannot be widened."""
        parameters = ", ".join(self._parameters())
        self._classify()
        for block in self._blocks:
            if block.label not in self._inside:
                self._block(block)
        body = "\n".join(self._lines)
        body = re.sub(r"@@(\d+)@@", lambda found: self._ends[self._blocks[int(found[1])].label], body)
        body = re.sub(r"\n?\^\^(.*)", self._vector_here, body)
        declared = "\n".join(dict.fromkeys(self._declared.values()))
        return self._module(parameters, f"{body}\n", declared) + f"\n{self._notes}"

    def declined(self) -> str:
        """The text of a module whose function returns at once."""
        return self._module(", ".join(self._parameters()), "  br label %disagreed\n", "")

    def _module(self, parameters: str, body: str, declared: str) -> str:
        """The module's text but for its notes."""
        kind, apart = ("void", "  store i64 0, ptr %agreed\n  ret void") if self.known.entry else ("i32", "  ret i32 1")
        name = f"@{self.known.symbol}{WORLDS}"
        return (
            f"{self._head}\n{declared}\n\ndefine hidden {kind} {name}({parameters}) {{\n{body}disagreed:\n{apart}\n}}\n"
        )

    def _parameters(self) -> list[str]:
        """The function's parameters; records which are vectors or point to them."""
        spread = self._pointers_to_numbers()
        taken = []
        for i, parameter in enumerate(split(self._header)):
            kind, attributes, name = _PARAMETER.match(parameter).groups()  # type: ignore[union-attr]
            self._types[name] = kind
            if i in spread:
                self._spread.add(name)
            if kind == "double":
                self._varying.add(name)
                one = self.known.entry
                taken.append(f"double {name}.one" if one else f"<{self.worlds} x double> {name}")
            else:
                attributes = re.sub(r" (?:dereferenceable\(\d+\)|align \d+)", "", attributes)
                taken.append(f"{kind}{attributes} {name}")
        return [*taken, *["ptr %agreed"] * self.known.entry]

    def _pointers_to_numbers(self) -> set[int]:
        """Indices of the parameters that point to numbers of all worlds."""
        found, place = set(), 0
        if not self.known.entry:
            found, place = ({0} if self.known.returns == REAL else set()), 2
        for kind in self.known.arguments:
            many = {VECTOR: 2, MATRIX: 3}.get(kind, 1) if self.known.entry else _OF_ARRAY.get(kind, 1)
            if kind in (FLOATS, VECTOR, MATRIX):
                found.add(place if self.known.entry else place + _DATA)
            place += many
        return found

    def _classify(self) -> None:
        """Propagate types, pointers and vectors through the function until nothing changes."""
        every = [each for block in self._blocks for each in block.body if each.result]
        self._types |= {each.result: each.type for each in every}
        self._users = {each.result: set() for each in every}
        for block in self._blocks:
            for each in block.body:
                for name in re.findall(NAME, " ".join(text for text in each.part.values() if text)):
                    self._users.setdefault(name, set()).add(block.label)
        before = -1
        while before != (before := len(self._spread) + len(self._varying)):
            self._find_regions()
            for each in every:
                if each.type == "ptr":
                    if self._is_spread(each):
                        self._spread.add(each.result)
                elif "double" in each.type or self._follows(each):
                    self._varying.add(each.result)

    def _is_spread(self, each: Instruction) -> bool:
        if each.kind == "alloca":
            return "double" in each.part["type"]
        if each.kind == "load":
            raise UnknownCode(f"a pointer in memory: {each}")
        return any(operand in self._spread for operand in each.operands())

    def _follows(self, each: Instruction) -> bool:
        """Whether an integer depends on the numbers of a world."""
        if each.kind == "barrier":  # there all worlds agree
            return False
        if each.kind == "load":
            return each.part["a"] in self._spread
        if each.kind == "call":
            return not each.part["to"].startswith("limberjack_") and any(
                value in self._varying for _, value in handed(each)
            )
        return any(operand in self._varying for operand in each.operands())

    def _block(self, block: Block) -> None:
        self._here = block.label
        self._lines.append(f"{block.label[1:]}:")
        if block is self._blocks[0]:
            self._begin()
        heads = [each for each in block.body if each.kind == "phi"]
        for each in heads:
            self._phi(each)
        if heads:
            self._lines.append("^^" + "\t".join(each.result for each in heads))
        region = self._regions.get(block.label)
        self._body(block.body[len(heads) : -1 if region else None])
        if region:
            self._apart(region)
        self._ends[block.label] = self._here

    def _begin(self) -> None:
        """Make vectors of the scalar parameters."""
        for name, kind in self._types.items():
            if kind == "double" and self.known.entry and re.fullmatch(r"%a\d+", name):
                self._spread_out(name, f"{name}.one", "double")
        plain = [name for name, kind in self._types.items() if re.fullmatch(r"%(a\d+(\.\w)?|arg\..*)", name)]
        self._lines.append("^^" + "\t".join(name for name in plain if name not in self._varying))
