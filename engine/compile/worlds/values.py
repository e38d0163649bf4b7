"""Values of a function for several worlds: which are vectors, their names, and where all worlds have to agree."""

from __future__ import annotations

import re

from limberjack.engine.compile.compiled import Compiled
from limberjack.engine.compile.worlds.llvm_text import Block, Instruction, UnknownCode, lanes_of
from limberjack.engine.compile.worlds.regions import Region, Ways


class Values:
    """What is known about a function's values while its lines are rewritten.

    Lines that begin with ^^ name scalar values; if anything needs such a value as a vector, that line makes it.
    """

    def __init__(self, known: Compiled, body: list[Block], worlds: int) -> None:
        self.known, self.worlds, self._blocks, self._ways = known, worlds, body, Ways(body)
        self._places = {block.label: i for i, block in enumerate(body)}
        self._regions: dict[str, Region] = {}  # by the label of the block that branches
        self._inside: set[str] = set()  # labels of the blocks in regions
        self._types: dict[str, str] = {}
        self._users: dict[str, set[str]] = {}  # value → labels of blocks that need it
        self._spread: set[str] = set()  # pointers to numbers of all worlds
        self._varying: set[str] = set()  # values that are vectors
        self._wanted: set[str] = set()  # scalar values that are also needed as vectors
        self._declared: dict[str, str] = {}  # function that is called → its declaration
        self._lines: list[str] = []
        self._ends: dict[str, str] = {}  # label of a block → label of the block that contains its end
        self._here = ""  # label of the present block
        self._mask = ""  # mask of the worlds that run the present block, if not all do
        self._local: set[str] = set()  # values that the present block computes, if it belongs to a region
        self._made = 0

    def _wide(self, kind: str) -> str:
        """The type of a value for all worlds."""
        count = lanes_of(kind)
        return f"<{count * self.worlds} x {kind[1:-1].split(' x ')[1]}>" if count else f"<{self.worlds} x {kind}>"

    def _as_vector(self, value: str, kind: str) -> str:
        """A value for all worlds."""
        if value in self._varying or value in ("poison", "undef", "zeroinitializer"):
            return value
        if value in self._local:
            name = self._new()
            self._spread_out(name, value, kind)
            return name
        if value.startswith("%"):
            self._wanted.add(value)
            return vector_name(value)
        if value.startswith("<"):
            each = [item.strip() for item in value[1:-1].split(",")]
            return f"<{', '.join(item for item in each for _ in range(self.worlds))}>"
        return value if value.startswith("splat") else f"splat ({kind} {value})"

    def _new(self) -> str:
        self._made += 1
        return f"%w.{self._made}"

    def _put(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def _plain(self, each: Instruction, text: str) -> None:
        self._put(f"{each.result} = {text}")

    def _agreed(self, value: str, kind: str) -> str:
        """The integer that all worlds share; if they differ, the function returns."""
        if value not in self._varying:
            return value
        if lanes_of(kind):
            raise UnknownCode(f"worlds would have to agree on a vector, {value}")
        first, same, mask, bits, agree = (self._new() for _ in range(5))
        worlds = self.worlds
        self._put(f"{first} = extractelement {self._wide(kind)} {value}, i64 {self._any_running()}")
        self._spread_out(f"{same}", first, kind)
        self._put(f"{mask} = icmp eq {self._wide(kind)} {value}, {same}")
        if self._mask:
            mask, alike, others = self._new(), mask, self._new()
            self._put(f"{others} = xor <{worlds} x i1> {self._mask}, splat (i1 true)")
            self._put(f"{mask} = or <{worlds} x i1> {alike}, {others}")
        self._put(f"{bits} = bitcast <{worlds} x i1> {mask} to i{worlds}")
        self._put(f"{agree} = icmp eq i{worlds} {bits}, -1")
        self._here = f"%w.agreed.{self._made}"
        self._put(f"br i1 {agree}, label {self._here}, label %disagreed")
        self._lines.append(f"{self._here[1:]}:")
        return first

    def _any_running(self) -> str:
        """Index of a world that runs the present block."""
        if not self._mask:
            return "0"
        bits, first, place, worlds = self._new(), self._new(), self._new(), self.worlds
        self._put(f"{bits} = bitcast <{worlds} x i1> {self._mask} to i{worlds}")
        self._put(f"{first} = call i{worlds} @llvm.cttz.i{worlds}(i{worlds} {bits}, i1 true)")
        self._put(f"{place} = zext i{worlds} {first} to i64")
        self._declared["cttz"] = f"declare i{worlds} @llvm.cttz.i{worlds}(i{worlds}, i1 immarg)"
        return place

    def _mask_for(self, mask: str, kind: str) -> str:
        """A mask of worlds as a mask for values of a type, which may be vectors themselves."""
        count, worlds = lanes_of(kind), self.worlds
        if not count:
            return mask
        tiled = self._new()
        order = ", ".join(f"i32 {world}" for _ in range(count) for world in range(worlds))
        few, places = f"<{worlds} x i1>", f"<{count * worlds} x i32>"
        self._put(f"{tiled} = shufflevector {few} {mask}, {few} poison, {places} <{order}>")
        return tiled

    def _spread_out(self, name: str, value: str, kind: str) -> None:
        for line in self._spread_lines(name, value, kind):
            self._put(line)

    def _spread_lines(self, name: str, value: str, kind: str) -> list[str]:
        """Put a vector that holds a value once for every world."""
        worlds = self.worlds
        if count := lanes_of(kind):
            order = ", ".join(f"i32 {i}" for i in range(count) for _ in range(worlds))
            return [f"{name} = shufflevector {kind} {value}, {kind} poison, <{count * worlds} x i32> <{order}>"]
        first = f'%"{name[1:].strip(chr(34))}.0"'
        return [
            f"{first} = insertelement <{worlds} x {kind}> poison, {kind} {value}, i64 0",
            f"{name} = shufflevector <{worlds} x {kind}> {first}, <{worlds} x {kind}> poison, "
            f"<{worlds} x i32> zeroinitializer",
        ]

    def _vector_here(self, found: re.Match[str]) -> str:
        """The lines that make a vector of a value right after the value, if anything needs it."""
        lines = [
            f"\n  {line}"
            for value in found[1].split("\t")
            if value in self._wanted
            for line in self._spread_lines(vector_name(value), value, self._types[value])
        ]
        return "".join(lines)


def vector_name(value: str) -> str:
    """The name of the vector that holds a scalar value once for every world."""
    return named(value, "w")


def named(name: str, ending: str) -> str:
    """A name made from another."""
    return f'%"{name[1:].strip(chr(34))}.{ending}"'
