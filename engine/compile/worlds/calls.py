"""Rewriting calls: of routines for several worlds, of functions that fill memory, and of other functions."""

from __future__ import annotations

from limberjack.engine.compile.compiled import WORLDS
from limberjack.engine.compile.worlds.llvm_text import Instruction, handed, lanes_of
from limberjack.engine.compile.worlds.values import Values

#: calls that only inform LLVM's passes
_DROPPED = ("llvm.lifetime.", "llvm.assume")
#: functions of the C library that processors have as an instruction
_INSTRUCTIONS = {"sqrt": "llvm.sqrt.f64"}


class Calls(Values):
    """Rewrites calls of anything outside the function."""

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
        given, name = handed(each), each.part["to"]
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
        for kind, value in handed(each):
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
        """Call a function of LLVM or of the C library."""
        name, kind, given = each.part["to"], each.part["type"], handed(each)
        if each.result not in self._varying:
            self._declared[name] = f"declare {kind} @{name}({', '.join(kind for kind, _ in given)})"
            self._plain(each, f"call {kind} @{name}({', '.join(f'{kind} {value}' for kind, value in given)})")
            return
        name = _INSTRUCTIONS.get(name, name)
        if not name.startswith("llvm."):
            self._one_by_one(each, given)
            return
        wide = self._wide(kind)
        base, _dot, _ = name.rpartition(".")
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
