"""Where paths of a function diverge and meet again: regions, whose blocks may run for some of the worlds."""

from __future__ import annotations

import re
from dataclasses import dataclass

from limberjack.engine.compile.worlds.llvm_text import Block, Instruction

#: most blocks of a region
_MOST = 60
#: label that stands for the end of the function
_END = ""


@dataclass(frozen=True)
class Region:
    """Blocks between one that branches and the one where all paths meet again.

    head : label of the block that branches; blocks : labels, each after its predecessors;
    meet : label of the block where the paths meet
    """

    head: str
    blocks: tuple[str, ...]
    meet: str


class Ways:
    """The control-flow graph: which block follows which."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = {block.label: block for block in blocks}
        self.after = {block.label: followers(block.body[-1]) for block in blocks}
        self.before: dict[str, list[str]] = {label: [] for label in self.blocks}
        for label, others in self.after.items():
            for other in others:
                self.before[other].append(label)
        self._meets = self._meeting_points()

    def region(self, head: str) -> Region | None:
        """The region that begins at a block's branch; None if it has cycles, or edges that enter it from outside."""
        meet = self._meets.get(head)
        if not meet:
            return None
        inside: set[str] = set()
        waiting = [label for label in self.after[head] if label != meet]
        while waiting:
            if (label := waiting.pop()) not in inside:
                inside.add(label)
                waiting += [other for other in self.after[label] if other != meet]
                if len(inside) > _MOST or label == head:
                    return None
        if any(other not in inside and other != head for label in inside for other in self.before[label]):
            return None
        ordered = self._ordered(inside, head)
        return None if ordered is None else Region(head, tuple(ordered), meet)

    def _ordered(self, inside: set[str], head: str) -> list[str] | None:
        """The blocks, each after all that lead to it; None if there is a cycle."""
        done: list[str] = []
        left = set(inside)
        while left:
            ready = sorted(label for label in left if not any(other in left for other in self.before[label]))
            if not ready:
                return None
            done += ready
            left -= set(ready)
        return done

    def _meeting_points(self) -> dict[str, str]:
        """For each block the first that every path from it to an end passes (its immediate post-dominator)."""
        order = self._outward()
        meets = {_END: _END}
        changed = True
        while changed:
            changed = False
            for label in reversed(order):
                known = [other for other in self.after[label] or [_END] if other in meets]
                if known:
                    meet = known[0]
                    for other in known[1:]:
                        meet = _common(meets, meet, other)
                    changed |= meets.get(label) != meet
                    meets[label] = meet
        return meets

    def _outward(self) -> list[str]:
        """Labels, each before those that follow it, except along back edges."""
        first = next(iter(self.blocks))
        seen, done, stack = {first}, [], [(first, iter(self.after[first]))]
        while stack:
            label, others = stack[-1]
            for other in others:
                if other not in seen:
                    seen.add(other)
                    stack.append((other, iter(self.after[other])))
                    break
            else:
                done.append(label)
                stack.pop()
        return done[::-1]


def _common(meets: dict[str, str], a: str, b: str) -> str:
    """The first block that all paths from a and from b pass."""
    passed = {a}
    while a != _END:
        a = meets.get(a, _END)
        passed.add(a)
    while b not in passed:
        b = meets.get(b, _END)
    return b


def followers(end: Instruction) -> list[str]:
    """Labels of the blocks that a block's last instruction leads to."""
    if end.kind == "switch":
        return list(dict.fromkeys([end.part["b"], *re.findall(r"label (\S+)", end.part["rest"])]))
    names = {"branch": "bc", "jump": "b"}.get(end.kind, "")
    return list(dict.fromkeys(end.part[name] for name in names))
