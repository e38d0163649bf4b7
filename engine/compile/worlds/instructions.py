"""Instructions for one world → instructions for several: arithmetic, selections, memory, and ends of blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from limberjack.engine.compile.worlds.llvm_text import Instruction, UnknownCode, lanes_of
from limberjack.engine.compile.worlds.regions import Region
from limberjack.engine.compile.worlds.values import Values, named


class Instructions(Values):
    """A method _<kind> for each kind of instruction."""

    def _body(self, instructions: Sequence[Instruction]) -> None:
        for each in instructions:
            getattr(self, f"_{each.kind}")(each)
            if each.result and each.result not in self._varying and each.type != "ptr" and not self._mask:
                self._lines.append(f"^^{each.result}")

    def _phi(self, each: Instruction) -> None:
        kind = each.part["type"]
        varying = each.result in self._varying
        taken = ", ".join(
            f"[ {self._as_vector(value, kind) if varying else value}, @@{self._places[label]}@@ ]"
            for value, label in self._ways_in(each)
        )
        self._put(f"{each.result} = phi {self._wide(kind) if varying else kind} {taken}")

    def _ways_in(self, phi: Instruction) -> list[tuple[str, str]]:
        """Value and label of each block that leads to a phi; a region counts as one block."""
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

    def _met(self, region: Region, phi: Instruction) -> str:
        """The value that a phi gets from a region at the block where its paths meet."""
        return named(phi.result, "met." + region.head[1:].strip('"'))

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
        """The type in memory that holds, for every number of a type, one number for each world."""
        return re.sub(r"<\d+ x \w+>|\bi\d+\b|\bdouble\b", lambda found: f"[{self.worlds} x {found[0]}]", kind)

    def _load(self, each: Instruction) -> None:
        kind, address = each.part["type"], each.part["a"]
        if address in self._spread:
            self._put(f"{each.result} = load {self._wide(kind)}, ptr {address}, align {8 * self.worlds}{each.notes}")
        elif each.result in self._varying:
            self._load_shared(each.result, kind, address)
        else:
            self._put(f"{each.result} = load {kind}, ptr {address}, align 8{each.notes}")

    def _load_shared(self, result: str, kind: str, address: str) -> None:
        """Load a value that all worlds share. Processors spread single numbers while they load them."""
        numbers, one = [], kind[1:-1].split(" x ")[-1] if lanes_of(kind) else kind
        for i in range(lanes_of(kind) or 1):
            place, number, spread = (self._new() for _ in range(3))
            self._put(f"{place} = getelementptr {one}, ptr {address}, i64 {i}")
            self._put(f"{number} = load {one}, ptr {place}, align 8")
            self._spread_out(spread, number, one)
            numbers.append(spread)
        self._put(f"{result} = {self._joined(numbers, one)}")

    def _joined(self, vectors: Sequence[str], kind: str) -> str:
        """The expression of the vector of all numbers of vectors, a power of two of them, one for each world."""
        length = self.worlds
        while len(vectors) > 1:
            pairs, vectors = list(zip(vectors[::2], vectors[1::2])), []
            order, few = ", ".join(f"i32 {i}" for i in range(2 * length)), f"<{length} x {kind}>"
            for first, second in pairs:
                vectors.append(self._new())
                both = f"{few} {first}, {few} {second}"
                self._put(f"{vectors[-1]} = shufflevector {both}, <{2 * length} x i32> <{order}>")
            length *= 2
        return f"bitcast <{length} x {kind}> {vectors[0]} to <{length} x {kind}>"

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
        part = each.part
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
