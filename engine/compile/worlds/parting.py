"""Regions in which worlds take different branches: each block runs for the worlds that reach it, if any does."""

from __future__ import annotations

import re

from limberjack.engine.compile.worlds.instructions import Instructions
from limberjack.engine.compile.worlds.llvm_text import NAME, Block, Instruction, lanes_of
from limberjack.engine.compile.worlds.regions import Region
from limberjack.engine.compile.worlds.values import named


class Parting(Instructions):
    """Rewrites regions. After a block a phi gives its values: those that it computed, or poison if it was skipped."""

    def _find_regions(self) -> None:
        """Find the outermost regions in which worlds may take different branches; phis behind them become vectors."""
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
        """Whether this is a phi with different values from different branches."""
        return each.kind == "phi" and len(set(each.operands())) > 1

    def _may_mask(self, block: Block) -> bool:
        """Whether a block may run while some worlds take another branch."""
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

    def _apart(self, region: Region) -> None:
        """Run the blocks of a region one after the other, each for the worlds whose path leads through it."""
        every = "splat (i1 true)"
        edges = self._edges(region.head, every)
        for label in region.blocks:
            edges |= self._masked_block(region, label, edges)
        for each in self._ways.blocks[region.meet].body:
            if each.kind == "phi":
                self._put_choice(self._met(region, each), each, edges, region.meet)
        self._put(f"br label {region.meet}")

    def _edges(self, label: str, mask: str) -> dict[tuple[str, str], str]:
        """For each edge out of a block: the mask of the worlds that take it."""
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
        """Run a block if any world reaches it; returns the masks of the edges out of it."""
        block, kind, worlds = self._ways.blocks[label], f"<{self.worlds} x i1>", self.worlds
        mask = self._either([edges[way] for way in edges if way[1] == label])
        bits, some = self._new(), self._new()
        self._put(f"{bits} = bitcast {kind} {mask} to i{worlds}")
        self._put(f"{some} = icmp ne i{worlds} {bits}, 0")
        before, inner, past = self._here, named(label, "in"), named(label, "past")
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
        self._rename(start, {name: named(name, "in") for name in made})
        return self._past(past, before, made, ways)

    def _past(
        self, past: str, before: str, made: list[str], ways: dict[tuple[str, str], str]
    ) -> dict[tuple[str, str], str]:
        """The end of a block of a region that ran or was skipped: its values, and the masks of the edges out of it."""
        inner_end, self._here = self._here, past
        self._lines.append(f"{past[1:]}:")
        kind, masks = f"<{self.worlds} x i1>", {}
        for way, mask in ways.items():
            masks[way] = self._new()
            self._put(f"{masks[way]} = phi {kind} [ {mask}, {inner_end} ], [ zeroinitializer, {before} ]")
        for name in made:
            wide = self._wide(self._types[name]) if name in self._varying else self._types[name]
            self._put(f"{name} = phi {wide} [ {named(name, 'in')}, {inner_end} ], [ poison, {before} ]")
        plain = [name for name in made if name not in self._varying and self._types[name] != "ptr"]
        if plain:
            self._lines.append("^^" + "\t".join(plain))
        return masks

    def _rename(self, start: int, names: dict[str, str]) -> None:
        """Rename values in the lines from `start` on."""
        for i in range(start, len(self._lines)):
            self._lines[i] = re.sub(NAME, lambda found: names.get(found[0], found[0]), self._lines[i])

    def _either(self, masks: list[str]) -> str:
        """The mask of worlds that are in at least one of several masks."""
        whole = masks[0]
        for mask in masks[1:]:
            both = self._new()
            self._put(f"{both} = or <{self.worlds} x i1> {whole}, {mask}")
            whole = both
        return whole

    def _put_choice(self, name: str, phi: Instruction, edges: dict[tuple[str, str], str], label: str) -> None:
        """Put the value of a phi: for each world that of the edge by which it came."""
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
