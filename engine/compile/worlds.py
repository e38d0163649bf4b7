"""Code for one world → code for several worlds at once: every number becomes a vector, one number for each world.

What is rewritten is LLVM's text of an entry or routine after the passes, so each kernel is written once, and a world
among others takes the operations that it takes alone, in the same order.

Memory: an array of float64 becomes one of vectors, each number beside that of the next world. Integers are those of the
topology, one for all. Control is shared: where a branch, an address or a stored integer follows from numbers, all
worlds have to agree. Where they do not, the code ends at once, half done, and its caller takes these worlds alone. An
entry says in the last of its arguments how many worlds it took, or 0 where they disagreed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from limberjack.engine.compile.compiled import FLOATS, INTS, MATRIX, REAL, VECTOR, WORLDS, Compiled
from limberjack.engine.compile.llvm_text import LABEL, NAME, Block, Instruction, UnknownCode, blocks, lanes_of
from limberjack.engine.compile.regions import Region, Ways

#: arguments that numba makes of an array: memory information, parent, items, item size, data, shape and strides
_OF_ARRAY = {INTS: 7, FLOATS: 7, VECTOR: 7, MATRIX: 9}
_DATA = 4
#: calls that say something to LLVM's passes alone
_DROPPED = ("llvm.lifetime.", "llvm.assume")
#: functions of the C library that processors have as an instruction
_INSTRUCTIONS = {"sqrt": "llvm.sqrt.f64"}
#: names of this length are shortened
_LONG = 60
_PARAMETER = re.compile(rf"^(ptr|i\d+|double)\b(.*?) ?({NAME})$")


class Widening:
    """One function, rewritten for a number of worlds that is a power of two from 2 to 64."""

    def __init__(self, known: Compiled, text: str, worlds: int) -> None:
        self.known, self.worlds = known, worlds
        self._head = "\n".join(line for line in text.split("\n") if line.startswith("target "))
        self._header, body, self._notes = _parts(text, known.symbol)
        self._blocks = list(blocks(_renamed(body)))
        self._blocks[0].label = self._blocks[0].label or "%n0"
        self._ways = Ways(self._blocks)
        self._local: set[str] = set()  # what the present block of a region makes
        self._users: dict[str, set[str]] = {}  # value → labels of blocks that need it
        self._mask = ""  # of the worlds that run the present block, where that is not all
        self._types: dict[str, str] = {}
        self._spread: set[str] = set()  # pointers to numbers of all worlds
        self._varying: set[str] = set()  # values that are vectors
        self._wanted: set[str] = set()  # values of one number that are needed as vectors too
        self._declared: dict[str, str] = {}
        self._lines: list[str] = []
        self._ends: dict[str, str] = {}  # label of a block → of the one that its end is in
        self._here = ""
        self._made = 0

    def text(self) -> str:
        """The module's text. UnknownCode where it has an instruction that cannot be widened."""
        parameters = self._parameters()
        self._classify()
        for block in self._blocks:
            if block.label not in self._inside:
                self._block(block)
        body = "\n".join(self._lines)
        body = re.sub(r"@@(\d+)@@", lambda found: self._ends[self._blocks[int(found[1])].label], body)
        body = re.sub(r"\n?\^\^(.*)", self._vector_here, body)
        kind, apart = ("void", "  store i64 0, ptr %agreed\n  ret void") if self.known.entry else ("i32", "  ret i32 1")
        parameters += ["ptr %agreed"] * self.known.entry
        declared = "\n".join(dict.fromkeys(self._declared.values()))
        return (
            f"{self._head}\n{declared}\n\ndefine hidden {kind} @{self.known.symbol}{WORLDS}({', '.join(parameters)}) {{\n"
            f"{body}\ndisagreed:\n{apart}\n}}\n\n{self._notes}"
        )

    # what is a vector, and what points to vectors

    def _parameters(self) -> list[str]:
        """The function's parameters; notes which are vectors or point to them."""
        spread = self._pointers_to_numbers()
        taken = []
        for i, parameter in enumerate(_split(self._header)):
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
        return taken

    def _pointers_to_numbers(self) -> set[int]:
        """Which parameters, by place, point to numbers of all worlds."""
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
        """Follow types, pointers and vectors through the function until nothing is added."""
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

    def _find_regions(self) -> None:
        """Find the outermost regions in which worlds may part; where their ways meet, numbers are those of each."""
        self._regions: dict[str, Region] = {}
        inside: set[str] = set()
        for block in self._blocks:
            end = block.body[-1]
            parts = end.kind == "branch" and end.part["a"] in self._varying
            if parts and block.label not in inside and (region := self._ways.region(block.label)):
                met = self._ways.blocks[region.meet].body
                if any(each.type == "ptr" and self._joins(each) for each in met):
                    continue
                if all(self._may_mask(self._ways.blocks[label]) for label in region.blocks):
                    self._regions[region.head] = region
                    inside |= {*region.blocks}
                    for label in (*region.blocks, region.meet):
                        self._varying |= {each.result for each in self._ways.blocks[label].body if self._joins(each)}
        self._inside = inside

    @staticmethod
    def _joins(each: Instruction) -> bool:
        """Whether this is what ways bring to where they meet."""
        return each.kind == "phi" and len(set(each.operands())) > 1

    def _may_mask(self, block: Block) -> bool:
        """Whether a block may be run while some worlds take another way."""
        return all(self._may_run(each) for each in block.body)

    def _may_run(self, each: Instruction) -> bool:
        if each.kind in ("return", "switch", "unreachable", "alloca", "barrier"):
            return False
        if each.kind == "call":
            return each.part["to"].startswith("llvm.") and not each.part["to"].startswith("llvm.mem")
        if each.kind == "store":
            return each.part["b"] in self._spread
        if each.kind == "phi" and each.type == "ptr":
            return False
        return not (each.kind == "binary" and each.part["head"][1:4] in ("div", "rem") and each.result in self._varying)

    def _is_spread(self, each: Instruction) -> bool:
        if each.kind == "alloca":
            return "double" in each.part["type"]
        if each.kind == "load":
            raise UnknownCode(f"a pointer in memory: {each}")
        return any(operand in self._spread for operand in each.operands())

    def _follows(self, each: Instruction) -> bool:
        """Whether an integer follows from numbers."""
        if each.kind == "load":
            return each.part["a"] in self._spread
        if each.kind == "call":
            return not each.part["to"].startswith("limberjack_") and any(
                value in self._varying for _, value in _given(each)
            )
        return any(operand in self._varying for operand in each.operands())

    # values

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
            return _vector_name(value)
        if value.startswith("<"):
            each = [item.strip() for item in value[1:-1].split(",")]
            return f"<{', '.join(item for item in each for _ in range(self.worlds))}>"
        return value if value.startswith("splat") else f"splat ({kind} {value})"

    def _new(self) -> str:
        self._made += 1
        return f"%w.{self._made}"

    def _put(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def _agreed(self, value: str, kind: str) -> str:
        """The integer that all worlds have; where they differ, the function ends."""
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
        """The place of a world that runs the present block."""
        if not self._mask:
            return "0"
        bits, first, place, worlds = self._new(), self._new(), self._new(), self.worlds
        self._put(f"{bits} = bitcast <{worlds} x i1> {self._mask} to i{worlds}")
        self._put(f"{first} = call i{worlds} @llvm.cttz.i{worlds}(i{worlds} {bits}, i1 true)")
        self._put(f"{place} = zext i{worlds} {first} to i64")
        self._declared["cttz"] = f"declare i{worlds} @llvm.cttz.i{worlds}(i{worlds}, i1 immarg)"
        return place

    def _spread_out(self, name: str, value: str, kind: str) -> None:
        for line in self._spread_lines(name, value, kind):
            self._put(line)

    def _spread_lines(self, name: str, value: str, kind: str) -> list[str]:
        """Give a vector that has a value for every world."""
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
        """The lines that spread a value out where it is made, if something needs that."""
        lines = [
            f"\n  {line}"
            for value in found[1].split("\t")
            if value in self._wanted
            for line in self._spread_lines(_vector_name(value), value, self._types[value])
        ]
        return "".join(lines)

    # instructions

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

    def _body(self, instructions: Sequence[Instruction]) -> None:
        for each in instructions:
            getattr(self, f"_{each.kind}")(each)
            if each.result and each.result not in self._varying and each.type != "ptr" and not self._mask:
                self._lines.append(f"^^{each.result}")

    # regions in which worlds part

    def _apart(self, region: Region) -> None:
        """Run the blocks of a region one after the other, each for the worlds whose way leads through it."""
        every = "splat (i1 true)"
        edges = self._edges(region.head, every)
        for label in region.blocks:
            edges |= self._masked_block(region, label, edges)
        for each in self._ways.blocks[region.meet].body:
            if each.kind == "phi":
                self._put_choice(self._met(region, each), each, edges, region.meet)
        self._put(f"br label {region.meet}")

    def _met(self, region: Region, phi: Instruction) -> str:
        """What a phi where ways meet gets from a region."""
        return _named(phi.result, "met." + region.head[1:].strip('"'))

    def _edges(self, label: str, mask: str) -> dict[tuple[str, str], str]:
        """For each way out of a block: the mask of the worlds that take it."""
        end, kind = self._ways.blocks[label].body[-1], f"<{self.worlds} x i1>"
        if end.kind == "jump" or end.part["b"] == end.part["c"]:
            return {(label, end.part["b"]): mask}
        condition = self._as_vector(end.part["a"], "i1")
        yes, no, inverse = self._new(), self._new(), self._new()
        self._put(f"{yes} = and {kind} {mask}, {condition}")
        self._put(f"{inverse} = xor {kind} {condition}, splat (i1 true)")
        self._put(f"{no} = and {kind} {mask}, {inverse}")
        return {(label, end.part["b"]): yes, (label, end.part["c"]): no}

    def _masked_block(
        self, region: Region, label: str, edges: dict[tuple[str, str], str]
    ) -> dict[tuple[str, str], str]:
        """Run a block if any world takes it; returns the masks of the ways out of it."""
        block, kind, worlds = self._ways.blocks[label], f"<{self.worlds} x i1>", self.worlds
        mask = self._either([edges[way] for way in edges if way[1] == label])
        bits, some = self._new(), self._new()
        self._put(f"{bits} = bitcast {kind} {mask} to i{worlds}")
        self._put(f"{some} = icmp ne i{worlds} {bits}, 0")
        before, inner, past = self._here, _named(label, "in"), _named(label, "past")
        self._put(f"br i1 {some}, label {inner}, label {past}")
        self._lines.append(f"{inner[1:]}:")
        self._here, self._mask, self._local = inner, mask, {each.result for each in block.body}
        start = len(self._lines)
        heads = [each for each in block.body if each.kind == "phi"]
        for each in heads:
            self._put_choice(each.result, each, edges, label)
        self._body(block.body[len(heads) : -1])
        ways = self._edges(label, mask)
        self._put(f"br label {past}")
        self._mask, self._local = "", set()
        made = [each.result for each in block.body if each.result and self._users[each.result] - {label}]
        self._rename(start, {name: _named(name, "in") for name in made})
        return self._past(past, before, made, ways)

    def _past(
        self, past: str, before: str, made: list[str], ways: dict[tuple[str, str], str]
    ) -> dict[tuple[str, str], str]:
        """Where a block of a region is over, or was passed by: what it made, and the masks of the ways out of it."""
        inner_end, self._here = self._here, past
        self._lines.append(f"{past[1:]}:")
        kind, masks = f"<{self.worlds} x i1>", {}
        for way, mask in ways.items():
            masks[way] = self._new()
            self._put(f"{masks[way]} = phi {kind} [ {mask}, {inner_end} ], [ zeroinitializer, {before} ]")
        for name in made:
            wide = self._wide(self._types[name]) if name in self._varying else self._types[name]
            self._put(f"{name} = phi {wide} [ {_named(name, 'in')}, {inner_end} ], [ poison, {before} ]")
        plain = [name for name in made if name not in self._varying and self._types[name] != "ptr"]
        if plain:
            self._lines.append("^^" + "\t".join(plain))
        return masks

    def _rename(self, start: int, names: dict[str, str]) -> None:
        """Call values by other names in the lines from `start` on."""
        for i in range(start, len(self._lines)):
            self._lines[i] = re.sub(NAME, lambda found: names.get(found[0], found[0]), self._lines[i])

    def _either(self, masks: list[str]) -> str:
        """The mask of worlds that are in one of several."""
        whole = masks[0]
        for mask in masks[1:]:
            both = self._new()
            self._put(f"{both} = or <{self.worlds} x i1> {whole}, {mask}")
            whole = both
        return whole

    def _put_choice(self, name: str, phi: Instruction, edges: dict[tuple[str, str], str], label: str) -> None:
        """Give what a phi brings from the ways to a block, for each world that of its own way."""
        kind, ways = phi.part["type"], [way for way in phi.incoming() if (way[1], label) in edges]
        if phi.result not in self._varying:
            self._put(f"{name} = select i1 true, {kind} {ways[0][0]}, {kind} {ways[0][0]}")
            return
        wide, value = self._wide(kind), self._as_vector(ways[0][0], kind)
        for other, come_from in ways[1:]:
            chosen, mask = self._new(), self._mask_for(edges[come_from, label], kind)
            of = f"<{lanes_of(wide)} x i1>"
            self._put(f"{chosen} = select {of} {mask}, {wide} {self._as_vector(other, kind)}, {wide} {value}")
            value = chosen
        self._put(f"{name} = bitcast {wide} {value} to {wide}")

    def _mask_for(self, mask: str, kind: str) -> str:
        """A mask of worlds as one of values of a kind, which may be vectors themselves."""
        count, worlds = lanes_of(kind), self.worlds
        if not count:
            return mask
        tiled = self._new()
        order = ", ".join(f"i32 {world}" for _ in range(count) for world in range(worlds))
        self._put(
            f"{tiled} = shufflevector <{worlds} x i1> {mask}, <{worlds} x i1> poison, <{count * worlds} x i32> <{order}>"
        )
        return tiled

    def _begin(self) -> None:
        """Parameters of one number, as vectors."""
        for name, kind in list(self._types.items()):
            if kind == "double" and self.known.entry and name in self._varying and f"{name}.one" not in self._types:
                if re.fullmatch(r"%a\d+", name):
                    self._spread_out(name, f"{name}.one", "double")
        plain = [name for name, kind in self._types.items() if re.fullmatch(r"%(a\d+(\.\w)?|arg\..*)", name)]
        self._lines.append("^^" + "\t".join(name for name in plain if name not in self._varying))

    def _phi(self, each: Instruction) -> None:
        kind = each.part["type"]
        places = {block.label: i for i, block in enumerate(self._blocks)}
        varying = each.result in self._varying
        taken = ", ".join(
            f"[ {self._as_vector(value, kind) if varying else value}, @@{places[label]}@@ ]"
            for value, label in self._ways_in(each)
        )
        self._put(f"{each.result} = phi {self._wide(kind) if varying else kind} {taken}")

    def _ways_in(self, phi: Instruction) -> list[tuple[str, str]]:
        """Value and label of each block that leads to a phi, a region being one."""
        ways = phi.incoming()
        for region in self._regions.values():
            if region.meet == self._here:
                inside = [way for way in ways if way[1] in (region.head, *region.blocks)]
                ways = [way for way in ways if way not in inside]
                met = self._met(region, phi)
                if phi.result in self._varying:
                    self._varying.add(met)
                ways.append((met, region.head))
        return ways

    def _plain(self, each: Instruction, text: str) -> None:
        self._put(f"{each.result} = {text}")

    def _unary(self, each: Instruction) -> None:
        part = each.part
        if each.result in self._varying:
            self._plain(each, f"{part['head']}{self._wide(part['type'])} {self._as_vector(part['a'], part['type'])}")
        else:
            self._plain(each, f"{part['head']}{part['type']} {part['a']}")

    def _binary(self, each: Instruction) -> None:
        part, kind = each.part, each.part["type"]
        if each.result in self._varying:
            a, b = (self._as_vector(part[name], kind) for name in "ab")
            self._plain(each, f"{part['head']}{self._wide(kind)} {a}, {b}")
        else:
            self._plain(each, f"{part['head']}{kind} {part['a']}, {part['b']}")

    _compare = _binary

    def _convert(self, each: Instruction) -> None:
        part = each.part
        if part["a"] in self._varying:
            a = self._as_vector(part["a"], part["type"])
            self._plain(each, f"{part['head']}{self._wide(part['type'])} {a} to {self._wide(part['to'])}")
        elif each.result in self._varying:
            one = self._new()
            self._put(f"{one} = {part['head']}{part['type']} {part['a']} to {part['to']}")
            self._spread_out(each.result, one, part["to"])
        else:
            self._plain(each, f"{part['head']}{part['type']} {part['a']} to {part['to']}")

    def _select(self, each: Instruction) -> None:
        part, kind = each.part, each.part["type"]
        if each.result not in self._varying:
            condition = self._agreed(part["a"], part["to"])
            self._plain(each, f"select {part['to']} {condition}, {kind} {part['b']}, {kind} {part['c']}")
            return
        b, c = self._as_vector(part["b"], kind), self._as_vector(part["c"], kind)
        whole = part["a"] not in self._varying and not lanes_of(part["to"])
        condition = part["a"] if whole else self._as_vector(part["a"], part["to"])
        of = part["to"] if whole else self._wide(part["to"] if lanes_of(part["to"]) else "i1")
        if not whole and lanes_of(kind) and not lanes_of(part["to"]):
            condition, of = self._mask_for(condition, kind), f"<{lanes_of(self._wide(kind))} x i1>"
        self._plain(each, f"select {of} {condition}, {self._wide(kind)} {b}, {self._wide(kind)} {c}")

    def _address(self, each: Instruction) -> None:
        part = each.part
        indices = re.findall(r", (\w+) (\S+)", part["rest"])
        given = "".join(f", {kind} {self._agreed(value.rstrip(','), kind)}" for kind, value in indices)
        kind = part["type"]
        if each.result in self._spread:
            kind = self._stretched(kind)
        self._plain(each, f"getelementptr {part['head']}{kind}, ptr {part['a']}{given}")

    def _stretched(self, kind: str) -> str:
        """A type in memory with a place for every world where it had one."""
        return re.sub(r"<\d+ x \w+>|\bi\d+\b|\bdouble\b", lambda found: f"[{self.worlds} x {found[0]}]", kind)

    def _load(self, each: Instruction) -> None:
        kind, address = each.part["type"], each.part["a"]
        if address in self._spread:
            self._put(f"{each.result} = load {self._wide(kind)}, ptr {address}, align {8 * self.worlds}{each.notes}")
        elif each.result in self._varying:
            one = self._new()
            self._put(f"{one} = load {kind}, ptr {address}, align 8")
            self._spread_out(each.result, one, kind)
        else:
            self._put(f"{each.result} = load {kind}, ptr {address}, align 8{each.notes}")

    def _store(self, each: Instruction) -> None:
        kind, value, address = each.part["type"], each.part["a"], each.part["b"]
        if address in self._spread:
            if self._mask:
                self._masked_store(kind, value, address)
                return
            wide = self._as_vector(value, kind)
            self._put(f"store {self._wide(kind)} {wide}, ptr {address}, align {8 * self.worlds}{each.notes}")
        elif "double" in kind:
            raise UnknownCode(f"a number among integers: {each}")
        else:
            self._put(f"store {kind} {self._agreed(value, kind)}, ptr {address}, align 1{each.notes}")

    def _masked_store(self, kind: str, value: str, address: str) -> None:
        wide, mask, given = self._wide(kind), self._mask_for(self._mask, kind), self._as_vector(value, kind)
        count = lanes_of(wide)
        name = f"llvm.masked.store.v{count}{'f64' if 'double' in kind else wide[1:-1].split(' x ')[1]}.p0"
        self._declared[name] = f"declare void @{name}({wide}, ptr, i32 immarg, <{count} x i1>)"
        self._put(f"call void @{name}({wide} {given}, ptr {address}, i32 {8 * self.worlds}, <{count} x i1> {mask})")

    def _alloca(self, each: Instruction) -> None:
        kind = each.part["type"]
        if each.result in self._spread:
            self._plain(each, f"alloca {self._stretched(kind)}, align {8 * self.worlds}")
        else:
            self._plain(each, f"alloca {kind}, align 8")

    def _barrier(self, each: Instruction) -> None:
        self._plain(each, f'call i64 asm "", "=r,0"(i64 {self._agreed(each.part["a"], "i64")})')

    def _extract(self, each: Instruction) -> None:
        part, worlds = each.part, self.worlds
        if each.result not in self._varying:
            self._plain(each, f"extractelement {part['type']} {part['a']}, i64 {part['rest']}")
            return
        self._shuffled(each.result, part["type"], part["a"], "poison", [int(part["rest"])])

    def _insert(self, each: Instruction) -> None:
        part, count = each.part, lanes_of(each.part["type"])
        if each.result not in self._varying:
            one = part["type"][1:-1].split(" x ")[1]
            self._plain(each, f"insertelement {part['type']} {part['a']}, {one} {part['b']}, i64 {part['rest']}")
            return
        one, long = part["type"][1:-1].split(" x ")[1], self._new()
        order = ", ".join(f"i32 {i}" if i < self.worlds else "i32 poison" for i in range(count * self.worlds))
        short = self._wide(one)
        self._put(
            f"{long} = shufflevector {short} {self._as_vector(part['b'], one)}, {short} poison, "
            f"<{count * self.worlds} x i32> <{order}>"
        )
        self._varying.add(long)
        places = [count if i == int(part["rest"]) else i for i in range(count)]
        self._shuffled(each.result, part["type"], part["a"], long, places)

    def _shuffle(self, each: Instruction) -> None:
        part = each.part
        if each.result not in self._varying:
            self._plain(
                each,
                f"shufflevector {part['type']} {part['a']}, {part['type']} {part['b']}, {part['to']} {part['rest']}",
            )
            return
        count = lanes_of(part["to"])
        listed = [word.split()[-1] for word in part["rest"].strip("<>").split(",")]
        places = [0] * count if part["rest"] == "zeroinitializer" else [-1 if p == "poison" else int(p) for p in listed]
        self._shuffled(each.result, part["type"], part["a"], part["b"], places)

    def _shuffled(self, result: str, kind: str, a: str, b: str, places: list[int]) -> None:
        """Numbers at some places of two vectors, each for all worlds."""
        worlds = self.worlds
        order = ", ".join(
            f"i32 {'poison' if place < 0 else place * worlds + w}" for place in places for w in range(worlds)
        )
        wide = self._wide(kind)
        a, b = self._as_vector(a, kind), self._as_vector(b, kind)
        self._put(f"{result} = shufflevector {wide} {a}, {wide} {b}, <{len(places) * worlds} x i32> <{order}>")

    def _call(self, each: Instruction) -> None:
        name = each.part["to"]
        if name.startswith("llvm.experimental.noalias"):
            self._put(f"call void @{name}({each.part['rest']})")
            self._declared[name] = f"declare void @{name}(metadata)"
        elif name.startswith("llvm.mem"):
            self._memory(each)
        elif name.startswith("limberjack_"):
            self._routine(each)
        elif not name.startswith(_DROPPED):
            self._function(each)

    def _memory(self, each: Instruction) -> None:
        """Fill or copy memory, of all worlds."""
        given, name = _given(each), each.part["to"]
        size = self._agreed(given[2][1], "i64")
        if given[0][1] in self._spread:
            more = self._new()
            self._put(f"{more} = mul i64 {size}, {self.worlds}")
            size = more
        kinds = [("ptr", given[0][1]), given[1], ("i64", size), ("i1", "false")]
        self._put(f"call void @{name}({', '.join(f'{kind} {value}' for kind, value in kinds)})")
        self._declared[name] = f"declare void @{name}({', '.join(kind for kind, _ in kinds[:3])}, i1 immarg)"

    def _routine(self, each: Instruction) -> None:
        """Call the routine for these worlds; they may disagree there."""
        name, given = each.part["to"] + WORLDS, []
        for kind, value in _given(each):
            if kind == "double":
                given.append((f"<{self.worlds} x double>", self._as_vector(value, kind)))
            else:
                given.append((kind, self._agreed(value, kind)))
        done = self._new()
        self._plain(each, f"call i32 @{name}({', '.join(f'{kind} {value}' for kind, value in given)})")
        self._declared[name] = f"declare i32 @{name}({', '.join(kind for kind, _ in given)})"
        self._put(f"{done} = icmp eq i32 {each.result}, 0")
        self._here = f"%w.done.{self._made}"
        self._put(f"br i1 {done}, label {self._here}, label %disagreed")
        self._lines.append(f"{self._here[1:]}:")

    def _function(self, each: Instruction) -> None:
        """A function of LLVM's or of the C library's."""
        name, kind, given = each.part["to"], each.part["type"], _given(each)
        if each.result not in self._varying:
            self._declared[name] = f"declare {kind} @{name}({', '.join(kind for kind, _ in given)})"
            self._plain(each, f"call {kind} @{name}({', '.join(f'{kind} {value}' for kind, value in given)})")
            return
        name = _INSTRUCTIONS.get(name, name)
        if not name.startswith("llvm."):
            self._one_by_one(each, given)
            return
        wide = self._wide(kind)
        base, dot, _ = name.rpartition(".")
        name = f"{base}.v{lanes_of(wide)}{'f64' if 'double' in kind else wide[1:-1].split(' x ')[1]}"
        taken = [(self._wide(k) if k != "i1" else k, self._as_vector(v, k) if k != "i1" else v) for k, v in given]
        self._declared[name] = f"declare {wide} @{name}({', '.join(k for k, _ in taken)})"
        self._plain(each, f"call {each.part['head']}{wide} @{name}({', '.join(f'{k} {v}' for k, v in taken)})")

    def _one_by_one(self, each: Instruction, given: list[tuple[str, str]]) -> None:
        """Call a function of the C library for one world after the other."""
        name, kind = each.part["to"], each.part["type"]
        self._declared[name] = f"declare {kind} @{name}({', '.join(k for k, _ in given)})"
        result = "poison"
        for world in range(self.worlds):
            taken = []
            for k, value in given:
                one = self._new()
                self._put(f"{one} = extractelement {self._wide(k)} {self._as_vector(value, k)}, i64 {world}")
                taken.append(f"{k} {one}")
            answer, grown = self._new(), each.result if world == self.worlds - 1 else self._new()
            self._put(f"{answer} = call {kind} @{name}({', '.join(taken)})")
            self._put(f"{grown} = insertelement {self._wide(kind)} {result}, {kind} {answer}, i64 {world}")
            result = grown

    # ends of blocks

    def _branch(self, each: Instruction) -> None:
        condition, yes, no = (each.part[name] for name in "abc")
        if condition not in self._varying:
            self._put(f"br i1 {condition}, label {yes}, label {no}")
            return
        bits, worlds = self._new(), self.worlds
        self._put(f"{bits} = bitcast <{worlds} x i1> {condition} to i{worlds}")
        self._put(f"switch i{worlds} {bits}, label %disagreed [ i{worlds} -1, label {yes} i{worlds} 0, label {no} ]")

    def _jump(self, each: Instruction) -> None:
        self._put(f"br label {each.part['b']}")

    def _switch(self, each: Instruction) -> None:
        part = each.part
        self._put(f"switch {part['type']} {self._agreed(part['a'], part['type'])}, label {part['b']} [{part['rest']}]")

    def _return(self, each: Instruction) -> None:
        if self.known.entry:
            self._put(f"store i64 {self.worlds}, ptr %agreed")
        self._put("ret void" if self.known.entry else "ret i32 0")

    def _unreachable(self, each: Instruction) -> None:
        self._put("unreachable")


def widened(known: Compiled, text: str, worlds: int) -> str:
    """LLVM's text of a function, for several worlds: a power of two from 2 to 64. Raises `llvm_text.UnknownCode`."""
    return Widening(known, text, worlds).text()


def _vector_name(value: str) -> str:
    """What a value of one number is called as a vector."""
    return _named(value, "w")


def _renamed(body: list[str]) -> list[str]:
    """Lines with names that LLVM takes in any order and at any length."""
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


def _named(name: str, ending: str) -> str:
    """A name made from another."""
    return f'%"{name[1:].strip(chr(34))}.{ending}"'


def _given(each: Instruction) -> list[tuple[str, str]]:
    """Type and value of each argument of a call."""
    return [
        (text.split()[0], text.split()[-1]) if text[0] != "<" else _typed(text) for text in _split(each.part["rest"])
    ]


def _typed(text: str) -> tuple[str, str]:
    kind, _, value = text.partition("> ")
    return f"{kind}>", value.split()[-1]


def _split(text: str) -> list[str]:
    """Parts between commas that are in no brackets."""
    return [part.strip() for part in re.findall(r'(?:<[^>]*>|\([^)]*\)|"[^"]*"|[^,<("])+', text) if part.strip()]


def _parts(text: str, symbol: str) -> tuple[str, list[str], str]:
    """Of a module: the function's parameters, the lines of its body, and what follows after all functions."""
    lines = text.split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith("define ") and f"@{symbol}(" in line)
    end = lines.index("}", begin)
    header = lines[begin].split(f"@{symbol}(", 1)[1].rpartition(") ")[0]
    notes = [line for line in lines[end:] if line.startswith(("attributes ", "!"))]
    return header, lines[begin + 1 : end], "\n".join(notes)
