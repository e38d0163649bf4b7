"""Tables in flat vectors, declared once; their places, sizes and compiled views are made from the declarations.

A vector (Plant.ints, Plant.floats, Work, State, a group's scratch) is a sequence of tables. The numbers of rows and
columns of a table are expressions in the counts of a model, such as "bodies + 1" or "padded(v)".
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cache
from types import CodeType
from typing import Any

from limberjack.engine.algebra.array_views import BLOCK, LANES, Sections, matrix_view, padded, real_view, vector_view
from limberjack.engine.compile.kernel import formula, kernel

#: functions that expressions may use besides the counts
_WORDS: dict[str, Any] = {"padded": padded, "LANES": LANES, "BLOCK": BLOCK}


@dataclass(frozen=True)
class Table:
    """Rows of `columns` numbers in a vector; without columns a plain vector of `rows` numbers.

    field : its name in views, if that is not the table's; within : column → (first, end), the range of its numbers as
    expressions in the counts, for columns that are indices or flags; seen : how many numbers a view shows, as a plain
    vector, if the others are padding; real : whether a table of ints has float64 numbers. All worlds of a batch share
    ints, so such numbers are no parameters, and each world need not load numbers of its own
    """

    name: str
    rows: str | int
    columns: str | int | None = None
    field: str = ""
    seen: int | None = None
    within: Mapping[int, tuple[int, str | int]] = dataclass_field(default_factory=dict)
    real: bool = False

    @property
    def shown(self) -> str:
        """Its name in a view."""
        return self.field or self.name

    @property
    def size(self) -> str:
        """Its length, as an expression."""
        return f"({self.rows})" if self.columns is None else f"({self.rows}) * ({self.columns})"

    def view(self, vector: str, at: str) -> str:
        """The call that makes its view."""
        if self.real:
            return f"real_view({vector}, {at}, {self.rows})"
        if self.columns is None or self.seen is not None:
            return f"vector_view({vector}, {at}, {self.rows if self.seen is None else self.seen})"
        return f"matrix_view({vector}, {at}, {self.rows}, {self.columns})"


@dataclass(frozen=True)
class Family:
    """Tables of one kind of object in ints, floats and work; views show them as tuples, `plant` and `work_type`.

    numbers : counts that the tuple of the Plant contains after its tables
    """

    name: str
    ints: tuple[Table, ...] = ()
    floats: tuple[Table, ...] = ()
    work: tuple[Table, ...] = ()
    numbers: tuple[str, ...] = ()

    def tuple_of(self, vectors: Sequence[str]) -> list[str]:
        """Names of the fields of a view of these vectors."""
        names = [table.shown for vector in vectors for table in getattr(self, vector)]
        return names + list(self.numbers if "ints" in vectors else ())


@cache  # of the expressions in the declarations
def _code(expression: str) -> CodeType:
    return compile(expression, "<size of a table>", "eval")


def sections(tables: Sequence[Table], counts: Mapping[str, int]) -> Sections:
    """(name, rows, columns) of tables, for these counts."""
    known = {**_WORDS, **counts}

    def number(expression: str | int | None) -> int:
        if isinstance(expression, str):
            return int(eval(_code(expression), known))
        return 1 if expression is None else expression

    return [(table.name, number(table.rows), number(table.columns)) for table in tables]


def total_size(tables: Sequence[Table]) -> str:
    """Total length of these tables, as an expression."""
    return " + ".join(table.size for table in tables) or "0"


def walk(tables: Sequence[Table], vector: str, at: str, family: str = "") -> list[str]:
    """Statements that make the views of consecutive tables and advance `at` from one to the next."""
    lines = []
    for table in tables:
        lines += [f"{family}_{table.shown} = {table.view(vector, at)}", f"{at} += {table.size}"]
    return lines


def within_of(table: Table, view: str) -> list[str]:
    """Statements that return WRONG if a number of a table is outside the range that its column declares."""
    number = f"{view}[i]" if table.columns is None else f"{view}[i, {{}}]"
    lines = []
    for column, (first, end) in table.within.items():
        it = number.format(column)
        lines += [f"for i in range({table.rows}):", f"    if {it} < {first} or {it} >= {end}:", "        return WRONG"]
    return lines


def function(head: str, lines: Sequence[str], **words: Any) -> Callable:
    """The function with this head, "name(arguments)", and body."""
    scope = {**_WORDS, "vector_view": vector_view, "matrix_view": matrix_view, "real_view": real_view, **words}
    exec("\n    ".join([f"def {head}:", *lines]), scope)
    made: Callable = scope[head.partition("(")[0]]
    return made


def view_of(
    name: str, vectors: Mapping[str, int | str], families: Sequence[Family], read: Sequence[str]
) -> tuple[Any, Callable]:
    """The named tuple of all tables in some vectors, and the kernel that makes it from ints and them.

    vectors : name → start of its first table; families : tables of the first one are fields of the tuple itself, those
    of each other one are fields of a nested tuple; read : statements that read the counts
    """
    first, *others = [family for family in families if any(getattr(family, vector) for vector in vectors)]
    nested = {family.name: namedtuple(f"{name}_{family.name}", family.tuple_of(list(vectors))) for family in others}
    whole = namedtuple(name, [*first.tuple_of(list(vectors)), *nested])  # type: ignore[misc]
    lines = list(read)
    for vector, start in vectors.items():
        lines.append(f"at = {start}")
        for family in (first, *others):
            lines += walk(getattr(family, vector), vector, "at", family.name)
    shown = [_shown(first, vectors)]
    shown += [f"{family.name}_type({_shown(family, vectors)})" for family in others]
    lines.append(f"return whole({', '.join(shown)})")
    arguments = ", ".join(dict.fromkeys(["ints", *vectors]))
    types = {f"{family}_type": type_ for family, type_ in nested.items()}
    return whole, kernel(function(f"view({arguments})", lines, whole=whole, **types))


def _shown(family: Family, vectors: Mapping[str, int | str]) -> str:
    names = [f"{family.name}_{table.shown}" for vector in vectors for table in getattr(family, vector)]
    return ", ".join(names + list(family.numbers if "ints" in vectors else ()))


def sizes_of(read: Sequence[str], vectors: Mapping[str, Sequence[Table]], header: int) -> Callable:
    """The kernel `sizes(ints)` of the lengths of vectors; the first one begins with a header."""
    sizes = [total_size(tables) for tables in vectors.values()]
    return kernel(function("sizes(ints)", [*read, f"return {header} + {', '.join(sizes)}"]))


class Scratch:
    """A vector of tables whose counts are given one by one, with a view of it and its length as compiled functions.

    view(vector, at, *counts) : a named tuple of the tables, the first of which begins at `at`
    size(*counts) : its length, also for Python
    """

    def __init__(self, name: str, given: str, *tables: Table) -> None:
        """given : names of the counts, in order."""
        self._given, self._tables = given.split(), tables
        arguments = ", ".join(self._given)
        self.type = namedtuple(name, [table.shown for table in tables])  # type: ignore[misc]
        lines = [*walk(tables, "vector", "at"), f"return whole({', '.join('_' + t.shown for t in tables)})"]
        self.view = kernel(function(f"view(vector, at, {arguments})", lines, whole=self.type))
        self.size = formula(function(f"size({arguments})", [f"return {total_size(tables)}"]))

    def sections(self, *counts: int) -> Sections:
        """(name, rows, columns) of every table."""
        return sections(self._tables, dict(zip(self._given, counts, strict=True)))
